//! Random projection to fewer columns, with public randomness.
//!
//! # Source
//! Johnson, Lindenstrauss (1984); the constant is that of Dasgupta and Gupta (2003), "An elementary
//! proof of a theorem of Johnson and Lindenstrauss".

#[cfg(test)]
mod tests;

use ndarray::{Array2, ArrayView2};
use ndarray_rand::rand_distr::StandardNormal;
use rand::Rng;

use crate::error::{ShapeError, check_columns, check_length};

/// A Gaussian matrix that keeps squared distances on average.
///
/// # Privacy
/// A public linear map, drawn without the records: a record's image is a function of the record
/// alone. It may be longer than the record; clip again after projecting.
///
/// # Examples
/// ```
/// use metric_space::GaussianProjection;
/// use rand::SeedableRng;
///
/// let mut rng = rand_chacha::ChaCha20Rng::seed_from_u64(1);
/// let projection = GaussianProjection::new(100, 20, &mut rng);
/// let mut image = [0.0; 20];
/// projection.project(&[1.0; 100], &mut image)?;
/// # Ok::<(), metric_space::ShapeError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct GaussianProjection {
    /// Shape (reduced, dimension).
    matrix: Array2<f64>,
}

impl GaussianProjection {
    /// Draws a map from `dimension` to `reduced` columns: independent normal entries of variance
    /// 1/`reduced`.
    pub fn new<R: Rng + ?Sized>(dimension: usize, reduced: usize, rng: &mut R) -> Self {
        let scale = 1.0 / (reduced as f64).sqrt();
        let entry = || scale * rng.sample::<f64, _>(StandardNormal);
        Self {
            matrix: Array2::from_shape_simple_fn((reduced, dimension), entry),
        }
    }

    /// The matrix, shape (reduced, dimension).
    #[must_use]
    pub fn matrix(&self) -> ArrayView2<'_, f64> {
        self.matrix.view()
    }

    /// The image of one record.
    ///
    /// # Errors
    /// [`ShapeError`] unless `record` has `dimension` entries and `out` has `reduced`.
    pub fn project(&self, record: &[f64], out: &mut [f64]) -> Result<(), ShapeError> {
        check_columns(self.matrix.ncols(), record.len())?;
        check_length("out", self.matrix.nrows(), out.len())?;
        for (y, row) in out.iter_mut().zip(self.matrix.outer_iter()) {
            // In a fixed order: the image does not depend on what is projected beside it.
            *y = row.iter().zip(record).map(|(a, x)| a * x).sum();
        }
        Ok(())
    }

    /// The images of many records, shape (n, d) to (n, reduced).
    ///
    /// # Errors
    /// [`ShapeError`] if the records have another number of columns.
    pub fn project_rows(&self, records: ArrayView2<'_, f64>) -> Result<Array2<f64>, ShapeError> {
        check_columns(self.matrix.ncols(), records.ncols())?;
        let mut images = Array2::zeros((records.nrows(), self.matrix.nrows()));
        for (record, mut image) in records.outer_iter().zip(images.outer_iter_mut()) {
            for (y, row) in image.iter_mut().zip(self.matrix.outer_iter()) {
                *y = row.iter().zip(&record).map(|(a, x)| a * x).sum();
            }
        }
        Ok(images)
    }
}

/// Columns that keep all squared distances of `n_hint` public points within a factor 1 ±
/// `distortion`, except with the given probability: ln(n(n − 1)/β) / (η²/4 − η³/6).
///
/// `distortion` is cut to (0, 1] and `failure_probability` to (0, 1); at least 1.
#[must_use]
pub fn projected_dimension(n_hint: usize, distortion: f64, failure_probability: f64) -> usize {
    let eta = distortion.clamp(1e-3, 1.0);
    let beta = failure_probability.clamp(1e-300, 1.0);
    let n = n_hint.max(2) as f64;
    let columns = libm::log(n * (n - 1.0) / beta) / (eta * eta / 4.0 - eta * eta * eta / 6.0);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "positive, below 10^10; NaN gives 0, hence 1"
    )]
    let columns = columns.ceil() as usize;
    columns.max(1)
}
