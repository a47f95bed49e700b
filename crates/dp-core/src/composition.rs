//! Composition of pure and approximate guarantees, every total rounded up.
//!
//! The mechanisms may be chosen one after the other from earlier answers, as long as their number and
//! their losses are fixed in advance.

use crate::rounding::{ExactSum, Sum, at_most, largest_holding};

/// A loss (ε, δ) as numbers: ε may be 0 or infinite and δ may be 1, which no budget may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ApproxLoss {
    /// Bound ε, in nats.
    pub epsilon: f64,
    /// Slack δ, a probability.
    pub delta: f64,
}

impl ApproxLoss {
    /// The loss (ε, δ), with δ cut at 1.
    pub(crate) fn capped(epsilon: f64, delta: f64) -> Self {
        Self {
            epsilon,
            delta: at_most(delta, 1.0),
        }
    }
}

/// Basic composition: the sums of ε and of δ, exact up to the last rounding, which goes up.
///
/// Complexity: O(uses) additions of rationals.
#[must_use]
pub fn basic(losses: &[ApproxLoss]) -> ApproxLoss {
    let (mut epsilon, mut delta) = (ExactSum::new(), ExactSum::new());
    for loss in losses {
        epsilon.add(loss.epsilon);
        delta.add(loss.delta);
    }
    ApproxLoss::capped(epsilon.to_f64_up(), delta.to_f64_up())
}

/// Advanced composition in its tight form: `uses` of (ε₀, δ₀) give (ε, uses·δ₀ + δ′) with
/// ε = √(2·uses·ln(1/δ′))·ε₀ + uses·ε₀·(e^ε₀ − 1).
///
/// `slack` is δ′. Infinite ε if the slack is not in (0, 1].
///
/// Source: Dwork, Rothblum and Vadhan 2010, Theorem III.3.
///
/// ```
/// use dp_core::composition::{ApproxLoss, advanced};
/// let each = ApproxLoss { epsilon: 0.01, delta: 0.0 };
/// let total = advanced(1000, each, 1e-6);
/// assert!(total.epsilon < 2.0); // basic composition says 10
/// ```
#[must_use]
pub fn advanced(uses: u64, each: ApproxLoss, slack: f64) -> ApproxLoss {
    let k = uses as f64;
    let drift = k * each.epsilon * libm::expm1(each.epsilon);
    with_slack(uses, each, slack, drift)
}

/// Advanced composition in the printed form for ε₀ ≤ 1, with 2·uses·ε₀² for the second term.
///
/// Kept for comparison; `None` if ε₀ > 1, where the form does not hold.
///
/// Source: Dwork, Rothblum and Vadhan 2010.
#[must_use]
pub fn advanced_loose(uses: u64, each: ApproxLoss, slack: f64) -> Option<ApproxLoss> {
    let drift = 2.0 * uses as f64 * each.epsilon * each.epsilon;
    (each.epsilon <= 1.0).then(|| with_slack(uses, each, slack, drift))
}

/// The common part of the two forms.
fn with_slack(uses: u64, each: ApproxLoss, slack: f64, drift: f64) -> ApproxLoss {
    let mut delta = ExactSum::new();
    delta.add_times(uses, each.delta);
    delta.add(slack);
    let epsilon = deviation(uses as f64 * each.epsilon * each.epsilon, slack)
        .map_or(f64::INFINITY, |deviation| Sum::of(&[deviation, drift]).up());
    ApproxLoss::capped(epsilon, delta.to_f64_up())
}

/// √(2·ln(1/δ′)·Σεᵢ²), or `None` for a slack outside (0, 1].
fn deviation(squares: f64, slack: f64) -> Option<f64> {
    (slack > 0.0 && slack <= 1.0 && squares >= 0.0)
        .then(|| libm::sqrt(2.0 * -libm::log(slack)) * libm::sqrt(squares))
}

/// Advanced composition of unlike losses: ε = √(2·ln(1/δ′)·Σεᵢ²) + Σεᵢ·(e^εᵢ − 1), δ = Σδᵢ + δ′.
///
/// Source: the proof of Dwork, Rothblum and Vadhan 2010, Theorem III.3: the loss of use i has a mean of at
/// most εᵢ·(e^εᵢ − 1) and lies within ±εᵢ, so Azuma's inequality applies with unlike widths.
/// Complexity: O(uses).
#[must_use]
pub fn advanced_mixed(losses: &[ApproxLoss], slack: f64) -> ApproxLoss {
    let mut delta = ExactSum::new();
    delta.add(slack);
    // Terms are positive: n additions lose at most n units of relative rounding.
    let (mut squares, mut drift) = (0.0, 0.0);
    for loss in losses {
        delta.add(loss.delta);
        squares += loss.epsilon * loss.epsilon;
        drift += loss.epsilon * libm::expm1(loss.epsilon);
    }
    let growth = 1.0 + 2.0 * (losses.len() as f64 + 4.0) * f64::EPSILON;
    let epsilon = deviation(squares * growth, slack).map_or(f64::INFINITY, |deviation| {
        Sum::of(&[deviation, drift * growth]).up()
    });
    ApproxLoss::capped(epsilon, delta.to_f64_up())
}

/// The smaller of the basic and the advanced ε for `uses` of a pure ε₀, as (ε, δ′).
///
/// Few uses, or large ε₀, are cheaper without the slack.
#[must_use]
pub fn best_of(uses: u64, each: ApproxLoss, slack: f64) -> ApproxLoss {
    let advanced = advanced(uses, each, slack);
    let (mut epsilon, mut delta) = (ExactSum::new(), ExactSum::new());
    epsilon.add_times(uses, each.epsilon);
    delta.add_times(uses, each.delta);
    let basic = ApproxLoss::capped(epsilon.to_f64_up(), delta.to_f64_up());
    if basic.epsilon <= advanced.epsilon {
        basic
    } else {
        advanced
    }
}

/// The largest ε₀ of which `uses` stay within `epsilon` by [`advanced`] at the given slack, rounded down.
///
/// `None` if the slack is not in (0, 1] or no positive ε₀ will do.
///
/// Complexity: at most 66 evaluations.
#[must_use]
pub fn advanced_for(uses: u64, epsilon: f64, slack: f64) -> Option<f64> {
    let holds = |each: f64| {
        let each = ApproxLoss {
            epsilon: each,
            delta: 0.0,
        };
        advanced(uses, each, slack).epsilon <= epsilon
    };
    // Above 700 the exponential overflows, and no budget is so large.
    largest_holding(f64::MIN_POSITIVE, 700.0, holds)
}

#[cfg(test)]
mod tests;
