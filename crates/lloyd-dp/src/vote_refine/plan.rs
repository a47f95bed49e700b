//! From a budget to the mechanism of each release.

use dp_core::mechanism::{AdditiveMechanism, GaussianSpend};
use dp_core::rounding::split;
use dp_core::sensitivity::{L1Sensitivity, L2Sensitivity};
use dp_core::{Budget, Epsilon, Event, NeighboringRelation};
use metric_space::Frame;

use super::moments;
use super::params::VoteRefineParams;
use super::rules::{Rules, Start};
use super::start::grid_start;
use crate::error::ParamsError;
use crate::size::SizedBudget;

/// What one release spends.
#[derive(Clone, Copy, Debug)]
pub(super) enum Spend {
    /// Laplace noise, pure.
    Epsilon(Epsilon),
    /// Gaussian noise.
    Gaussian(GaussianSpend),
}

/// The spends of a run, in order.
#[derive(Clone, Debug)]
pub(super) struct Spends {
    pub(super) start: StartSpends,
    pub(super) first: Vec<StepSpends>,
    pub(super) last: Vec<StepSpends>,
}

/// The spends of the start.
#[derive(Clone, Debug)]
pub(super) enum StartSpends {
    /// The shape, and each round of votes.
    Votes(ShapeSpends, Vec<Spend>),
    /// A grid.
    Grid(Epsilon),
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
    /// Takes the noisy number of records from ε, if one is bought.
    pub(super) fn sized(&self, relation: NeighboringRelation) -> Result<SizedBudget, ParamsError> {
        SizedBudget::new(self.budget.epsilon, self.n_hint, relation)
    }

    /// Divides what is left of the budget.
    pub(super) fn spends(
        &self,
        sized: &SizedBudget,
        rules: &Rules,
        dimension: usize,
    ) -> Result<Spends, ParamsError> {
        let refused = || ParamsError::BudgetTooSmall { steps: 2 };
        let start_share = match rules.start {
            Start::Votes => self.shape_share + rules.vote_share,
            Start::Grid => rules.grid_share,
        };
        let steps = rules.first_steps + rules.last_steps;
        let refine = (1.0 - start_share) / steps as f64;
        let count_share = self.settling / (self.settling + (dimension as f64).sqrt());
        let step_parts = [
            refine * self.radius_share,
            refine * (1.0 - self.radius_share) * count_share,
            refine * (1.0 - self.radius_share) * (1.0 - count_share),
        ];
        let mut parts = Vec::new();
        let mut budget = Budget::approx(sized.epsilon, self.budget.delta);
        let mut grid = None;
        match rules.start {
            Start::Votes => {
                parts.extend(SHAPE_PARTS.map(|part| part * self.shape_share));
                parts.extend(vec![
                    rules.vote_share / rules.n_rounds as f64;
                    rules.n_rounds
                ]);
            }
            Start::Grid => {
                let halves = split(budget.epsilon.get(), &[start_share, 1.0 - start_share]);
                grid = Some(Epsilon::new(halves[0]).map_err(|_| refused())?);
                budget.epsilon = Epsilon::new(halves[1]).map_err(|_| refused())?;
            }
        }
        for _ in 0..steps {
            parts.extend(step_parts);
        }
        let mut spends = divide(budget, &parts, dimension)
            .ok_or(ParamsError::BudgetTooSmall { steps: parts.len() })?
            .into_iter();
        let mut next = || spends.next().expect("as many spends as parts");
        let start = if let Some(epsilon) = grid {
            StartSpends::Grid(epsilon)
        } else {
            let shape = ShapeSpends {
                reach: next(),
                mean: next(),
                radius: next(),
                moments: next(),
            };
            StartSpends::Votes(shape, (0..rules.n_rounds).map(|_| next()).collect())
        };
        let mut step = |_| StepSpends {
            radius: next(),
            counts: next(),
            sums: next(),
        };
        let first = (0..rules.first_steps).map(&mut step).collect();
        let last = (0..rules.last_steps).map(&mut step).collect();
        Ok(Spends { start, first, last })
    }
}

/// Divides a budget by shares of ρ, for Gaussian noise, or turns them into shares of ε, for Laplace noise: whichever has less noise in the
/// last part, a sum of vectors. Without δ there is Laplace noise alone.
///
/// Laplace noise of loss ε has variance 2/ε², Gaussian noise 1/(2ρ): where the sum of a/ρ over parts is least at ρ ∝ √a, that of a/ε² is
/// at ε ∝ ∛a, so a share p of ρ becomes one of p^(2/3) of ε. In L1 a vector of length 1 may be √d long.
fn divide(budget: Budget, parts: &[f64], dimension: usize) -> Option<Vec<Spend>> {
    let of_epsilon: Vec<f64> = parts.iter().map(|part| part.powf(2.0 / 3.0)).collect();
    let epsilons = split(budget.epsilon.get(), &of_epsilon);
    if let Some(whole) = budget.gaussian() {
        let spends = whole.split(parts).ok()?;
        let laplace = epsilons.last().map(|e| 2.0 * dimension as f64 / (e * e))?;
        let gaussian = spends.last().map(|last| 1.0 / (2.0 * last.rho().get()))?;
        if gaussian <= laplace {
            return Some(spends.into_iter().map(Spend::Gaussian).collect());
        }
    }
    epsilons
        .into_iter()
        .map(|epsilon| Epsilon::new(epsilon).ok().map(Spend::Epsilon))
        .collect()
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
            Self::Gaussian(spend) => {
                let sensitivity = L2Sensitivity::from_squared(l2_squared).map_err(refused)?;
                AdditiveMechanism::gaussian(sensitivity, spend)?
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
        let mut events = Vec::new();
        match &self.start {
            StartSpends::Votes(shape, rounds) => {
                let reach = shape.reach.counts(relation)?;
                events.push(reach.event(relation, "distances to the middle"));
                events.push(shape.mean.sums(relation, most, d)?.event(relation, "mean"));
                let radius = shape.radius.counts(relation)?;
                events.push(radius.event(relation, "distances to the mean"));
                if d <= moments::MAX_COLUMNS {
                    let coarse = moments::coarse_radius(most, moments::shift(most));
                    let moments = shape.moments.moments(relation, coarse, d)?;
                    events.push(moments.event(relation, "second moments"));
                }
                for round in rounds {
                    events.push(round.counts(relation)?.event(relation, "votes"));
                }
            }
            StartSpends::Grid(epsilon) => {
                // Any size will do: the event does not depend on it.
                events.extend(grid_start(1, *epsilon, 1.0, 1.0)?.plan(frame, relation)?);
            }
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
