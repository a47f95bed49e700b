use super::*;
use crate::rng::InsecureSeededRng;
use crate::sampler::tests::{RATE, follows, laplace_cdf, ratio, reference_laplace};
use crate::sampler::{SCALE_BITS, scale_up, scale_up_f64};
use dashu_int::UBig;
use testkit::rates;

const N: usize = 200_000;

fn draws(law: &DiscreteLaplace, n: usize, seed: u64) -> Vec<i128> {
    let mut out = vec![0; n];
    law.fill(&mut InsecureSeededRng::new(seed), &mut out);
    out
}

fn law(scale: RBig) -> DiscreteLaplace {
    DiscreteLaplace::new(scale).expect("positive")
}

#[test]
fn every_scale_follows_the_law_and_a_tenth_off_is_caught() {
    let two_to_100 = 2_f64.powi(100);
    for scale in [1e-6, 1e-3, 0.1, 1.0, 10.0, 1e3, 1e6, 1e12, two_to_100] {
        let exact = scale_up_f64(scale, SCALE_BITS).expect("positive");
        let sample = draws(&law(exact), N, 51);
        assert!(
            follows(sample.clone(), |x| laplace_cdf(x, scale)),
            "{scale}"
        );
        // Below a scale of 0.1 the law is next to constant: nothing tells 1e-3 from 1.1e-3.
        if scale >= 0.2 {
            assert!(
                !follows(sample.clone(), |x| laplace_cdf(x, 1.1 * scale)),
                "{scale}"
            );
            assert!(!follows(sample, |x| laplace_cdf(x, 0.9 * scale)), "{scale}");
        }
    }
}

#[test]
fn the_fallbacks_and_the_reference_follow_the_same_law() {
    for (n, d) in [(1, 3), (1, 1), (10, 1), (1_000_003, 7)] {
        let exact = ratio(n, d);
        let scale = n as f64 / d as f64;
        let plain = law(exact.clone());
        let undecided = plain.clone().map_magnitude(Geometric::undecided);
        let big = plain.clone().map_magnitude(Geometric::big);
        let mut rng = InsecureSeededRng::new(52);
        let reference = (0..N / 10)
            .map(|_| reference_laplace(&exact, &mut rng))
            .collect();
        for sample in [
            draws(&plain, N, 53),
            draws(&undecided, N / 10, 54),
            draws(&big, N / 10, 55),
            reference,
        ] {
            assert!(follows(sample, |x| laplace_cdf(x, scale)), "{n}/{d}");
        }
    }
}

#[test]
fn single_values_have_their_exact_mass() {
    for (n, d) in [(1, 2), (1, 1), (5, 2)] {
        let scale = n as f64 / d as f64;
        let q = libm::exp(-1.0 / scale);
        let mass = |x: i128| (1.0 - q) / (1.0 + q) * libm::exp(-(x.unsigned_abs() as f64) / scale);
        let mut counts = [0_u64; 10];
        for x in draws(&law(ratio(n, d)), 5 * N, 56) {
            counts[usize::try_from(x + 4).map_or(9, |index| index.min(9))] += 1;
        }
        let mut p: Vec<f64> = (-4..=4).map(mass).collect();
        p.push(1.0 - p.iter().sum::<f64>());
        assert_eq!(rates::implausible_cell(&counts, &p, RATE), None, "{n}/{d}");
        // The twin: "minus zero" kept, which doubles the mass of zero relative to the rest.
        p[4] *= 2.0;
        let sum: f64 = p.iter().sum();
        for p in &mut p {
            *p /= sum;
        }
        assert!(
            rates::implausible_cell(&counts, &p, RATE).is_some(),
            "{n}/{d}"
        );
    }
}

#[test]
fn signs_are_fair_at_every_size() {
    for scale in [1_i128, 1_000] {
        let sample = draws(&law(ratio(scale, 1)), N, 57);
        for least in [1, scale, 3 * scale] {
            let count =
                |keep: &dyn Fn(i128) -> bool| sample.iter().filter(|x| keep(**x)).count() as u64;
            let counts = [count(&|x| x >= least), count(&|x| x <= -least)];
            assert_eq!(
                rates::implausible_cell(&counts, &[0.5, 0.5], RATE),
                None,
                "{scale}"
            );
        }
    }
}

#[test]
fn a_seed_gives_the_same_draws_forever() {
    let first = |scale: RBig| draws(&law(scale), 8, 7);
    assert_eq!(first(ratio(10, 1)), [0, 8, -3, 1, 0, -3, 12, 3]);
    assert_eq!(
        first(ratio(1_000_003, 7)),
        [
            208, 127_534, -49_023, 17_772, 5820, -51_254, 174_302, 48_379
        ]
    );
    assert_eq!(first(scale_up(&ratio(7, 3), 32)), [0, 2, 0, 0, 2, 0, 1, -1]);
    assert_eq!(
        first(RBig::from(UBig::ONE << 100)),
        [
            1_586_412_088_476_114_431_970_488_618_262,
            -252_343_022_873_505_478_739_881_873_838,
            134_577_212_125_831_448_960_244_484_178,
            850_945_209_168_467_820_351_009_212_347,
            1_855_985_896_437_694_730_918_016_999_081,
            768_103_405_140_017_621_384_058_692_900,
            3_490_104_924_277_806_829_156_759_056_069,
            114_241_841_232_022_584_527_775_620_478
        ]
    );
}

#[test]
fn scales_must_be_positive_and_extremes_saturate() {
    for scale in [RBig::ZERO, ratio(-1, 2)] {
        let error = DiscreteLaplace::new(scale.clone()).expect_err("refused");
        assert_eq!(error, SamplerError::Scale { got: scale });
    }
    // |X| < 2^127 with probability 2^-873.
    let extreme = draws(&law(RBig::from(UBig::ONE << 1_000)), 64, 58);
    assert!(
        extreme
            .iter()
            .all(|x| x.unsigned_abs() == i128::MAX.unsigned_abs())
    );
    assert!((law(ratio(1, 4)).scale_f64() - 0.25).abs() < 1e-300);
}
