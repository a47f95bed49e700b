//! What the tests of the samplers share: the reference samplers in plain rationals, and rates.
//!
//! False-positive rate: each statistical check of this crate's samplers fails a correct sampler with
//! probability at most [`RATE`] per choice of seed (finite-sample bounds of `testkit::rates`), and there are
//! fewer than 200: together below 2e-8. Each group has a twin with a planted fault that the same check must
//! reject. On failure, do not change the seed: a second failing seed means that the sampler is wrong.

use dashu_base::BitTest;
use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;
use rand::RngCore;
use testkit::rates;

use super::uniform::{below_big, bernoulli};

pub(crate) const RATE: f64 = 1e-10;

/// A generator that repeats the words it is given: for edge cases that chance never meets.
#[derive(Debug)]
pub(crate) struct Script(pub(crate) Vec<u64>);

impl RngCore for Script {
    fn next_u32(&mut self) -> u32 {
        (self.next_u64() >> 32) as u32
    }

    fn next_u64(&mut self) -> u64 {
        assert!(!self.0.is_empty(), "the script has ended");
        self.0.remove(0)
    }

    fn fill_bytes(&mut self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&self.next_u64().to_le_bytes()[..chunk.len()]);
        }
    }
}

/// A fraction.
pub(crate) fn ratio(numerator: i128, denominator: u128) -> RBig {
    RBig::from_parts(numerator.into(), denominator.into())
}

/// P(X ≤ x) of the discrete Laplace law.
pub(crate) fn laplace_cdf(x: i128, scale: f64) -> f64 {
    let tail = |steps: f64| libm::exp(-steps / scale) / (1.0 + libm::exp(-1.0 / scale));
    if x < 0 {
        tail(-(x as f64))
    } else {
        1.0 - tail(x as f64 + 1.0)
    }
}

/// P(X ≤ x) of the discrete Gaussian law, by sums for σ ≤ 100.
///
/// Beyond, by the normal law at x + 1/2: the sum over x of the mass is σ√(2π) to all digits, and the midpoint
/// rule errs by less than 1/(24σ²) < 5e-6, a thousandth of what any test here allows.
pub(crate) fn gaussian_cdf(sigma: f64) -> impl Fn(i128) -> f64 {
    let reach: i128 = match sigma {
        ..=1.0 => 14,
        ..=100.0 => 1_200,
        _ => 0,
    };
    let mut sums = Vec::new();
    let mut sum = 0.0;
    for x in -reach..=reach {
        sum += libm::exp(-((x * x) as f64) / (2.0 * sigma * sigma));
        sums.push(sum);
    }
    move |x| match usize::try_from(x + reach) {
        _ if reach == 0 => 0.5 * libm::erfc(-(x as f64 + 0.5) / (sigma * std::f64::consts::SQRT_2)),
        Ok(index) => sums.get(index).unwrap_or(&sum) / sum,
        Err(_) => 0.0,
    }
}

/// Whether draws follow a distribution function on the integers.
pub(crate) fn follows(draws: Vec<i128>, cdf: impl Fn(i128) -> f64) -> bool {
    let allowed = rates::allowed_gap(draws.len(), RATE);
    rates::largest_gap(draws, cdf) <= allowed
}

/// Whether the choices among `p.len()` items have these probabilities.
pub(crate) fn chosen_with(
    p: &[f64],
    draws: usize,
    mut choose: impl FnMut() -> Option<usize>,
) -> bool {
    let mut counts = vec![0; p.len()];
    for _ in 0..draws {
        counts[choose().expect("there are items")] += 1;
    }
    rates::implausible_cell(&counts, p, RATE).is_none()
}

/// Weights divided by their sum.
pub(crate) fn normalized(weights: &[f64]) -> Vec<f64> {
    let sum: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / sum).collect()
}

/// Bernoulli(exp(−γ)) as Canonne, Kamath, Steinke 2020 have it (Algorithm 1), in rationals alone.
pub(crate) fn reference_bernoulli_exp<R: RngCore>(gamma: &RBig, rng: &mut R) -> bool {
    let mut rest = gamma.clone();
    while rest > RBig::ONE {
        if !reference_bernoulli_exp(&RBig::ONE, rng) {
            return false;
        }
        rest -= RBig::ONE;
    }
    let mut k = UBig::ONE;
    while bernoulli(&(&rest / RBig::from(k.clone())), rng) {
        k += UBig::ONE;
    }
    k.bit(0)
}

/// The discrete Laplace law of scale t/s, Algorithm 2.
pub(crate) fn reference_laplace<R: RngCore>(scale: &RBig, rng: &mut R) -> i128 {
    let t = UBig::try_from(scale.numerator().clone()).expect("a positive scale");
    let s = scale.denominator();
    loop {
        let u = below_big(&t, rng);
        if !reference_bernoulli_exp(&RBig::from_parts(u.clone().into(), t.clone()), rng) {
            continue;
        }
        let mut v = UBig::ZERO;
        while reference_bernoulli_exp(&RBig::ONE, rng) {
            v += UBig::ONE;
        }
        let y = (u + &t * v) / s;
        let negative = rng.next_u32() & 1 == 1;
        if negative && y.is_zero() {
            continue;
        }
        let y = i128::try_from(y).expect("within reach");
        return if negative { -y } else { y };
    }
}

/// The discrete Gaussian law with variance parameter σ², Algorithm 3.
pub(crate) fn reference_gaussian<R: RngCore>(variance: &RBig, t: u32, rng: &mut R) -> i128 {
    let t = RBig::from(t);
    loop {
        let y = reference_laplace(&t, rng);
        let distance = RBig::from(IBig::from(y.unsigned_abs())) - variance / &t;
        if reference_bernoulli_exp(&(&distance * &distance / (RBig::from(2) * variance)), rng) {
            return y;
        }
    }
}
