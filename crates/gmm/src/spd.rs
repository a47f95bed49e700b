//! Symmetric positive definite matrices: whatever noise did to a covariance, it comes out as one.

use nalgebra::linalg::{Cholesky, SymmetricEigen};
use nalgebra::{DMatrix, Dyn};
use ndarray::{Array2, ArrayView2};

/// A Cholesky factor with what densities need of it.
#[derive(Clone, Debug)]
pub struct Factor {
    lower: Array2<f64>,
    log_determinant: f64,
}

impl Factor {
    /// Factors a symmetric positive definite matrix; none if it is not one (or not finite).
    #[must_use]
    pub fn new(matrix: ArrayView2<'_, f64>) -> Option<Self> {
        let (rows, columns) = matrix.dim();
        if rows != columns || rows == 0 || !matrix.iter().all(|x| x.is_finite()) {
            return None;
        }
        let factor: Cholesky<f64, Dyn> = Cholesky::new(to_nalgebra(matrix))?;
        let lower = to_ndarray(&factor.l());
        let log_determinant = 2.0 * lower.diag().iter().map(|x| x.ln()).sum::<f64>();
        log_determinant.is_finite().then_some(Self {
            lower,
            log_determinant,
        })
    }

    /// L with L·Lᵀ the matrix, shape `(d, d)`.
    #[must_use]
    pub const fn lower(&self) -> &Array2<f64> {
        &self.lower
    }

    /// Natural logarithm of the determinant.
    #[must_use]
    pub const fn log_determinant(&self) -> f64 {
        self.log_determinant
    }

    /// L⁻¹, shape `(d, d)`, lower triangular.
    #[must_use]
    pub fn inverse_lower(&self) -> Array2<f64> {
        let d = self.lower.nrows();
        let mut inverse = Array2::zeros((d, d));
        for j in 0..d {
            inverse[[j, j]] = 1.0 / self.lower[[j, j]];
            for i in j + 1..d {
                let dot: f64 = (j..i).map(|l| self.lower[[i, l]] * inverse[[l, j]]).sum();
                inverse[[i, j]] = -dot / self.lower[[i, i]];
            }
        }
        inverse
    }
}

/// The symmetric matrix nearest to the given one (in Frobenius norm) whose eigenvalues lie in `[floor, ceiling]`.
///
/// Post-processing: `floor` and `ceiling` are public. Total: entries that are not finite count as 0, and the result
/// is symmetric bit for bit and has a [`Factor`], also after its columns were measured in other units: where eigenvalues are so far apart that rounding takes
/// the least ones away, the diagonal is raised by the little that brings them back.
#[must_use]
pub fn project(matrix: ArrayView2<'_, f64>, floor: f64, ceiling: f64) -> Array2<f64> {
    let d = matrix.nrows();
    let finite = |x: f64| if x.is_finite() { x } else { 0.0 };
    let symmetric = DMatrix::from_fn(d, d, |i, j| {
        0.5 * finite(matrix[[i, j]]) + 0.5 * finite(matrix[[j, i]])
    });
    // Scaled to entries of at most 1: the products of huge entries overflow otherwise.
    let scale = symmetric.amax();
    if scale <= 0.0 || scale.is_nan() {
        return Array2::from_diag_elem(d, floor);
    }
    let Some(eigen) = eigen(symmetric / scale) else {
        return Array2::from_diag_elem(d, floor);
    };
    let mut result = Array2::zeros((d, d));
    for (value, vector) in eigen
        .eigenvalues
        .iter()
        .zip(eigen.eigenvectors.column_iter())
    {
        let value = (value * scale).clamp(floor, ceiling);
        for i in 0..d {
            for j in 0..=i {
                result[[i, j]] += value * vector[i] * vector[j];
            }
        }
    }
    // Rounding may leave the least eigenvalue a little under the floor: a small lift keeps the factor positive.
    let lift = floor * 1e-9 + f64::MIN_POSITIVE;
    for i in 0..d {
        result[[i, i]] += lift;
        for j in 0..i {
            result[[j, i]] = result[[i, j]];
        }
    }
    steady(result)
}

/// Raises the diagonal, in parts of itself, until there is a factor with room for the rounding of other units.
///
/// In parts of itself means the same in any units of the columns; and once the diagonal was raised by d times itself, no matrix with off-diagonal entries as small
/// as those of a covariance is without one.
fn steady(mut matrix: Array2<f64>) -> Array2<f64> {
    let d = matrix.nrows();
    let room = 16.0 * f64::EPSILON * d as f64;
    let mut raise = room;
    loop {
        let mut tried = matrix.clone();
        tried.diag_mut().mapv_inplace(|x| x * (1.0 - room));
        if Factor::new(tried.view()).is_some() || raise > d as f64 {
            return matrix;
        }
        matrix.diag_mut().mapv_inplace(|x| x * (1.0 + raise));
        raise *= 4.0;
    }
}

/// (M⁻¹ᐟ², M¹ᐟ²) of the symmetric matrix M = `matrix` + `ridge`·I, its eigenvalues cut to at least `ridge`.
///
/// Post-processing of released values; total, like [`project`].
pub(crate) fn roots(matrix: ArrayView2<'_, f64>, ridge: f64) -> (Array2<f64>, Array2<f64>) {
    let d = matrix.nrows();
    let spherical = |root: f64| {
        (
            Array2::from_diag_elem(d, 1.0 / root),
            Array2::from_diag_elem(d, root),
        )
    };
    let symmetric = DMatrix::from_fn(d, d, |i, j| f64::midpoint(matrix[[i, j]], matrix[[j, i]]));
    let Some(eigen) = eigen(symmetric) else {
        return spherical(ridge.sqrt());
    };
    let (mut inverse, mut root) = (Array2::zeros((d, d)), Array2::zeros((d, d)));
    for (value, vector) in eigen
        .eigenvalues
        .iter()
        .zip(eigen.eigenvectors.column_iter())
    {
        let length = (value.clamp(0.0, f64::MAX) + ridge).sqrt();
        for i in 0..d {
            for j in 0..d {
                inverse[[i, j]] += vector[i] * vector[j] / length;
                root[[i, j]] += vector[i] * vector[j] * length;
            }
        }
    }
    (inverse, root)
}

/// Eigenvalues and vectors of a symmetric matrix, if they come out as numbers.
///
/// Entries that are nothing beside the largest are taken as 0: their squares underflow, and the solver divides by them.
pub(crate) fn eigen(mut symmetric: DMatrix<f64>) -> Option<SymmetricEigen<f64, Dyn>> {
    let least = symmetric.amax() * 1e-30;
    for x in symmetric.iter_mut() {
        if x.abs() < least {
            *x = 0.0;
        }
    }
    let finite = symmetric.iter().all(|x| x.is_finite());
    let eigen = SymmetricEigen::try_new(symmetric, f64::EPSILON, 10_000).filter(|_| finite)?;
    let mut numbers = eigen.eigenvalues.iter().chain(&eigen.eigenvectors);
    numbers.all(|x| x.is_finite()).then_some(eigen)
}

fn to_nalgebra(matrix: ArrayView2<'_, f64>) -> DMatrix<f64> {
    DMatrix::from_fn(matrix.nrows(), matrix.ncols(), |i, j| matrix[[i, j]])
}

fn to_ndarray(matrix: &DMatrix<f64>) -> Array2<f64> {
    Array2::from_shape_fn((matrix.nrows(), matrix.ncols()), |(i, j)| matrix[(i, j)])
}

#[cfg(test)]
mod tests;
