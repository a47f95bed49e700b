//! Conversions between pure, approximate and zero-concentrated guarantees, and between the relations.
//!
//! Every conversion errs toward more loss: an ε or δ that is reported is at least the true bound, and a
//! budget that is computed backward ([`rho_for`]) is one that the forward conversion was seen to accept.

use crate::composition::ApproxLoss;
use crate::gaussian_calibration::{epsilon_of_gaussian, gaussian_profile, ln_gaussian_profile};
use crate::normal::ln_density;
use crate::rounding::{Sum, at_least, at_most, down, largest_holding, up};
use crate::units::{Delta, Epsilon, Rho};

/// ρ of a pure ε guarantee, ε²/2 (Bun and Steinke 2016, Proposition 1.4), rounded up.
#[must_use]
pub fn rho_of_pure(epsilon: f64) -> f64 {
    up(epsilon * epsilon / 2.0, 1)
}

/// ρ of an ε-bounded-range mechanism such as the exponential mechanism, ε²/8, rounded up.
///
/// ε is the loss η·w of the mechanism, w the width of an interval that holds the changes of all scores.
///
/// Source: Cesar and Rogers 2021, Lemma 3.2; Rogers and Steinke 2021.
#[must_use]
pub fn rho_of_bounded_range(epsilon: f64) -> f64 {
    up(epsilon * epsilon / 8.0, 1)
}

/// ρ of the Gaussian mechanism, λ²/(2σ²) for L2 sensitivity λ, rounded up. The discrete one has the same.
#[must_use]
pub fn rho_of_gaussian(std_dev: f64, l2_sensitivity: f64) -> f64 {
    let ratio = l2_sensitivity / std_dev;
    up(ratio * ratio / 2.0, 3)
}

/// The largest ε whose pure guarantee is within ρ: √(2ρ), rounded down.
#[must_use]
pub fn pure_for_rho(rho: f64) -> f64 {
    down(libm::sqrt(2.0 * rho), 2)
}

/// The smallest ε such that ρ-zCDP implies (ε, δ)-DP by the best Rényi order, rounded up.
///
/// With t = α − 1, every t > 0 gives the bound ρ(1 + t) + (ln(1/δ) − ln(1 + t))/t − ln(1 + 1/t); its
/// derivative is ρ − (ln(1/δ) − ln(1 + t))/t², so the best t is the only root of ρt² + ln(1 + t) = ln(1/δ).
/// Any t is valid, hence an inexact root costs tightness (of second order), never validity.
///
/// Infinite if δ = 0 or a parameter is NaN; 0 if ρ is 0 or δ alone covers the loss.
///
/// Source: Canonne, Kamath and Steinke 2020, Proposition 12.
/// Complexity: at most 64 logarithms.
///
/// ```
/// use dp_core::conversion::epsilon_of_rho;
/// let epsilon = epsilon_of_rho(0.1, 1e-6);
/// assert!(epsilon > 2.0 && epsilon < 2.5);
/// ```
#[must_use]
pub fn epsilon_of_rho(rho: f64, delta: f64) -> f64 {
    if delta >= 1.0 || (rho <= 0.0 && delta >= 0.0) {
        return 0.0;
    }
    if !(delta > 0.0 && rho > 0.0 && rho < f64::INFINITY) {
        return f64::INFINITY;
    }
    let slack = -libm::log(delta);
    // The root lies in (0, √(slack/ρ)], for ln(1 + t) is not negative.
    let highest = at_most(2.0 * libm::sqrt(slack) / libm::sqrt(rho), f64::MAX);
    let below_root = |t: f64| rho * t * t + libm::log1p(t) <= slack;
    let t = largest_holding(f64::MIN_POSITIVE, highest, below_root).unwrap_or(f64::MIN_POSITIVE);
    at_least(epsilon_at_order(rho, slack, t), 0.0)
}

/// The bound of [`epsilon_of_rho`] at the order 1 + t, rounded up.
fn epsilon_at_order(rho: f64, slack: f64, t: f64) -> f64 {
    // Near t = 0 the quotient cancels what the logarithm of 1 + 1/t takes away; as separate terms their
    // errors are counted.
    Sum::of(&[
        rho,
        rho * t,
        slack / t,
        -libm::log1p(t) / t,
        -libm::log1p(1.0 / t),
    ])
    .up()
}

/// The smallest δ such that ρ-zCDP implies (ε, δ)-DP by the best Rényi order, rounded up.
///
/// The logarithm of the bound at t = α − 1 is tρ(1 + t) − tε + t·ln t − (1 + t)·ln(1 + t), and the best t
/// is the only root of ρ(1 + 2t) − ln(1 + 1/t) = ε.
///
/// 1 if a parameter is NaN; 0 only if ρ is 0.
///
/// Source: Canonne, Kamath and Steinke 2020, Proposition 12.
/// Complexity: at most 64 logarithms.
#[must_use]
pub fn delta_of_rho(rho: f64, epsilon: f64) -> f64 {
    if rho <= 0.0 && epsilon >= 0.0 {
        return 0.0;
    }
    if !(rho > 0.0 && rho < f64::INFINITY && epsilon >= 0.0) {
        return 1.0;
    }
    let below_root = |t: f64| rho + 2.0 * rho * t - libm::log1p(1.0 / t) <= epsilon;
    let t = largest_holding(f64::MIN_POSITIVE, f64::MAX, below_root).unwrap_or(f64::MIN_POSITIVE);
    // t·ln t − (1 + t)·ln(1 + t) = −t·ln(1 + 1/t) − ln(1 + t): both terms stay small for large t.
    let exponent = Sum::of(&[
        t * rho,
        t * rho * t,
        -t * epsilon,
        -t * libm::log1p(1.0 / t),
        -libm::log1p(t),
    ])
    .up();
    at_most(up(libm::exp(exponent), 4), 1.0)
}

/// Variance, in squared lattice units, that discrete Gaussian noise has above what its μ asks for, so that it may be counted as
/// continuous noise: see [`delta_of_gaussians`].
pub const GAUSSIAN_SURPLUS: u8 = 4;

/// Bound on how far discrete noise with that surplus is from rounded continuous noise, in all of a run: (1 + η)/(1 − η) for each of at most
/// 2^64 coordinates, η < 1.1e-34.
const DISCRETE: f64 = 1e-14;

/// The smallest δ at ε of discrete Gaussian releases with Σ μᵢ²/2 = ρ, rounded up, where each has the variance
/// Δᵢ²/μᵢ² + [`GAUSSIAN_SURPLUS`].
///
/// Continuous noise of variance Δ²/μ², rounded at random by a discrete Gaussian of variance 4, is discrete Gaussian noise up to a factor
/// of 1 ± 3e-34 at each integer; so what holds for continuous noise holds here, up to that factor for each coordinate.
///
/// 1 if a parameter is NaN.
///
/// Source: `docs/proofs/gaussian.md`; the profile is that of Balle and Wang 2018, Theorem 8, the composition that of Dong, Roth and Su
/// 2022, Corollary 3.3.
/// Complexity: O(1).
#[must_use]
pub fn delta_of_gaussians(rho: f64, epsilon: f64) -> f64 {
    let least = at_least(epsilon - DISCRETE, 0.0);
    at_most(
        up(
            gaussian_profile(mu_of(rho), least).high * (1.0 + DISCRETE),
            2,
        ),
        1.0,
    )
}

/// The smallest ε at δ of discrete Gaussian releases with Σ μᵢ²/2 = ρ, rounded up: see [`delta_of_gaussians`].
///
/// Infinite if δ = 0 or a parameter is NaN; 0 if ρ is 0 or δ alone covers the loss.
///
/// Complexity: at most 66 evaluations of a Gaussian's profile.
///
/// ```
/// use dp_core::conversion::{epsilon_of_gaussians, epsilon_of_rho};
/// assert!(epsilon_of_gaussians(0.01, 1e-6) < 0.95 * epsilon_of_rho(0.01, 1e-6));
/// ```
#[must_use]
pub fn epsilon_of_gaussians(rho: f64, delta: f64) -> f64 {
    if delta >= 1.0 || (rho <= 0.0 && delta >= 0.0) {
        return 0.0;
    }
    if !(delta > 0.0 && rho > 0.0 && rho < f64::INFINITY) {
        return f64::INFINITY;
    }
    let epsilon = epsilon_of_gaussian(1.0, mu_of(rho), down(delta * (1.0 - DISCRETE), 2));
    up(epsilon + DISCRETE, 1)
}

/// The classic conversion ε = ρ + 2√(ρ·ln(1/δ)), kept for comparison, rounded up.
///
/// Source: Bun and Steinke 2016, Proposition 1.3.
#[must_use]
pub fn epsilon_of_rho_classic(rho: f64, delta: f64) -> f64 {
    if delta >= 1.0 {
        return rho;
    }
    if !(delta > 0.0 && rho >= 0.0) {
        return f64::INFINITY;
    }
    Sum::of(&[rho, 2.0 * libm::sqrt(rho * -libm::log(delta))]).up()
}

/// Floats below ρ that must fit as well: parts of ρ are rounded down and add up to a few floats less, and the last bits of the
/// conversion do not rise evenly.
const STEADY: u32 = 16;

/// The largest ρ whose conversion at δ is at most ε, so that `epsilon_of_rho(rho, δ) <= ε` holds in `f64`, for ρ and for sums of
/// its parts.
///
/// `None` if δ = 0, for which no ρ > 0 will do.
///
/// Complexity: about 100 calls of [`epsilon_of_rho`].
///
/// ```
/// use dp_core::{Delta, Epsilon, conversion::{epsilon_of_rho, rho_for}};
/// let (epsilon, delta) = (Epsilon::new(1.0)?, Delta::new(1e-6)?);
/// let rho = rho_for(epsilon, delta).expect("delta is above 0");
/// assert!(epsilon_of_rho(rho.get(), delta.get()) <= 1.0);
/// # Ok::<(), dp_core::UnitError>(())
/// ```
#[must_use]
pub fn rho_for(epsilon: Epsilon, delta: Delta) -> Option<Rho> {
    if delta.is_zero() {
        return None;
    }
    let fits = |rho: f64| epsilon_of_rho(rho, delta.get()) <= epsilon.get();
    let mut rho = largest_holding(f64::MIN_POSITIVE, f64::MAX, fits)?;
    let (mut at, mut seen) = (rho, 0);
    while seen <= STEADY && at >= f64::MIN_POSITIVE {
        if fits(at) {
            seen += 1;
        } else {
            (rho, seen) = (at.next_down(), 0);
        }
        at = at.next_down();
    }
    Rho::new(rho).ok()
}

/// The largest ρ = Σ μᵢ²/2 of discrete Gaussian releases that together stay within (ε, δ): what [`rho_for`] is for any concentrated
/// ones, and larger, by 15 % at ε = 1 and δ = 1e-6.
///
/// `None` if δ = 0.
///
/// Complexity: six to ten evaluations of a Gaussian's profile.
///
/// ```
/// use dp_core::{Delta, Epsilon, conversion::{rho_for, rho_for_gaussians}};
/// let (epsilon, delta) = (Epsilon::new(1.0)?, Delta::new(1e-6)?);
/// let any = rho_for(epsilon, delta).expect("delta is above 0");
/// let gaussian = rho_for_gaussians(epsilon, delta).expect("delta is above 0");
/// assert!(gaussian.get() > 1.1 * any.get());
/// # Ok::<(), dp_core::UnitError>(())
/// ```
#[must_use]
pub fn rho_for_gaussians(epsilon: Epsilon, delta: Delta) -> Option<Rho> {
    if delta.is_zero() {
        return None;
    }
    let (epsilon, delta) = (epsilon.get(), delta.get());
    // A little less than allowed, so that the forward search, whose last bits do not rise evenly, agrees.
    let least = epsilon * (1.0 - 1e-12) - 2.0 * DISCRETE;
    let target = libm::log(down(delta * (1.0 - DISCRETE), 2)) - 1e-12;
    if least < 0.0 {
        return None;
    }
    let excess = |rho: f64| ln_gaussian_profile(mu_of(rho), least).high - target;
    let rho = just_below_root(near_rho(least, target), excess)?;
    Rho::new(rho * (1.0 - 1e-12)).ok()
}

/// A first guess at the ρ of a Gaussian whose δ at ε has the logarithm `target`: a few steps of Newton's method, which proves nothing.
///
/// The derivative of δ by μ is the density at a = ε/μ − μ/2, so that of ln δ by ln μ is μ·exp(ln φ(a) − ln δ).
fn near_rho(epsilon: f64, target: f64) -> f64 {
    // The classic conversion of ρ holds for Gaussians all the more.
    let root = epsilon / (libm::sqrt(epsilon - target) + libm::sqrt(-target));
    let classic = root * root;
    let mut mu = libm::sqrt(2.0 * classic);
    for _ in 0..8 {
        let ln_delta = ln_gaussian_profile(mu, epsilon).high;
        let slope = mu * libm::exp(ln_density(epsilon / mu - mu / 2.0) - ln_delta);
        let step = (target - ln_delta) / slope;
        // Just below the root, where the search that proves it ends at once.
        mu *= libm::exp(step - 1e-12);
        if step.abs() < 1e-9 {
            break;
        }
    }
    let rho = mu * mu / 2.0;
    if rho > 0.0 && rho < f64::INFINITY {
        rho
    } else {
        classic
    }
}

/// An argument at which a rising function is at most 0, and hardly less; by false position with the Illinois rule, from a first guess.
fn just_below_root(guess: f64, f: impl Fn(f64) -> f64) -> Option<f64> {
    /// How far below 0 will do: a ρ that is smaller by less than one part in 10¹¹.
    const NEAR: f64 = 1e-11;
    let (mut low, mut high) = (guess, guess);
    let (mut at_low, mut at_high) = (f(low), f(high));
    while at_low > 0.0 {
        (high, at_high) = (low, at_low);
        low /= 2.0;
        at_low = f(low);
        if low < f64::MIN_POSITIVE {
            return None;
        }
    }
    while at_high <= 0.0 {
        (low, at_low) = (high, at_high);
        high *= 2.0;
        at_high = f(high);
        if high > 1e300 {
            return None;
        }
    }
    // Values at the ends, for the line between them; one that stays is halved.
    let (mut below, mut above) = (at_low, at_high);
    for step in 0..200 {
        if at_low >= -NEAR {
            break;
        }
        let line = low + (high - low) * (NEAR / 2.0 + below) / (below - above);
        let middle = if step % 8 == 7 || !(line > low && line < high) {
            f64::midpoint(low, high)
        } else {
            line
        };
        let here = f(middle);
        if here <= 0.0 {
            (low, at_low, below) = (middle, here, here);
            above /= 2.0;
        } else {
            (high, above) = (middle, here);
            below /= 2.0;
        }
    }
    Some(low)
}

/// μ = √(2ρ), rounded up.
fn mu_of(rho: f64) -> f64 {
    up(libm::sqrt(2.0 * rho), 2)
}

/// The smallest δ at ε of continuous Laplace noise on one number with loss ε₀ = sensitivity / scale:
/// 1 − e^((ε − ε₀)/2), 0 from ε₀ on, rounded up.
#[must_use]
pub fn delta_of_laplace(loss: f64, epsilon: f64) -> f64 {
    if epsilon >= loss {
        return 0.0;
    }
    // NaN: no bound.
    let delta = up(-libm::expm1((epsilon - loss) / 2.0), 4);
    if delta < 1.0 { delta } else { 1.0 }
}

/// The loss under `ReplaceOne` of what has `loss` under `AddRemove`: (2ε, (1 + e^ε)·δ), rounded up.
///
/// A replacement is one removal and one addition. A mechanism that knows its own loss under `ReplaceOne`
/// states that instead; the same holds for the functions below.
#[must_use]
pub fn replace_one_of_add_remove(loss: ApproxLoss) -> ApproxLoss {
    let delta = if loss.delta > 0.0 {
        up(loss.delta * (1.0 + libm::exp(loss.epsilon)), 8)
    } else {
        0.0
    };
    ApproxLoss::capped(2.0 * loss.epsilon, delta)
}

/// The ε under `ReplaceOne` of what is ε-private under `AddRemove`: 2ε, exactly.
#[must_use]
pub fn pure_replace_one_of_add_remove(epsilon: f64) -> f64 {
    2.0 * epsilon
}

/// The ρ under `ReplaceOne` of what has ρ under `AddRemove`: 4ρ, exactly.
#[must_use]
pub fn rho_replace_one_of_add_remove(rho: f64) -> f64 {
    4.0 * rho
}

/// The `AddRemove` budget with which a `ReplaceOne` budget is kept: (ε/2, δ/(1 + e^(ε/2))), rounded down.
///
/// [`replace_one_of_add_remove`] of the result is within `budget` in `f64`, unless its δ underflows to 0.
#[must_use]
pub fn add_remove_budget(budget: ApproxLoss) -> ApproxLoss {
    let epsilon = budget.epsilon / 2.0;
    let delta = if budget.delta > 0.0 {
        at_least(down(budget.delta / (1.0 + libm::exp(epsilon)), 24), 0.0)
    } else {
        0.0
    };
    ApproxLoss { epsilon, delta }
}

/// The `AddRemove` ρ with which a `ReplaceOne` ρ is kept: ρ/4.
#[must_use]
pub fn add_remove_rho(rho: f64) -> f64 {
    // Only a subnormal quotient rounds, and then perhaps up.
    let quarter = rho / 4.0;
    if 4.0 * quarter > rho {
        quarter.next_down()
    } else {
        quarter
    }
}

#[cfg(test)]
mod tests;
