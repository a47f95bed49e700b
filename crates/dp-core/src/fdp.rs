//! Privacy as hypothesis testing: trade-off curves (Dong, Roth and Su 2022).
//!
//! A curve f gives, for each false-positive rate a, the smallest false-negative rate with which anyone
//! can tell two neighbors apart from the output. Every value is rounded *down*, towards telling apart.

use crate::normal::normal_cdf;
use crate::pld::ComposedLoss;
use crate::rounding::{at_least, down, largest_holding};

/// The trade-off of (ε, δ)-privacy: the largest of 0, 1 − δ − e^ε·a and e^(−ε)·(1 − δ − a).
#[must_use]
pub fn approximate(epsilon: f64, delta: f64, false_positive_rate: f64) -> f64 {
    let a = rate(false_positive_rate);
    let rest = 1.0 - delta;
    let steep =
        down(rest - libm::exp(epsilon) * a, 0) - 8.0 * f64::EPSILON * libm::exp(epsilon) * a;
    let flat = down(libm::exp(-epsilon) * (rest - a), 8) - f64::EPSILON;
    at_least(at_least(steep, flat), 0.0)
}

/// The trade-off of Gaussian noise, Φ(Φ⁻¹(1 − a) − μ), with μ = L2 sensitivity / σ.
///
/// Complexity: at most 66 evaluations of Φ.
#[must_use]
pub fn gaussian(mu: f64, false_positive_rate: f64) -> f64 {
    let a = rate(false_positive_rate);
    if a <= 0.0 {
        return 1.0;
    }
    // The largest x with 1 − Φ(x) ≥ a, looked for on the side on which it lies, from below.
    let x = if a <= 0.5 {
        largest_holding(f64::MIN_POSITIVE, 40.0, |x| normal_cdf(-x).low >= a).unwrap_or(0.0)
    } else {
        // 1 − Φ(−y) = Φ(y): the smallest y with Φ(y) ≥ a, as a bound from above.
        largest_holding(f64::MIN_POSITIVE, 40.0, |y| normal_cdf(y).low < a)
            .map_or(0.0, |y| -y.next_up())
    };
    normal_cdf(x - mu - 2.0 * f64::EPSILON * (x.abs() + mu)).low
}

/// The trade-off of continuous Laplace noise on one number with loss ε = sensitivity / scale.
#[must_use]
pub fn laplace(epsilon: f64, false_positive_rate: f64) -> f64 {
    let a = rate(false_positive_rate);
    let knee = libm::exp(-epsilon) / 2.0;
    let value = if a < knee {
        1.0 - libm::exp(epsilon) * a
    } else if a <= 0.5 {
        libm::exp(-epsilon) / (4.0 * a)
    } else {
        libm::exp(-epsilon) * (1.0 - a)
    };
    at_least(down(value, 16) - 4.0 * f64::EPSILON, 0.0)
}

/// The trade-off that a composed loss guarantees: the best of its (ε, δ(ε)) at the given ε ≥ 0.
///
/// More ε make it tighter; with an [`Upper`](crate::pld::Bound::Upper) bound it is valid for any.
#[must_use]
pub fn of_loss(loss: &ComposedLoss, epsilons: &[f64], false_positive_rate: f64) -> f64 {
    let mut best = 0.0;
    for &epsilon in epsilons {
        let here = approximate(epsilon, loss.delta(epsilon), false_positive_rate);
        if here > best {
            best = here;
        }
    }
    best
}

/// A rate within [0, 1]; NaN counts as 1, at which nothing is hidden.
fn rate(a: f64) -> f64 {
    if a < 1.0 { at_least(a, 0.0) } else { 1.0 }
}

#[cfg(test)]
mod tests;
