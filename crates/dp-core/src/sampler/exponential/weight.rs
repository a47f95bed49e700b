//! Integer bounds of the weights wᵢ·exp(η·(sᵢ − top))·2ᵖ.

use dashu_int::UBig;
use dashu_ratio::RBig;

/// Relative allowance around a weight in `f64`: 2⁻⁴⁰.
///
/// Where exp(−γ) is a normal number, γ < 709. The difference of scores is exact in integers; its conversion,
/// the correctly rounded |η| and their product each err by 2⁻⁵³ relatively, so γ by 709·3.01·2⁻⁵³ < 0.53·2⁻⁴¹
/// and exp(−γ) by as much relatively; `libm::exp` (2⁻⁵²), the conversion of w and two products add less than
/// 2⁻⁵⁰.
const ALLOWANCE: f64 = 1.0 / 1_099_511_627_776.0;

/// Turns scores into fixed-point weights relative to the best one.
#[derive(Clone, Debug)]
pub(super) struct Weigher {
    /// |η| and its nearest `f64` (infinite where it overflows).
    rate: RBig,
    rate_float: f64,
    /// Whether low scores are the good ones (η < 0).
    descending: bool,
    /// The best score at the last [`rebase`](Self::rebase), by which all others are measured.
    top: i64,
    /// ⌊log₂⌋ of the largest weight at the last rebase, 0 to 64; p = 61 − `lead`.
    lead: u16,
}

impl Weigher {
    pub(super) fn new(eta: &RBig) -> Self {
        let descending = *eta < RBig::ZERO;
        let rate = if descending { -eta } else { eta.clone() };
        Self {
            rate_float: rate.to_f64().value(),
            rate,
            descending,
            top: 0,
            lead: 0,
        }
    }

    /// 61 − p.
    pub(super) fn lead(&self) -> usize {
        self.lead.into()
    }

    /// γ = |η|·(distance from the top), for scores not above the top.
    pub(super) fn gamma(&self, score: i64) -> RBig {
        &self.rate * RBig::from(UBig::from(self.distance(score).unwrap_or(0)))
    }

    /// Measures from the best score of positive weight, scales the largest weight to 62 bits and returns hᵢ.
    pub(super) fn rebase(&mut self, base: &[u64], scores: &[i64]) -> Vec<u64> {
        let live = base.iter().zip(scores).filter(|(weight, _)| **weight > 0);
        let best = live
            .map(|(_, score)| *score)
            .reduce(|a, b| if self.descending { a.min(b) } else { a.max(b) });
        let Some(top) = best else {
            return vec![0; base.len()];
        };
        self.top = top;
        let float = |(weight, score): (&u64, &i64)| match (*weight, self.distance(*score)) {
            (0, _) | (_, None) => 0.0,
            (weight, Some(distance)) => self.float(weight, distance),
        };
        let floats: Vec<f64> = base.iter().zip(scores).map(float).collect();
        // At least 1: the top item alone has exp(0) times a weight of at least 1. At most 2^64.
        let largest = floats.iter().fold(1.0, |a, &b| if b > a { b } else { a });
        let exponent = u16::try_from(largest.to_bits() >> 52).unwrap_or(0);
        self.lead = exponent.saturating_sub(1023);
        let unit = self.unit();
        (base.iter().zip(floats))
            .map(|(&weight, float)| {
                if weight == 0 {
                    0
                } else {
                    round_up(float, unit)
                }
            })
            .collect()
    }

    /// An integer h with W ≤ h, or `None` if the weight outgrows the fixed point.
    pub(super) fn upper(&self, weight: u64, score: i64) -> Option<u64> {
        let float = self.float(weight, self.distance(score)?);
        let upper = round_up(float, self.unit());
        (upper < 1 << 63).then_some(upper)
    }

    /// A lower bound of the weight of which `upper` is the upper one.
    ///
    /// h − 1 ≤ w·e·2ᵖ·(1 + 2⁻⁴⁰) in `f64`, where w·e errs by 2⁻⁴¹: so W ≥ (h − 1)·(1 − 2⁻³⁹). Where exp(−γ)
    /// is not a normal number, W is far below one unit, h is 1 and the bound 0.
    pub(super) const fn lower(upper: u64) -> u64 {
        upper.saturating_sub((upper >> 39) + 2)
    }

    /// 2ᵖ, exactly.
    fn unit(&self) -> f64 {
        libm::ldexp(1.0, 61 - i32::from(self.lead))
    }

    fn distance(&self, score: i64) -> Option<u64> {
        if self.descending {
            (score >= self.top).then(|| score.abs_diff(self.top))
        } else {
            (score <= self.top).then(|| score.abs_diff(self.top))
        }
    }

    fn float(&self, weight: u64, distance: u64) -> f64 {
        // Zero is set apart since an infinite rate times zero is no number.
        let gamma = if distance == 0 {
            0.0
        } else {
            self.rate_float * distance as f64
        };
        weight as f64 * libm::exp(-gamma)
    }
}

/// An integer above `float`·`unit` with the allowance.
///
/// Cutting and adding one exceeds the product; products by `unit` are exact or, below the normal numbers,
/// next to zero. Values stay below 2⁶³ after a rebase, and a cast that saturates is refused by the caller.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "cutting is meant; the value is not negative"
)]
fn round_up(float: f64, unit: f64) -> u64 {
    ((float * (1.0 + ALLOWANCE) * unit) as u64).saturating_add(1)
}

#[cfg(test)]
mod tests;
