//! Arithmetic that errs on the side of more loss.
//!
//! Two tools. Sums of spends are *exact*: every finite `f64` is a dyadic rational, so [`ExactSum`] adds
//! them and compares without rounding. Formulas with logarithms and exponentials are *directed*:
//! each is evaluated once and moved outward by a bound on its error ([`up`], [`down`], [`Sum`]), so that
//! what is reported is never below the true loss.

use std::cmp::Ordering;

use dyadic::Dyadic;

mod dyadic;

/// An exact sum of `f64` spends.
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
#[derive(Clone, Debug, Default)]
pub struct ExactSum {
    total: Dyadic,
    /// Whether a term was not finite.
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
        match Dyadic::of(spend) {
            Some(exact) => self.total = self.total.plus(&exact.times(times)),
            None => self.unbounded = true,
        }
    }

    /// Compares the sum with `bound`, exactly; `None` if `bound` is NaN.
    #[must_use]
    pub fn compare(&self, bound: f64) -> Option<Ordering> {
        if bound.is_nan() {
            return None;
        }
        if self.unbounded {
            return Some(Ordering::Greater);
        }
        Some(match Dyadic::of(bound) {
            Some(bound) => self.total.compare(&bound),
            // Only an infinity is left.
            None if bound > 0.0 => Ordering::Less,
            None => Ordering::Greater,
        })
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
        if self.unbounded {
            return f64::INFINITY;
        }
        self.total.up()
    }

    /// The largest `f64` that is at most the sum (`f64::MAX` for an unbounded one).
    #[must_use]
    pub fn to_f64_down(&self) -> f64 {
        if self.unbounded {
            return f64::MAX;
        }
        self.total.down()
    }

    /// What `bound` leaves above the sum, rounded down; zero if nothing is left.
    #[must_use]
    pub fn remaining(&self, bound: f64) -> f64 {
        if self.compare(bound) != Some(Ordering::Less) {
            return 0.0;
        }
        Dyadic::of(bound).map_or(f64::INFINITY, |bound| bound.minus(&self.total).down())
    }
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
    let positive = |x: f64| Dyadic::of(x).filter(Dyadic::is_positive);
    let weights: Vec<Option<Dyadic>> = shares.iter().copied().map(positive).collect();
    let sum = weights
        .iter()
        .flatten()
        .fold(Dyadic::default(), |sum, weight| sum.plus(weight));
    let Some(total) = positive(total) else {
        return vec![0.0; shares.len()];
    };
    weights
        .iter()
        .map(|weight| {
            weight
                .as_ref()
                .map_or(0.0, |weight| total.by(weight).over_down(&sum))
        })
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
