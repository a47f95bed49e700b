//! The Gaussian mechanism's exact privacy profile and the noise it needs (Balle and Wang 2018).
//!
//! With μ = sensitivity / σ the smallest δ at ε is δ(ε) = Φ(μ/2 − ε/μ) − e^ε·Φ(−μ/2 − ε/μ). As printed it
//! loses every digit where δ is small. Here it is φ(a)·(R(a) − R(b)) with a, b = ε/μ ∓ μ/2 and the Mills
//! ratio R, for e^ε·φ(b) = φ(a); what difference remains is expanded around ε/μ where μ is small.
//!
//! All of this is about *continuous* Gaussian noise. The discrete Gaussian's profile is not the same: it is
//! accounted by its ρ, or numerically by its own privacy-loss distribution.
//!
//! k releases with μ₁, …, μₖ are one with μ = √(Σ μᵢ²).

use crate::normal::{Enclosure, MILLS_ERROR, ln_density, mills, mills_slope, normal_cdf};
use crate::rounding::{largest_holding, smallest_holding, up};
use crate::units::{Delta, Epsilon};

/// Below this half of μ the difference of Mills ratios is expanded.
const EXPAND_BELOW: f64 = 0.01;

/// Bounds of the smallest δ at `epsilon` of a Gaussian with the ratio `mu` = L2 sensitivity / σ.
///
/// Complexity: O(1).
#[must_use]
pub fn gaussian_profile(mu: f64, epsilon: f64) -> Enclosure {
    ln_gaussian_profile(mu, epsilon).exp_to_probability()
}

/// The logarithm of [`gaussian_profile`], for δ that underflow.
#[must_use]
pub fn ln_gaussian_profile(mu: f64, epsilon: f64) -> Enclosure {
    let nothing = Enclosure {
        low: f64::NEG_INFINITY,
        high: f64::NEG_INFINITY,
    };
    if mu <= 0.0 && epsilon >= 0.0 {
        return nothing;
    }
    if !(mu > 0.0 && epsilon >= 0.0) {
        return Enclosure {
            low: f64::NEG_INFINITY,
            high: 0.0,
        };
    }
    let (center, half) = (epsilon / mu, mu / 2.0);
    let (a, b) = (center - half, center + half);
    if a > 1e3 {
        // δ < Q(a) < e^(−a²/2): no float below comes near.
        return Enclosure {
            low: f64::NEG_INFINITY,
            high: -4.9e5,
        };
    }
    // How far a and b may be off.
    let slip = 2.0 * f64::EPSILON * b;
    if half < EXPAND_BELOW {
        let difference = expanded_difference(center, half);
        let density = ln_density(a);
        let value = density + libm::log(difference.high);
        let width = libm::log(difference.high / difference.low);
        let error = 8.0 * f64::EPSILON * (density.abs() + value.abs()) + a.abs() * slip;
        Enclosure {
            low: (value - width - error).next_down(),
            high: (value + error).next_up(),
        }
    } else if a >= 0.0 {
        let (near, far) = (mills(a), mills(b));
        // |R′| is at most 1 and at most 1/x².
        let steepest = if a > 1.0 { 1.0 / (a * a) } else { 1.0 };
        let error = (near + far) * (MILLS_ERROR + f64::EPSILON) + 2.0 * steepest * slip;
        let density = ln_density(a);
        let exponent_error = 8.0 * f64::EPSILON * density.abs() + a * slip + 8.0 * f64::EPSILON;
        let ln_of = |difference: f64| {
            let ln = libm::log(difference);
            (density + ln, exponent_error + 8.0 * f64::EPSILON * ln.abs())
        };
        let (low, low_error) = ln_of(near - far - error);
        let (high, high_error) = ln_of(near - far + error);
        Enclosure {
            low: if low.is_nan() {
                f64::NEG_INFINITY
            } else {
                (low - low_error).next_down()
            },
            high: (high + high_error).next_up(),
        }
    } else {
        // δ is not small: the printed form loses at most two digits.
        let body = normal_cdf(-a);
        let tail = libm::exp(ln_density(a)) * mills(b);
        let tail_error = tail
            * (MILLS_ERROR
                + 16.0 * f64::EPSILON * (1.0 + ln_density(a).abs())
                + a.abs() * slip
                + slip);
        let low = body.low - tail - tail_error - slip;
        let high = body.high - tail + tail_error + slip;
        Enclosure {
            low: if low > 0.0 {
                ln_of_probability(low, -1.0)
            } else {
                f64::NEG_INFINITY
            },
            high: if high < 1.0 {
                ln_of_probability(high, 1.0)
            } else {
                0.0
            },
        }
    }
}

/// ln p moved outward in the direction of `sign`.
fn ln_of_probability(p: f64, sign: f64) -> f64 {
    let ln = libm::log(p);
    ln + sign * (4.0 * f64::EPSILON * ln.abs() + f64::MIN_POSITIVE)
}

/// Bounds of R(c − h) − R(c + h) for small h, without cancellation.
///
/// −R is completely monotone in its derivatives: the odd ones have one sign, so the expansion
/// 2·(h·|R′| + h³/6·|R‴| + h⁵/120·|R⁗′| + …) has positive terms only.
fn expanded_difference(center: f64, half: f64) -> Enclosure {
    if center > 40.0 {
        // The mean value theorem is close enough where δ underflows anyway.
        let margin = 1.0 + 4.0 * MILLS_ERROR;
        return Enclosure {
            low: 2.0 * half * mills_slope(center + half) / margin,
            high: 2.0 * half * mills_slope(center - half) * margin,
        };
    }
    let r = mills(center);
    let first = -mills_slope(center);
    let second = center * first + r;
    let third = center * second + 2.0 * first;
    let fourth = center * third + 3.0 * second;
    let fifth = center * fourth + 4.0 * third;
    let h2 = half * half;
    let bracket = -(first + h2 / 6.0 * third + h2 * h2 / 120.0 * fifth);
    let value = 2.0 * half * bracket;
    // The rest is below h⁶/5040·|R⁽⁷⁾/R′| < 1e-14 of the first term. The recursion multiplies the error
    // of R by at most c² for the third and c⁴ for the fifth derivative.
    let c2 = center * center;
    let recursion = r * (h2 * c2 / 6.0 + h2 * h2 * c2 * c2 / 120.0 + h2) * 8.0 * MILLS_ERROR;
    let error = value * (1.2e-14 + 2.0 * MILLS_ERROR + 8.0 * f64::EPSILON) + 2.0 * half * recursion;
    Enclosure {
        low: value - error,
        high: value + error,
    }
}

/// The ratio sensitivity / σ, rounded up.
fn ratio_up(std_dev: f64, l2_sensitivity: f64) -> f64 {
    up(l2_sensitivity / std_dev, 1)
}

/// The smallest δ for which Gaussian noise of `std_dev` is (ε, δ)-private, rounded up.
///
/// Privacy: `l2_sensitivity` is the sensitivity under the relation that the guarantee is about.
///
/// Source: Balle and Wang 2018, Theorem 8.
/// Complexity: O(1).
#[must_use]
pub fn delta_of_gaussian(std_dev: f64, l2_sensitivity: f64, epsilon: f64) -> f64 {
    gaussian_profile(ratio_up(std_dev, l2_sensitivity), epsilon).high
}

/// The smallest ε for which Gaussian noise of `std_dev` is (ε, δ)-private, rounded up.
///
/// 0 if δ alone covers it, infinite if δ = 0.
///
/// Complexity: at most 66 evaluations of the profile.
#[must_use]
pub fn epsilon_of_gaussian(std_dev: f64, l2_sensitivity: f64, delta: f64) -> f64 {
    let mu = ratio_up(std_dev, l2_sensitivity);
    if !(delta > 0.0 && mu < f64::INFINITY) {
        return f64::INFINITY;
    }
    let holds = |epsilon: f64| gaussian_profile(mu, epsilon).high <= delta;
    if holds(0.0) {
        return 0.0;
    }
    smallest_holding(f64::MIN_POSITIVE, f64::MAX, holds).unwrap_or(f64::INFINITY)
}

/// The smallest σ for which Gaussian noise is (ε, δ)-private, rounded up.
///
/// `delta_of_gaussian` of the result is at most δ, in `f64`. `None` if δ = 0 or the sensitivity is not a
/// positive finite number.
///
/// Complexity: at most 66 evaluations of the profile.
///
/// ```
/// use dp_core::{Delta, Epsilon, gaussian_calibration::std_dev_for};
/// let std_dev = std_dev_for(Epsilon::new(1.0)?, Delta::new(1e-5)?, 1.0).expect("delta is above 0");
/// assert!(std_dev > 3.7 && std_dev < 3.8); // the classic form asks for 4.85
/// # Ok::<(), dp_core::UnitError>(())
/// ```
#[must_use]
pub fn std_dev_for(epsilon: Epsilon, delta: Delta, l2_sensitivity: f64) -> Option<f64> {
    if delta.is_zero() || !(l2_sensitivity > 0.0 && l2_sensitivity < f64::INFINITY) {
        return None;
    }
    let holds =
        |std_dev: f64| delta_of_gaussian(std_dev, l2_sensitivity, epsilon.get()) <= delta.get();
    smallest_holding(f64::MIN_POSITIVE, f64::MAX, holds)
}

/// The largest ratio μ = sensitivity / σ that (ε, δ) allows, rounded down: what a plan of several Gaussian
/// releases may spend together, as √(Σ μᵢ²).
///
/// Complexity: at most 66 evaluations of the profile.
#[must_use]
pub fn mu_for(epsilon: Epsilon, delta: Delta) -> Option<f64> {
    if delta.is_zero() {
        return None;
    }
    let holds = |mu: f64| gaussian_profile(mu, epsilon.get()).high <= delta.get();
    largest_holding(f64::MIN_POSITIVE, f64::MAX, holds)
}

/// The classic σ = (λ/ε)·√(2·ln(1.25/δ)), kept for comparison; `None` unless ε < 1 and δ > 0.
///
/// Source: Dwork and Roth 2014, Theorem A.1.
#[must_use]
pub fn std_dev_classic(epsilon: Epsilon, delta: Delta, l2_sensitivity: f64) -> Option<f64> {
    if delta.is_zero() || epsilon.get() >= 1.0 {
        return None;
    }
    let root = libm::sqrt(2.0 * libm::log(1.25 / delta.get()));
    Some(up(l2_sensitivity / epsilon.get() * root, 8))
}

#[cfg(test)]
mod tests;
