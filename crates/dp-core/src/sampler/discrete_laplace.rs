//! The discrete Laplace law, mass ∝ exp(−|x|/scale).

use dashu_ratio::RBig;
use rand::RngCore;

use super::SamplerError;
use super::geometric::{Geometric, positive_parts};
use crate::rng::NoiseRng;

/// Two-sided geometric law on the integers: P(X = x) ∝ exp(−|x|/scale), exactly, for a rational scale > 0.
///
/// A [`Geometric`] magnitude and a fair sign; "minus zero" is drawn again. Results beyond `i128` saturate at
/// ±`i128::MAX`, which is post-processing. The fast path serves scales whose numerator and denominator are
/// below 2¹¹⁶, such as those of [`scale_up`](super::scale_up()); others cost microseconds, no exactness.
///
/// Source: Canonne, Kamath, Steinke 2020, Algorithm 2.
///
/// ```
/// use dp_core::rng::InsecureSeededRng;
/// use dp_core::sampler::DiscreteLaplace;
/// use dashu_ratio::RBig;
///
/// let law = DiscreteLaplace::new(RBig::from(10))?;
/// let mut noise = [0_i128; 4];
/// law.fill(&mut InsecureSeededRng::new(7), &mut noise);
/// # Ok::<(), dp_core::sampler::SamplerError>(())
/// ```
#[derive(Clone, Debug)]
pub struct DiscreteLaplace {
    scale: RBig,
    magnitude: Geometric,
}

impl DiscreteLaplace {
    /// The law with the given scale.
    ///
    /// # Errors
    ///
    /// [`SamplerError::Scale`] if `scale` is zero or negative.
    pub fn new(scale: RBig) -> Result<Self, SamplerError> {
        match positive_parts(&scale) {
            Some((t, s)) => Ok(Self {
                magnitude: Geometric::from_scale(t, s),
                scale,
            }),
            None => Err(SamplerError::Scale { got: scale }),
        }
    }

    /// The scale.
    #[must_use]
    pub const fn scale(&self) -> &RBig {
        &self.scale
    }

    /// The scale, correctly rounded.
    #[must_use]
    pub fn scale_f64(&self) -> f64 {
        self.scale.to_f64().value()
    }

    /// One draw, in constant expected time.
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
            let (magnitude, negative) = self.magnitude.draw(rng);
            if magnitude == 0 && negative {
                continue;
            }
            let magnitude = i128::try_from(magnitude).unwrap_or(i128::MAX);
            return if negative { -magnitude } else { magnitude };
        }
    }

    #[cfg(test)]
    pub(crate) fn map_magnitude(mut self, change: impl FnOnce(Geometric) -> Geometric) -> Self {
        self.magnitude = change(self.magnitude);
        self
    }
}

#[cfg(test)]
mod tests;
