//! Distances that obey the triangle inequality, as one trait: what facility location is stated in.
//!
//! | metric | points | unit |
//! |---|---|---|
//! | [`Euclidean`], [`Manhattan`], [`Chebyshev`], [`Minkowski`] | any columns | that of the columns |
//! | [`Angular`] | directions | radians |
//! | [`Haversine`] | latitude, longitude in degrees | meters |
//! | [`MatrixMetric`] | one column, a row number | that of the matrix |
//! | [`ClosureMetric`] | whatever the closure takes | that of the closure |
//!
//! Squared Euclidean distance is not among them: it breaks the triangle inequality. An objective Σ d^p takes a metric and a
//! [`Power`] apart from each other.
//!
//! A distance is a function of its two points alone, bit for bit: whether a record lies in a ball does not depend on
//! where the record stands or on what is asked beside it.

mod closure;
mod index;
mod matrix;
mod norms;
mod power;
mod sphere;
#[cfg(test)]
mod tests;

use ndarray::ArrayView2;

use crate::domain::Domain;

pub use closure::ClosureMetric;
pub use index::{BallIndex, nearest_site};
pub use matrix::MatrixMetric;
pub use norms::{Chebyshev, Euclidean, Manhattan, Minkowski};
pub use power::{Power, sites_cost};
pub use sphere::{Angular, EARTH_RADIUS, Haversine};

/// A metric or a power was refused. All it speaks of is public.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MetricError {
    /// The exponent of Minkowski's distance, or of an objective.
    #[error("{name} must be finite and at least 1, got {got}")]
    Exponent {
        /// Which one.
        name: &'static str,
        /// The refused value.
        got: f64,
    },
    /// A bound on distances must be a positive number.
    #[error("the reach of a metric must be finite and above 0, got {got}")]
    Reach {
        /// The refused value.
        got: f64,
    },
    /// A matrix must be square and have at least one row.
    #[error("a matrix of distances must be square and not empty, got {rows} × {columns}")]
    NotSquare {
        /// Its rows.
        rows: usize,
        /// Its columns.
        columns: usize,
    },
    /// A distance of a matrix is no distance: not finite or negative.
    #[error("distances must be finite and at least 0, got {got} in row {row}, column {column}")]
    Entry {
        /// 0-based row.
        row: usize,
        /// 0-based column.
        column: usize,
        /// The refused distance.
        got: f64,
    },
    /// A point of a matrix is away from itself.
    #[error("a place has distance 0 to itself, got {got} in row {row}")]
    Diagonal {
        /// 0-based row.
        row: usize,
        /// The refused distance.
        got: f64,
    },
    /// There and back are not equally far.
    #[error(
        "distances must be symmetric, got {there} in row {row}, column {column} and {back} back"
    )]
    Asymmetric {
        /// 0-based row.
        row: usize,
        /// 0-based column.
        column: usize,
        /// The distance there.
        there: f64,
        /// The distance back.
        back: f64,
    },
    /// A detour is shorter than the direct way.
    #[error(
        "the triangle inequality fails: from {from} to {to} it is {direct}, but {detour} by way of {via}"
    )]
    Triangle {
        /// 0-based start.
        from: usize,
        /// 0-based end.
        to: usize,
        /// 0-based stop between.
        via: usize,
        /// The direct distance.
        direct: f64,
        /// The length of the detour.
        detour: f64,
    },
}

/// A distance between points that are rows of numbers.
///
/// # Contract
/// For finite points: at least 0, symmetric, 0 from a point to itself, and the triangle inequality up to rounding. A function of
/// the two points alone.
pub trait Metric: Send + Sync {
    /// The name in flags and models.
    fn name(&self) -> &str;

    /// The number of columns of a point; none: any number.
    fn columns(&self) -> Option<usize> {
        None
    }

    /// The distance of two points.
    fn distance(&self, a: &[f64], b: &[f64]) -> f64;

    /// An upper bound of all distances among the points of `domain` and the sites, finite and at least 0.
    fn reach(&self, domain: &Domain, sites: ArrayView2<'_, f64>) -> f64;

    /// The number of columns of the Euclidean picture by which a spatial index finds balls; none: there is no such picture.
    fn picture_columns(&self, columns: usize) -> Option<usize> {
        let _ = columns;
        None
    }

    /// Writes a point's place in the picture.
    fn picture(&self, point: &[f64], out: &mut [f64]) {
        let _ = (point, out);
    }

    /// A Euclidean radius in the picture that encloses every ball of this radius, rounding included.
    fn picture_radius(&self, radius: f64, columns: usize) -> f64 {
        let _ = (radius, columns);
        f64::INFINITY
    }
}

macro_rules! deref_is_metric {
    ($($pointer:ty),*) => {$(
        impl<M: Metric + ?Sized> Metric for $pointer {
            fn name(&self) -> &str {
                (**self).name()
            }

            fn columns(&self) -> Option<usize> {
                (**self).columns()
            }

            fn distance(&self, a: &[f64], b: &[f64]) -> f64 {
                (**self).distance(a, b)
            }

            fn reach(&self, domain: &Domain, sites: ArrayView2<'_, f64>) -> f64 {
                (**self).reach(domain, sites)
            }

            fn picture_columns(&self, columns: usize) -> Option<usize> {
                (**self).picture_columns(columns)
            }

            fn picture(&self, point: &[f64], out: &mut [f64]) {
                (**self).picture(point, out);
            }

            fn picture_radius(&self, radius: f64, columns: usize) -> f64 {
                (**self).picture_radius(radius, columns)
            }
        }
    )*};
}

deref_is_metric!(&M, Box<M>);

/// The smallest box around a domain and public sites, as lower and upper corner.
pub(crate) fn hull(domain: &Domain, sites: ArrayView2<'_, f64>) -> (Vec<f64>, Vec<f64>) {
    let (mut lo, mut hi) = domain.corners();
    for site in sites.rows() {
        for ((lo, hi), &x) in lo.iter_mut().zip(hi.iter_mut()).zip(site) {
            if x < *lo {
                *lo = x;
            }
            if x > *hi {
                *hi = x;
            }
        }
    }
    (lo, hi)
}
