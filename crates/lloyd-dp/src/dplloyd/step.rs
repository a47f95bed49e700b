//! One pass over the records: the exact counts and sums of the clusters.

use metric_space::nearest::PackedCenters;
use metric_space::{Frame, LatticeBlock, LatticeSource, SourceError};
use ndarray::Array2;

/// Exact counts and sums of the clusters, in lattice units: private.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ClusterStatistics {
    /// `k` counts of records.
    pub(crate) counts: Vec<i64>,
    /// `k·d` sums.
    pub(crate) sums: Vec<i64>,
}

impl ClusterStatistics {
    fn new(k: usize, d: usize) -> Self {
        Self {
            counts: vec![0; k],
            sums: vec![0; k * d],
        }
    }

    fn merge(&mut self, part: Self) {
        for (total, part) in self.counts.iter_mut().zip(part.counts) {
            *total += part;
        }
        for (total, part) in self.sums.iter_mut().zip(part.sums) {
            *total += part;
        }
    }
}

/// What is summed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Term {
    /// The record.
    Record,
    /// The record minus its cluster's center.
    Difference,
    /// The same, clipped to this length in lattice units and rounded toward zero, which cannot lengthen it.
    Clipped(u64),
}

/// Public centers on the lattice, in the form that the passes need.
pub(crate) struct LatticeCenters {
    pub(crate) units: Vec<Vec<i32>>,
    packed: PackedCenters<f32>,
}

impl LatticeCenters {
    /// Rounds public centers to the lattice.
    pub(crate) fn new(frame: &Frame, centers: &Array2<f64>) -> Option<Self> {
        let (k, d) = centers.dim();
        let mut units = Vec::with_capacity(k);
        let mut floats = Vec::with_capacity(k * d);
        for center in centers.rows() {
            let center = center.to_vec();
            let quantized = frame.quantize_center(&center);
            floats.extend(
                quantized
                    .iter()
                    .map(|&units| frame.lattice().to_f64(i64::from(units))),
            );
            units.push(quantized);
        }
        #[expect(
            clippy::cast_possible_truncation,
            reason = "lattice values are exact in f32"
        )]
        let floats: Vec<f32> = floats.into_iter().map(|x| x as f32).collect();
        let view = ndarray::ArrayView2::from_shape((k, d), &floats).ok()?;
        Some(Self {
            units,
            packed: PackedCenters::new(view).ok()?,
        })
    }

    /// Writes the index of the nearest center of each row.
    pub(crate) fn assign(&self, rows: &[f32], labels: &mut [u32]) {
        self.packed.assign(rows, labels);
    }
}

/// Counts and sums of all clusters: one pass.
///
/// A transformation: nothing is released. A record's label and term depend on the record and the public centers
/// alone, so one record moves one count by 1 and one sum by one term.
pub(crate) fn cluster_statistics<S: LatticeSource>(
    source: &S,
    centers: &LatticeCenters,
    term: Term,
) -> Result<ClusterStatistics, SourceError> {
    let k = centers.units.len();
    let d = source.frame().dimension();
    let (statistics, _) = source.fold(
        || (ClusterStatistics::new(k, d), Vec::new()),
        |(statistics, labels), block| {
            labels.clear();
            labels.resize(block.len(), 0);
            centers.packed.assign(block.rows, labels);
            dp_core::planted!("lloyd-tail-relabeled": if block.len() % 2 == 1 {
                labels[block.len() - 1] = 0;
            }; ());
            add_block(statistics, labels, block, centers, term);
        },
        |total, part| total.0.merge(part.0),
    )?;
    Ok(statistics)
}

fn add_block(
    statistics: &mut ClusterStatistics,
    labels: &[u32],
    block: &LatticeBlock<'_>,
    centers: &LatticeCenters,
    term: Term,
) {
    let d = block.dimension;
    let mut difference = vec![0_i32; d];
    for (i, &label) in labels.iter().enumerate() {
        let label = label as usize;
        statistics.counts[label] += 1;
        let sums = &mut statistics.sums[label * d..(label + 1) * d];
        match term {
            Term::Record => {
                for (j, sum) in sums.iter_mut().enumerate() {
                    *sum += i64::from(block.units(i, j));
                }
            }
            Term::Difference => {
                for (j, (sum, c)) in sums.iter_mut().zip(&centers.units[label]).enumerate() {
                    *sum += i64::from(block.units(i, j) - c);
                }
            }
            Term::Clipped(radius) => {
                for (j, (x, c)) in difference.iter_mut().zip(&centers.units[label]).enumerate() {
                    *x = block.units(i, j) - c;
                }
                dp_core::planted!("lloyd-clip-unused": (); clip(&mut difference, radius));
                for (sum, x) in sums.iter_mut().zip(&difference) {
                    *sum += i64::from(*x);
                }
            }
        }
    }
}

/// Squared length, exactly, in however many columns: a square of a difference of lattice numbers is below 2^48, so a few thousand fit 64
/// bits, and only their sums are added in more.
fn squared_length(vector: &[i32]) -> u128 {
    let squares = |part: &[i32]| -> u64 {
        let magnitudes = part.iter().map(|x| u64::from(x.unsigned_abs()));
        magnitudes.map(|x| x * x).sum()
    };
    vector
        .chunks(1 << 12)
        .map(|part| u128::from(squares(part)))
        .sum()
}

/// Shortens a vector to length `radius`, rounding every coordinate toward zero.
pub(crate) fn clip(vector: &mut [i32], radius: u64) {
    let squared = squared_length(vector);
    if squared <= u128::from(radius) * u128::from(radius) {
        return;
    }
    // The factor is taken a little short, so that rounding cannot lengthen the result: the relative
    // error of the square root, the quotient and the product is below 2^-50.
    let factor = radius as f64 / (squared as f64).sqrt() * (1.0 - 2_f64.powi(-48));
    let factor = dp_core::planted!("lloyd-filter-for-clip": 0.0; factor);
    for x in vector {
        let short = f64::from(*x) * factor;
        let short = dp_core::planted!("lloyd-clip-rounds-away": short + short.signum(); short);
        #[expect(clippy::cast_possible_truncation, reason = "shorter than an i32 was")]
        let shortened = short as i32;
        *x = shortened;
    }
}
