//! The discrete Gaussian law, mass ∝ exp(−x²/(2σ²)).

use dashu_base::{Inverse, SquareRoot, UnsignedAbs};
use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;
use rand::RngCore;

use super::SamplerError;
use super::bernoulli_exp::{ZONE, below_exp, flip};
use super::discrete_laplace::DiscreteLaplace;
use super::geometric::positive_parts;
use crate::rng::NoiseRng;

/// Discrete Gaussian law on the integers: P(X = x) ∝ exp(−x²/(2σ²)), exactly, for a rational σ² > 0.
///
/// A discrete Laplace proposal y of scale t = ⌊σ⌋ + 1 is kept with probability
/// exp(−(|y| − σ²/t)²/(2σ²)). Results beyond `i128` saturate at ±`i128::MAX`. The fast path serves 2⁻⁹⁰⁰ ≤ σ²
/// and σ < 2¹¹⁵, whatever the fraction; others cost microseconds, no exactness.
///
/// Source: Canonne, Kamath, Steinke 2020, Algorithm 3.
///
/// ```
/// use dp_core::rng::InsecureSeededRng;
/// use dp_core::sampler::DiscreteGaussian;
/// use dashu_ratio::RBig;
///
/// let law = DiscreteGaussian::new(RBig::from(100))?;
/// let noise: i128 = law.sample(&mut InsecureSeededRng::new(7));
/// # Ok::<(), dp_core::sampler::SamplerError>(())
/// ```
#[derive(Clone, Debug)]
pub struct DiscreteGaussian {
    variance: RBig,
    proposal: DiscreteLaplace,
    /// t, the scale of the proposal.
    t: UBig,
    /// σ²/t and 1/(2σ²), each correctly rounded; `None` where `f64` can't hold them.
    floats: Option<(f64, f64)>,
    zone: u64,
}

impl DiscreteGaussian {
    /// The law with variance parameter σ² = `variance` (the variance itself is a little smaller).
    ///
    /// # Errors
    ///
    /// [`SamplerError::Variance`] if `variance` is zero or negative.
    pub fn new(variance: RBig) -> Result<Self, SamplerError> {
        let Some((numerator, denominator)) = positive_parts(&variance) else {
            return Err(SamplerError::Variance { got: variance });
        };
        // ⌊sqrt(x)⌋ = ⌊sqrt(⌊x⌋)⌋.
        let t = (&numerator / &denominator).sqrt() + UBig::ONE;
        let proposal = DiscreteLaplace::new(RBig::from(t.clone()))?;
        let fits = t <= UBig::ONE << 115 && numerator << 900 >= denominator;
        let floats = fits.then(|| {
            let shift = &variance / RBig::from(t.clone());
            let half_precision = (RBig::from(2) * &variance).inv();
            (shift.to_f64().value(), half_precision.to_f64().value())
        });
        Ok(Self {
            variance,
            proposal,
            t,
            floats,
            zone: ZONE,
        })
    }

    /// The variance parameter σ².
    #[must_use]
    pub const fn variance(&self) -> &RBig {
        &self.variance
    }

    /// The variance parameter σ², correctly rounded.
    #[must_use]
    pub fn variance_f64(&self) -> f64 {
        self.variance.to_f64().value()
    }

    /// One draw, in constant expected time (the proposal is kept with probability 0.76 for a large σ).
    #[must_use]
    pub fn sample<R: NoiseRng + ?Sized>(&self, rng: &mut R) -> i128 {
        self.draw(rng)
    }

    /// Fills `out` with independent draws.
    pub fn fill<R: NoiseRng + ?Sized>(&self, rng: &mut R, out: &mut [i128]) {
        out.fill_with(|| self.draw(rng));
    }

    #[inline]
    pub(crate) fn draw<R: RngCore + ?Sized>(&self, rng: &mut R) -> i128 {
        loop {
            let y = self.proposal.draw(rng);
            let kept = match self.floats {
                Some((shift, half_precision)) => {
                    let approx = exponent(y, shift, half_precision);
                    let head = rng.next_u64();
                    below_exp(head, approx, self.zone, || self.exponent_exactly(y), rng)
                }
                None => flip(&self.exponent_exactly(y), self.zone, rng),
            };
            if kept {
                return y;
            }
        }
    }

    /// γ = (|y| − σ²/t)²/(2σ²).
    fn exponent_exactly(&self, y: i128) -> RBig {
        let magnitude = RBig::from(IBig::from(y).unsigned_abs());
        let distance = magnitude - &self.variance / RBig::from(self.t.clone());
        &distance * &distance / (RBig::from(2) * &self.variance)
    }

    /// The same law with each comparison sent to big integers: for tests.
    #[cfg(test)]
    pub(crate) fn undecided(mut self) -> Self {
        self.zone = u64::MAX;
        self.proposal = self.proposal.map_magnitude(super::Geometric::undecided);
        self
    }

    /// The same law by the path for big parameters: for tests.
    #[cfg(test)]
    pub(crate) fn big(mut self) -> Self {
        self.floats = None;
        self.proposal = self.proposal.map_magnitude(super::Geometric::big);
        self
    }
}

/// γ in `f64`.
///
/// With ulp = 2⁻⁵³: |y| and the shift c = σ²/t are within one ulp of themselves, their difference a rounds
/// once more, so its error is at most 2·ulp·(|y| + c), however much cancels. Put r = √(2γ) = ||y| − c|/σ; as
/// t > σ, c/σ < 1 and |y|/σ ≤ r + 1. The square then moves γ by at most r·2·ulp·(r + 2) + its square (order
/// ulp²), and square, product and the rounded 1/(2σ²) by 3·ulp·γ more: together |approx − γ| ≤ ulp·(3.5r² +
/// 4r + 1), and exp(−γ)·|approx − γ| ≤ 6·ulp for every r ≥ 0 (r·e^{−r²/2} ≤ 0.61, r²·e^{−r²/2} ≤ 0.74), with
/// an e^{|approx − γ|} that stays next to 1 as long as γ < 2⁴⁵. Beyond, `approx` is beyond 2⁴⁴ too and both
/// exponentials are zero to 64 bits. So the error of exp is below 2⁻⁵⁰. A square that underflows had γ <
/// 2⁻⁵⁰⁰. Nothing turns into NaN: a and 1/(2σ²) are finite and the latter above zero.
#[inline]
fn exponent(y: i128, shift: f64, half_precision: f64) -> f64 {
    let magnitude = y.unsigned_abs();
    let magnitude = u64::try_from(magnitude).map_or(magnitude as f64, |narrow| narrow as f64);
    let distance = magnitude - shift;
    distance * distance * half_precision
}

#[cfg(test)]
mod tests;
