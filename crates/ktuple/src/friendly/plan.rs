//! From (t, k, d, ε, δ) to the noise of each step; the numbers of `docs/proofs/friendly-core.md`.

#[cfg(test)]
use dp_core::composition::ApproxLoss;
use dp_core::mechanism::{AdditiveMechanism, GaussianSpend};
use dp_core::rounding::{down, largest_holding};
use dp_core::sensitivity::{L1Sensitivity, L2Sensitivity};
use dp_core::{Budget, Delta, Epsilon, Rho, conversion};

use super::Filter;
use super::matching::MatchRatio;
use crate::error::ParamsError;
use crate::tuples::{TupleShape, share};

/// Most tuples that a plan looks for.
const MOST_TUPLES: u64 = 1 << 26;

/// Share of ρ that the scales take beside the centers.
const SCALE_SHARE: f64 = 0.15;

/// Standard deviations of the difference of two released centers, along the line through them, that half their
/// distance must hold.
const STEADY: f64 = 4.0;

/// What is averaged.
#[derive(Clone, Copy, Debug)]
pub(super) enum Goal {
    /// Tuples, in units of their own gaps.
    Tuples(MatchRatio),
    /// Single points within a public radius of each other.
    Points,
}

/// How tuples are kept.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "one per run")]
pub(super) enum Keep {
    Proportional,
    Gaussian {
        noise: AdditiveMechanism,
        threshold: i64,
    },
}

/// All noise of a run.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) keep: Keep,
    /// ε₀ of the average for one tuple more or less (of the conversion of ρ₀ for the Gaussian filter).
    pub(super) average_epsilon: f64,
    /// Noise on the number of kept tuples.
    pub(super) count: AdditiveMechanism,
    /// What is subtracted from it, so that it is an underestimate but for probability `δ_c`.
    pub(super) margin: i64,
    /// What the k scales may spend; nothing for points, which have none.
    pub(super) scales: Option<GaussianSpend>,
    /// What the k centers may spend.
    pub(super) centers: GaussianSpend,
    /// Probability that some scale is underestimated.
    pub(super) delta_scales: f64,
    /// Fewer kept tuples than this, and the answer is ⊥.
    pub(super) least: i64,
    /// Estimate that t tuples which all agree give most often.
    expected: f64,
}

/// What the average may spend.
struct Inner {
    keep: Keep,
    average_epsilon: f64,
    count: Count,
    /// Of scales and centers together.
    spend: GaussianSpend,
    delta_count: f64,
    delta_scales: f64,
}

enum Count {
    Epsilon(f64),
    Rho(f64),
}

/// The noise for t tuples.
pub(super) fn solve(
    goal: Goal,
    filter: Filter,
    shape: TupleShape,
    budget: Budget,
) -> Result<Plan, ParamsError> {
    let t = shape.n_tuples as u64;
    match feasible(goal, filter, shape, budget, t)? {
        Some(plan) => Ok(plan),
        None => Err(ParamsError::TooFewTuples {
            got: t,
            needed: tuples_needed(goal, filter, shape, budget)?,
        }),
    }
}

/// The smallest number of tuples with which a run would answer most often, if all agree.
pub(super) fn tuples_needed(
    goal: Goal,
    filter: Filter,
    shape: TupleShape,
    budget: Budget,
) -> Result<u64, ParamsError> {
    let works = |t| feasible(goal, filter, shape, budget, t).map(|plan| plan.is_some());
    let mut high = 8;
    while !works(high)? {
        high *= 2;
        if high > MOST_TUPLES {
            return Err(ParamsError::Infeasible);
        }
    }
    let mut low = high / 2;
    while high - low > 1 {
        let middle = low.midpoint(high);
        if works(middle)? {
            high = middle;
        } else {
            low = middle;
        }
    }
    Ok(high)
}

/// The best plan over a few ways to share ε₀, or none if t tuples are too few.
fn feasible(
    goal: Goal,
    filter: Filter,
    shape: TupleShape,
    budget: Budget,
    t: u64,
) -> Result<Option<Plan>, ParamsError> {
    if budget.delta.is_zero() {
        return Err(ParamsError::NoDelta);
    }
    if t < 8 {
        return Ok(None);
    }
    let mut best: Option<Plan> = None;
    for count_share in [0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6] {
        let inner = match filter {
            Filter::Proportional => proportional(budget, t, count_share),
            Filter::Gaussian => gaussian(budget, t, count_share),
        };
        let Some(inner) = inner else { continue };
        let plan = inner.plan(goal, shape, t)?;
        let slack = |plan: &Plan| plan.expected - plan.least as f64;
        if best.as_ref().is_none_or(|best| slack(&plan) > slack(best)) {
            best = Some(plan);
        }
    }
    Ok(best.filter(|plan| plan.expected >= plan.least as f64))
}

/// ε of the whole for ε₀ of the average: (t − 1)·ln(1 + (e^ε₀ − 1)/(t/2 − 2)) + 2ε₀.
pub(super) fn filtered_epsilon(average: f64, t: u64) -> f64 {
    let steps = (t - 1) as f64;
    let each = libm::log1p(libm::expm1(average) / (t as f64 / 2.0 - 2.0));
    dp_core::rounding::up(steps * each + 2.0 * average, 32)
}

fn proportional(budget: Budget, t: u64, count_share: f64) -> Option<Inner> {
    let (epsilon, delta) = (budget.epsilon.get(), budget.delta.get());
    let average = largest_holding(1e-12, 200.0, |average| {
        filtered_epsilon(average, t) <= epsilon
    })?;
    let average = dp_core::planted!("friendly-core-unfiltered": epsilon; average);
    // δ = e^ε·(s + 2)·δ₀ with s = (t − 1)/(t/2 − 2).
    let steps = (t - 1) as f64 / (t as f64 / 2.0 - 2.0);
    let average_delta = down(delta / (libm::exp(epsilon) * (steps + 2.0)), 16);
    let (count, noise) = share(average, count_share);
    let (delta_events, delta_noise) = share(average_delta, 0.5);
    let (delta_count, delta_scales) = share(delta_events, 0.5);
    let noise = Budget::approx(Epsilon::new(noise).ok()?, Delta::new(delta_noise).ok()?);
    Some(Inner {
        keep: Keep::Proportional,
        average_epsilon: average,
        count: Count::Epsilon(count),
        spend: noise.gaussian()?,
        delta_count,
        delta_scales,
    })
}

/// Half of ρ to the filter, an eighth to the average, which pays it four times.
fn gaussian(budget: Budget, t: u64, count_share: f64) -> Option<Inner> {
    let (epsilon, delta) = (budget.epsilon.get(), budget.delta.get());
    // δ = δ_conversion + δ₁·(1 + e^ε/t) + δ_c + δ_s.
    let (for_conversion, events) = share(delta, 0.5);
    let (for_filter, events) = share(events, 0.5);
    let (delta_count, delta_scales) = share(events, 0.5);
    let delta_filter = down(for_filter / (1.0 + libm::exp(epsilon) / t as f64), 8);
    let total = Budget::approx(budget.epsilon, Delta::new(for_conversion).ok()?)
        .rho()?
        .get();
    let (filter, average) = share(total, 0.5);
    let average = average / 4.0;
    let squared = L2Sensitivity::from_squared(u128::from(t - 1)).ok()?;
    let noise = AdditiveMechanism::gaussian(squared, Rho::new(filter).ok()?).ok()?;
    let margin = noise.std_dev() * libm::sqrt(2.0 * libm::log(t as f64 / delta_filter)) + 1.0;
    let threshold = integer(t as f64 / 2.0 + margin);
    let (count, rest) = share(average, count_share);
    // Tuples that nearly all match must pass with room for their noise.
    let passes = t as f64 - 1.0 - 3.0 * noise.std_dev() >= threshold as f64;
    passes.then_some(Inner {
        keep: Keep::Gaussian { noise, threshold },
        average_epsilon: conversion::epsilon_of_rho(average, for_conversion),
        count: Count::Rho(count),
        spend: Rho::new(rest).ok()?.into(),
        delta_count,
        delta_scales,
    })
}

impl Inner {
    fn plan(self, goal: Goal, shape: TupleShape, t: u64) -> Result<Plan, ParamsError> {
        let too_small = |_| ParamsError::BudgetTooSmall;
        let one = |_: dp_core::sensitivity::SensitivityError| ParamsError::BudgetTooSmall;
        let (count, margin, spread) = match self.count {
            Count::Epsilon(epsilon) => {
                let epsilon = Epsilon::new(epsilon).map_err(too_small)?;
                let noise =
                    AdditiveMechanism::laplace(L1Sensitivity::new(1).map_err(one)?, epsilon)?;
                // P(X > w) ≤ e^(−w/b) for discrete Laplace noise of scale b ≤ σ/√2·(1 + 1/b²).
                let scale = (1.0 + 1e-9) / epsilon.get();
                (
                    noise,
                    scale * -libm::log(self.delta_count) + 1.0,
                    3.0 * scale,
                )
            }
            Count::Rho(rho) => {
                let rho = Rho::new(rho).map_err(too_small)?;
                let noise =
                    AdditiveMechanism::gaussian(L2Sensitivity::from_squared(1).map_err(one)?, rho)?;
                let std_dev = noise.std_dev();
                let margin = std_dev * libm::sqrt(-2.0 * libm::log(self.delta_count)) + 1.0;
                (noise, margin, 2.0 * std_dev)
            }
        };
        let (scales, centers) = match goal {
            Goal::Tuples(_) => {
                let parts = self.spend.split(&[SCALE_SHARE, 1.0 - SCALE_SHARE]);
                let parts = parts.map_err(too_small)?;
                (Some(parts[0]), parts[1])
            }
            Goal::Points => (None, self.spend),
        };
        let mut plan = Plan {
            keep: self.keep,
            average_epsilon: self.average_epsilon,
            count,
            margin: integer(margin),
            scales,
            centers,
            delta_scales: self.delta_scales,
            least: 2,
            expected: t as f64 - margin - spread,
        };
        plan.least = plan.least_count(goal, shape);
        Ok(plan)
    }
}

impl Plan {
    /// The smallest estimate of the number of kept tuples with which the centers would be steady.
    fn least_count(&self, goal: Goal, shape: TupleShape) -> i64 {
        let steady = |count: f64| match goal {
            Goal::Tuples(ratio) => {
                let noise = self.relative_noise(ratio, shape.n_clusters, count);
                let root = libm::sqrt(shape.dimension as f64);
                // Along a line, and by the difference of two noises' squared lengths.
                STEADY * core::f64::consts::SQRT_2 * noise + 6.0 * noise * noise * root <= 0.5
            }
            Goal::Points => {
                // The noise's length is at most the radius.
                let noise = 2.0 / (count * libm::sqrt(2.0 * self.centers.rho().get()));
                noise * libm::sqrt(shape.dimension as f64) <= 1.0
            }
        };
        let (mut low, mut high) = (1_i64, 2_i64);
        while !steady(high as f64) && high < 1 << 40 {
            (low, high) = (high, 2 * high);
        }
        while high - low > 1 {
            let middle = i64::midpoint(low, high);
            if steady(middle as f64) {
                high = middle;
            } else {
                low = middle;
            }
        }
        high
    }

    /// Standard deviation of a coordinate of a center, in units of the gap `D_i`, if `count` tuples are kept.
    fn relative_noise(&self, ratio: MatchRatio, n_clusters: usize, count: f64) -> f64 {
        let root_k = libm::sqrt(n_clusters as f64);
        let for_scales = self.scales.map_or(f64::INFINITY, |spend| spend.rho().get());
        let scale_noise = root_k * ratio.kappa() / (count * libm::sqrt(2.0 * for_scales));
        let raise = scale_noise * self.raise_factor(n_clusters);
        let radius = 2.0 * ratio.get() * libm::exp(ratio.kappa() + raise);
        radius * root_k / (count * libm::sqrt(2.0 * self.centers.rho().get()))
    }

    /// Standard deviations by which all k scales are raised: a union bound over sub-Gaussian tails.
    pub(super) fn raise_factor(&self, n_clusters: usize) -> f64 {
        libm::sqrt(2.0 * libm::log(n_clusters as f64 / self.delta_scales)) * (1.0 + 1e-9)
    }
}

/// Rounds a public bound up.
fn integer(x: f64) -> i64 {
    #[expect(clippy::cast_possible_truncation, reason = "cut to the range of i64")]
    let integer = x.ceil().clamp(-9e18, 9e18) as i64;
    integer
}

/// The whole loss of a proportional filter over an average with this loss: for tests and docs.
#[cfg(test)]
pub(super) fn filtered(average: ApproxLoss, t: u64) -> ApproxLoss {
    let epsilon = filtered_epsilon(average.epsilon, t);
    let steps = (t - 1) as f64 / (t as f64 / 2.0 - 2.0);
    ApproxLoss {
        epsilon,
        delta: libm::exp(epsilon) * (steps + 2.0) * average.delta,
    }
}
