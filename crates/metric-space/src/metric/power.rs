//! Objectives Σ min d^p: a power beside a metric.

use ndarray::ArrayView2;
use rayon::prelude::*;

use super::{Metric, MetricError};

/// The exponent p of an objective Σ min d(x, c)^p, at least 1: 1 for k-medians, 2 for k-means.
///
/// d^p is no metric for p > 1, but d(a,b)^p ≤ 2^(p−1)·(d(a,c)^p + d(b,c)^p).
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Power(f64);

impl Power {
    /// k-medians.
    pub const MEDIANS: Self = Self(1.0);

    /// k-means.
    pub const MEANS: Self = Self(2.0);

    /// Checks an exponent.
    ///
    /// # Errors
    /// [`MetricError::Exponent`] unless it is finite and at least 1.
    pub fn new(power: f64) -> Result<Self, MetricError> {
        if (1.0..f64::INFINITY).contains(&power) {
            Ok(Self(power))
        } else {
            Err(MetricError::Exponent {
                name: "power",
                got: power,
            })
        }
    }

    /// The exponent p.
    #[must_use]
    pub const fn get(self) -> f64 {
        self.0
    }

    /// d^p, at most the largest number.
    #[must_use]
    #[inline]
    pub fn of(self, distance: f64) -> f64 {
        if self.0 <= 1.0 {
            distance
        } else if self == Self::MEANS {
            (distance * distance).clamp(0.0, f64::MAX)
        } else {
            libm::pow(distance, self.0).clamp(0.0, f64::MAX)
        }
    }

    /// The factor 2^(p−1) of the relaxed triangle inequality.
    #[must_use]
    pub fn relaxation(self) -> f64 {
        libm::exp2(self.0 - 1.0)
    }
}

/// The cost Σ w·min d(x, c)^p of records as they are. Private if the records are.
///
/// `weights`, if given, belong to the records in order, and records beyond them weigh nothing. 0 without centers.
///
/// # Complexity
/// O(n·k) distances, in parallel; the sum is taken in order, so threads do not change it.
#[must_use]
pub fn sites_cost<M: Metric>(
    metric: &M,
    power: Power,
    records: ArrayView2<'_, f64>,
    weights: Option<&[f64]>,
    centers: ArrayView2<'_, f64>,
) -> f64 {
    if centers.is_empty() {
        return 0.0;
    }
    let centers = centers.as_standard_layout();
    let flat = centers.as_slice().unwrap_or_default();
    let rows: Vec<usize> = (0..records.nrows()).collect();
    let costs: Vec<f64> = rows
        .par_iter()
        .with_min_len(256)
        .map_init(Vec::new, |point, &i| {
            point.clear();
            point.extend(records.row(i));
            let (_, distance) = super::nearest_site(metric, point, flat, centers.ncols());
            power.of(distance) * weights.map_or(1.0, |w| w.get(i).copied().unwrap_or(0.0))
        })
        .collect();
    costs.iter().sum()
}
