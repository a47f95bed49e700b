//! The geometric law with P(X ≥ m) = exp(−m·γ) for a rational rate γ.

mod steps;

use dashu_int::UBig;
use dashu_ratio::RBig;
use rand::RngCore;

use self::steps::{PER_UNIT, Steps};
use super::SamplerError;
use super::bernoulli_exp::{ZONE, below_exp, flip};
use super::uniform::{below_big, below_u64, below_u128};
use crate::rng::NoiseRng;

/// Geometric law on 0, 1, 2, …: P(X ≥ m) = exp(−m·γ), exactly, for a rational γ > 0.
///
/// With 1/γ = t/s in lowest terms: X = ⌊(u + t·v)/(16·s)⌋, where u is uniform on 0..t and kept with
/// probability exp(−u/(16·t)), and P(v ≥ k) = exp(−k/16). So u + t·v has mass ∝ exp(−x/(16·t)), and 16·s of
/// its values go into one of X. Both comparisons are exact, see [`bernoulli_exp()`](super::bernoulli_exp()).
/// Machine integers for t and s below 2¹¹⁶, big integers beyond.
///
/// Results beyond `u128` saturate.
///
/// Source: Canonne, Kamath, Steinke 2020, Algorithm 2, with steps of 1/16 so that u is rarely drawn again,
/// and v by one inversion in place of repeated trials.
///
/// ```
/// use dp_core::rng::InsecureSeededRng;
/// use dp_core::sampler::Geometric;
/// use dashu_ratio::RBig;
///
/// let law = Geometric::new(&RBig::from_parts(1.into(), 10_u8.into()))?;
/// let steps: u128 = law.sample(&mut InsecureSeededRng::new(7));
/// # Ok::<(), dp_core::sampler::SamplerError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Geometric {
    path: Path,
    steps: Steps,
    /// Half-width of the undecided zone of exp(−u/(16·t)), in units of 2⁻⁶⁴.
    zone: u64,
    /// Heads below it lie below exp(−u/(16·t)) whatever u.
    sure: u64,
}

/// 15/16 < exp(−1/16), in units of 2⁻⁶⁴.
const SURE: u64 = 15 << 60;

/// 1/γ = t/s by the size of the numbers; `s` is kept 16-fold.
#[derive(Clone, Debug)]
enum Path {
    Narrow { t: u64, inverse: f64, s: Divisor },
    Wide { t: u128, inverse: f64, s: Divisor },
    Big { t: UBig, s: UBig },
}

impl Geometric {
    /// The law with rate γ = `rate`.
    ///
    /// # Errors
    ///
    /// [`SamplerError::Rate`] if `rate` is zero or negative.
    pub fn new(rate: &RBig) -> Result<Self, SamplerError> {
        match positive_parts(rate) {
            Some((numerator, denominator)) => Ok(Self::from_scale(denominator, numerator)),
            None => Err(SamplerError::Rate { got: rate.clone() }),
        }
    }

    /// The law with rate s/t.
    pub(crate) fn from_scale(t: UBig, s: UBig) -> Self {
        const WIDE: u128 = 1 << 116;
        let s = s * UBig::from(PER_UNIT);
        let path = match (u64::try_from(&t), u128::try_from(&t), u128::try_from(&s)) {
            (Ok(t), _, Ok(s)) => Path::Narrow {
                t,
                inverse: 1.0 / (PER_UNIT as f64 * t as f64),
                s: Divisor::new(s),
            },
            (_, Ok(t), Ok(s)) if t < WIDE => Path::Wide {
                t,
                inverse: 1.0 / (PER_UNIT as f64 * t as f64),
                s: Divisor::new(s),
            },
            _ => Path::Big { t, s },
        };
        Self {
            path,
            steps: Steps::new(),
            zone: ZONE,
            sure: SURE,
        }
    }

    /// The same law with each comparison sent to big integers: for tests.
    #[cfg(test)]
    pub(crate) fn undecided(mut self) -> Self {
        self.zone = u64::MAX;
        self.sure = 0;
        self.steps = self.steps.undecided();
        self
    }

    /// The same law by the path for big parameters: for tests.
    #[cfg(test)]
    pub(crate) fn big(mut self) -> Self {
        let (t, s) = match &self.path {
            Path::Narrow { t, s, .. } => (UBig::from(*t), UBig::from(s.value)),
            Path::Wide { t, s, .. } => (UBig::from(*t), UBig::from(s.value)),
            Path::Big { t, s } => (t.clone(), s.clone()),
        };
        self.path = Path::Big { t, s };
        self
    }

    /// One draw. Expected time is constant: 1.03 tries of u, one of v.
    #[must_use]
    pub fn sample<R: NoiseRng + ?Sized>(&self, rng: &mut R) -> u128 {
        self.draw(rng).0
    }

    /// A draw and an independent fair bit, which a word of randomness had to spare.
    #[inline]
    pub(crate) fn draw<R: RngCore + ?Sized>(&self, rng: &mut R) -> (u128, bool) {
        match &self.path {
            Path::Narrow { t, inverse, s } => {
                let (u, bit) = loop {
                    let u = below_u64(*t, rng);
                    let word = rng.next_u64();
                    if self.keeps(
                        word,
                        u as f64 * inverse,
                        || fraction(u.into(), (*t).into()),
                        rng,
                    ) {
                        break (u, word & 1 == 1);
                    }
                };
                // Below 2^64·2^64: no overflow.
                let x = u128::from(u) + u128::from(*t) * u128::from(self.steps.draw(rng));
                (s.divide(x), bit)
            }
            Path::Wide { t, inverse, s } => {
                let (u, bit) = loop {
                    let u = below_u128(*t, rng);
                    let word = rng.next_u64();
                    if self.keeps(word, u as f64 * inverse, || fraction(u, *t), rng) {
                        break (u, word & 1 == 1);
                    }
                };
                (divide_wide(u, *t, self.steps.draw(rng), s), bit)
            }
            Path::Big { t, s } => self.draw_big(t, s, rng),
        }
    }

    /// Whether to keep u: Bernoulli(exp(−γ)) with γ = u/(16·t) < 1/16, by the upper 63 bits of `word`.
    ///
    /// `approx` comes of four roundings (u, t, the inverse and the product) of 2⁻⁵³ each: within 2⁻⁵⁴ of γ, and exp
    /// moves by no more than γ does. That is far inside the zone.
    #[inline]
    fn keeps<R: RngCore + ?Sized>(
        &self,
        word: u64,
        approx: f64,
        exact: impl FnOnce() -> RBig,
        rng: &mut R,
    ) -> bool {
        word < self.sure || below_exp(word, approx, self.zone, exact, rng)
    }

    #[cold]
    fn draw_big<R: RngCore + ?Sized>(&self, t: &UBig, s: &UBig, rng: &mut R) -> (u128, bool) {
        let u = loop {
            let u = below_big(t, rng);
            let gamma = RBig::from_parts(u.clone().into(), t * UBig::from(PER_UNIT));
            if flip(&gamma, self.zone, rng) {
                break u;
            }
        };
        let x = (u + t * UBig::from(self.steps.draw(rng))) / s;
        let bit = rng.next_u32() & 1 == 1;
        (u128::try_from(x).unwrap_or(u128::MAX), bit)
    }
}

/// ⌊(u + t·v)/s⌋.
#[inline]
fn divide_wide(u: u128, t: u128, v: u64, s: &Divisor) -> u128 {
    let x = t
        .checked_mul(u128::from(v))
        .and_then(|steps| steps.checked_add(u));
    if let Some(x) = x {
        return s.divide(x);
    }
    let x = UBig::from(u) + UBig::from(t) * UBig::from(v);
    u128::try_from(x / UBig::from(s.value)).unwrap_or(u128::MAX)
}

/// u/(16·t).
fn fraction(u: u128, t: u128) -> RBig {
    RBig::from_parts(u.into(), UBig::from(t) * UBig::from(PER_UNIT))
}

/// Numerator and denominator of a rational above zero.
pub(crate) fn positive_parts(value: &RBig) -> Option<(UBig, UBig)> {
    let (numerator, denominator) = value.clone().into_parts();
    match UBig::try_from(numerator) {
        Ok(numerator) if !numerator.is_zero() => Some((numerator, denominator)),
        _ => None,
    }
}

/// A divisor that knows whether a shift will do, as it does for scales out of
/// [`scale_up`](super::scale_up()).
#[derive(Clone, Debug)]
struct Divisor {
    value: u128,
    shift: Option<u32>,
}

impl Divisor {
    fn new(value: u128) -> Self {
        Self {
            value,
            shift: value.is_power_of_two().then(|| value.trailing_zeros()),
        }
    }

    #[inline]
    fn divide(&self, x: u128) -> u128 {
        match (self.shift, u64::try_from(x), u64::try_from(self.value)) {
            (Some(shift), ..) => x >> shift,
            (None, Ok(x), Ok(value)) => u128::from(x / value),
            _ => x / self.value,
        }
    }
}

#[cfg(test)]
mod tests;
