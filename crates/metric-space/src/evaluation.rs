//! How good a clustering is, for the data holder: mean costs, and agreement with known classes.
//!
//! Nothing here is private: the results depend on every record and must not be published.

#[cfg(test)]
mod tests;

use rayon::prelude::*;

use crate::distance::squared_euclidean;
use crate::domain::Domain;
use crate::error::{ShapeError, check_columns};
use crate::records::Records;
use crate::source::{RecordSource, SourceError};

/// Records whose costs are added before parts are: fixed, so that threads do not change the last bit.
const PART_ROWS: usize = 4096;

/// The label of a record and what it costs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Assignment {
    /// Index of the center.
    pub label: u32,
    /// Cost in the model's own geometry, for k-means the squared distance in the scaled domain.
    pub cost: f64,
    /// The same label's cost in original units.
    pub cost_original: f64,
    /// Logarithm of the density, for models that have one.
    pub log_likelihood: Option<f64>,
}

/// A rule that labels one record, given in original units and any floats: a function of the record alone.
pub trait Labeler: Sync {
    /// Number of columns.
    fn dimension(&self) -> usize;

    /// Number of labels.
    fn n_clusters(&self) -> usize;

    /// Labels a record.
    fn assign(&self, record: &[f64]) -> Assignment;
}

/// Nearest center in the scaled domain, ties to the lowest index; records are not clipped.
///
/// A coordinate that is not finite counts as the middle of its bounds.
#[derive(Clone, Debug)]
pub struct NearestScaled {
    domain: Domain,
    /// k rows of d, original units.
    original: Vec<f64>,
    /// The same in the scaled domain.
    scaled: Vec<f64>,
    middle: Vec<f64>,
}

impl NearestScaled {
    /// Centers in original units, one slice per center.
    ///
    /// # Errors
    ///
    /// [`ShapeError`] if a center has another number of columns than the domain.
    pub fn new<'a>(
        domain: Domain,
        centers: impl IntoIterator<Item = &'a [f64]>,
    ) -> Result<Self, ShapeError> {
        let d = domain.dimension();
        let (mut original, mut scaled) = (Vec::new(), Vec::new());
        for center in centers {
            check_columns(d, center.len())?;
            original.extend_from_slice(center);
            let start = scaled.len();
            scaled.resize(start + d, 0.0);
            domain.to_scaled_record(center, &mut scaled[start..]);
        }
        let middle = domain.to_original(&vec![0.0; d]);
        Ok(Self {
            domain,
            original,
            scaled,
            middle,
        })
    }
}

impl Labeler for NearestScaled {
    fn dimension(&self) -> usize {
        self.middle.len()
    }

    fn n_clusters(&self) -> usize {
        self.scaled.len() / self.middle.len()
    }

    fn assign(&self, record: &[f64]) -> Assignment {
        let d = self.dimension();
        // Most tables are narrow: no allocation per record for those.
        let (mut narrow, mut wide) = ([0.0; 32], Vec::new());
        let x: &mut [f64] = if d <= narrow.len() {
            &mut narrow[..d]
        } else {
            wide.resize(d, 0.0);
            &mut wide
        };
        self.domain.to_scaled_record(record, x);
        let (mut label, mut cost) = (0, f64::INFINITY);
        for (j, center) in self.scaled.chunks_exact(d).enumerate() {
            let sq = squared_euclidean(x, center);
            if sq < cost {
                (label, cost) = (j, sq);
            }
        }
        let center = self.original.get(label * d..(label + 1) * d);
        let offsets = record.iter().zip(&self.middle).map(
            |(&x, &middle)| {
                if x.is_finite() { x } else { middle }
            },
        );
        let cost_original = offsets
            .zip(center.unwrap_or_default())
            .map(|(x, c)| (x - c) * (x - c))
            .sum();
        Assignment {
            label: u32::try_from(label).unwrap_or(u32::MAX),
            cost,
            cost_original,
            log_likelihood: None,
        }
    }
}

/// Means over all records, and how labels meet classes.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    /// Number of records.
    pub n: u64,
    /// Mean of [`Assignment::cost`]; none without records.
    pub mean_cost: Option<f64>,
    /// Mean of [`Assignment::cost_original`]; none without records.
    pub mean_cost_original: Option<f64>,
    /// Mean of [`Assignment::log_likelihood`], where the model has one.
    pub mean_log_likelihood: Option<f64>,
}

#[derive(Clone, Copy, Default)]
struct Part {
    cost: f64,
    cost_original: f64,
    log_likelihood: Option<f64>,
}

/// Shows the assignments of all records to `visit`, part by part, in order.
///
/// # Errors
///
/// [`SourceError`] if the source cannot be read or has other columns than the labeler; an error of `visit` is handed on.
///
/// # Complexity
///
/// One reading of the source, parts in parallel; memory for the assignments of one chunk.
pub fn assign_all<L: Labeler + ?Sized, S: RecordSource + ?Sized>(
    source: &S,
    labeler: &L,
    visit: &mut dyn FnMut(&[Assignment]) -> Result<(), SourceError>,
) -> Result<(), SourceError> {
    let d = labeler.dimension();
    source.for_each_chunk(&mut |chunk| {
        if chunk.dimension() != d {
            return Err(SourceError::Columns {
                expected: d,
                found: chunk.dimension(),
            });
        }
        let mut out = vec![Assignment::default(); chunk.len()];
        out.par_chunks_mut(PART_ROWS)
            .enumerate()
            .for_each(|(part, out)| assign_part(chunk, part * PART_ROWS, labeler, out));
        visit(&out)
    })
}

fn assign_part<L: Labeler + ?Sized>(
    chunk: Records<'_>,
    start: usize,
    labeler: &L,
    out: &mut [Assignment],
) {
    let rows = chunk.rows(start..start + out.len());
    let mut values = vec![0.0; out.len() * labeler.dimension()];
    rows.copy_to_f64(&mut values);
    for (row, out) in values.chunks_exact(labeler.dimension()).zip(out) {
        *out = labeler.assign(row);
    }
}

/// Evaluates a labeler on all records; `visit` sees the labels in order (for a [`Contingency`]).
///
/// # Errors
///
/// As [`assign_all`].
pub fn evaluate<L: Labeler + ?Sized, S: RecordSource + ?Sized>(
    source: &S,
    labeler: &L,
    mut visit: impl FnMut(&[Assignment]),
) -> Result<Evaluation, SourceError> {
    let mut n = 0_u64;
    let mut total = Part::default();
    assign_all(source, labeler, &mut |chunk| {
        // Added in the order of the records: the number of threads does not change the last bit.
        for assignment in chunk {
            n += 1;
            total.cost += assignment.cost;
            total.cost_original += assignment.cost_original;
            if let Some(value) = assignment.log_likelihood {
                *total.log_likelihood.get_or_insert(0.0) += value;
            }
        }
        visit(chunk);
        Ok(())
    })?;
    let mean = |sum: f64| (n > 0).then(|| sum / n as f64);
    Ok(Evaluation {
        n,
        mean_cost: mean(total.cost),
        mean_cost_original: mean(total.cost_original),
        mean_log_likelihood: total.log_likelihood.and_then(mean),
    })
}

/// How often each cluster meets each class.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contingency {
    n_clusters: usize,
    /// One row of `n_clusters` counts per class.
    counts: Vec<u64>,
}

impl Contingency {
    /// No record yet.
    #[must_use]
    pub fn new(n_clusters: usize) -> Self {
        Self {
            n_clusters: n_clusters.max(1),
            counts: Vec::new(),
        }
    }

    /// Adds a record. Labels beyond the number of clusters are ignored.
    pub fn add(&mut self, class: usize, label: u32) {
        let label = label as usize;
        if label >= self.n_clusters {
            return;
        }
        let needed = (class + 1) * self.n_clusters;
        if self.counts.len() < needed {
            self.counts.resize(needed, 0);
        }
        self.counts[class * self.n_clusters + label] += 1;
    }

    fn classes(&self) -> impl Iterator<Item = &[u64]> {
        self.counts.chunks_exact(self.n_clusters.max(1))
    }

    fn cluster_sizes(&self) -> Vec<u64> {
        let mut sizes = vec![0; self.n_clusters];
        for class in self.classes() {
            for (size, &count) in sizes.iter_mut().zip(class) {
                *size += count;
            }
        }
        sizes
    }

    /// Σ over classes c of (`n_c`/n)·max over clusters j of F(c, j), F the harmonic mean of precision and recall.
    ///
    /// 1 for a perfect match; none without records.
    #[must_use]
    pub fn f_measure(&self) -> Option<f64> {
        let sizes = self.cluster_sizes();
        let n: u64 = sizes.iter().sum();
        let mut weighted = 0.0;
        for class in self.classes() {
            let n_c: u64 = class.iter().sum();
            let mut best = 0.0;
            for (&common, &size) in class.iter().zip(&sizes) {
                // 2PR/(P + R) with P = common/size and R = common/n_c.
                let f = 2.0 * common as f64 / (size + n_c) as f64;
                if f > best {
                    best = f;
                }
            }
            weighted += n_c as f64 * best;
        }
        (n > 0).then(|| weighted / n as f64)
    }

    /// The adjusted Rand index (Hubert and Arabie 1985): 1 for a perfect match, about 0 for labels at random.
    ///
    /// Where both sides put all records into one group, or each into its own, they agree: 1. None without records.
    #[must_use]
    pub fn adjusted_rand_index(&self) -> Option<f64> {
        let pairs = |count: u64| count as f64 * (count as f64 - 1.0) / 2.0;
        let sizes = self.cluster_sizes();
        let n: u64 = sizes.iter().sum();
        if n == 0 {
            return None;
        }
        let together: f64 = self.counts.iter().map(|&count| pairs(count)).sum();
        let in_clusters: f64 = sizes.iter().map(|&size| pairs(size)).sum();
        let in_classes: f64 = self.classes().map(|class| pairs(class.iter().sum())).sum();
        let all = pairs(n);
        let expected = if all > 0.0 {
            in_clusters * in_classes / all
        } else {
            0.0
        };
        let largest = f64::midpoint(in_clusters, in_classes);
        let spread = largest - expected;
        Some(if spread.abs() > 0.0 {
            (together - expected) / spread
        } else {
            1.0
        })
    }
}
