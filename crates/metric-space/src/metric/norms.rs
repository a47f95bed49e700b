//! Distances from norms: Minkowski's family.

use ndarray::ArrayView2;

use super::{Metric, MetricError, hull};
use crate::distance::euclidean;
use crate::domain::Domain;

/// Room for rounding in radii and reaches, relative.
const SLACK: f64 = 1.0 + 1e-9;

/// ‖a − b‖₂.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Euclidean;

/// Σ|aᵢ − bᵢ|, L1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Manhattan;

/// max|aᵢ − bᵢ|, L∞.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Chebyshev;

/// (Σ|aᵢ − bᵢ|^q)^(1/q).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Minkowski {
    exponent: f64,
}

impl Minkowski {
    /// The distance of exponent q.
    ///
    /// # Errors
    /// [`MetricError::Exponent`] unless q is finite and at least 1: below 1 the triangle inequality fails.
    pub fn new(exponent: f64) -> Result<Self, MetricError> {
        if (1.0..f64::INFINITY).contains(&exponent) {
            Ok(Self { exponent })
        } else {
            Err(MetricError::Exponent {
                name: "the exponent of Minkowski's distance",
                got: exponent,
            })
        }
    }

    /// The exponent q.
    #[must_use]
    pub const fn exponent(self) -> f64 {
        self.exponent
    }
}

/// A norm's distance is longest between opposite corners of a box; its ball of radius r lies in the Euclidean ball of radius r
/// for q ≤ 2 and of r·d^(1/2 − 1/q) above.
macro_rules! norm {
    ($metric:ty, $name:literal, |$self:ident, $a:ident, $b:ident| $distance:expr, |$this:ident| $inverse:expr) => {
        impl Metric for $metric {
            fn name(&self) -> &str {
                $name
            }

            #[inline]
            fn distance(&$self, $a: &[f64], $b: &[f64]) -> f64 {
                $distance
            }

            fn reach(&self, domain: &Domain, sites: ArrayView2<'_, f64>) -> f64 {
                let (lo, hi) = hull(domain, sites);
                (self.distance(&lo, &hi) * SLACK).clamp(0.0, f64::MAX)
            }

            fn picture_columns(&self, columns: usize) -> Option<usize> {
                Some(columns)
            }

            fn picture(&self, point: &[f64], out: &mut [f64]) {
                for (y, &x) in out.iter_mut().zip(point) {
                    *y = x;
                }
            }

            fn picture_radius(&$this, radius: f64, columns: usize) -> f64 {
                let inverse: f64 = $inverse;
                let excess = (0.5 - inverse).clamp(0.0, 0.5);
                radius * libm::pow(columns as f64, excess) * SLACK
            }
        }
    };
}

norm!(
    Euclidean,
    "euclidean",
    |self, a, b| euclidean(a, b),
    |self| 0.5
);
norm!(
    Manhattan,
    "l1",
    |self, a, b| a.iter().zip(b).map(|(x, y)| (x - y).abs()).sum(),
    |self| 1.0
);
norm!(
    Chebyshev,
    "linf",
    |self, a, b| a
        .iter()
        .zip(b)
        .map(|(x, y)| (x - y).abs())
        .fold(0.0, larger),
    |self| 0.0
);
norm!(
    Minkowski,
    "minkowski",
    |self, a, b| {
        // Relative to the largest term, so that no power overflows.
        let largest = a
            .iter()
            .zip(b)
            .map(|(x, y)| (x - y).abs())
            .fold(0.0, larger);
        if largest <= 0.0 || largest == f64::INFINITY {
            return largest;
        }
        let terms = a
            .iter()
            .zip(b)
            .map(|(x, y)| libm::pow((x - y).abs() / largest, self.exponent));
        largest * libm::pow(terms.sum(), 1.0 / self.exponent)
    },
    |self| 1.0 / self.exponent
);

fn larger(a: f64, b: f64) -> f64 {
    if b > a { b } else { a }
}
