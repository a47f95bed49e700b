use super::*;
use crate::rng::InsecureSeededRng;
use crate::sampler::tests::{RATE, follows, gaussian_cdf, ratio, reference_gaussian};
use crate::sampler::{SCALE_BITS, scale_up_f64};
use proptest::prelude::*;
use testkit::rates;

const N: usize = 200_000;

fn draws(law: &DiscreteGaussian, n: usize, seed: u64) -> Vec<i128> {
    let mut out = vec![0; n];
    law.fill(&mut InsecureSeededRng::new(seed), &mut out);
    out
}

fn law(variance: RBig) -> DiscreteGaussian {
    DiscreteGaussian::new(variance).expect("positive")
}

#[test]
fn every_scale_follows_the_law_and_a_tenth_off_is_caught() {
    for sigma in [
        1e-6,
        1e-3,
        0.1,
        0.5,
        1.0,
        10.0,
        1e3,
        1e6,
        1e12,
        2_f64.powi(100),
    ] {
        let exact = scale_up_f64(sigma, SCALE_BITS).expect("positive");
        let sample = draws(&law(&exact * &exact), N, 61);
        assert!(follows(sample.clone(), gaussian_cdf(sigma)), "{sigma}");
        // Below, zero has nearly all the mass.
        if sigma >= 0.5 {
            assert!(
                !follows(sample.clone(), gaussian_cdf(1.1 * sigma)),
                "{sigma}"
            );
            assert!(!follows(sample, gaussian_cdf(0.9 * sigma)), "{sigma}");
        }
    }
}

#[test]
fn the_fallbacks_and_the_reference_follow_the_same_law() {
    for (n, d, t) in [(1, 3, 1), (1, 1, 2), (100, 1, 11), (5_000_011, 7, 846)] {
        let variance = ratio(n, d);
        let sigma = (n as f64 / d as f64).sqrt();
        let plain = law(variance.clone());
        assert_eq!(plain.t, UBig::from(t));
        let mut rng = InsecureSeededRng::new(62);
        let reference = (0..N / 10)
            .map(|_| reference_gaussian(&variance, t, &mut rng))
            .collect();
        for sample in [
            draws(&plain, N, 63),
            draws(&plain.clone().undecided(), N / 10, 64),
            draws(&plain.big(), N / 10, 65),
            reference,
        ] {
            assert!(follows(sample, gaussian_cdf(sigma)), "{n}/{d}");
        }
    }
}

#[test]
fn single_values_have_their_exact_mass() {
    for (n, d) in [(1, 4), (1, 1), (5, 2)] {
        let cdf = gaussian_cdf((n as f64 / d as f64).sqrt());
        let mut counts = [0_u64; 10];
        for x in draws(&law(ratio(n, d)), 5 * N, 66) {
            counts[usize::try_from(x + 4).map_or(9, |index| index.min(9))] += 1;
        }
        let mut p: Vec<f64> = (-4..=4).map(|x| cdf(x) - cdf(x - 1)).collect();
        p.push((1.0 - cdf(4) + cdf(-5)).clamp(0.0, 1.0));
        assert_eq!(rates::implausible_cell(&counts, &p, RATE), None, "{n}/{d}");
    }
}

#[test]
fn signs_are_fair_at_every_size() {
    for sigma in [1_i128, 1_000] {
        let sample = draws(&law(ratio(sigma * sigma, 1)), N, 67);
        for least in [1, sigma, 2 * sigma] {
            let count =
                |keep: &dyn Fn(i128) -> bool| sample.iter().filter(|x| keep(**x)).count() as u64;
            let counts = [count(&|x| x >= least), count(&|x| x <= -least)];
            assert_eq!(
                rates::implausible_cell(&counts, &[0.5, 0.5], RATE),
                None,
                "{sigma}"
            );
        }
    }
}

proptest! {
    /// The claim at [`exponent`]: the exponential errs by less than 2⁻⁵⁰, cancellation and far tails
    /// included.
    #[test]
    fn the_float_exponent_errs_as_little_as_claimed(
        m in 1_u64.., power in -60_i32..100, z in 0.0..45.0_f64, near in any::<bool>(),
    ) {
        let sigma = RBig::try_from(m as f64 * 2_f64.powi(power - 64)).expect("finite");
        let law = law(&sigma * &sigma);
        let (shift, half_precision) = law.floats.expect("within the fast path");
        // Near the center of the proposal the difference cancels; elsewhere z standard deviations out.
        let sigma = sigma.to_f64().value();
        let y = if near { shift } else { z * sigma };
        let y = i128::try_from(RBig::try_from(y).expect("finite").round()).expect("within reach");
        let exact = law.exponent_exactly(y).to_f64().value();
        let approx = exponent(y, shift, half_precision);
        let error = (libm::exp(-approx) - libm::exp(-exact)).abs();
        prop_assert!(error < 0.5_f64.powi(50), "{error:e} at y = {y}");
    }
}

#[test]
fn a_seed_gives_the_same_draws_forever() {
    let first = |variance: RBig| draws(&law(variance), 8, 7);
    assert_eq!(first(ratio(100, 1)), [0, 7, 4, -4, 13, 3, -3, 28]);
    assert_eq!(first(ratio(1, 3)), [1, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(
        first(ratio(5_000_011, 7)),
        [1, 591, 339, -368, 1032, 276, -240, 2171]
    );
    assert_eq!(
        first(RBig::from(UBig::ONE << 200)),
        [
            1_588_260_926_666_942_112_070_098_229_806,
            1_889_724_055_047_309_697_184_523_140_435,
            922_867_346_721_290_836_749_453_184_766,
            -942_061_414_896_673_169_766_214_704_207,
            2_563_230_001_621_051_720_036_458_587_884,
            -1_848_796_456_289_031_071_151_905_772_519,
            -1_501_387_264_886_864_069_674_321_012_624,
            985_866_720_681_690_019_442_935_142_218
        ]
    );
}

#[test]
fn variances_must_be_positive_and_extremes_are_served() {
    for variance in [RBig::ZERO, ratio(-1, 2)] {
        let error = DiscreteGaussian::new(variance.clone()).expect_err("refused");
        assert_eq!(error, SamplerError::Variance { got: variance });
    }
    let huge = RBig::from(UBig::ONE << 2_000);
    // |X| < 2^127 with probability below 2^-870.
    let extreme = draws(&law(huge.clone()), 16, 68);
    assert!(
        extreme
            .iter()
            .all(|x| x.unsigned_abs() == i128::MAX.unsigned_abs())
    );
    // Off zero with probability below exp(-2^1999).
    assert_eq!(draws(&law(RBig::ONE / huge), 16, 69), [0; 16]);
    assert!((law(ratio(1, 4)).variance_f64() - 0.25).abs() < 1e-300);
}
