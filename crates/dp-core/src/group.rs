//! Group privacy: what a guarantee for one unit says about several.

use crate::composition::ApproxLoss;
use crate::rounding::{ExactSum, up};

/// The loss of a group of `size` units, of which each alone has the loss `each`:
/// (kε, δ·(e^(kε) − 1)/(e^ε − 1)), rounded up.
///
/// The factor is the sum 1 + e^ε + … + e^((k−1)ε) of a chain of k neighbors.
///
/// Source: Vadhan 2017, Lemma 2.2, with the sum left unsimplified.
///
/// ```
/// use dp_core::{composition::ApproxLoss, group::of_size};
/// let three = of_size(3, ApproxLoss { epsilon: 0.5, delta: 0.0 });
/// assert!(three.epsilon >= 1.5 && three.epsilon < 1.5 + 1e-12);
/// ```
#[must_use]
pub fn of_size(size: u64, each: ApproxLoss) -> ApproxLoss {
    let factor = if each.epsilon > 0.0 {
        libm::expm1(size as f64 * each.epsilon) / libm::expm1(each.epsilon)
    } else {
        size as f64
    };
    let delta = scaled_delta(each, factor);
    ApproxLoss::capped(times(size, each.epsilon), delta)
}

/// The looser textbook form (kε, k·e^(kε)·δ), kept for comparison, rounded up.
#[must_use]
pub fn of_size_loose(size: u64, each: ApproxLoss) -> ApproxLoss {
    let k = size as f64;
    let delta = scaled_delta(each, k * libm::exp(k * each.epsilon));
    ApproxLoss::capped(times(size, each.epsilon), delta)
}

/// δ times a factor, rounded up; the rounding of kε costs the exponential kε units.
fn scaled_delta(each: ApproxLoss, factor: f64) -> f64 {
    if each.delta <= 0.0 {
        return 0.0;
    }
    let delta = each.delta * factor;
    if delta < 1.0 {
        // Then e^(kε) < 1/δ, so kε is at most 745 and costs as many units.
        up(delta, 1_600)
    } else {
        1.0
    }
}

/// ρ of a group of `size` units: ρ·k², rounded up.
///
/// Source: Bun and Steinke 2016, Proposition 1.9.
#[must_use]
pub fn rho_of_size(size: u64, rho: f64) -> f64 {
    let k = size as f64;
    up(k * k * rho, 3)
}

/// `size` times `value`, exact up to the last rounding, which goes up.
fn times(size: u64, value: f64) -> f64 {
    let mut sum = ExactSum::new();
    sum.add_times(size, value);
    sum.to_f64_up()
}

#[cfg(test)]
mod tests;
