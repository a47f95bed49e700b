//! Exact uniform integers and exact Bernoulli trials with a rational probability.

use dashu_base::BitTest;
use dashu_int::UBig;
use dashu_ratio::RBig;
use rand::RngCore;

/// A uniform integer in `0..bound`; 0 for a bound of 0 or 1.
///
/// Exact: the product of 64 random bits and the bound is split into a result (high word) and a residue (low
/// word); residues below 2⁶⁴ mod bound are rejected, which leaves each result the same number of words.
///
/// Source: Lemire, "Fast random integer generation in an interval", TOMACS 2019.
#[inline]
pub fn below_u64<R: RngCore + ?Sized>(bound: u64, rng: &mut R) -> u64 {
    if bound < 2 {
        return 0;
    }
    loop {
        let word = rng.next_u64();
        let high = ((u128::from(word) * u128::from(bound)) >> 64) as u64;
        let low = word.wrapping_mul(bound);
        // 2^64 mod bound < bound: the division is needed only if `low` falls below the bound.
        if low >= bound || low >= bound.wrapping_neg() % bound {
            return high;
        }
    }
}

/// A uniform integer in `0..bound`; 0 for a bound of 0 or 1.
///
/// Exact: as [`below_u64`] where the bound fits, else by rejection of as many random bits as the bound has.
#[inline]
pub fn below_u128<R: RngCore + ?Sized>(bound: u128, rng: &mut R) -> u128 {
    if let Ok(narrow) = u64::try_from(bound) {
        return u128::from(below_u64(narrow, rng));
    }
    // Fewer than two tries on average: the bound's top bit is set below the shift.
    let shift = (bound - 1).leading_zeros();
    loop {
        let bits = u128::from(rng.next_u64()) << 64 | u128::from(rng.next_u64());
        let candidate = bits >> shift;
        if candidate < bound {
            return candidate;
        }
    }
}

/// A uniform integer in `0..bound`; 0 for a bound of 0 or 1. Exact, by rejection.
pub fn below_big<R: RngCore + ?Sized>(bound: &UBig, rng: &mut R) -> UBig {
    if *bound <= UBig::ONE {
        return UBig::ZERO;
    }
    let bits = (bound - UBig::ONE).bit_len();
    loop {
        let candidate = random_bits(bits, rng);
        if candidate < *bound {
            return candidate;
        }
    }
}

/// Bernoulli(numerator / denominator), exactly; a numerator at or above the denominator gives `true`.
#[inline]
pub fn bernoulli_ratio<R: RngCore + ?Sized>(
    numerator: u128,
    denominator: u128,
    rng: &mut R,
) -> bool {
    numerator >= denominator || below_u128(denominator, rng) < numerator
}

/// Bernoulli(p), exactly, with p cut to [0, 1].
pub fn bernoulli<R: RngCore + ?Sized>(p: &RBig, rng: &mut R) -> bool {
    let Ok(numerator) = UBig::try_from(p.numerator().clone()) else {
        return false;
    };
    numerator >= *p.denominator() || below_big(p.denominator(), rng) < numerator
}

/// An integer of so many independent fair bits.
pub(crate) fn random_bits<R: RngCore + ?Sized>(bits: usize, rng: &mut R) -> UBig {
    let mut bytes = vec![0_u8; bits.div_ceil(8)];
    rng.fill_bytes(&mut bytes);
    UBig::from_le_bytes(&bytes) >> (bytes.len() * 8 - bits)
}

#[cfg(test)]
mod tests;
