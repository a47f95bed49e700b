//! Floats without rounding: an integer times a power of two.

use std::cmp::Ordering;

use dashu_base::{BitTest, Signed};
use dashu_int::IBig;

/// Bits of an `f64`'s mantissa.
const MANTISSA_BITS: i64 = 53;

/// Exponent of the smallest positive `f64`.
const LEAST_EXPONENT: i64 = -1074;

/// `mantissa · 2^exponent`: sums of floats, exactly and without the greatest common divisors of fractions.
#[derive(Clone, Debug, Default)]
pub(super) struct Dyadic {
    mantissa: IBig,
    exponent: i64,
}

impl Dyadic {
    /// A float as it is; none if it is not finite.
    pub(super) fn of(x: f64) -> Option<Self> {
        if !x.is_finite() {
            return None;
        }
        if x == 0.0 {
            return Some(Self::default());
        }
        let bits = x.to_bits();
        let biased = (bits >> 52) & 0x7ff;
        let fraction = bits & ((1 << 52) - 1);
        // Subnormal numbers have no hidden bit, and the exponent of the smallest normal ones.
        let whole = if biased == 0 {
            fraction
        } else {
            fraction | (1 << 52)
        };
        let zeros = whole.trailing_zeros();
        let magnitude = IBig::from(whole >> zeros);
        let exponent = i64::from(zeros) + LEAST_EXPONENT - 1;
        Some(Self {
            mantissa: if x < 0.0 { -magnitude } else { magnitude },
            exponent: exponent + i64::try_from(biased.max(1)).unwrap_or(1),
        })
    }

    pub(super) fn times(mut self, times: u64) -> Self {
        self.mantissa *= times;
        self
    }

    pub(super) fn plus(&self, other: &Self) -> Self {
        let (a, b, exponent) = self.aligned(other);
        Self {
            mantissa: a + b,
            exponent,
        }
    }

    pub(super) fn minus(&self, other: &Self) -> Self {
        let (a, b, exponent) = self.aligned(other);
        Self {
            mantissa: a - b,
            exponent,
        }
    }

    pub(super) fn by(&self, other: &Self) -> Self {
        Self {
            mantissa: &self.mantissa * &other.mantissa,
            exponent: self.exponent + other.exponent,
        }
    }

    /// The largest float that is at most a quotient of positive numbers.
    pub(super) fn over_down(&self, divisor: &Self) -> f64 {
        let length = |x: &Self| i64::try_from(x.mantissa.bit_len()).unwrap_or(i64::MAX);
        // So many bits that cutting off the fraction and then the surplus cuts once.
        let wanted = MANTISSA_BITS + 1 + length(divisor) - length(self);
        let shift = usize::try_from(wanted).unwrap_or(0);
        let quotient = (&self.mantissa << shift) / &divisor.mantissa;
        let exponent = self.exponent - divisor.exponent - i64::try_from(shift).unwrap_or(0);
        Self::toward_zero(&quotient, exponent)
    }

    pub(super) fn is_positive(&self) -> bool {
        !self.mantissa.is_zero() && self.mantissa.is_positive()
    }

    pub(super) fn compare(&self, other: &Self) -> Ordering {
        let (a, b, _) = self.aligned(other);
        a.cmp(&b)
    }

    /// Both mantissas with a common exponent.
    fn aligned(&self, other: &Self) -> (IBig, IBig, i64) {
        // Zero has any exponent.
        if self.mantissa.is_zero() {
            return (IBig::ZERO, other.mantissa.clone(), other.exponent);
        }
        if other.mantissa.is_zero() {
            return (self.mantissa.clone(), IBig::ZERO, self.exponent);
        }
        let exponent = self.exponent.min(other.exponent);
        let shifted = |x: &Self| {
            let by = usize::try_from(x.exponent - exponent).unwrap_or(0);
            if by == 0 {
                x.mantissa.clone()
            } else {
                &x.mantissa << by
            }
        };
        (shifted(self), shifted(other), exponent)
    }

    /// The smallest float that is at least this.
    pub(super) fn up(&self) -> f64 {
        if self.mantissa.is_negative() {
            -Self::toward_zero(&-&self.mantissa, self.exponent)
        } else {
            Self::from_zero(&self.mantissa, self.exponent)
        }
    }

    /// The largest float that is at most this.
    pub(super) fn down(&self) -> f64 {
        if self.mantissa.is_negative() {
            -Self::from_zero(&-&self.mantissa, self.exponent)
        } else {
            Self::toward_zero(&self.mantissa, self.exponent)
        }
    }

    /// A magnitude without the bits that a float has no room for: at most 53, their exponent, and whether bits were lost.
    fn cut(magnitude: &IBig, exponent: i64) -> (u64, i64, bool) {
        let length = i64::try_from(magnitude.bit_len()).unwrap_or(i64::MAX);
        let last = (exponent + length - MANTISSA_BITS).max(LEAST_EXPONENT);
        let Ok(surplus @ 1..) = usize::try_from(last - exponent) else {
            return (u64::try_from(magnitude).unwrap_or(0), exponent, false);
        };
        let kept = magnitude >> surplus;
        let lost = (&kept << surplus) != *magnitude;
        (u64::try_from(kept).unwrap_or(0), last, lost)
    }

    fn from_zero(magnitude: &IBig, exponent: i64) -> f64 {
        let (kept, exponent, lost) = Self::cut(magnitude, exponent);
        scaled(kept + u64::from(lost), exponent)
    }

    fn toward_zero(magnitude: &IBig, exponent: i64) -> f64 {
        let (kept, exponent, _) = Self::cut(magnitude, exponent);
        super::at_most(scaled(kept, exponent), f64::MAX)
    }
}

/// `x · 2^exponent`, exact for x ≤ 2^53 but for overflow.
fn scaled(x: u64, exponent: i64) -> f64 {
    let exponent = i32::try_from(exponent).unwrap_or(i32::MAX);
    libm::ldexp(x as f64, exponent)
}
