//! Nearest centers: the hot kernel of every algorithm here.
//!
//! For each record x the kernel finds the center c of least ‖x − c‖², ties to the lowest index, and
//! may add x to that center's [`ClusterSums`] in the same pass. It compares the scores
//! ‖c‖² − 2·c·x, computed as one chain of fused multiply-adds that starts at ‖c‖² and runs over the
//! coordinates in order. SIMD lanes run over *centers*, never over records or coordinates, so the
//! chain of a record and a center is the same operations whatever stands beside them:
//!
//! **A label is a function of the record and the centers alone, bit for bit.** It does not depend on
//! the record's row, the number of rows, the thread count or the instruction set (AVX-512, AVX2 with
//! FMA, or portable code; the fastest one present is taken at run time). Parallel composition over
//! clusters rests on this.
//!
//! The score form loses digits when ‖c‖ is large against the distances, so callers bring records
//! into a bounded domain first, as the private path does anyway.
//!
//! Any record is accepted. A score that is NaN or +∞ never wins, and a record without a winner gets
//! label 0.
//!
//! ```
//! use metric_space::nearest::{PackedCenters, lloyd_step};
//! use ndarray::array;
//!
//! let centers = PackedCenters::new(array![[0.0, 0.0], [1.0, 1.0]].view())?;
//! let records = array![[0.25, 0.0], [0.75, 1.0], [1.0, 0.5]];
//! let sums = lloyd_step(records.view(), &centers);
//! assert_eq!(sums.counts(), [1, 2]);
//! assert_eq!(sums.sum(1), [1.75, 1.5]);
//! # Ok::<(), metric_space::nearest::NearestError>(())
//! ```

// Other targets run the portable path alone, and no unsafe code.
#[cfg_attr(
    target_arch = "x86_64",
    expect(
        unsafe_code,
        reason = "explicit SIMD: loads through pointers and functions with target features"
    )
)]
mod kernel;
mod portable;
mod step;
mod sums;
#[cfg(test)]
mod tests;

use std::fmt;

use ndarray::ArrayView2;
use thiserror::Error;

pub use self::kernel::Isa;
pub use self::step::{lloyd_step, lloyd_step_with_labels};
pub use self::sums::ClusterSums;

use self::kernel::{Kernel, Line};

/// The type of coordinates: `f32` or `f64`.
pub trait Scalar: Kernel + PartialOrd + fmt::Debug + Into<f64> {}

impl Scalar for f32 {}
impl Scalar for f64 {}

/// Why centers were refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NearestError {
    /// There is no center to be nearest to.
    #[error("at least one center is needed")]
    NoCenters,
    /// The centers have no coordinates.
    #[error("centers need at least one coordinate")]
    NoCoordinates,
    /// Labels are 32 bits wide, with room for the padding of the last group.
    #[error("{n_clusters} centers are more than the 2^31 that labels can tell apart")]
    TooManyCenters {
        /// The number of centers given.
        n_clusters: usize,
    },
}

/// Leaves room above the last label for the lanes of its group.
const MAX_CLUSTERS: usize = 1 << 31;

/// k centers of dimension d, laid out for the kernel.
///
/// Beside a row-major copy it holds `−2·c` as \[group\]\[coordinate\]\[lane\], 64 bytes of centers a group,
/// and ‖c‖² per lane. Lanes beyond k have the norm +∞, so they never win.
/// Packing costs O(k·d); memory is twice that of the centers.
#[derive(Clone, Debug)]
pub struct PackedCenters<T: Scalar> {
    n_clusters: usize,
    dimension: usize,
    /// Shape (k, d), row-major.
    centers: Vec<T>,
    /// `−2·c`, line `group * dimension + coordinate`.
    lines: Vec<Line<T>>,
    /// ‖c‖², line `group`.
    norms: Vec<Line<T>>,
    isa: Isa,
}

impl<T: Scalar> PackedCenters<T> {
    /// Packs `centers`, shape (k, d).
    ///
    /// A center with a coordinate that is not finite, or whose squared norm overflows `T`, is never the nearest.
    ///
    /// # Errors
    ///
    /// [`NearestError`] if k or d is zero, or k exceeds 2³¹.
    pub fn new(centers: ArrayView2<'_, T>) -> Result<Self, NearestError> {
        let (n_clusters, dimension) = centers.dim();
        if n_clusters == 0 {
            return Err(NearestError::NoCenters);
        }
        if dimension == 0 {
            return Err(NearestError::NoCoordinates);
        }
        if n_clusters > MAX_CLUSTERS {
            return Err(NearestError::TooManyCenters { n_clusters });
        }
        let groups = n_clusters.div_ceil(T::LANES);
        let mut lines = vec![Line::splat(T::ZERO); groups * dimension];
        let mut norms = vec![Line::splat(T::INFINITY); groups];
        for (j, center) in centers.outer_iter().enumerate() {
            let (group, lane) = (j / T::LANES, j % T::LANES);
            let mut norm = T::ZERO;
            for (i, &c) in center.iter().enumerate() {
                norm = c.fused(c, norm);
                lines[group * dimension + i].0.as_mut()[lane] = c.minus_twice();
            }
            norms[group].0.as_mut()[lane] = norm;
        }
        Ok(Self {
            n_clusters,
            dimension,
            centers: centers.iter().copied().collect(),
            lines,
            norms,
            isa: Isa::detect(),
        })
    }

    /// The same centers, searched by `isa` from now on; for tests and benches of each path.
    /// A machine without `isa` takes the portable path.
    #[doc(hidden)]
    #[must_use]
    pub fn on(mut self, isa: Isa) -> Self {
        self.isa = isa;
        self
    }

    /// k, the number of centers.
    #[must_use]
    pub fn n_clusters(&self) -> usize {
        self.n_clusters
    }

    /// d, the number of coordinates.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// The center with index `label`, as it was given.
    ///
    /// # Panics
    ///
    /// If `label` is not less than k.
    #[must_use]
    pub fn center(&self, label: u32) -> &[T] {
        let start = label as usize * self.dimension;
        &self.centers[start..start + self.dimension]
    }

    /// Writes to `labels` (n) the index of the center nearest to each of `rows`, shape (n, d), row-major.
    /// Runs on the calling thread: O(n·d·k) time, no memory beyond the stack.
    ///
    /// # Panics
    ///
    /// If `rows` does not hold d values for each label.
    pub fn assign(&self, rows: &[T], labels: &mut [u32]) {
        self.check_shape(rows, labels);
        for (rows, labels) in self.blocks(rows, labels) {
            T::assign(self.isa, rows, self, labels);
        }
    }

    /// As [`assign`](Self::assign), and writes to `sq_distances` (n) the squared distance to the chosen center.
    ///
    /// The distance is Σ(x − c)² added up in `f64` after the choice, so it does not suffer from the
    /// cancellation of the scores, and it too is a function of the record and the centers, bit for bit.
    ///
    /// # Panics
    ///
    /// If `rows` does not hold d values for each label, or there are not as many distances as labels.
    pub fn assign_with_distance(&self, rows: &[T], labels: &mut [u32], sq_distances: &mut [T]) {
        assert_eq!(labels.len(), sq_distances.len(), "one distance a label");
        self.assign(rows, labels);
        let rows = rows.chunks_exact(self.dimension);
        for ((row, &label), out) in rows.zip(&*labels).zip(sq_distances) {
            *out = T::from_f64(portable::squared_distance(row, self.center(label)));
        }
    }

    /// As [`assign`](Self::assign), and adds each row to the sum and count of its label, in the order of rows.
    ///
    /// # Panics
    ///
    /// If `rows` does not hold d values for each label, or the shape of `into` is not (k, d).
    pub fn assign_and_sum(&self, rows: &[T], labels: &mut [u32], into: &mut ClusterSums) {
        self.check_shape(rows, labels);
        assert_eq!(
            into.shape(),
            (self.n_clusters, self.dimension),
            "sums of another shape"
        );
        for (rows, labels) in self.blocks(rows, labels) {
            T::assign(self.isa, rows, self, labels);
            T::accumulate(self.isa, rows, labels, into);
        }
    }

    fn check_shape(&self, rows: &[T], labels: &[u32]) {
        assert_eq!(
            Some(rows.len()),
            labels.len().checked_mul(self.dimension),
            "rows must hold d values for each label"
        );
    }

    /// Cuts rows and labels into blocks that stay in the first-level cache while they are labeled and added.
    fn blocks<'a>(
        &self,
        rows: &'a [T],
        labels: &'a mut [u32],
    ) -> impl Iterator<Item = (&'a [T], &'a mut [u32])> {
        let n = T::block_rows(self.dimension);
        rows.chunks(n * self.dimension).zip(labels.chunks_mut(n))
    }
}
