//! Rigorous bounds of exp(−γ) in big integers, to any number of bits.

use dashu_base::BitTest;
use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;

/// Integers `(lo, hi)` with lo ≤ exp(−γ)·2^bits ≤ hi and a gap of a few units at most.
///
/// A γ ≤ 0 counts as 0, for which both bounds are 2^bits. Fixed-point arithmetic with counted errors:
/// γ is halved until it is at most 1/2, the Taylor series is summed there, and the interval is squared back.
pub(crate) fn exp_neg(gamma: &RBig, bits: usize) -> (UBig, UBig) {
    let one = UBig::ONE << bits;
    let Ok(numerator) = UBig::try_from(gamma.numerator().clone()) else {
        return (one.clone(), one);
    };
    if numerator.is_zero() {
        return (one.clone(), one);
    }
    let denominator = gamma.denominator();
    if numerator >= denominator * UBig::from(bits) {
        // exp(-bits) < 2^-bits.
        return (UBig::ZERO, UBig::ONE);
    }

    // n/d < 2^(len(n) - len(d) + 1), so that after these halvings y <= 1/2.
    let halvings = (numerator.bit_len() + 2).saturating_sub(denominator.bit_len());
    // Each squaring doubles an error at most (factor x + x' <= 2); 32 bits absorb the count of terms.
    let work = bits + halvings + 32;
    let (mut lo, mut hi) = small_exp_neg(numerator, denominator << halvings, work);
    for _ in 0..halvings {
        lo = (&lo * &lo) >> work;
        hi = shift_up(&hi * &hi, work);
    }
    (lo >> (work - bits), shift_up(hi, work - bits))
}

/// Bounds of exp(−n/d)·2^work for 0 ≤ n/d ≤ 1/2.
fn small_exp_neg(numerator: UBig, denominator: UBig, work: usize) -> (UBig, UBig) {
    // The cut of y moves the result by less than one unit, since |exp'| <= 1 here.
    let y = (numerator << work) / denominator;
    let one = UBig::ONE << work;
    let mut term = one.clone();
    let mut sum = IBig::ZERO;
    let mut terms = 0_u64;
    while !term.is_zero() {
        if terms.is_multiple_of(2) {
            sum += &term;
        } else {
            sum -= &term;
        }
        terms += 1;
        term = ((term * &y) >> work) / UBig::from(terms);
    }
    // The k-th term is low by e_k, with e_k <= e_(k-1)·y/k + 1 < 2 units. The first term that vanished was
    // below 2 units and each later one at most a quarter of the one before: together below 3 units.
    let error = IBig::from(2 * terms + 4);
    let lo = UBig::try_from(&sum - &error).unwrap_or(UBig::ZERO);
    let hi = UBig::try_from(sum + error).unwrap_or(UBig::ZERO);
    (lo, hi.min(one))
}

/// ⌈value / 2^bits⌉.
pub(crate) fn shift_up(value: UBig, bits: usize) -> UBig {
    (value + UBig::ones(bits)) >> bits
}

#[cfg(test)]
mod tests;
