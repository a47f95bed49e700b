//! From a budget to the mechanism of each release.

use dp_core::mechanism::AdditiveMechanism;
use dp_core::rounding::split;
use dp_core::sensitivity::{L1Sensitivity, L2Sensitivity};
use dp_core::{Budget, Epsilon, Event, NeighboringRelation, Rho};
use metric_space::Frame;

use super::params::VoteRefineParams;
use crate::error::ParamsError;
use crate::size::SizedBudget;

/// What one release spends.
#[derive(Clone, Copy, Debug)]
pub(super) enum Spend {
    /// Laplace noise, pure.
    Epsilon(Epsilon),
    /// Gaussian noise, zero-concentrated.
    Rho(Rho),
}

/// The spends of a run, in order.
#[derive(Clone, Debug)]
pub(super) struct Spends {
    /// The noisy number of records, if one is bought.
    pub(super) sized: SizedBudget,
    pub(super) shape: ShapeSpends,
    pub(super) rounds: Vec<Spend>,
    pub(super) first: Vec<StepSpends>,
    pub(super) last: Vec<StepSpends>,
}

/// The spends of the shape.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShapeSpends {
    /// Distances to the middle of the domain.
    pub(super) reach: Spend,
    pub(super) mean: Spend,
    /// Distances to the mean.
    pub(super) radius: Spend,
    pub(super) moments: Spend,
}

/// The spends of one step.
#[derive(Clone, Copy, Debug)]
pub(super) struct StepSpends {
    pub(super) radius: Spend,
    pub(super) counts: Spend,
    pub(super) sums: Spend,
}

/// Parts of the shape: the two histograms, the mean, the moments.
const SHAPE_PARTS: [f64; 4] = [0.15, 0.15, 0.2, 0.5];

impl VoteRefineParams {
    /// Divides the budget.
    pub(super) fn spends(
        &self,
        relation: NeighboringRelation,
        dimension: usize,
    ) -> Result<Spends, ParamsError> {
        let sized = SizedBudget::new(self.budget.epsilon, self.n_hint, relation)?;
        let budget = Budget::approx(sized.epsilon, self.budget.delta);
        let steps = self.first_steps + self.last_steps;
        let refine = (1.0 - self.shape_share - self.vote_share) / steps as f64;
        let count_share = self.settling / (self.settling + (dimension as f64).sqrt());
        let step_parts = [
            refine * self.radius_share,
            refine * (1.0 - self.radius_share) * count_share,
            refine * (1.0 - self.radius_share) * (1.0 - count_share),
        ];
        let mut parts: Vec<f64> = SHAPE_PARTS
            .iter()
            .map(|part| part * self.shape_share)
            .collect();
        parts.extend(vec![self.vote_share / self.n_rounds as f64; self.n_rounds]);
        for _ in 0..steps {
            parts.extend(step_parts);
        }
        let mut spends = divide(budget, &parts)
            .ok_or(ParamsError::BudgetTooSmall { steps: parts.len() })?
            .into_iter();
        let mut next = || spends.next().expect("as many spends as parts");
        let shape = ShapeSpends {
            reach: next(),
            mean: next(),
            radius: next(),
            moments: next(),
        };
        let rounds = (0..self.n_rounds).map(|_| next()).collect();
        let mut step = |_| StepSpends {
            radius: next(),
            counts: next(),
            sums: next(),
        };
        let first = (0..self.first_steps).map(&mut step).collect();
        let last = (0..self.last_steps).map(&mut step).collect();
        Ok(Spends {
            sized,
            shape,
            rounds,
            first,
            last,
        })
    }
}

/// Divides a budget by shares of ρ. Laplace noise of loss ε has variance 2/ε², Gaussian noise 1/(2ρ): where Σa_i/ρ_i is least
/// at ρ_i ∝ √a_i, Σa_i/ε_i² is at ε_i ∝ ∛a_i, so a share p of ρ becomes one of p^(2/3) of ε.
fn divide(budget: Budget, parts: &[f64]) -> Option<Vec<Spend>> {
    if let Some(rho) = budget.rho() {
        let parts = split(rho.get(), parts).into_iter();
        parts
            .map(|rho| Rho::new(rho).ok().map(Spend::Rho))
            .collect()
    } else {
        let parts: Vec<f64> = parts.iter().map(|part| part.powf(2.0 / 3.0)).collect();
        let parts = split(budget.epsilon.get(), &parts).into_iter();
        parts
            .map(|epsilon| Epsilon::new(epsilon).ok().map(Spend::Epsilon))
            .collect()
    }
}

impl Spend {
    /// Noise for counts of which a record touches one: sensitivity 1, and under replace-one 2 in L1 and in squared L2.
    pub(super) fn counts(
        self,
        relation: NeighboringRelation,
    ) -> Result<AdditiveMechanism, ParamsError> {
        let steps = relation.steps();
        self.vector(steps, u128::from(steps))
    }

    /// Noise for a sum of vectors no longer than `radius`, of d coordinates.
    pub(super) fn sums(
        self,
        relation: NeighboringRelation,
        radius: u64,
        dimension: usize,
    ) -> Result<AdditiveMechanism, ParamsError> {
        let squared = u128::from(radius) * u128::from(radius);
        let steps = relation.steps();
        self.vector(
            root_up(squared * dimension as u128).saturating_mul(steps),
            squared * u128::from(steps) * u128::from(steps),
        )
    }

    /// Noise for the d(d + 1)/2 second moments of vectors no longer than `radius`: one record adds at most R²(d + 1)/2 in L1 and R² in
    /// L2; two records differ by twice the former and √2 times the latter.
    pub(super) fn moments(
        self,
        relation: NeighboringRelation,
        radius: u64,
        dimension: usize,
    ) -> Result<AdditiveMechanism, ParamsError> {
        let squared = radius.saturating_mul(radius);
        let l1 = squared.saturating_mul(dimension as u64 + 1).div_ceil(2);
        let steps = relation.steps();
        self.vector(
            l1.saturating_mul(steps),
            u128::from(squared) * u128::from(squared) * u128::from(steps),
        )
    }

    fn vector(self, l1: u64, l2_squared: u128) -> Result<AdditiveMechanism, ParamsError> {
        let refused = |_| ParamsError::BudgetTooSmall { steps: 1 };
        Ok(match self {
            Self::Epsilon(epsilon) => {
                AdditiveMechanism::laplace(L1Sensitivity::new(l1).map_err(refused)?, epsilon)?
            }
            Self::Rho(rho) => {
                let sensitivity = L2Sensitivity::from_squared(l2_squared).map_err(refused)?;
                AdditiveMechanism::gaussian(sensitivity, rho)?
            }
        })
    }
}

/// √x, rounded up.
fn root_up(x: u128) -> u64 {
    let root = x.isqrt();
    u64::try_from(root + u128::from(root * root < x)).unwrap_or(u64::MAX)
}

impl Spends {
    /// What the ledger will say, with the largest radii there are: losses do not depend on them.
    pub(super) fn events(
        &self,
        frame: &Frame,
        relation: NeighboringRelation,
    ) -> Result<Vec<Event>, ParamsError> {
        let d = frame.dimension();
        let most = super::radius::largest(frame);
        let shift = super::moments::shift(most);
        let mut events = Vec::new();
        if let Some(size) = &self.sized.size {
            events.push(size.event(relation, "number of records"));
        }
        let shape = &self.shape;
        events.push(
            shape
                .reach
                .counts(relation)?
                .event(relation, "distances to the middle"),
        );
        events.push(shape.mean.sums(relation, most, d)?.event(relation, "mean"));
        events.push(
            shape
                .radius
                .counts(relation)?
                .event(relation, "distances to the mean"),
        );
        let coarse = super::moments::coarse_radius(most, shift);
        events.push(
            shape
                .moments
                .moments(relation, coarse, d)?
                .event(relation, "second moments"),
        );
        for round in &self.rounds {
            events.push(round.counts(relation)?.event(relation, "votes"));
        }
        for step in self.first.iter().chain(&self.last) {
            events.push(
                step.radius
                    .counts(relation)?
                    .event(relation, "distances to the nearest center"),
            );
            events.push(step.counts.counts(relation)?.event(relation, "counts"));
            events.push(step.sums.sums(relation, most, d)?.event(relation, "sums"));
        }
        Ok(events)
    }
}
