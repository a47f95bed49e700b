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

/// Fewest and most tuples that a plan looks for.
const LEAST_TUPLES: u64 = 8;
const MOST_TUPLES: u64 = 1 << 26;

/// Where the search begins, at ε: about what few clusters take.
fn first_guess(epsilon: f64) -> u64 {
    let guess = integer(64.0 + 420.0 / epsilon).unsigned_abs();
    guess.clamp(LEAST_TUPLES, MOST_TUPLES)
}

/// Share of ρ that the scales take beside the centers.
const SCALE_SHARE: f64 = 0.15;

/// Share of the count that the search for the best one begins with.
const LIKELY_SHARE: f64 = 0.4;

/// Standard deviations of the difference of two released centers, along the line through them, that half their
/// distance must hold.
const STEADY: f64 = 4.0;

/// How far an estimate of the number of kept tuples falls below what it would be without noise, seldom more: scales of Laplace and
/// standard deviations of Gaussian noise.
const LOW_LAPLACE: f64 = 3.0;
const LOW_GAUSSIAN: f64 = 2.0;

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
}

/// What is left of a budget after the filter, and how the average divides it.
struct Inner {
    keep: Keep,
    average_epsilon: f64,
    loss: InnerLoss,
    delta_count: f64,
    delta_scales: f64,
}

/// What the count, the scales and the centers may lose together for one tuple more or less.
#[derive(Clone, Copy)]
enum InnerLoss {
    /// ε₀, and the δ of scales and centers.
    Approx(f64, f64),
    /// ρ₀.
    Zcdp(f64),
}

/// What the count may lose.
enum Count {
    Epsilon(f64),
    Rho(f64),
}

/// A plan, and by how much the estimate that t tuples give most often exceeds what it asks for: negative if they are too few.
struct Forecast {
    plan: Option<Plan>,
    slack: f64,
}

/// The noise for t tuples.
pub(super) fn solve(
    goal: Goal,
    filter: Filter,
    shape: TupleShape,
    budget: Budget,
) -> Result<Plan, ParamsError> {
    let t = shape.n_tuples as u64;
    match forecast(goal, filter, shape, budget, t)? {
        Forecast {
            plan: Some(plan),
            slack,
        } if slack >= 0.0 => Ok(plan),
        _ => Err(ParamsError::TooFewTuples {
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
    let slack = |t| forecast(goal, filter, shape, budget, t).map(|forecast| forecast.slack);
    // Too few, and enough; with the slack where it is known.
    let mut few = (LEAST_TUPLES - 1, None);
    let mut enough: Option<(u64, f64)> = None;
    let mut at = first_guess(budget.epsilon.get());
    for step in 1_u32.. {
        let here = slack(at)?;
        if here >= 0.0 {
            enough = Some((at, here));
        } else if at >= MOST_TUPLES {
            return Err(ParamsError::Infeasible);
        } else {
            few = (at, Some(here));
        }
        // A tuple more is about one more kept: farther at each step, until there is one of either kind.
        let stride = integer(here.abs()).unsigned_abs().max(1) << step.min(32) >> 1;
        at = match (few, enough) {
            ((low, _), Some((high, _))) if high - low == 1 => return Ok(high),
            ((low, Some(below)), Some((high, above))) if step % 4 != 0 => {
                let part = (high - low) as f64 * below / (below - above);
                (low + integer(part).unsigned_abs()).clamp(low + 1, high - 1)
            }
            ((low, None), Some((high, _))) => high.saturating_sub(stride).max(low + 1),
            ((low, _), Some((high, _))) => low.midpoint(high),
            ((low, _), None) => low.saturating_add(stride).min(MOST_TUPLES),
        };
    }
    Err(ParamsError::Infeasible)
}

fn forecast(
    goal: Goal,
    filter: Filter,
    shape: TupleShape,
    budget: Budget,
    t: u64,
) -> Result<Forecast, ParamsError> {
    if budget.delta.is_zero() {
        return Err(ParamsError::NoDelta);
    }
    let none = |slack| Forecast { plan: None, slack };
    if t < LEAST_TUPLES {
        return Ok(none(-(t as f64)));
    }
    let inner = match filter {
        Filter::Proportional => proportional(budget, t).ok_or(-(t as f64)),
        Filter::Gaussian => gaussian(budget, t),
    };
    match inner {
        Err(slack) => Ok(none(slack)),
        Ok(inner) => inner.plan(goal, shape, t),
    }
}

/// ε of the whole for ε₀ of the average: (t − 1)·ln(1 + (e^ε₀ − 1)/(t/2 − 2)) + 2ε₀.
pub(super) fn filtered_epsilon(average: f64, t: u64) -> f64 {
    let steps = (t - 1) as f64;
    let each = libm::log1p(libm::expm1(average) / (t as f64 / 2.0 - 2.0));
    dp_core::rounding::up(steps * each + 2.0 * average, 32)
}

fn proportional(budget: Budget, t: u64) -> Option<Inner> {
    let (epsilon, delta) = (budget.epsilon.get(), budget.delta.get());
    let average = largest_holding(1e-12, 200.0, |average| {
        filtered_epsilon(average, t) <= epsilon
    })?;
    let average = dp_core::planted!("friendly-core-unfiltered": epsilon; average);
    // δ = e^ε·(s + 2)·δ₀ with s = (t − 1)/(t/2 − 2).
    let steps = (t - 1) as f64 / (t as f64 / 2.0 - 2.0);
    let average_delta = down(delta / (libm::exp(epsilon) * (steps + 2.0)), 16);
    let (delta_events, delta_noise) = share(average_delta, 0.5);
    let (delta_count, delta_scales) = share(delta_events, 0.5);
    Some(Inner {
        keep: Keep::Proportional,
        average_epsilon: average,
        loss: InnerLoss::Approx(average, delta_noise),
        delta_count,
        delta_scales,
    })
}

/// Half of ρ to the filter, an eighth to the average, which pays it four times; or by how much nearly all matches miss the threshold.
fn gaussian(budget: Budget, t: u64) -> Result<Inner, f64> {
    let nothing = -(t as f64);
    let (epsilon, delta) = (budget.epsilon.get(), budget.delta.get());
    // δ = δ_conversion + δ₁·(1 + e^ε/t) + δ_c + δ_s.
    let (for_conversion, events) = share(delta, 0.5);
    let (for_filter, events) = share(events, 0.5);
    let (delta_count, delta_scales) = share(events, 0.5);
    let delta_filter = down(for_filter / (1.0 + libm::exp(epsilon) / t as f64), 8);
    let converted = Delta::new(for_conversion).map_err(|_| nothing)?;
    let total = Budget::approx(budget.epsilon, converted).rho();
    let (filter, average) = share(total.ok_or(nothing)?.get(), 0.5);
    let average = average / 4.0;
    let squared = L2Sensitivity::from_squared(u128::from(t - 1)).map_err(|_| nothing)?;
    let filter = Rho::new(filter).map_err(|_| nothing)?;
    let noise = AdditiveMechanism::gaussian(squared, filter).map_err(|_| nothing)?;
    let margin = noise.std_dev() * libm::sqrt(2.0 * libm::log(t as f64 / delta_filter)) + 1.0;
    let threshold = integer(t as f64 / 2.0 + margin);
    // Tuples that nearly all match must pass with room for their noise.
    let room = t as f64 - 1.0 - 3.0 * noise.std_dev() - threshold as f64;
    if room < 0.0 {
        return Err(room);
    }
    Ok(Inner {
        keep: Keep::Gaussian { noise, threshold },
        average_epsilon: conversion::epsilon_of_rho(average, for_conversion),
        loss: InnerLoss::Zcdp(average),
        delta_count,
        delta_scales,
    })
}

impl InnerLoss {
    /// What the count may spend, and what the scales and centers together.
    fn divide(self, count_share: f64) -> Option<(Count, GaussianSpend)> {
        match self {
            Self::Approx(epsilon, delta) => {
                let (count, noise) = share(epsilon, count_share);
                let noise = Budget::approx(Epsilon::new(noise).ok()?, Delta::new(delta).ok()?);
                Some((Count::Epsilon(count), noise.gaussian()?))
            }
            Self::Zcdp(rho) => {
                let (count, noise) = share(rho, count_share);
                Some((Count::Rho(count), Rho::new(noise).ok()?.into()))
            }
        }
    }
}

impl Count {
    /// The noise of the count, by what it may exceed at most but for `delta`, and by what it seldom falls short.
    fn noise(&self, delta: f64) -> Result<(AdditiveMechanism, f64, f64), ParamsError> {
        let too_small = |_| ParamsError::BudgetTooSmall;
        let one = |_: dp_core::sensitivity::SensitivityError| ParamsError::BudgetTooSmall;
        match *self {
            Self::Epsilon(epsilon) => {
                let epsilon = Epsilon::new(epsilon).map_err(too_small)?;
                let noise =
                    AdditiveMechanism::laplace(L1Sensitivity::new(1).map_err(one)?, epsilon)?;
                // P(X > w) ≤ e^(−w/b) for discrete Laplace noise of scale b = 1/ε, drawn up to 2^-40 wider.
                let scale = (1.0 + 1e-9) / epsilon.get();
                Ok((noise, scale * -libm::log(delta) + 1.0, LOW_LAPLACE * scale))
            }
            Self::Rho(rho) => {
                let rho = Rho::new(rho).map_err(too_small)?;
                let noise =
                    AdditiveMechanism::gaussian(L2Sensitivity::from_squared(1).map_err(one)?, rho)?;
                let std_dev = noise.std_dev();
                let margin = std_dev * libm::sqrt(-2.0 * libm::log(delta)) + 1.0;
                Ok((noise, margin, LOW_GAUSSIAN * std_dev))
            }
        }
    }
}

impl Inner {
    /// The share of the count with which the fewest tuples do, nearly: what it falls short by is A/s (by zCDP A/√s), what the
    /// centers need about B/(1 − s) (B/√(1 − s)), and the sum is least where s/(1 − s) = √(A/B) (the two thirds' power of it).
    fn count_share(&self, goal: Goal, shape: TupleShape) -> Option<f64> {
        // B from what the centers need at a likely share.
        let (_, spend) = self.loss.divide(LIKELY_SHARE)?;
        let rho = spend.rho().get();
        let parts = match goal {
            Goal::Tuples(_) => (SCALE_SHARE * rho, (1.0 - SCALE_SHARE) * rho),
            Goal::Points => (f64::INFINITY, rho),
        };
        let for_centers = least_count(goal, shape, parts, self.delta_scales) as f64;
        let slack = -libm::log(self.delta_count);
        let odds = match self.loss {
            InnerLoss::Approx(epsilon, _) => {
                let for_centers = for_centers * (1.0 - LIKELY_SHARE);
                libm::sqrt((slack + LOW_LAPLACE) / epsilon / for_centers)
            }
            InnerLoss::Zcdp(rho) => {
                let for_centers = for_centers * libm::sqrt(1.0 - LIKELY_SHARE);
                let for_count = (libm::sqrt(2.0 * slack) + LOW_GAUSSIAN) / libm::sqrt(2.0 * rho);
                libm::cbrt(for_count / for_centers * for_count / for_centers)
            }
        };
        Some((odds / (1.0 + odds)).clamp(0.02, 0.9))
    }

    fn plan(self, goal: Goal, shape: TupleShape, t: u64) -> Result<Forecast, ParamsError> {
        let share_of_count = self.count_share(goal, shape);
        let Some((count, spend)) = share_of_count.and_then(|part| self.loss.divide(part)) else {
            return Ok(Forecast {
                plan: None,
                slack: -(t as f64),
            });
        };
        let (count, margin, spread) = count.noise(self.delta_count)?;
        let (scales, centers) = match goal {
            Goal::Tuples(_) => {
                let (scales, centers) = share(spend.rho().get(), SCALE_SHARE);
                let part = |rho| {
                    let rho = Rho::new(rho).map_err(|_| ParamsError::BudgetTooSmall)?;
                    Ok::<_, ParamsError>(spend.with(rho))
                };
                (Some(part(scales)?), part(centers)?)
            }
            Goal::Points => (None, spend),
        };
        let rhos = (
            scales.map_or(f64::INFINITY, |spend| spend.rho().get()),
            centers.rho().get(),
        );
        let least = least_count(goal, shape, rhos, self.delta_scales);
        Ok(Forecast {
            plan: Some(Plan {
                keep: self.keep,
                average_epsilon: self.average_epsilon,
                count,
                margin: dp_core::planted!("friendly-margin-halved": integer(margin / 2.0); integer(margin)),
                scales,
                centers,
                delta_scales: self.delta_scales,
                least,
            }),
            slack: t as f64 - margin - spread - least as f64,
        })
    }
}

impl Plan {
    /// Standard deviations by which all k scales are raised.
    pub(super) fn raise_factor(&self, n_clusters: usize) -> f64 {
        raise_factor(n_clusters, self.delta_scales)
    }

    /// So many kept tuples are answered, but for probability `failure` of the count's noise.
    pub(super) fn enough(&self, failure: f64) -> f64 {
        let tail = -libm::log(failure);
        // Discrete Laplace noise of scale b is below −by with probability at most e^(−y), Gaussian noise below −σy with e^(−y²/2).
        let below = match &self.count {
            AdditiveMechanism::Laplace(noise) => noise.scale() * tail,
            AdditiveMechanism::Gaussian(noise) => noise.std_dev() * libm::sqrt(2.0 * tail),
        };
        (self.margin + self.least) as f64 + below
    }
}

/// A union bound over k sub-Gaussian tails of δ together, in standard deviations.
fn raise_factor(n_clusters: usize, delta: f64) -> f64 {
    libm::sqrt(2.0 * libm::log(n_clusters as f64 / delta)) * (1.0 + 1e-9)
}

/// The smallest estimate of the number of kept tuples with which the centers would be steady, at least 2, by the ρ of all scales and
/// of all centers.
fn least_count(
    goal: Goal,
    shape: TupleShape,
    (scales, centers): (f64, f64),
    delta_scales: f64,
) -> i64 {
    let root_d = libm::sqrt(shape.dimension as f64);
    let for_centers = libm::sqrt(2.0 * centers);
    // Σ over a count: what the scales' noise and its raise add to their logarithms, and the noise of a center.
    let (raised, noise) = match goal {
        Goal::Tuples(ratio) => {
            let root_k = libm::sqrt(shape.n_clusters as f64);
            let tail = raise_factor(shape.n_clusters, delta_scales);
            let raised = ratio.kappa() * (1.0 + root_k * tail / libm::sqrt(2.0 * scales));
            (raised, ratio.reach() * root_k / for_centers)
        }
        // Twice the radius.
        Goal::Points => (0.0, 2.0 / for_centers),
    };
    let steady = |count: f64| {
        let noise = libm::exp(raised / count) * noise / count;
        match goal {
            // In units of the gap: along a line, and by the difference of two noises' squared lengths.
            Goal::Tuples(_) => {
                STEADY * core::f64::consts::SQRT_2 * noise + 6.0 * noise * noise * root_d <= 0.5
            }
            // The noise's length is at most the radius.
            Goal::Points => noise * root_d <= 1.0,
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

#[cfg(test)]
mod tests;
