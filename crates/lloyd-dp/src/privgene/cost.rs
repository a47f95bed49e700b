//! Exact costs of many candidates: one pass.

use metric_space::{Frame, LatticeBlock, LatticeSource, SourceError};

use super::breed::Candidate;

/// Bits of a record's largest cost: sums of 2^39 records fit an `i64`.
const COST_BITS: u32 = 24;

/// Records that are worked on together: their distances stay in the first cache.
const TILE: usize = 256;

/// Squared distances in squared lattice units, rounded down to multiples of 2^shift: a record's cost is an integer below 2^24.
#[derive(Clone, Copy, Debug)]
pub(super) struct CostScale {
    shift: u32,
}

impl CostScale {
    /// The finest step for which 4d, the largest squared distance in the scaled domain, has 24 bits.
    pub(super) fn new(frame: &Frame) -> Self {
        let one = u128::from(frame.lattice().units_per_one().unsigned_abs());
        let largest = 4 * frame.dimension() as u128 * one * one;
        let bits = u128::BITS - largest.leading_zeros();
        Self {
            shift: bits.saturating_sub(COST_BITS),
        }
    }

    /// The most that one record of the domain can cost, over these candidates: max over candidates of min over centers of
    /// Σ(1 + |c_i|)², at least 1. Public.
    pub(super) fn width(self, frame: &Frame, candidates: &[Candidate]) -> u64 {
        let one = frame.lattice().units_per_one().unsigned_abs();
        let farthest = |center: &[i32]| -> u128 {
            center
                .iter()
                .map(|c| {
                    let reach = u128::from(one + u64::from(c.unsigned_abs()));
                    reach * reach
                })
                .sum()
        };
        let most = candidates
            .iter()
            .filter_map(|candidate| {
                candidate
                    .chunks_exact(frame.dimension())
                    .map(farthest)
                    .min()
            })
            .max()
            .unwrap_or(0);
        u64::try_from(most >> self.shift).unwrap_or(u64::MAX).max(1)
    }

    /// The cost of each candidate: private.
    ///
    /// Differences of lattice units are integers below 2^24, a sum of up to 2^5 squares of them is below 2^53, and so `f64` arithmetic
    /// is exact here, in any order; with more columns the last bits of a distance may be rounded, by the same operations for every
    /// record, and the bound holds by clipping to it.
    pub(super) fn costs<S: LatticeSource>(
        self,
        source: &S,
        candidates: &[Candidate],
        width: u64,
    ) -> Result<Vec<i64>, SourceError> {
        let floats: Vec<Vec<f64>> = candidates
            .iter()
            .map(|candidate| candidate.iter().map(|&c| f64::from(c)).collect())
            .collect();
        let scale = 0.5_f64.powi(i32::try_from(self.shift).unwrap_or(i32::MAX));
        source.fold(
            || vec![0_i64; candidates.len()],
            |costs, block| add_block(costs, block, &floats, scale, width as f64),
            |total, part| {
                for (total, part) in total.iter_mut().zip(part) {
                    *total += part;
                }
            },
        )
    }
}

fn add_block(
    costs: &mut [i64],
    block: &LatticeBlock<'_>,
    candidates: &[Vec<f64>],
    scale: f64,
    width: f64,
) {
    let d = block.dimension;
    let (mut least, mut sq) = ([0.0; TILE], [0.0; TILE]);
    for from in (0..block.len()).step_by(TILE) {
        let n = TILE.min(block.len() - from);
        // Column after column, so that the inner loops run over records.
        let mut columns = vec![0.0; d * n];
        for i in 0..n {
            for j in 0..d {
                columns[j * n + i] = f64::from(block.units(from + i, j));
            }
        }
        for (cost, candidate) in costs.iter_mut().zip(candidates) {
            let least = &mut least[..n];
            least.fill(f64::INFINITY);
            for center in candidate.chunks_exact(d) {
                let sq = &mut sq[..n];
                sq.fill(0.0);
                for (column, c) in columns.chunks_exact(n).zip(center) {
                    for (sq, x) in sq.iter_mut().zip(column) {
                        *sq += (x - c) * (x - c);
                    }
                }
                for (least, sq) in least.iter_mut().zip(sq) {
                    *least = if *sq < *least { *sq } else { *least };
                }
            }
            for &sq in &*least {
                let steps = (sq * scale).floor();
                let steps = if steps < width { steps } else { width };
                #[expect(clippy::cast_possible_truncation, reason = "an integer in 0..=2^24")]
                let steps = steps as i64;
                *cost += steps;
            }
        }
    }
}
