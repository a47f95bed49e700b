//! A caller's own distance.

use std::fmt;

use ndarray::ArrayView2;

use super::{Metric, MetricError};
use crate::domain::Domain;

/// A distance given by a closure, with a public bound on how far things can be apart.
///
/// The closure must be a function of its two points alone. What it returns beyond `[0, reach]`, NaN included, counts as
/// `reach`.
#[derive(Clone)]
pub struct ClosureMetric<F> {
    name: String,
    reach: f64,
    distance: F,
}

impl<F: Fn(&[f64], &[f64]) -> f64 + Send + Sync> ClosureMetric<F> {
    /// A distance with its name in releases and an upper bound of all distances.
    ///
    /// # Errors
    /// [`MetricError::Reach`] unless the bound is finite and positive.
    pub fn new(name: impl Into<String>, reach: f64, distance: F) -> Result<Self, MetricError> {
        if !(reach > 0.0 && reach < f64::INFINITY) {
            return Err(MetricError::Reach { got: reach });
        }
        Ok(Self {
            name: name.into(),
            reach,
            distance,
        })
    }
}

impl<F> fmt::Debug for ClosureMetric<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClosureMetric")
            .field("name", &self.name)
            .field("reach", &self.reach)
            .finish_non_exhaustive()
    }
}

impl<F: Fn(&[f64], &[f64]) -> f64 + Send + Sync> Metric for ClosureMetric<F> {
    fn name(&self) -> &str {
        &self.name
    }

    fn distance(&self, a: &[f64], b: &[f64]) -> f64 {
        let distance = (self.distance)(a, b);
        if (0.0..=self.reach).contains(&distance) {
            distance
        } else {
            self.reach
        }
    }

    fn reach(&self, _domain: &Domain, _sites: ArrayView2<'_, f64>) -> f64 {
        self.reach
    }
}
