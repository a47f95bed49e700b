//! Exact Bernoulli trials with probability exp(−γ).

use dashu_ratio::RBig;
use rand::RngCore;

use super::enclosure;
use super::lazy::LazyUniform;
use crate::rng::NoiseRng;

/// Half-width of the undecided zone around the `f64` value of exp(−γ), in units of 2⁻⁶⁴: 2⁻⁴².
///
/// Callers of [`below_exp`] owe an `approx` of γ with |exp(−approx) − exp(−γ)| ≤ 2⁻⁴³. The other half covers
/// `libm::exp` (error below one unit in the last place, so below 2⁻⁵² on [0, 1]; software only, hence the same
/// on each platform) and the cuts to 63 and 64 bits (together 2⁻⁶²) many times over.
pub(crate) const ZONE: u64 = 1 << 22;

/// 2⁶⁴.
const TWO_64: f64 = 4_294_967_296.0 * 4_294_967_296.0;

/// Bernoulli(exp(−γ)): `true` with probability exactly exp(−γ); a γ below zero counts as zero.
///
/// Compares a lazily drawn uniform with exp(−γ): 63 bits against an `f64` enclosure, and what that leaves
/// undecided (probability 2⁻⁴¹) with further bits of the same uniform against rational bounds.
///
/// Source: the law is Algorithm 1 of Canonne, Kamath, Steinke 2020; the comparison is ours.
#[must_use]
pub fn bernoulli_exp<R: NoiseRng + ?Sized>(gamma: &RBig, rng: &mut R) -> bool {
    flip(gamma, ZONE, rng)
}

/// [`bernoulli_exp`] with a chosen zone.
pub(crate) fn flip<R: RngCore + ?Sized>(gamma: &RBig, zone: u64, rng: &mut R) -> bool {
    if *gamma <= RBig::ZERO {
        return true;
    }
    // Correctly rounded: relative error 2^-53 (absolute 2^-1075 for subnormals), so exp(-γ) is off by at most
    // γ·exp(-γ)·2^-52 < 2^-53. An overflow to infinity is far beyond the γ at which exp(-γ) is below 2^-64.
    let approx = gamma.to_f64().value();
    let word = rng.next_u64();
    below_exp(word, approx, zone, || gamma.clone(), rng)
}

/// Whether the uniform that begins with the upper 63 bits of `word` lies below exp(−γ).
///
/// The lowest bit of `word` stays independent of the answer, free for another use.
///
/// `approx` is γ to within the error that [`ZONE`] allows, never NaN; `exact` is γ itself, asked for only
/// where these bits do not decide. A `zone` of `u64::MAX` sends every comparison to the exact path.
#[inline]
pub(crate) fn below_exp<R: RngCore + ?Sized>(
    word: u64,
    approx: f64,
    zone: u64,
    exact: impl FnOnce() -> RBig,
    rng: &mut R,
) -> bool {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "cuts and saturates at 2^64 - 1: within one unit of the value either way"
    )]
    let threshold = (libm::exp(-approx) * TWO_64) as u64;
    let head = word & !1;
    // U lies in [head, head + 2)·2^-64; the zone has room for these two units.
    if head < threshold.saturating_sub(zone) {
        true
    } else if head > threshold.saturating_add(zone) {
        false
    } else {
        below_exp_exactly(&mut LazyUniform::new(word >> 1, 63), &exact(), rng)
    }
}

/// Whether the uniform lies below exp(−γ), in big integers from the start.
#[cold]
pub(crate) fn below_exp_exactly<R: RngCore + ?Sized>(
    uniform: &mut LazyUniform,
    gamma: &RBig,
    rng: &mut R,
) -> bool {
    uniform.is_below(rng, |bits| {
        let (lo, hi) = enclosure::exp_neg(gamma, bits);
        (lo.into(), hi.into())
    })
}

#[cfg(test)]
mod tests;
