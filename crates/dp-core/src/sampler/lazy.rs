//! A uniform real of [0, 1) of which only so many bits are drawn as a comparison needs.

use dashu_int::{IBig, UBig};
use rand::RngCore;

use super::uniform::random_bits;

/// The bits that are known so far of a uniform U: digits ≤ U·2^bits < digits + 1.
#[derive(Debug)]
pub(crate) struct LazyUniform {
    digits: UBig,
    bits: usize,
}

impl LazyUniform {
    /// A uniform of which the first `bits` bits are known, at most 64 (or none).
    pub(crate) fn new(digits: u64, bits: usize) -> Self {
        Self {
            digits: UBig::from(digits),
            bits,
        }
    }

    /// Whether U < T, decided exactly.
    ///
    /// `enclose(bits)` returns integers lo ≤ T·2^bits ≤ hi whose gap stays bounded as `bits` grows. With
    /// b bits the comparison stays open with probability O(2^-b), so it ends with probability one, after
    /// one round nearly always.
    pub(crate) fn is_below<R: RngCore + ?Sized>(
        &mut self,
        rng: &mut R,
        mut enclose: impl FnMut(usize) -> (IBig, IBig),
    ) -> bool {
        loop {
            // Bits that an earlier comparison of the same uniform drew are kept.
            if self.bits < 128 {
                self.extend(128, rng);
            }
            let (lo, hi) = enclose(self.bits);
            let digits = IBig::from(self.digits.clone());
            if &digits + IBig::ONE <= lo {
                return true;
            }
            if digits >= hi {
                return false;
            }
            self.extend(2 * self.bits, rng);
        }
    }

    fn extend<R: RngCore + ?Sized>(&mut self, bits: usize, rng: &mut R) {
        let more = bits - self.bits;
        let digits = std::mem::take(&mut self.digits);
        self.digits = (digits << more) + random_bits(more, rng);
        self.bits = bits;
    }
}

#[cfg(test)]
mod tests;
