use super::*;
use crate::rng::InsecureSeededRng;
use crate::sampler::enclosure::exp_neg;
use crate::sampler::tests::{Script, follows, ratio};

const N: usize = 100_000;

fn draws(law: &Geometric, n: usize, seed: u64) -> Vec<i128> {
    let mut rng = InsecureSeededRng::new(seed);
    (0..n)
        .map(|_| i128::try_from(law.sample(&mut rng)).expect("within reach"))
        .collect()
}

/// P(X ≤ x) = 1 − exp(−(x + 1)·γ).
fn cdf(gamma: f64) -> impl Fn(i128) -> f64 {
    move |x| {
        if x < 0 {
            0.0
        } else {
            -libm::expm1(-(x as f64 + 1.0) * gamma)
        }
    }
}

#[test]
fn every_path_follows_the_law() {
    let wide = RBig::from_parts(1.into(), UBig::from(3_u8).pow(60));
    let cases = [
        (ratio(1, 1), 1.0),
        (ratio(7, 3), 7.0 / 3.0),
        (ratio(1, 1_000), 1e-3),
        (ratio(3, 1 << 70), 3.0 / 2_f64.powi(70)),
        (wide, 3_f64.powi(-60)),
    ];
    for (rate, float) in cases {
        let law = Geometric::new(&rate).expect("positive");
        assert!(follows(draws(&law, N, 41), cdf(float)), "{rate}");
        assert!(
            follows(draws(&law.clone().big(), N, 42), cdf(float)),
            "{rate}"
        );
        // The twin: a rate a tenth off.
        assert!(!follows(draws(&law, N, 41), cdf(1.1 * float)), "{rate}");
    }
}

#[test]
fn the_fallbacks_follow_the_law() {
    for (n, d) in [(1, 1), (2, 7), (1, 1_000)] {
        let law = Geometric::new(&ratio(n, d)).expect("positive").undecided();
        assert!(
            follows(draws(&law, N / 5, 43), cdf(n as f64 / d as f64)),
            "{n}/{d}"
        );
    }
}

#[test]
fn the_paths_are_chosen_by_size() {
    let path = |numerator: UBig, denominator: UBig| {
        let rate = RBig::from_parts(numerator.into(), denominator);
        Geometric::new(&rate).expect("positive").path
    };
    let three = |power| UBig::from(3_u8).pow(power);
    assert!(matches!(
        path(three(40), UBig::from(2_u8)),
        Path::Narrow { .. }
    ));
    assert!(matches!(
        path(three(70), UBig::from(2_u8)),
        Path::Narrow { .. }
    ));
    assert!(matches!(path(UBig::ONE, three(60)), Path::Wide { .. }));
    assert!(matches!(path(UBig::ONE, three(80)), Path::Big { .. }));
    assert!(matches!(path(three(80), UBig::ONE), Path::Big { .. }));
}

#[test]
fn the_spare_bit_is_fair_and_tells_nothing_of_the_draw() {
    let law = Geometric::new(&ratio(1, 10)).expect("positive");
    let mut rng = InsecureSeededRng::new(44);
    let mut counts = [0_u64; 4];
    // The median of the law is 6: P(X ≥ 7) = exp(−0.7).
    for _ in 0..N {
        let (x, bit) = law.draw(&mut rng);
        counts[2 * usize::from(x >= 7) + usize::from(bit)] += 1;
    }
    let high = libm::exp(-0.7);
    let p = [
        (1.0 - high) / 2.0,
        (1.0 - high) / 2.0,
        high / 2.0,
        high / 2.0,
    ];
    assert_eq!(
        testkit::rates::implausible_cell(&counts, &p, crate::sampler::tests::RATE),
        None
    );
}

#[test]
fn the_sure_zone_is_inside_the_exponential() {
    let (least, _) = exp_neg(&ratio(1, PER_UNIT.into()), 64);
    assert!(UBig::from(SURE) <= least);
    // exp(−1/16) > 1 − 1/16; the word just below is kept without more bits, the one on it is compared.
    let law = Geometric::new(&ratio(1, 1 << 40)).expect("positive");
    let kept = law.keeps(
        SURE - 1,
        f64::INFINITY,
        || RBig::ONE,
        &mut Script(Vec::new()),
    );
    assert!(kept);
    let compared = law.keeps(SURE, 2.0, || RBig::from(2), &mut Script(Vec::new()));
    assert!(!compared);
}

#[test]
fn rates_must_be_positive() {
    for rate in [RBig::ZERO, ratio(-1, 2)] {
        let error = Geometric::new(&rate).expect_err("refused");
        assert_eq!(error, SamplerError::Rate { got: rate });
    }
}

#[test]
fn results_beyond_the_type_saturate() {
    let law = Geometric::new(&RBig::from_parts(1.into(), UBig::ONE << 1_000)).expect("positive");
    // Below 2^128 with probability 2^-872.
    assert_eq!(law.sample(&mut InsecureSeededRng::new(45)), u128::MAX);
}
