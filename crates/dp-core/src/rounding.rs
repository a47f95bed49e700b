//! Arithmetic that errs on the side of more loss.
//!
//! Two tools. Sums of spends are *exact*: every finite `f64` is a dyadic rational, so [`ExactSum`] adds
//! rationals and compares without rounding. Formulas with logarithms and exponentials are *directed*:
//! each is evaluated once and moved outward by a bound on its error ([`up`], [`down`], [`Sum`]), so that
//! what is reported is never below the true loss.

use std::cmp::Ordering;

use dashu_ratio::RBig;

/// An exact sum of `f64` spends, kept as a rational.
///
/// A NaN or infinite term makes the sum *unbounded*: it exceeds every bound from then on, so a spend that
/// cannot be counted is a spend that is refused.
///
/// ```
/// use dp_core::rounding::ExactSum;
/// let mut sum = ExactSum::new();
/// sum.add_times(10, 0.1);
/// assert!(!sum.is_at_most(1.0)); // ten of the number written 0.1 are a little more than one
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExactSum {
    /// `None` once a term was not finite.
    total: Option<RBig>,
    /// Distinguishes the empty sum (zero) from the unbounded one.
    unbounded: bool,
}

impl ExactSum {
    /// The empty sum, zero.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one spend.
    pub fn add(&mut self, spend: f64) {
        self.add_times(1, spend);
    }

    /// Adds the same spend `times` times.
    pub fn add_times(&mut self, times: u64, spend: f64) {
        match RBig::try_from(spend) {
            Ok(exact) => self.add_rational(&(exact * RBig::from(times))),
            Err(_) => self.unbounded = true,
        }
    }

    /// Adds a spend that is a rational, not a float.
    pub fn add_rational(&mut self, spend: &RBig) {
        self.total = Some(match self.total.take() {
            Some(total) => total + spend,
            None => spend.clone(),
        });
    }

    /// The sum, or `None` if it is unbounded.
    #[must_use]
    pub fn to_rational(&self) -> Option<RBig> {
        if self.unbounded {
            return None;
        }
        Some(self.total.clone().unwrap_or(RBig::ZERO))
    }

    /// Compares the sum with `bound`, exactly; `None` if `bound` is NaN.
    #[must_use]
    pub fn compare(&self, bound: f64) -> Option<Ordering> {
        if bound.is_nan() {
            return None;
        }
        let Some(total) = self.to_rational() else {
            return Some(Ordering::Greater);
        };
        Some(compare_exactly(&total, bound))
    }

    /// Whether the sum is at most `bound`, exactly. False if either is NaN or the sum is unbounded.
    #[must_use]
    pub fn is_at_most(&self, bound: f64) -> bool {
        matches!(self.compare(bound), Some(Ordering::Less | Ordering::Equal))
    }

    /// Whether the sum and then `times` more of `spend` is at most `bound`, without adding them.
    #[must_use]
    pub fn would_fit(&self, times: u64, spend: f64, bound: f64) -> bool {
        let mut next = self.clone();
        next.add_times(times, spend);
        next.is_at_most(bound)
    }

    /// The smallest `f64` that is at least the sum.
    #[must_use]
    pub fn to_f64_up(&self) -> f64 {
        self.to_rational()
            .map_or(f64::INFINITY, |total| rational_up(&total))
    }

    /// The largest `f64` that is at most the sum (`f64::MAX` for an unbounded one).
    #[must_use]
    pub fn to_f64_down(&self) -> f64 {
        self.to_rational()
            .map_or(f64::MAX, |total| rational_down(&total))
    }

    /// What `bound` leaves above the sum, rounded down; zero if nothing is left.
    #[must_use]
    pub fn remaining(&self, bound: f64) -> f64 {
        match (self.to_rational(), RBig::try_from(bound)) {
            (Some(total), Ok(bound)) if bound > total => rational_down(&(bound - total)),
            (Some(_), Err(_)) if bound == f64::INFINITY => f64::INFINITY,
            _ => 0.0,
        }
    }
}

/// Orders a rational and a float that is not NaN.
fn compare_exactly(exact: &RBig, float: f64) -> Ordering {
    RBig::try_from(float).map_or_else(
        // Only an infinity is left.
        |_| {
            if float > 0.0 {
                Ordering::Less
            } else {
                Ordering::Greater
            }
        },
        |float| exact.cmp(&float),
    )
}

/// The smallest `f64` that is at least `exact`.
#[must_use]
pub fn rational_up(exact: &RBig) -> f64 {
    let mut float = exact.to_f64().value();
    loop {
        match compare_exactly(exact, float) {
            Ordering::Equal => return float,
            Ordering::Greater => float = float.next_up(),
            Ordering::Less => break,
        }
    }
    while float > f64::NEG_INFINITY
        && compare_exactly(exact, float.next_down()) != Ordering::Greater
    {
        float = float.next_down();
    }
    float
}

/// The largest `f64` that is at most `exact`.
#[must_use]
pub fn rational_down(exact: &RBig) -> f64 {
    -rational_up(&-exact.clone())
}

/// Splits `total` by `shares`: part `i` is `total · shares[i] / Σ shares`, rounded down.
///
/// The exact sum of the parts never exceeds `total`, and falls short of it by no more than one part in
/// 10¹² as long as no part is subnormal. A share that is not a positive finite number gets nothing, and
/// so does every share if `total` is not one.
///
/// ```
/// use dp_core::rounding::split;
/// assert_eq!(split(1.0, &[1.0, 3.0]), [0.25, 0.75]);
/// ```
#[must_use]
pub fn split(total: f64, shares: &[f64]) -> Vec<f64> {
    let weights: Vec<RBig> = shares
        .iter()
        .map(|&share| {
            RBig::try_from(share)
                .ok()
                .filter(|weight| *weight > RBig::ZERO)
                .unwrap_or(RBig::ZERO)
        })
        .collect();
    let sum = weights.iter().fold(RBig::ZERO, |sum, weight| sum + weight);
    let total = match RBig::try_from(total) {
        Ok(total) if total > RBig::ZERO && sum > RBig::ZERO => total,
        _ => return vec![0.0; shares.len()],
    };
    let unit = total / sum;
    weights
        .iter()
        .map(|weight| rational_down(&(weight * &unit)))
        .collect()
}

/// `value` moved toward +∞ by `ulps` units of relative rounding, and at least to the next float.
///
/// For a composite formula whose relative error is at most `ulps · 2⁻⁵²`.
#[must_use]
pub fn up(value: f64, ulps: u32) -> f64 {
    (value + value.abs() * (f64::from(ulps) * f64::EPSILON)).next_up()
}

/// `value` moved toward −∞ by `ulps` units of relative rounding, and at least to the next float.
#[must_use]
pub fn down(value: f64, ulps: u32) -> f64 {
    -up(-value, ulps)
}

/// A sum of rounded terms that knows how wrong it can be.
///
/// Each term may be off by 8 units of relative rounding (a function of `libm` is good to about one, its
/// argument and the products around it to a few), and each addition by one of the partial sum; the
/// bound covers both, cancellation included.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sum {
    value: f64,
    magnitude: f64,
}

impl Sum {
    /// Sums `terms`.
    #[must_use]
    pub fn of(terms: &[f64]) -> Self {
        let mut sum = Self::default();
        for &term in terms {
            sum.value += term;
            sum.magnitude += term.abs();
        }
        sum
    }

    /// Bound on the error of the sum.
    fn error(self) -> f64 {
        // 8 per term and at most one per addition of partial sums no larger than `magnitude`.
        self.magnitude * (16.0 * f64::EPSILON)
    }

    /// The sum without its error.
    #[must_use]
    pub const fn nearest(self) -> f64 {
        self.value
    }

    /// An upper bound of the sum.
    #[must_use]
    pub fn up(self) -> f64 {
        (self.value + self.error()).next_up()
    }

    /// A lower bound of the sum.
    #[must_use]
    pub fn down(self) -> f64 {
        (self.value - self.error()).next_down()
    }
}

/// An upper bound of e^x.
#[must_use]
pub fn exp_up(x: f64) -> f64 {
    up(libm::exp(x), 4)
}

/// A lower bound of e^x, never negative.
#[must_use]
pub fn exp_down(x: f64) -> f64 {
    at_least(down(libm::exp(x), 4), 0.0)
}

/// The larger of `value` and `floor`; NaN becomes `floor`.
pub(crate) fn at_least(value: f64, floor: f64) -> f64 {
    if value > floor { value } else { floor }
}

/// The smaller of `value` and `ceiling`; NaN becomes `ceiling`.
pub(crate) fn at_most(value: f64, ceiling: f64) -> f64 {
    if value < ceiling { value } else { ceiling }
}

/// The largest positive float in `[low, high]` for which `holds`, found by halving the *bits*.
///
/// `holds` should be true up to a threshold and false above; whatever it does, the result is a float for
/// which it was seen to hold, or `None` if it fails at `low`.
///
/// Complexity: at most 64 calls, whatever the range.
pub fn largest_holding(low: f64, high: f64, mut holds: impl FnMut(f64) -> bool) -> Option<f64> {
    // Bits of positive floats are ordered as the floats are.
    let (mut low, mut high) = (low.to_bits(), high.to_bits());
    if holds(f64::from_bits(high)) {
        return Some(f64::from_bits(high));
    }
    if !holds(f64::from_bits(low)) {
        return None;
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if holds(f64::from_bits(middle)) {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(f64::from_bits(low))
}

/// The smallest positive float in `[low, high]` for which `holds`, if it holds at `high`.
pub(crate) fn smallest_holding(
    low: f64,
    high: f64,
    mut holds: impl FnMut(f64) -> bool,
) -> Option<f64> {
    if holds(low) {
        return Some(low);
    }
    if !holds(high) {
        return None;
    }
    // Fails at `low`, so the largest failing float exists, and the one above it was tried or is `high`.
    largest_holding(low, high, |x| !holds(x)).map(f64::next_up)
}

#[cfg(test)]
mod tests;
