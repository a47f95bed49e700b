//! When two tuples match, and what follows for sets whose members have matches in common.
//!
//! For a tuple X let `D_i(X)` be the distance of `x_i` to the nearest other point of X. X and Y *match* with ratio γ if there
//! is a bijection π with ‖`x_i` − `y_π(i)`‖ ≤ `γ·min(D_i(X)`, `D_π(i)(Y)`) for all i; a void tuple matches none. The relation is
//! symmetric and, void tuples aside, reflexive. Let X and Y both match Z, γ ≤ 1/8, points numbered so that the
//! bijections are identities. Then (`docs/proofs/friendly-core.md`, Lemma 1)
//!
//! 1. `D_i(X)` ≤ (1 + `2γ)·D_i(Z`) and the reverse, so ln `D_i` differs by at most κ = 2·ln(1 + 2γ) between X and Y;
//! 2. ‖`x_i` − `y_i`‖ ≤ 2γ(1 + γ)·min(`D_i(X)`, `D_i(Y)`);
//! 3. `y_i` is the point of Y nearest to `x_i`;
//! 4. if any two of three tuples have a match in common, each time another perhaps, then from X by Y to W is the same as from X to W: all tuples
//!    of a friendly set sort points into the same k clusters. This is what asks for γ ≤ 1/8; beyond 1/6 it is false.
//!
//! Squares of lattice distances are integers, so matching is decided exactly.

use rayon::prelude::*;

use crate::error::ParamsError;
use crate::tuples::{Tuples, sq_distance, sq_gaps};

/// Bits of the fraction that a ratio is stored as.
const RATIO_BITS: u32 = 20;

/// γ, the largest distance of matched points relative to the distance to other points: a multiple of 2^-20 in (0, 1/8].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatchRatio(u32);

impl MatchRatio {
    /// 1/16: fewer tuples than a larger ratio, wider separation.
    pub const DEFAULT: Self = Self((1 << RATIO_BITS) / 16);

    /// 1/8: with larger ratios three tuples of a friendly set may sort points into different clusters.
    pub const LARGEST: Self = Self((1 << RATIO_BITS) / 8);

    /// Checks `ratio` and rounds it down to a multiple of 2^-20.
    ///
    /// # Errors
    ///
    /// [`ParamsError::Range`] unless 2^-20 ≤ `ratio` ≤ 1/8.
    pub fn new(ratio: f64) -> Result<Self, ParamsError> {
        let scaled = ratio * f64::from(1_u32 << RATIO_BITS);
        if scaled >= 1.0 && ratio <= Self::LARGEST.get() {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "between 1 and 2^20"
            )]
            return Ok(Self(scaled as u32));
        }
        Err(ParamsError::Range {
            name: "match_ratio",
            low: 0.0,
            high: Self::LARGEST.get(),
            got: ratio,
        })
    }

    /// The ratio.
    #[must_use]
    pub fn get(self) -> f64 {
        f64::from(self.0) / f64::from(1_u32 << RATIO_BITS)
    }

    /// κ, by which ln `D_i` differs at most within a friendly set.
    #[must_use]
    pub fn kappa(self) -> f64 {
        2.0 * libm::log1p(2.0 * self.get())
    }

    /// 2γ(1 + γ)·e^(κ²/8): a point of a tuple is at most this times the geometric mean of a friendly set's `D_i` from the mean of the
    /// set's points of the same cluster; rounded up.
    #[must_use]
    pub fn reach(self) -> f64 {
        let (ratio, kappa) = (self.get(), self.kappa());
        2.0 * ratio * (1.0 + ratio) * libm::exp(kappa * kappa / 8.0) * (1.0 + 1e-9)
    }

    /// The largest squared distance within γ of a squared gap: ⌊γ²·D²⌋, exactly.
    fn limit(self, sq_gap: u64) -> u64 {
        let product = u128::from(self.0) * u128::from(self.0) * u128::from(sq_gap);
        u64::try_from(product >> (2 * RATIO_BITS)).unwrap_or(u64::MAX)
    }
}

/// For each point of each tuple, how far (squared) its partner may be.
struct Limits {
    n_clusters: usize,
    limits: Vec<u64>,
}

impl Limits {
    fn new(tuples: &Tuples, ratio: MatchRatio) -> Self {
        let shape = tuples.shape();
        // Void tuples need none: they match nothing.
        let mut limits = vec![0; tuples.len() * shape.n_clusters];
        let chunks = limits.par_chunks_exact_mut(shape.n_clusters);
        chunks.enumerate().for_each(|(t, limits)| {
            if !tuples.is_void(t) {
                let gaps = sq_gaps(tuples.tuple(t), shape.dimension);
                for (limit, gap) in limits.iter_mut().zip(gaps) {
                    *limit = ratio.limit(gap);
                }
            }
        });
        Self {
            n_clusters: shape.n_clusters,
            limits,
        }
    }

    fn of(&self, t: usize) -> &[u64] {
        &self.limits[t * self.n_clusters..(t + 1) * self.n_clusters]
    }
}

/// Whether tuples `a` and `b`, neither void, match; O(k·d) where points stand in about the same order, O(k²·d) at most.
///
/// A point has at most one possible partner and a partner serves one point (γ < 1/2), so the first that is found is the
/// bijection's.
fn matches(tuples: &Tuples, limits: &Limits, a: usize, b: usize) -> bool {
    let (of_a, of_b) = (limits.of(a), limits.of(b));
    let k = of_a.len();
    let found = |i: usize, j: usize| {
        sq_distance(tuples.point(a, i), tuples.point(b, j)) <= of_a[i].min(of_b[j])
    };
    (0..k).all(|i| found(i, i) || (0..k).any(|j| j != i && found(i, j)))
}

/// `a_i`, the number of tuples that match tuple i among the other t − 1: private.
///
/// Complexity: O(t + m²·k·d) to O(t + m²·k²·d) with m tuples that are not void, in parallel.
#[must_use]
pub(crate) fn match_counts(tuples: &Tuples, ratio: MatchRatio) -> Vec<u64> {
    if tuples.shape().n_clusters < 2 {
        // One point has no neighbor to measure by: nothing matches.
        return vec![0; tuples.len()];
    }
    let limits = Limits::new(tuples, ratio);
    counts(tuples, |a, b| matches(tuples, &limits, a, b))
}

/// The indices of the tuples that are not void, ascending: private.
pub(super) fn not_void(tuples: &Tuples) -> Vec<usize> {
    (0..tuples.len()).filter(|&t| !tuples.is_void(t)).collect()
}

/// The number of others that each tuple relates to, by a symmetric relation. Void tuples relate to none, and are not asked: where blocks are
/// many and small most are void, and all pairs of them would take minutes.
pub(super) fn counts(tuples: &Tuples, related: impl Fn(usize, usize) -> bool + Sync) -> Vec<u64> {
    let present = not_void(tuples);
    let zero = || vec![0_u64; present.len()];
    let add = |mut total: Vec<u64>, part: Vec<u64>| {
        for (total, part) in total.iter_mut().zip(part) {
            *total += part;
        }
        total
    };
    let of_present = (0..present.len())
        .into_par_iter()
        .fold(zero, |mut counts, a| {
            for b in 0..a {
                if related(present[a], present[b]) {
                    counts[a] += 1;
                    counts[b] += 1;
                }
            }
            counts
        })
        .reduce(zero, add);
    let mut counts = vec![0; tuples.len()];
    for (t, count) in present.into_iter().zip(of_present) {
        counts[t] = count;
    }
    counts
}

#[cfg(test)]
mod tests;
