//! The geometric law with P(X ≥ m) = exp(−m·γ) for a rational rate γ.

use dashu_int::UBig;
use dashu_ratio::RBig;
use rand::RngCore;

use super::SamplerError;
use super::bernoulli_exp::{ZONE, below_exp, below_exp_exactly, flip};
use super::lazy::LazyUniform;
use super::uniform::{below_big, below_u64, below_u128};
use crate::rng::NoiseRng;

/// Geometric law on 0, 1, 2, …: P(X ≥ m) = exp(−m·γ), exactly, for a rational γ > 0.
///
/// With 1/γ = t/s in lowest terms: X = ⌊(u + t·v)/s⌋, where u is uniform on 0..t and kept with probability
/// exp(−u/t) (so that u + t·v has mass ∝ exp(−x/t)) and P(v ≥ k) = exp(−k). Both comparisons are exact, see
/// [`bernoulli_exp()`](super::bernoulli_exp()). Machine integers for t and s below 2¹²⁰, big integers beyond.
///
/// Results beyond `u128` saturate.
///
/// Source: Canonne, Kamath, Steinke 2020, Algorithm 2; v by one inversion in place of repeated trials.
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
    /// Half-width of the undecided zone of exp(−u/t), in units of 2⁻⁶⁴.
    zone: u64,
    /// Half-width of the undecided zone around exp(−k), beyond the exact table.
    table_zone: u64,
}

/// 1/γ = t/s by the size of the numbers.
#[derive(Clone, Debug)]
enum Path {
    Narrow { t: u64, inverse_t: f64, s: Divisor },
    Wide { t: u128, s: Divisor },
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
        const WIDE: u128 = 1 << 120;
        let narrow = (u64::try_from(&t), u128::try_from(&t), u128::try_from(&s));
        let path = match narrow {
            (Ok(t), _, Ok(s)) if s < WIDE => Path::Narrow {
                t,
                inverse_t: 1.0 / t as f64,
                s: Divisor::new(s),
            },
            (_, Ok(t), Ok(s)) if t < WIDE && s < WIDE => Path::Wide {
                t,
                s: Divisor::new(s),
            },
            _ => Path::Big { t, s },
        };
        Self {
            path,
            zone: ZONE,
            table_zone: 0,
        }
    }

    /// The same law through big integers alone: for tests of the fallbacks.
    #[cfg(test)]
    pub(crate) fn undecided(mut self) -> Self {
        self.zone = u64::MAX;
        self.table_zone = u64::MAX;
        self
    }

    /// The same law by the path for big parameters: for tests.
    #[cfg(test)]
    pub(crate) fn big(mut self) -> Self {
        let (t, s) = match &self.path {
            Path::Narrow { t, s, .. } => (UBig::from(*t), UBig::from(s.value)),
            Path::Wide { t, s } => (UBig::from(*t), UBig::from(s.value)),
            Path::Big { t, s } => (t.clone(), s.clone()),
        };
        self.path = Path::Big { t, s };
        self
    }

    /// One draw. Expected time is constant: 1.6 tries of u, one of v.
    #[must_use]
    pub fn sample<R: NoiseRng + ?Sized>(&self, rng: &mut R) -> u128 {
        self.draw(rng)
    }

    #[inline]
    pub(crate) fn draw<R: RngCore + ?Sized>(&self, rng: &mut R) -> u128 {
        match &self.path {
            Path::Narrow { t, inverse_t, s } => {
                let u = loop {
                    let u = below_u64(*t, rng);
                    // γ = u/t <= 1 through three roundings (u, 1/t, which has two, and the product): within
                    // 2^-50 of it, and exp is 1-Lipschitz here. 2^-50 is far inside the zone.
                    let approx = u as f64 * inverse_t;
                    let head = rng.next_u64();
                    if below_exp(
                        head,
                        approx,
                        self.zone,
                        || fraction(u.into(), (*t).into()),
                        rng,
                    ) {
                        break u;
                    }
                };
                finish(u.into(), (*t).into(), self.whole_steps(rng), s)
            }
            Path::Wide { t, s } => {
                let u = loop {
                    let u = below_u128(*t, rng);
                    // As above: conversions and quotient round once each.
                    let approx = u as f64 / *t as f64;
                    let head = rng.next_u64();
                    if below_exp(head, approx, self.zone, || fraction(u, *t), rng) {
                        break u;
                    }
                };
                finish(u, *t, self.whole_steps(rng), s)
            }
            Path::Big { t, s } => self.draw_big(t, s, rng),
        }
    }

    #[cold]
    fn draw_big<R: RngCore + ?Sized>(&self, t: &UBig, s: &UBig, rng: &mut R) -> u128 {
        let u = loop {
            let u = below_big(t, rng);
            if flip(
                &RBig::from_parts(u.clone().into(), t.clone()),
                self.zone,
                rng,
            ) {
                break u;
            }
        };
        let x = (u + t * UBig::from(self.whole_steps(rng))) / s;
        u128::try_from(x).unwrap_or(u128::MAX)
    }

    /// v with P(v ≥ k) = exp(−k): how many of the thresholds e⁻¹, e⁻², … one uniform lies below.
    #[inline]
    fn whole_steps<R: RngCore + ?Sized>(&self, rng: &mut R) -> u64 {
        let head = rng.next_u64();
        for (steps, &threshold) in (0_u64..).zip(&WHOLE_STEPS) {
            // Equal words leave U and e^-k undecided; any other order of the words is that of the numbers.
            if head.abs_diff(threshold) <= self.table_zone {
                return whole_steps_exactly(head, steps, rng);
            }
            if head > threshold {
                return steps;
            }
        }
        whole_steps_exactly(head, WHOLE_STEPS.len() as u64, rng)
    }
}

/// Goes on with the uniform that begins with `head` and is known to lie below exp(−`steps`).
#[cold]
fn whole_steps_exactly<R: RngCore + ?Sized>(head: u64, mut steps: u64, rng: &mut R) -> u64 {
    let mut uniform = LazyUniform::from_head(head);
    while below_exp_exactly(&mut uniform, &RBig::from(steps + 1), rng) {
        steps += 1;
    }
    steps
}

/// ⌊(u + t·v)/s⌋.
#[inline]
fn finish(u: u128, t: u128, v: u64, s: &Divisor) -> u128 {
    let x = t
        .checked_mul(u128::from(v))
        .and_then(|steps| steps.checked_add(u));
    if let Some(x) = x {
        return s.divide(x);
    }
    let x = UBig::from(u) + UBig::from(t) * UBig::from(v);
    u128::try_from(x / UBig::from(s.value)).unwrap_or(u128::MAX)
}

fn fraction(numerator: u128, denominator: u128) -> RBig {
    RBig::from_parts(numerator.into(), denominator.into())
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

/// ⌊e⁻ᵏ·2⁶⁴⌋ for k = 1, 2, …, 44; the next one is 0. Checked against the enclosures in the tests.
const WHOLE_STEPS: [u64; 44] = [
    6_786_177_901_268_885_274,
    2_496_495_334_008_788_799,
    918_409_308_362_266_468,
    337_863_903_126_961_437,
    124_293_183_874_348_897,
    45_724_907_025_114_798,
    16_821_253_244_015_389,
    6_188_193_243_211_692,
    2_276_509_072_173_612,
    837_480_885_292_947,
    308_092_000_073_334,
    113_340_712_816_370,
    41_695_718_092_859,
    15_338_997_471_243,
    5_642_901_817_851,
    2_075_907_567_336,
    763_683_715_795,
    280_943_538_598,
    103_353_351_980,
    38_021_573_369,
    13_987_355_163,
    5_145_660_401,
    1_892_982_672,
    696_389_407,
    256_187_346,
    94_246_057,
    34_671_187,
    12_754_816,
    4_692_234,
    1_726_176,
    635_024,
    233_612,
    85_941,
    31_616,
    11_630,
    4_278,
    1_574,
    579,
    213,
    78,
    28,
    10,
    3,
    1,
];

#[cfg(test)]
mod tests;
