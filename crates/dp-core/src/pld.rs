//! Numerical composition by privacy-loss distributions, with bounds from both sides.
//!
//! A mechanism is represented by a pair of laws (P, Q) that dominates it: the law of ln(P/Q) under P says
//! everything about its δ(ε), and losses of composed mechanisms add up. Here that law lives on a sparse grid
//! of losses (the submodules say how it is moved there): once from above ([`Bound::Upper`], what is
//! claimed) and once from below ([`Bound::Lower`], how much of the claim is the method's own).
//!
//! *Rigor.* All masses are positive and all convolutions direct sums of products, so each carries a relative
//! error, which is added in the direction of the bound; nothing is subtracted and no Fourier transform is
//! taken, whose absolute error would swamp δ below 1e-12. Cut tails are added to the mass at infinity.
//!
//! *Cost.* The grid is as coarse as the profile allows in each place, so a law has a few thousand atoms
//! whatever its ε: memory stays within a few arrays of 8 MiB, and k-fold self-composition takes O(log k) convolutions.
//!
//! Source: Sommer, Meiser and Mohammadi 2019; Koskela, Jälkö and Honkela 2020; Doroshenko et al. 2022 for
//! the upper grid; Zhu, Dong and Wang 2022 for dominating pairs.

mod discrete;
mod distribution;
mod experiment;
mod grid;

use discrete::Atoms;
use distribution::LossDistribution;
use experiment::{Experiment, FINE_GAUSSIAN, Noise};

/// From which side a result bounds the truth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// Never below the true loss: what may be claimed.
    Upper,
    /// Never above the true loss of the dominating pairs.
    Lower,
}

/// How closely the grid follows the profile.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Precision {
    /// Largest relative error of δ that one cell may cause.
    pub tolerance: f64,
    /// Mass that may be cut from each tail in each step.
    pub tail: f64,
}

impl Default for Precision {
    fn default() -> Self {
        Self {
            tolerance: 6e-5,
            tail: 1e-24,
        }
    }
}

/// A mechanism as its dominating pair. Sensitivities are for the relation of the claim.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Mechanism {
    /// Continuous Gaussian noise on a vector; `mu` = L2 sensitivity / σ.
    Gaussian {
        /// L2 sensitivity over standard deviation.
        mu: f64,
    },
    /// Continuous Laplace noise on *one* number; `epsilon` = sensitivity / scale.
    Laplace {
        /// Sensitivity over scale.
        epsilon: f64,
    },
    /// Discrete Laplace noise, P(x) ∝ e^(−|x|/scale), on *one* integer.
    DiscreteLaplace {
        /// The scale, in steps of the lattice.
        scale: f64,
        /// The sensitivity, in steps of the lattice.
        sensitivity: u64,
    },
    /// Discrete Gaussian noise on *one* integer.
    DiscreteGaussian {
        /// The parameter σ, in steps of the lattice.
        std_dev: f64,
        /// The sensitivity, in steps of the lattice.
        sensitivity: u64,
    },
    /// [`Gaussian`](Self::Gaussian) on a Poisson sample, under `AddRemove`.
    SubsampledGaussian {
        /// Probability with which each record is in the sample.
        sampling_probability: f64,
        /// L2 sensitivity over standard deviation.
        mu: f64,
    },
    /// [`Laplace`](Self::Laplace) on a Poisson sample, under `AddRemove`.
    SubsampledLaplace {
        /// Probability with which each record is in the sample.
        sampling_probability: f64,
        /// Sensitivity over scale.
        epsilon: f64,
    },
    /// Anything that is ε-private; vector Laplace noise and the exponential mechanism among it.
    Pure {
        /// The loss.
        epsilon: f64,
    },
    /// Anything that is (ε, δ)-private.
    Approximate {
        /// The loss.
        epsilon: f64,
        /// The slack.
        delta: f64,
    },
}

/// The smallest loss and the smallest sampling probability: below, doubles are too coarse for the grid.
const LEAST: f64 = 1e-9;

/// The largest μ and the largest ε of one use: beyond, there is no privacy to account for.
const MOST_MU: f64 = 40.0;
const MOST_EPSILON: f64 = 700.0;

/// A plan cannot be accounted numerically.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PldError {
    /// A parameter of a mechanism is outside its range.
    #[error("{name} must lie in [{low}, {high}], got {got}")]
    Parameter {
        /// The parameter.
        name: &'static str,
        /// The smallest value.
        low: f64,
        /// The largest value.
        high: f64,
        /// The refused value.
        got: f64,
    },
}

impl Mechanism {
    /// Checks the parameters.
    fn check(self) -> Result<(), PldError> {
        let within = |name, got: f64, low: f64, high: f64| {
            // Written as what must hold: NaN fails.
            if got >= low && got <= high {
                Ok(())
            } else {
                Err(PldError::Parameter {
                    name,
                    low,
                    high,
                    got,
                })
            }
        };
        let mu = |mu| within("mu", mu, LEAST, MOST_MU);
        let loss = |epsilon| within("epsilon", epsilon, LEAST, MOST_EPSILON);
        let share = |q| within("sampling_probability", q, LEAST, 1.0);
        match self {
            Self::Gaussian { mu: ratio } => mu(ratio),
            Self::Laplace { epsilon } | Self::Pure { epsilon } => loss(epsilon),
            Self::DiscreteLaplace { scale, sensitivity } => within(
                "sensitivity / scale",
                sensitivity as f64 / scale,
                LEAST,
                MOST_EPSILON,
            ),
            Self::DiscreteGaussian {
                std_dev,
                sensitivity,
            } => within(
                "sensitivity / std_dev",
                sensitivity as f64 / std_dev,
                LEAST,
                MOST_MU,
            ),
            Self::SubsampledGaussian {
                sampling_probability,
                mu: ratio,
            } => share(sampling_probability).and(mu(ratio)),
            Self::SubsampledLaplace {
                sampling_probability,
                epsilon,
            } => share(sampling_probability).and(loss(epsilon)),
            Self::Approximate { epsilon, delta } => {
                loss(epsilon).and(within("delta", delta, 0.0, 1.0_f64.next_down()))
            }
        }
    }

    /// Whether removing a record and adding one lose differently.
    const fn is_asymmetric(self) -> bool {
        matches!(
            self,
            Self::SubsampledGaussian { .. } | Self::SubsampledLaplace { .. }
        )
    }

    /// The spacing of the losses, if they lie on a lattice.
    fn lattice(self) -> Option<f64> {
        match self {
            Self::Laplace { epsilon } => Some(epsilon),
            Self::Pure { epsilon } | Self::Approximate { epsilon, .. } => Some(2.0 * epsilon),
            Self::DiscreteLaplace { scale, .. } => Some(2.0 / scale),
            Self::DiscreteGaussian {
                std_dev,
                sensitivity,
            } if std_dev < FINE_GAUSSIAN => Some(sensitivity as f64 / (std_dev * std_dev)),
            _ => None,
        }
    }

    /// The loss distribution of one use.
    fn distribution(
        self,
        removal: bool,
        bound: Bound,
        unit: f64,
        precision: Precision,
    ) -> LossDistribution {
        let continuous = |noise, shift, sampled| {
            Experiment {
                noise,
                shift,
                sampled,
                // Unsampled, the two directions are mirror images.
                removal: removal || sampled >= 1.0,
            }
            .distribution(bound, unit, precision)
        };
        match self {
            Self::Gaussian { mu } => continuous(Noise::Normal, mu, 1.0),
            Self::Laplace { epsilon } => continuous(Noise::Laplace, epsilon, 1.0),
            Self::SubsampledGaussian {
                sampling_probability,
                mu,
            } => continuous(Noise::Normal, mu, sampling_probability),
            Self::SubsampledLaplace {
                sampling_probability,
                epsilon,
            } => continuous(Noise::Laplace, epsilon, sampling_probability),
            Self::DiscreteLaplace { scale, sensitivity } => {
                Atoms::discrete_laplace(1.0 / scale, sensitivity, bound)
                    .distribution(bound, unit, precision)
            }
            Self::DiscreteGaussian {
                std_dev,
                sensitivity,
            } => {
                if std_dev < FINE_GAUSSIAN {
                    Atoms::discrete_gaussian(std_dev, sensitivity, bound, precision)
                        .distribution(bound, unit, precision)
                } else {
                    continuous(
                        Noise::FineGaussian { std_dev },
                        sensitivity as f64 / std_dev,
                        1.0,
                    )
                }
            }
            Self::Pure { epsilon } => {
                Atoms::approximate(epsilon, 0.0).distribution(bound, unit, precision)
            }
            Self::Approximate { epsilon, delta } => {
                Atoms::approximate(epsilon, delta).distribution(bound, unit, precision)
            }
        }
    }
}

/// The composed loss of a plan: what each mechanism loses, how often it is used.
///
/// ```
/// use dp_core::pld::{Bound, ComposedLoss, Mechanism, Precision};
/// let plan = [(Mechanism::Gaussian { mu: 0.1 }, 20), (Mechanism::Pure { epsilon: 0.1 }, 5)];
/// let loss = ComposedLoss::of(&plan, Bound::Upper, Precision::default())?;
/// assert!(loss.epsilon(1e-6) < 2.9);
/// # Ok::<(), dp_core::pld::PldError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ComposedLoss {
    /// One law for each direction that differs.
    directions: Vec<LossDistribution>,
}

impl ComposedLoss {
    /// Composes a plan.
    ///
    /// # Errors
    ///
    /// [`PldError::Parameter`] for a mechanism with a parameter outside its range.
    pub fn of(
        plan: &[(Mechanism, u64)],
        bound: Bound,
        precision: Precision,
    ) -> Result<Self, PldError> {
        for (mechanism, _) in plan {
            mechanism.check()?;
        }
        let unit = plan
            .iter()
            .filter_map(|(mechanism, uses)| mechanism.lattice().map(|unit| (*uses, unit)))
            .max_by_key(|(uses, _)| *uses)
            .map_or(1.0, |(_, unit)| unit);
        let both = plan.iter().any(|(mechanism, _)| mechanism.is_asymmetric());
        let directions: &[bool] = if both { &[true, false] } else { &[true] };
        let directions = directions
            .iter()
            .map(|&removal| {
                plan.iter()
                    .filter(|(_, uses)| *uses > 0)
                    .map(|(mechanism, uses)| {
                        mechanism
                            .distribution(removal, bound, unit, precision)
                            .self_compose(*uses, precision)
                    })
                    .reduce(|total, next| total.compose(&next, precision))
                    .unwrap_or_else(|| LossDistribution::identity(bound, unit))
            })
            .collect();
        Ok(Self { directions })
    }

    /// δ(ε), in the direction of the bound.
    #[must_use]
    pub fn delta(&self, epsilon: f64) -> f64 {
        self.worst(|law| law.delta(epsilon))
    }

    /// The smallest ε ≥ 0 at δ, in the direction of the bound; infinite if there is none.
    #[must_use]
    pub fn epsilon(&self, delta: f64) -> f64 {
        self.worst(|law| law.epsilon(delta))
    }

    /// The larger value of the directions.
    fn worst(&self, value: impl Fn(&LossDistribution) -> f64) -> f64 {
        let mut worst = 0.0;
        for law in &self.directions {
            let here = value(law);
            if here > worst {
                worst = here;
            }
        }
        worst
    }

    /// How many atoms the laws have: the cost of working with them.
    #[must_use]
    pub fn atoms(&self) -> usize {
        self.directions.iter().map(LossDistribution::len).sum()
    }
}

/// The smallest noise, as a factor on a starting guess, with which a plan meets (ε, δ).
///
/// `plan` builds the plan for a noise level; more noise must mean less loss. The result, a level that was
/// seen to meet the target, is within `relative` of the smallest. `None` if no level from `lowest` to
/// `highest` does.
///
/// # Errors
///
/// [`PldError`] from composing a plan.
pub fn calibrate(
    mut plan: impl FnMut(f64) -> Vec<(Mechanism, u64)>,
    (epsilon, delta): (f64, f64),
    (lowest, highest): (f64, f64),
    relative: f64,
    precision: Precision,
) -> Result<Option<f64>, PldError> {
    let mut failure = None;
    let mut meets = |level: f64| match ComposedLoss::of(&plan(level), Bound::Upper, precision) {
        Ok(loss) => loss.delta(epsilon) <= delta,
        Err(error) => {
            failure = Some(error);
            false
        }
    };
    let found = if meets(highest) {
        let (mut fails, mut holds) = (lowest, highest);
        if meets(lowest) {
            Some(lowest)
        } else {
            while holds > fails * (1.0 + relative) {
                let middle = libm::sqrt(fails * holds);
                if middle <= fails || middle >= holds {
                    break;
                }
                if meets(middle) {
                    holds = middle;
                } else {
                    fails = middle;
                }
            }
            Some(holds)
        }
    } else {
        None
    };
    failure.map_or(Ok(found), Err)
}

#[cfg(test)]
mod tests;
