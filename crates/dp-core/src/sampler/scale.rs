//! Rounding a scale up to a short fraction, so that the machine-integer paths apply.

use dashu_base::BitTest;
use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;

use super::SamplerError;

/// Bits that [`scale_up`] keeps where a caller has no wish of its own: a loss of at most 2⁻³¹.
pub const SCALE_BITS: u32 = 32;

/// A fraction m·2ᵉ at or above `value`, with an integer m ≤ 2^(bits + 1).
///
/// More noise, never less: the result is at least `value` and exceeds it by at most the factor 1 +
/// 2^(1−bits). A value with so few significant bits already comes back unchanged; one at or below zero as
/// zero.
#[must_use]
pub fn scale_up(value: &RBig, bits: u32) -> RBig {
    let Ok(numerator) = UBig::try_from(value.numerator().clone()) else {
        return RBig::ZERO;
    };
    if numerator.is_zero() {
        return RBig::ZERO;
    }
    let bits = bits.max(1) as usize;
    let denominator = value.denominator();
    // len is the bit length: value·2^(bits + len(d) - len(n)) lies in (2^(bits - 1), 2^(bits + 1)), so that
    // its ceiling loses less than one part in 2^(bits - 1).
    let (n_len, d_len) = (numerator.bit_len(), denominator.bit_len());
    if n_len >= bits + d_len {
        // Large: drop low bits of the integer part.
        let drop = n_len - bits - d_len;
        let scaled_denominator = denominator << drop;
        let m = ceil_div(numerator, &scaled_denominator);
        RBig::from(m << drop)
    } else {
        let shift = bits + d_len - n_len;
        let m = ceil_div(numerator << shift, denominator);
        RBig::from_parts(IBig::from(m), UBig::ONE << shift)
    }
}

/// [`scale_up`] of a positive finite `f64`.
///
/// # Errors
///
/// [`SamplerError::Scale`] for zero and negative values; for NaN and infinities, which no rational shows, too
/// (with zero as the refused value).
pub fn scale_up_f64(value: f64, bits: u32) -> Result<RBig, SamplerError> {
    let exact = RBig::try_from(value).unwrap_or(RBig::ZERO);
    if exact <= RBig::ZERO {
        return Err(SamplerError::Scale { got: exact });
    }
    Ok(scale_up(&exact, bits))
}

fn ceil_div(numerator: UBig, denominator: &UBig) -> UBig {
    (numerator + denominator - UBig::ONE) / denominator
}

#[cfg(test)]
mod tests;
