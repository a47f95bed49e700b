//! `PrivatekNoisyCenters`: test, then noise on the centers of the balls that passed, as wide as a private estimate says.

use dp_core::mechanism::{AdditiveMechanism, GaussianSpend};
use dp_core::rounding::down;
use dp_core::sensitivity::{L1Sensitivity, L2Sensitivity, Sensitivity};
use dp_core::{Budget, Confidential, Delta, Epsilon, Event, NeighboringRelation, Rho, Session};
use rand::RngCore;

use super::{event, least_tuples, probability, refusal, tested};
use crate::aggregator::{Aggregate, TupleAggregator, TupleSpend, charge, in_canonical_order};
use crate::error::{FitError, ParamsError};
use crate::partition::{Separation, TestPlan, Tested, test_partition};
use crate::tuples::{TupleShape, Tuples, share, sq_gaps};

/// Units per one of logarithms of gaps.
const LN_UNITS: f64 = 1_048_576.0;

/// How the k scales and the k centers compose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NoisyComposition {
    /// ε/(4k) and Laplace noise for each scale, (ε/(4k), δ/(8k)) for each center: as printed.
    #[default]
    Basic,
    /// Gaussian noise for both, which is one Gaussian release: √k for k (Section 4.4.1).
    Advanced,
}

/// `PrivatekNoisyCenters`, with the noise of the scale in the exponent.
///
/// # Privacy
///
/// (ε, δ) for a replaced tuple, ε ≤ 1, t ≥ 2ℓ + 2. With α = 4/(Δ − 2), neighbors' balls that share a tuple have gaps `D_i` within a factor 1 + α
/// and centers within (2/Δ)(1 + `α/2)·D_i` of each other. The text multiplies `D_i` by (1 + `γ_i`) with Laplace noise `γ_i`, whose scale then
/// differs between neighbors, and is not private (point 9). ln `D_i` has sensitivity ln(1 + α), so here
///
/// `λ_i` = (2/Δ)(1 + α/2)·exp(ln `D_i` + ln(1 + α)·(Lap(4k/ε) + (4k/ε)·ln(8k/δ))),
///
/// which underestimates some distance with probability at most δ/8, left out once (point 6): (ε, δ) with the test. (The text has ln(4k/δ), by the
/// factor ½ of the continuous law, which discrete noise has only nearly.)
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PrivateKNoisyCenters {
    separation: Separation,
    failure_probability: f64,
    composition: NoisyComposition,
}

/// Noise of the scales and the centers.
struct Noise {
    scales: AdditiveMechanism,
    /// Added to each noisy logarithm, lattice of logarithms.
    raise: f64,
    /// What each center may spend.
    center: GaussianSpend,
}

impl PrivateKNoisyCenters {
    /// Δ > 6 (the text: Δ ≫ 6) and β in (0, 1].
    ///
    /// # Errors
    ///
    /// [`ParamsError::Range`].
    pub fn new(
        separation: f64,
        failure_probability: f64,
        composition: NoisyComposition,
    ) -> Result<Self, ParamsError> {
        Ok(Self {
            separation: Separation::new(separation)?,
            failure_probability: probability(failure_probability)?,
            composition,
        })
    }

    /// Δ, rounded up to a multiple of 2^-16.
    #[must_use]
    pub fn separation(&self) -> f64 {
        self.separation.get()
    }

    /// Δ of the paper's experiments, (10/ε)·k·ln(k/δ)·√ln(k/β).
    #[must_use]
    pub fn wide_separation(budget: Budget, n_clusters: usize, failure_probability: f64) -> f64 {
        let k = n_clusters as f64;
        let (epsilon, delta) = (budget.epsilon.get(), budget.delta.get());
        10.0 / epsilon * k * libm::log(k / delta) * libm::sqrt(libm::log(k / failure_probability))
    }

    /// The least Δ, to within 1 %, with which noise does not swap clusters: with probability at least 1 − β, given that the test
    /// succeeds, every point within 1/16 of a center's gap of that center is nearer to its noisy center than to any other.
    ///
    /// Let r be the noise's standard deviation per coordinate over the gap, τ = √(2·ln(k(k−1)/β)), x = ln(4k/β) and
    /// b² = d + 2√(dx) + 2x. The condition is 2τr + b²r² + br/8 ≤ 1 − 1/8 − 1/256 (`docs/proofs/ktuple.md`). Δ of the paper's experiments
    /// ([`wide_separation`](Self::wide_separation)) does not depend on d and misses it.
    ///
    /// # Errors
    ///
    /// [`ParamsError`] if no Δ up to 2^20 will do, or k < 2.
    pub fn steady_separation(
        budget: Budget,
        shape: TupleShape,
        failure_probability: f64,
        composition: NoisyComposition,
    ) -> Result<f64, ParamsError> {
        let steady = |separation: f64| -> Result<bool, ParamsError> {
            Self::new(separation, failure_probability, composition)?.is_steady(shape, budget)
        };
        let (mut low, mut high) = (8.0, 8.0);
        while !steady(high)? {
            (low, high) = (high, 2.0 * high);
            if high > 1_048_576.0 {
                return Err(ParamsError::Infeasible);
            }
        }
        while high > 1.01 * low {
            let middle = libm::sqrt(low * high);
            if steady(middle)? {
                high = middle;
            } else {
                low = middle;
            }
        }
        Ok(high)
    }

    fn is_steady(&self, shape: TupleShape, budget: Budget) -> Result<bool, ParamsError> {
        if shape.n_clusters < 2 {
            return Err(ParamsError::Count {
                name: "n_clusters of the tuple test",
                least: 2,
                got: shape.n_clusters as u64,
            });
        }
        let (k, d) = (shape.n_clusters as f64, shape.dimension as f64);
        let beta = self.failure_probability;
        let noise = self.noise(shape.n_clusters, budget)?;
        // All k scales are at most this much above their raised values, but for β/4.
        let above = match self.composition {
            NoisyComposition::Basic => {
                noise.scales.std_dev()
                    * core::f64::consts::FRAC_1_SQRT_2
                    * libm::log(4.0 * k / beta)
            }
            NoisyComposition::Advanced => {
                noise.scales.std_dev() * libm::sqrt(2.0 * libm::log(4.0 * k / beta))
            }
        };
        let scale = self.relative() * libm::exp((noise.raise + above) / LN_UNITS);
        let r = scale / libm::sqrt(2.0 * noise.center.rho().get());
        let direction = libm::sqrt(2.0 * libm::log(k * (k - 1.0) / beta));
        let x = libm::log(4.0 * k / beta);
        let sq_length = d + 2.0 * libm::sqrt(d * x) + 2.0 * x;
        let moved = 2.0 * direction * r + sq_length * r * r + libm::sqrt(sq_length) * r / 8.0;
        Ok(moved <= 1.0 - 1.0 / 8.0 - 1.0 / 256.0)
    }

    /// (2/Δ)(1 + α/2): how far centers of neighbors are apart, in units of the smaller gap.
    fn relative(&self) -> f64 {
        let alpha = 4.0 / (self.separation.get() - 2.0);
        2.0 / self.separation.get() * (1.0 + alpha / 2.0)
    }

    fn tested(&self, shape: TupleShape, budget: Budget) -> Result<TestPlan, ParamsError> {
        tested(self.name(), shape, budget, self.failure_probability)
    }

    /// Units by which a logarithm of a gap differs between neighbors: the bound and the roundings of both.
    fn ln_units(&self) -> u64 {
        let alpha = 4.0 / (self.separation.get() - 2.0);
        let units = (libm::log1p(alpha) * LN_UNITS).ceil() + 2.0;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between 2 and 2^21"
        )]
        let units = units as u64;
        units
    }

    /// The noise of the scales, what each logarithm is raised by, and ρ of a center: for the test of the accounting.
    #[cfg(test)]
    pub(super) fn noise_of(
        &self,
        k: usize,
        budget: Budget,
    ) -> Result<(AdditiveMechanism, f64, f64), ParamsError> {
        let noise = self.noise(k, budget)?;
        Ok((noise.scales, noise.raise, noise.center.rho().get()))
    }

    fn noise(&self, k: usize, budget: Budget) -> Result<Noise, ParamsError> {
        let too_small = |_| ParamsError::BudgetTooSmall;
        let one = |_: dp_core::sensitivity::SensitivityError| ParamsError::BudgetTooSmall;
        let (epsilon, delta, n) = (budget.epsilon.get(), budget.delta.get(), k as f64);
        let units = self.ln_units();
        let quarter = |parts: f64| -> Result<Budget, ParamsError> {
            Ok(Budget::approx(
                Epsilon::new(down(epsilon / (4.0 * parts), 4)).map_err(too_small)?,
                Delta::new(down(delta / (8.0 * parts), 4)).map_err(too_small)?,
            ))
        };
        match self.composition {
            NoisyComposition::Basic => {
                let each = quarter(n)?;
                let scales = AdditiveMechanism::laplace(
                    L1Sensitivity::new(units).map_err(one)?,
                    each.epsilon,
                )?;
                // P(X > w) ≤ e^(−w/b): all k stay above −w but for δ/8, with ln(8k/δ) for the discrete law.
                let scale = units as f64 / each.epsilon.get() * (1.0 + 1e-9);
                let raise = scale * libm::log(8.0 * n / delta) + 1.0;
                Ok(Noise {
                    scales,
                    raise: dp_core::planted!("ktuple-raise-halved": raise / 2.0; raise),
                    center: each.gaussian().ok_or(ParamsError::BudgetTooSmall)?,
                })
            }
            NoisyComposition::Advanced => {
                // ε/2 and δ/8 for both together, δ/8 for scales that are too small.
                let half = Budget::approx(
                    Epsilon::new(down(epsilon / 2.0, 4)).map_err(too_small)?,
                    Delta::new(down(delta / 8.0, 4)).map_err(too_small)?,
                );
                let both = half.gaussian().ok_or(ParamsError::BudgetTooSmall)?;
                let (for_scales, for_centers) = share(both.rho().get(), 0.3);
                let part = |rho| Rho::new(rho).map(|rho| both.with(rho)).map_err(too_small);
                let squared = u128::from(units) * u128::from(units) * k as u128;
                let scales = AdditiveMechanism::gaussian(
                    L2Sensitivity::from_squared(squared).map_err(one)?,
                    part(for_scales)?,
                )?;
                let raise = scales.std_dev() * libm::sqrt(2.0 * libm::log(8.0 * n / delta));
                Ok(Noise {
                    scales,
                    raise: raise * (1.0 + 1e-9) + 1.0,
                    center: part(down(for_centers / n, 4))?,
                })
            }
        }
    }
}

impl TupleAggregator for PrivateKNoisyCenters {
    fn name(&self) -> &'static str {
        "noisy-centers"
    }

    fn tuples_needed(&self, _shape: TupleShape, budget: Budget) -> Result<u64, ParamsError> {
        least_tuples(budget, self.failure_probability)
    }

    fn largest_epsilon(&self) -> f64 {
        super::LARGEST_EPSILON
    }

    fn plan(
        &self,
        shape: TupleShape,
        relation: NeighboringRelation,
        spend: TupleSpend,
    ) -> Result<Vec<Event>, ParamsError> {
        let plan = self.tested(shape, spend.budget)?;
        self.noise(shape.n_clusters, spend.budget)?;
        let event = event("private-k-noisy-centers", shape, relation, spend, &plan);
        Ok(vec![event.with("separation", self.separation.get())])
    }

    fn aggregate(
        &self,
        tuples: &Tuples,
        spend: TupleSpend,
        session: &mut Session<'_>,
        _public: &mut dyn RngCore,
    ) -> Result<Aggregate, FitError> {
        let shape = tuples.shape();
        let (k, d) = (shape.n_clusters, shape.dimension);
        let plan = self.tested(shape, spend.budget)?;
        let noise = self.noise(k, spend.budget)?;
        let event = event(
            "private-k-noisy-centers",
            shape,
            session.relation(),
            spend,
            &plan,
        );
        let charge = charge(session, event.with("separation", self.separation.get()))?;
        let Tested::Success(anchor) =
            test_partition(tuples, self.separation, &plan, &charge, session)?
        else {
            let enough = self.tuples_needed(shape, spend.budget)?;
            return Ok(refusal(self.name(), shape, enough, self.separation.get()));
        };
        // Points in lexicographic order, which a near tuple shares more often than not: for replays.
        let mut points: Vec<&[i32]> = tuples.tuple(anchor).chunks_exact(d).collect();
        points.sort_unstable();
        let gaps = sq_gaps(&points.concat(), d);
        let logarithms = gaps.iter().map(|&gap| ln_units(gap)).collect();
        let noisy = session.add_noise_charged(
            &charge,
            &noise.scales,
            "logarithms of gaps",
            Sensitivity::LInf(self.ln_units()),
            &Confidential::new(logarithms),
        );
        let relative = self.relative();
        // No two points of the domain are farther apart.
        let diameter = 2.0 * shape.lattice.units_per_one() as f64 * libm::sqrt(d as f64) + 1.0;
        let mut centers = Vec::with_capacity(k);
        for (&point, ln) in points.iter().zip(noisy) {
            let gap = libm::exp((ln as f64 + noise.raise) / LN_UNITS);
            // As printed: the noise multiplies the private gap, as 1 + γ.
            let gap = dp_core::planted!("ktuple-gap-multiplied": {
                let at = points.iter().position(|&other| other == point);
                let own = libm::sqrt(gaps[at.unwrap_or(0)] as f64);
                own * (1.0 + libm::log(gap / own))
            }; gap);
            let moved = relative * gap;
            let moved = if moved < diameter { moved } else { diameter };
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "positive and below 2^60"
            )]
            let squared = ((moved * moved * (1.0 + 1e-9)).ceil() as u128).max(1);
            let squared =
                L2Sensitivity::from_squared(squared).map_err(|_| ParamsError::BudgetTooSmall)?;
            let mechanism =
                AdditiveMechanism::gaussian(squared, noise.center).map_err(ParamsError::from)?;
            let exact = Confidential::new(point.iter().map(|&x| i64::from(x)).collect());
            let center =
                session.add_noise_charged(&charge, &mechanism, "center of a ball", squared, &exact);
            centers.push(
                center
                    .into_iter()
                    .map(|x| x as f64 * shape.lattice.step())
                    .collect(),
            );
        }
        Ok(Aggregate::Centers(in_canonical_order(centers)))
    }
}

/// ½·ln of a squared gap in lattice units, rounded to 2^-20.
fn ln_units(sq_gap: u64) -> i64 {
    let ln = 0.5 * libm::log(sq_gap.max(1) as f64);
    #[expect(clippy::cast_possible_truncation, reason = "below 2^26")]
    let units = (ln * LN_UNITS).round() as i64;
    units
}
