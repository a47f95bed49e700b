//! The standard normal distribution with certified bounds, tails included.
//!
//! Everything rests on the Mills ratio R(x) = (1 − Φ(x))/φ(x), which stays of moderate size where Φ
//! underflows. For small x it comes from `libm::erfc` (good to one unit of rounding), for x ≥ 3 from
//! Laplace's continued fraction, whose terms are positive and so lose nothing to cancellation.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

use crate::rounding::{at_least, at_most};

/// A real number between two floats.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Enclosure {
    /// A lower bound.
    pub low: f64,
    /// An upper bound.
    pub high: f64,
}

impl Enclosure {
    /// `value` with an absolute error of at most `error`.
    pub(crate) fn around(value: f64, error: f64) -> Self {
        Self {
            low: (value - error).next_down(),
            high: (value + error).next_up(),
        }
    }

    /// e to the power of the number, kept within [0, 1].
    pub(crate) fn exp_to_probability(self) -> Self {
        Self {
            low: at_least(
                at_most(crate::rounding::exp_down(self.low), 1.0_f64.next_down()),
                0.0,
            ),
            high: at_most(crate::rounding::exp_up(self.high), 1.0),
        }
    }
}

/// Relative error granted to [`mills`] and [`mills_slope`]; `tests` measure it.
pub(crate) const MILLS_ERROR: f64 = 64.0 * f64::EPSILON;

/// Half of ln(2π).
pub(crate) const HALF_LN_TAU: f64 = 0.918_938_533_204_672_8;

/// From here on the continued fraction converges to full precision within its terms.
const FRACTION_FROM: f64 = 3.0;

/// Terms of the continued fraction: at x = 3 what is cut off is below 1e-19.
const FRACTION_TERMS: f64 = 80.0;

/// The inner part K(x) = 1/(x + 2/(x + 3/(x + …))) of the continued fraction R(x) = 1/(x + K(x)), x ≥ 3.
fn fraction(x: f64) -> f64 {
    // What n terms leave falls like e^(−c·x·√n), so n may fall as x² rises; a few are needed anywhere.
    let ratio = FRACTION_FROM / x;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 12 and 92"
    )]
    let terms = (FRACTION_TERMS * ratio * ratio) as u32 + 12;
    let mut tail = x;
    for term in (1..terms).rev() {
        tail = f64::from(term) / (x + tail);
    }
    tail
}

/// The Mills ratio R(x) = (1 − Φ(x))/φ(x), for x ≥ −1; relative error [`MILLS_ERROR`].
pub(crate) fn mills(x: f64) -> f64 {
    if x < FRACTION_FROM {
        libm::sqrt(PI / 2.0) * libm::erfc(x * FRAC_1_SQRT_2) * libm::exp(x * x / 2.0)
    } else {
        1.0 / (x + fraction(x))
    }
}

/// −R′(x) = 1 − x·R(x), for x ≥ −1; relative error [`MILLS_ERROR`].
pub(crate) fn mills_slope(x: f64) -> f64 {
    if x < FRACTION_FROM {
        // At most a factor ten is lost: 1 − x·R(x) is at least 0.08 here.
        1.0 - x * mills(x)
    } else {
        let inner = fraction(x);
        inner / (x + inner)
    }
}

/// The logarithm of the density, −x²/2 − ln √(2π).
pub(crate) fn ln_density(x: f64) -> f64 {
    -x * x / 2.0 - HALF_LN_TAU
}

/// Bounds of Φ(x), the standard normal distribution function.
///
/// Complexity: O(1).
#[must_use]
pub fn normal_cdf(x: f64) -> Enclosure {
    if x.is_nan() {
        return Enclosure {
            low: 0.0,
            high: 1.0,
        };
    }
    // The rounding of x/√2 costs x² units, `erfc` itself one or two.
    let value = 0.5 * libm::erfc(-x * FRAC_1_SQRT_2);
    let units = if x < 0.0 { 8.0 + 4.0 * x * x } else { 8.0 };
    // Far below −38 the product is 0 · ∞; there the smallest float is a bound.
    let error = if value > 0.0 {
        value * units * f64::EPSILON
    } else {
        0.0
    };
    let Enclosure { low, high } = Enclosure::around(value, error);
    Enclosure {
        low: at_least(low, 0.0),
        high: at_most(high, 1.0),
    }
}

/// Bounds of ln Φ(x), accurate where Φ itself underflows.
///
/// Complexity: O(1).
#[must_use]
pub fn ln_normal_cdf(x: f64) -> Enclosure {
    if x.is_nan() {
        return Enclosure {
            low: f64::NEG_INFINITY,
            high: 0.0,
        };
    }
    if x < 0.0 {
        // Φ(x) = φ(x)·R(−x).
        let (density, ratio) = (ln_density(x), libm::log(mills(-x)));
        let error = 8.0 * f64::EPSILON * (density.abs() + ratio.abs()) + 2.0 * MILLS_ERROR;
        if density == f64::NEG_INFINITY {
            return Enclosure {
                low: f64::NEG_INFINITY,
                high: -f64::MAX,
            };
        }
        return Enclosure::around(density + ratio, error);
    }
    let upper_tail = normal_cdf(-x);
    Enclosure {
        low: (libm::log1p(-upper_tail.high) * (1.0 + 8.0 * f64::EPSILON)).next_down(),
        high: at_most(
            (libm::log1p(-upper_tail.low) * (1.0 - 8.0 * f64::EPSILON)).next_up(),
            0.0,
        ),
    }
}

#[cfg(test)]
mod tests;
