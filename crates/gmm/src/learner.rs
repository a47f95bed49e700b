//! Private learners of single Gaussians, run on all clusters at once.
//!
//! A cluster's size is private, so a learner is private when a record appears or disappears ([`NeighboringRelation::AddRemove`]), and
//! states its own loss when one is replaced. A record is in one cluster: the statistics of all k clusters together move by one record's
//! term, so one release serves all of them at the price of one ([`passes`]).
//!
//! | learner | for | what it does |
//! |---|---|---|
//! | [`CoinPress`] | any d | clips, estimates, whitens by the estimate, and again: the clip fits the cluster better each time |
//! | [`KarwaVadhan`] | d = 1 | finds scale and place by noisy histograms, then a clipped mean and variance |
//! | [`ClipAndNoise`] | any d | one release, clipped to the public domain: the baseline |
//!
//! # Source
//!
//! Biswas, Dong, Kamath, Ullman, "CoinPress: practical private mean and covariance estimation", NeurIPS 2020; Karwa, Vadhan, "Finite sample
//! differentially private confidence intervals", ITCS 2018. Proofs of this form are in `docs/proofs/gmm.md`.

use std::fmt;

use dp_core::mechanism::GaussianSpend;
use dp_core::{Event, NeighboringRelation, Session};
use metric_space::Frame;
use ndarray::{Array1, Array2};

use crate::error::{FitError, ParamsError};

mod clip_and_noise;
mod coin_press;
mod karwa_vadhan;
pub mod passes;
mod progress;
mod radii;
mod round;
#[cfg(test)]
mod tests;

pub use clip_and_noise::ClipAndNoise;
pub use coin_press::{CoinPress, CoinPressParams, Start, Target};
pub use karwa_vadhan::KarwaVadhan;
pub use passes::{ClusterMoments, ClusterPasses, Passes, View};

/// Public bounds on the standard deviations of a cluster, per column, scaled units.
#[derive(Clone, Debug, PartialEq)]
pub struct Sigmas {
    least: Vec<f64>,
    most: Vec<f64>,
}

impl Sigmas {
    /// `least` and `most` per column, scaled units (half a column's width is 1).
    ///
    /// # Errors
    ///
    /// [`ParamsError`] if a number is not positive and finite, the least is not below the largest, or the lists differ in length.
    pub fn new(least: Vec<f64>, most: Vec<f64>) -> Result<Self, ParamsError> {
        if least.len() != most.len() || least.is_empty() {
            return Err(ParamsError::Columns {
                name: "sigma_max",
                expected: least.len(),
                got: most.len(),
            });
        }
        for (&least, &most) in least.iter().zip(&most) {
            for (name, got) in [("sigma_min", least), ("sigma_max", most)] {
                if !(got > 0.0 && got.is_finite()) {
                    return Err(ParamsError::NotPositive { name, got });
                }
            }
            if least >= most {
                return Err(ParamsError::Sigmas { least, most });
            }
        }
        Ok(Self { least, most })
    }

    /// What records on a lattice can show, scaled units: no largest deviation may lie below the first number, a sixteenth of the lattice's step, no least one above the second,
    /// 2^20 half widths.
    #[must_use]
    pub fn visible(frame: &Frame) -> [f64; 2] {
        [frame.lattice().step() / 16.0, 1_048_576.0]
    }

    /// The bounds that matter to records on a lattice: none below a sixteenth of its step, which no record can show, and none far above the domain.
    ///
    /// Squares of what is left are numbers with room on either side, whatever was asked for.
    ///
    /// # Errors
    ///
    /// [`ParamsError::Range`] if they are not [`visible`](Self::visible).
    pub(crate) fn seen_by(&self, frame: &Frame) -> Result<Self, ParamsError> {
        let [floor, ceiling] = Self::visible(frame);
        let mut seen = self.clone();
        for (least, most) in seen.least.iter_mut().zip(&mut seen.most) {
            let range = |name, got: f64| {
                let refused = ParamsError::Range {
                    name,
                    low: floor,
                    high: ceiling,
                    got,
                };
                Err(refused)
            };
            if *least > ceiling {
                return range("sigma_min", *least);
            }
            if *most < floor {
                return range("sigma_max", *most);
            }
            if *least < floor {
                *least = f64::midpoint(
                    0.0,
                    if *most < 2.0 * floor {
                        *most
                    } else {
                        2.0 * floor
                    },
                );
            }
            // Four half widths, or twice the least.
            let high = if *least > 2.0 { 2.0 * *least } else { 4.0 };
            *most = if *most < high { *most } else { high };
        }
        Ok(seen)
    }

    /// The defaults: 1/1024 and 1/2 of each column's width.
    #[must_use]
    pub fn of_widths(dimension: usize) -> Self {
        Self {
            least: vec![1.0 / 512.0; dimension],
            most: vec![1.0; dimension],
        }
    }

    /// Least standard deviations.
    #[must_use]
    pub fn least(&self) -> &[f64] {
        &self.least
    }

    /// Largest standard deviations.
    #[must_use]
    pub fn most(&self) -> &[f64] {
        &self.most
    }

    /// Makes a released matrix a covariance within the bounds: symmetric positive definite, whatever noise made of it.
    ///
    /// Columns are measured in their least standard deviation; eigenvalues in these units are cut to at least 1 and to at most
    /// the largest ratio of the two bounds, squared.
    #[must_use]
    pub fn project(&self, covariance: &Array2<f64>) -> Array2<f64> {
        let scale = |matrix: &Array2<f64>, factor: &dyn Fn(f64) -> f64| {
            Array2::from_shape_fn(matrix.dim(), |(i, j)| {
                matrix[[i, j]] * (factor(self.least[i]) * factor(self.least[j]))
            })
        };
        let ratios = self
            .least
            .iter()
            .zip(&self.most)
            .map(|(least, most)| most / least);
        let ceiling = ratios.fold(1.0, |a, b| if b > a { b } else { a });
        let in_units = scale(covariance, &|least| 1.0 / least);
        let projected = crate::spd::project(in_units.view(), 1.0, ceiling * ceiling);
        scale(&projected, &|least| least)
    }

    /// Makes a matrix that is diagonal, with one variance in units in which column i is `units[i]` long, stay so within the bounds: the standard deviation is cut to
    /// at least the largest of the least ones and at most the largest of the largest ones, in these units.
    pub(crate) fn project_spherical(&self, covariance: &Array2<f64>, units: &[f64]) -> Array2<f64> {
        let largest = |bounds: &[f64]| {
            let scaled = bounds.iter().zip(units).map(|(bound, unit)| bound * unit);
            scaled.fold(0.0, |a, b| if b > a { b } else { a })
        };
        let (low, high) = (largest(&self.least), largest(&self.most));
        // A variance that noise made negative has no root: the least one.
        let variance = covariance[[0, 0]];
        let sigma = if variance > 0.0 {
            variance.sqrt() * units[0]
        } else {
            low
        };
        let sigma = sigma.clamp(low, high);
        let variances = units.iter().map(|unit| (sigma / unit) * (sigma / unit));
        Array2::from_diag(&variances.collect::<Array1<f64>>())
    }

    /// What a degenerate cluster gets: the largest variances that were thought possible.
    #[must_use]
    pub fn fallback(&self) -> Array2<f64> {
        Array2::from_diag(
            &self
                .most
                .iter()
                .map(|most| most * most)
                .collect::<Array1<f64>>(),
        )
    }
}

/// What is known before: centers near the means, and bounds.
#[derive(Clone, Debug, PartialEq)]
pub struct Prior {
    /// Public centers, shape `(k, d)`, scaled units: each cluster is what lies nearest to its center.
    pub centers: Array2<f64>,
    /// Bounds on standard deviations.
    pub sigmas: Sigmas,
}

/// A learned Gaussian of each cluster: released.
#[derive(Clone, Debug, PartialEq)]
pub struct Learned {
    /// Shape `(k, d)`, scaled units, inside the domain.
    pub means: Array2<f64>,
    /// One `(d, d)` matrix per cluster, scaled units, symmetric positive definite.
    pub covariances: Vec<Array2<f64>>,
    /// Noisy counts, as they came.
    pub noisy_counts: Vec<f64>,
}

/// A private learner of the Gaussians of k clusters around public centers.
///
/// # Privacy
///
/// Gaussian releases that add up to the given spend, ρ-zCDP with its ρ, for a record more or less or for a replaced one, as the session's relation has it. All noise comes through the session.
/// Total: clusters without records, of identical records, or of fewer than the noise lets see end in a public fallback, the
/// center that was given and the largest variances, decided by noisy counts.
pub trait GaussianLearner: fmt::Debug + Sync {
    /// The name in reports and ledgers.
    fn name(&self) -> &'static str;

    /// What a run with this spend would charge.
    ///
    /// # Errors
    ///
    /// [`ParamsError`] if the spend is too small or the learner is for another number of columns.
    fn plan(
        &self,
        dimension: usize,
        spend: GaussianSpend,
        relation: NeighboringRelation,
    ) -> Result<Vec<Event>, ParamsError>;

    /// Learns.
    ///
    /// # Errors
    ///
    /// [`FitError`] as [`plan`](Self::plan), or if the session's budget does not cover it or the records cannot be read.
    fn learn(
        &self,
        passes: &dyn ClusterPasses,
        prior: &Prior,
        spend: GaussianSpend,
        session: &mut Session<'_>,
    ) -> Result<Learned, FitError>;
}

/// Parts of a spend, none of which may be nothing.
fn divided(spend: GaussianSpend, shares: &[f64]) -> Result<Vec<GaussianSpend>, ParamsError> {
    spend.split(shares).map_err(|_| ParamsError::BudgetTooSmall)
}

/// g(d, β): a d-dimensional standard normal is longer with probability at most β (Laurent, Massart 2000).
pub(crate) fn normal_length(dimension: usize, probability: f64) -> f64 {
    let (d, log) = (dimension as f64, -libm::log(probability));
    libm::sqrt(d + 2.0 * libm::sqrt(d * log) + 2.0 * log)
}

/// Shares of a round's ρ for sums and for products.
pub(crate) fn round_shares(dimension: usize) -> (f64, f64) {
    let shares = round::RoundShares::balanced(dimension, normal_length(dimension, 0.1));
    (shares.sums, shares.products)
}
