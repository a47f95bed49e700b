//! Expectation maximization without privacy: the baseline of every study, and a black box inside blocks.
//!
//! # Source
//!
//! Dempster, Laird, Rubin, "Maximum likelihood from incomplete data via the EM algorithm", 1977. Log densities are
//! added by log-sum-exp, covariances are projected to a floor in each round.

use metric_space::{Lloyd, LloydParams, Solution};
use ndarray::{Array1, Array2, Array3, ArrayView2, Axis};
use rand::RngCore;

use crate::error::ParamsError;
use crate::mixture::{CovarianceKind, GaussianMixture};
use crate::spd;

mod moments;
use moments::{Moments, expectation};

/// Unchecked parameters of [`Em`].
#[derive(Clone, Debug, PartialEq)]
#[must_use = "parameters do nothing until `check` is called"]
pub struct EmParams {
    n_clusters: usize,
    kind: CovarianceKind,
    max_iterations: usize,
    tolerance: f64,
    floor: f64,
}

impl EmParams {
    /// A mixture of `n_clusters` components with full covariances, at most 100 rounds.
    pub const fn new(n_clusters: usize) -> Self {
        Self {
            n_clusters,
            kind: CovarianceKind::Full,
            max_iterations: 100,
            tolerance: 1e-3,
            floor: 1e-6,
        }
    }

    /// Sets what covariances may look like.
    pub const fn kind(mut self, kind: CovarianceKind) -> Self {
        self.kind = kind;
        self
    }

    /// Sets the most rounds.
    pub const fn max_iterations(mut self, max_iterations: usize) -> Self {
        self.max_iterations = max_iterations;
        self
    }

    /// Sets the gain in mean log-likelihood under which it stops.
    pub const fn tolerance(mut self, tolerance: f64) -> Self {
        self.tolerance = tolerance;
        self
    }

    /// Sets the least eigenvalue of a covariance.
    pub const fn floor(mut self, floor: f64) -> Self {
        self.floor = floor;
        self
    }

    /// Checks every field once.
    ///
    /// # Errors
    ///
    /// The [`ParamsError`] of the first field that is out of range.
    pub fn check(self) -> Result<Em, ParamsError> {
        let Self {
            n_clusters,
            kind: _,
            max_iterations,
            tolerance,
            floor,
        } = self;
        if n_clusters == 0 {
            return Err(ParamsError::NoClusters);
        }
        if max_iterations == 0 {
            return Err(ParamsError::Zero {
                name: "max_iterations",
            });
        }
        for (name, got) in [("tolerance", tolerance), ("floor", floor)] {
            if !(got > 0.0 && got.is_finite()) {
                return Err(ParamsError::NotPositive { name, got });
            }
        }
        let seeding = LloydParams::new(n_clusters)
            .n_restarts(1)
            .max_iterations(20)
            .bound(f64::MAX)
            .check()
            .map_err(|_| ParamsError::NoClusters)?;
        Ok(Em {
            params: self,
            seeding,
        })
    }
}

/// Checked expectation maximization. Not private.
#[derive(Clone, Debug, PartialEq)]
pub struct Em {
    params: EmParams,
    seeding: Lloyd,
}

/// What a fit found.
#[derive(Clone, Debug)]
pub struct EmSolution {
    /// The mixture.
    pub mixture: GaussianMixture,
    /// Mean log-likelihood of the records under the mixture of the last expectation.
    pub mean_log_likelihood: f64,
    /// Rounds that were made.
    pub n_iterations: usize,
}

impl Em {
    /// The number of components.
    #[must_use]
    pub const fn n_clusters(&self) -> usize {
        self.params.n_clusters
    }

    /// Fits a mixture, from a k-means++ start with a few Lloyd rounds.
    ///
    /// Total: with fewer records than components, identical records or values that are not finite (such records are left
    /// out of the sums) there is still a mixture; without any record, standard normals at the origin.
    ///
    /// # Privacy
    ///
    /// None.
    ///
    /// # Complexity
    ///
    /// O(n·k·d²) a round; memory O(k·d²) per thread beyond the records.
    pub fn fit(&self, records: ArrayView2<'_, f64>, rng: &mut dyn RngCore) -> EmSolution {
        let start = self.seeding.fit(records, None, &mut *rng);
        let start = start.map_or_else(
            |_| self.unit_mixture(records.ncols()),
            |solution| self.mixture_of_labels(records, &solution),
        );
        self.fit_from(records, start)
    }

    /// Fits a mixture from a given start.
    #[must_use]
    pub fn fit_from(&self, records: ArrayView2<'_, f64>, start: GaussianMixture) -> EmSolution {
        let mut solution = EmSolution {
            mixture: start,
            mean_log_likelihood: f64::NEG_INFINITY,
            n_iterations: 0,
        };
        while solution.n_iterations < self.params.max_iterations {
            let (moments, mean_log_likelihood) = expectation(records, &solution.mixture);
            let gain = mean_log_likelihood - solution.mean_log_likelihood;
            solution.mean_log_likelihood = mean_log_likelihood;
            solution.mixture = self.maximize(&moments, &solution.mixture);
            solution.n_iterations += 1;
            // Written as what must hold to go on: a likelihood that is not a number ends it.
            let goes_on = gain > self.params.tolerance;
            if !goes_on {
                break;
            }
        }
        solution
    }

    /// The mixture of hard labels.
    fn mixture_of_labels(
        &self,
        records: ArrayView2<'_, f64>,
        solution: &Solution,
    ) -> GaussianMixture {
        let moments = Moments::of_labels(records, &solution.labels, &solution.centers);
        let unit = self.unit_mixture(records.ncols());
        self.maximize(&moments, &unit)
    }

    /// Weights, means and covariances from weighted moments; a component without weight keeps its mean and
    /// covariance.
    fn maximize(&self, moments: &Moments, before: &GaussianMixture) -> GaussianMixture {
        let (k, d) = moments.shape();
        let mut means = before.means().clone();
        let mut covariances = before.covariances().clone();
        let total: f64 = moments.weights().sum();
        for component in 0..k {
            if let Some((mean, covariance)) = moments.component(component) {
                means.row_mut(component).assign(&mean);
                covariances
                    .index_axis_mut(Axis(0), component)
                    .assign(&covariance);
            }
        }
        self.shape_covariances(moments.weights(), &mut covariances);
        let weights = if total > 0.0 {
            moments
                .weights()
                .mapv(|weight| if weight > 0.0 { weight / total } else { 0.0 })
        } else {
            Array1::from_elem(k, 1.0)
        };
        GaussianMixture::new(weights, means, covariances).unwrap_or_else(|_| self.unit_mixture(d))
    }

    /// Makes covariances of the wanted kind, and positive definite.
    fn shape_covariances(&self, weights: &Array1<f64>, covariances: &mut Array3<f64>) {
        shape_covariances(self.params.kind, weights, covariances);
        for mut covariance in covariances.outer_iter_mut() {
            let projected = spd::project(covariance.view(), self.params.floor, f64::MAX);
            covariance.assign(&projected);
        }
    }

    fn unit_mixture(&self, d: usize) -> GaussianMixture {
        let (k, d) = (self.params.n_clusters, d.max(1));
        let covariances = Array3::from_shape_fn((k, d, d), |(_, i, j)| f64::from(u8::from(i == j)));
        GaussianMixture::new(
            Array1::from_elem(k, 1.0),
            Array2::zeros((k, d)),
            covariances,
        )
        .expect("k standard normals are a mixture")
    }
}

/// Replaces covariances by the nearest ones of a kind: averages over what the kind does not tell apart.
pub(crate) fn shape_covariances(
    kind: CovarianceKind,
    weights: &Array1<f64>,
    covariances: &mut Array3<f64>,
) {
    let d = covariances.dim().1;
    match kind {
        CovarianceKind::Full => {}
        CovarianceKind::Tied => {
            let total = weights.sum();
            let share = |weight: f64| {
                if total > 0.0 {
                    weight / total
                } else {
                    1.0 / weights.len() as f64
                }
            };
            let mut tied = Array2::zeros((d, d));
            for (covariance, &weight) in covariances.outer_iter().zip(weights) {
                tied.scaled_add(share(weight), &covariance);
            }
            for mut covariance in covariances.outer_iter_mut() {
                covariance.assign(&tied);
            }
        }
        CovarianceKind::Diagonal | CovarianceKind::Spherical => {
            for mut covariance in covariances.outer_iter_mut() {
                let mut diagonal = covariance.diag().to_owned();
                if kind == CovarianceKind::Spherical {
                    let mean = diagonal.sum() / d as f64;
                    diagonal.fill(mean);
                }
                covariance.assign(&Array2::from_diag(&diagonal));
            }
        }
    }
}

#[cfg(test)]
mod tests;
