//! What one Lloyd step takes from the records.

use std::fmt;

use super::Scalar;

/// Values of `f64` in a cache line.
const LANES: usize = 8;

/// Per-cluster sums, shape (k, d), and counts (k), of labeled records.
///
/// Sums are kept in `f64`. **Records on a lattice add up exactly**: if every coordinate is a multiple of
/// 2⁻ᵇ within \[−1, 1\], with b ≤ 22, then all partial sums of up to 2³⁰ records are multiples of 2⁻ᵇ of
/// magnitude at most 2³⁰, which `f64` holds without rounding. Each sum is then the integer sum
/// divided by 2ᵇ, whatever the order, the blocks or the threads; [`integer_sums`](Self::integer_sums) returns it.
/// Larger inputs are cut into parts of 2³⁰ records whose integers are added.
///
/// Other values are added with rounding, in the order of the records within a chunk and of the chunks.
///
/// Both fields depend on private records: nothing of them may be released before noise was added.
/// `Debug` prints the shape alone.
#[derive(Clone)]
pub struct ClusterSums {
    dimension: usize,
    /// The sum of cluster j is `cells[start + j * stride..][..dimension]`; what lies between is padding.
    cells: Vec<f64>,
    /// Puts the first sum at the start of a cache line; a clone may lose that, which costs time only.
    start: usize,
    /// d rounded up so that no group of [`LANES`] values straddles two lines.
    stride: usize,
    counts: Vec<u64>,
}

impl ClusterSums {
    /// Zero sums and counts of `n_clusters` clusters in `dimension` coordinates.
    #[must_use]
    pub fn new(n_clusters: usize, dimension: usize) -> Self {
        let stride = if dimension < LANES {
            dimension.next_power_of_two()
        } else {
            dimension.next_multiple_of(LANES)
        };
        let cells = vec![0.0; n_clusters * stride + LANES - 1];
        let start = cells.as_ptr().align_offset(LANES * size_of::<f64>());
        Self {
            dimension,
            // `align_offset` may decline to answer.
            start: if start < LANES { start } else { 0 },
            cells,
            stride,
            counts: vec![0; n_clusters],
        }
    }

    /// (k, d).
    #[must_use]
    pub fn shape(&self) -> (usize, usize) {
        (self.counts.len(), self.dimension)
    }

    /// The sum (d) of the records labeled `cluster`.
    ///
    /// # Panics
    ///
    /// If `cluster` is not less than k.
    #[must_use]
    pub fn sum(&self, cluster: usize) -> &[f64] {
        assert!(cluster < self.counts.len(), "no such cluster");
        &self.cells[self.start + cluster * self.stride..][..self.dimension]
    }

    /// The sums (d) of all clusters, in order.
    #[must_use]
    pub fn sums(&self) -> impl ExactSizeIterator<Item = &[f64]> {
        (0..self.counts.len()).map(|cluster| self.sum(cluster))
    }

    /// The number of records of each cluster (k).
    #[must_use]
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// The sums in units of 2⁻ᵇ, b = `bits`, shape (k, d), row-major: exact under the condition in the type's
    /// description.
    ///
    /// Total: elsewhere values round to the nearest integer, saturate at the ends of `i64`, and NaN becomes 0.
    #[must_use]
    pub fn integer_sums(&self, bits: u32) -> Vec<i64> {
        let scale = f64::from(bits).exp2();
        let to_units = |&sum: &f64| {
            #[expect(clippy::cast_possible_truncation, reason = "saturation is documented")]
            let units = (sum * scale).round() as i64;
            units
        };
        self.sums().flatten().map(to_units).collect()
    }

    /// Adds the sums and counts of `other`.
    ///
    /// # Panics
    ///
    /// If the shapes differ.
    pub fn merge(&mut self, other: &Self) {
        assert_eq!(self.shape(), other.shape(), "sums of another shape");
        let cells = &mut self.cells[self.start..];
        for (sum, more) in cells.iter_mut().zip(&other.cells[other.start..]) {
            *sum += more;
        }
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count += more;
        }
    }

    /// Counts a record of `label` and hands out the sum (d) to add it to.
    #[inline]
    pub(super) fn count_one(&mut self, label: u32) -> &mut [f64] {
        let label = label as usize;
        self.counts[label] += 1;
        &mut self.cells[self.start + label * self.stride..][..self.dimension]
    }

    /// Adds each of `rows`, shape (n, d), row-major, to the sum and count of its label, in order.
    pub(super) fn accumulate<T: Scalar>(&mut self, rows: &[T], labels: &[u32]) {
        for (row, &label) in rows.chunks_exact(self.dimension).zip(labels) {
            for (sum, &x) in self.count_one(label).iter_mut().zip(row) {
                *sum += x.into();
            }
        }
    }
}

impl PartialEq for ClusterSums {
    fn eq(&self, other: &Self) -> bool {
        self.shape() == other.shape() && self.counts == other.counts && self.sums().eq(other.sums())
    }
}

impl fmt::Debug for ClusterSums {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (n_clusters, dimension) = self.shape();
        f.debug_struct("ClusterSums")
            .field("n_clusters", &n_clusters)
            .field("dimension", &dimension)
            .finish_non_exhaustive()
    }
}
