//! What one Lloyd step takes from the records.

use std::fmt;

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
#[derive(Clone, PartialEq)]
pub struct ClusterSums {
    dimension: usize,
    pub(super) sums: Vec<f64>,
    pub(super) counts: Vec<u64>,
}

impl ClusterSums {
    /// Zero sums and counts of `n_clusters` clusters in `dimension` coordinates.
    #[must_use]
    pub fn new(n_clusters: usize, dimension: usize) -> Self {
        Self {
            dimension,
            sums: vec![0.0; n_clusters * dimension],
            counts: vec![0; n_clusters],
        }
    }

    /// (k, d).
    #[must_use]
    pub fn shape(&self) -> (usize, usize) {
        (self.counts.len(), self.dimension)
    }

    /// All sums, shape (k, d), row-major.
    #[must_use]
    pub fn sums(&self) -> &[f64] {
        &self.sums
    }

    /// The sum (d) of the records labeled `cluster`.
    ///
    /// # Panics
    ///
    /// If `cluster` is not less than k.
    #[must_use]
    pub fn sum(&self, cluster: usize) -> &[f64] {
        &self.sums[cluster * self.dimension..][..self.dimension]
    }

    /// The number of records of each cluster (k).
    #[must_use]
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// The sums in units of 2⁻ᵇ, b = `bits`: exact under the condition in the type's description.
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
        self.sums.iter().map(to_units).collect()
    }

    /// Adds the sums and counts of `other`.
    ///
    /// # Panics
    ///
    /// If the shapes differ.
    pub fn merge(&mut self, other: &Self) {
        assert_eq!(self.shape(), other.shape(), "sums of another shape");
        for (sum, more) in self.sums.iter_mut().zip(&other.sums) {
            *sum += more;
        }
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count += more;
        }
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
