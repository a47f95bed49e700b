#![expect(
    clippy::unreadable_literal,
    reason = "reference values with all their digits"
)]

use proptest::prelude::*;

use super::*;

/// x, R(x), 1 − x·R(x), from 50 digits.
const MILLS: [(f64, f64, f64); 15] = [
    (0.0, 1.2533141373155003, 1.0),
    (0.3, 1.0018374009921558, 0.6994487797023533),
    (0.7, 0.7748938487793906, 0.4575743058544266),
    (1.1, 0.6227436548688335, 0.3149819796442831),
    (1.9, 0.43764692878712086, 0.16847083530447035),
    (2.5, 0.35426511132979366, 0.11433722167551583),
    (2.999, 0.30467655077125944, 0.08627502423699283),
    (3.0, 0.3045902987101033, 0.08622910386969011),
    (3.7, 0.25377763740679354, 0.06102274159486376),
    (5.0, 0.19280810471531576, 0.03595947642342118),
    (8.0, 0.1231319632579323, 0.01494429393654163),
    (13.0, 0.0764757610162485, 0.005815106788769461),
    (25.0, 0.039936304769535594, 0.0015923807616101868),
    (40.0, 0.02498440420572057, 0.0006238317711771541),
    (1000.0, 0.0009999990000029999, 9.99997000015e-07),
];

/// x, Φ(x), ln Φ(x), from 50 digits.
const CDF: [(f64, f64, f64); 14] = [
    (-1000.0, 0.0, -500007.82669481216),
    (-40.0, 0.0, -804.6084420137538),
    (-20.0, 2.7536241186062337e-89, -203.91715537109727),
    (-10.0, 7.619853024160525e-24, -53.23128515051247),
    (-5.0, 2.866515718791939e-07, -15.064998393988725),
    (-2.2, 0.013903447513498604, -4.275618447044144),
    (-1.0, 0.15865525393145705, -1.8410216450092636),
    (-0.1, 0.460172162722971, -0.7761545927302733),
    (0.0, 0.5, -std::f64::consts::LN_2),
    (0.4, 0.6554217416103242, -0.42247637022777607),
    (1.3, 0.9031995154143897, -0.10181180266765504),
    (3.0, 0.9986501019683699, -0.0013508099647481938),
    (7.0, 0.9999999999987201, -1.279812543886654e-12),
    (9.0, 1.0, -1.1285884059538405e-19),
];

#[test]
fn the_mills_ratio_and_its_slope_are_within_a_third_of_the_error_granted() {
    for (x, ratio, slope) in MILLS {
        let errors = [mills(x) / ratio - 1.0, mills_slope(x) / slope - 1.0];
        for error in errors {
            assert!(
                error.abs() < MILLS_ERROR / 3.0,
                "{x}: {} units",
                error / f64::EPSILON
            );
        }
    }
}

/// [`fraction`] with so many terms that more change nothing.
fn long_fraction(x: f64) -> f64 {
    (1..600)
        .rev()
        .fold(x, |tail, term| f64::from(term) / (x + tail))
}

#[test]
fn the_terms_of_the_fraction_are_enough_wherever_it_is_used() {
    for i in 0..100_000 {
        let x = FRACTION_FROM * libm::exp(f64::from(i) * 6e-5);
        let error = fraction(x) / long_fraction(x) - 1.0;
        assert!(error.abs() <= 8.0 * f64::EPSILON, "{x}: {error:e}");
    }
}

#[test]
fn the_distribution_function_is_enclosed_and_closely() {
    for (x, value, ln) in CDF {
        let bounds = normal_cdf(x);
        assert!(bounds.low <= value && value <= bounds.high, "{x}");
        assert!(bounds.high - bounds.low <= 1e-12 * value + 1e-300, "{x}");
        let bounds = ln_normal_cdf(x);
        assert!(bounds.low <= ln && ln <= bounds.high, "{x}: {bounds:?}");
        assert!(bounds.high - bounds.low <= 1e-11 * ln.abs() + 1e-13, "{x}");
    }
}

#[test]
fn the_ends_of_the_line_are_enclosed() {
    for x in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e200, -1e200] {
        let (bounds, ln) = (normal_cdf(x), ln_normal_cdf(x));
        assert!(
            0.0 <= bounds.low && bounds.low <= bounds.high && bounds.high <= 1.0,
            "{x}"
        );
        assert!(ln.low <= ln.high && ln.high <= 0.0, "{x}: {ln:?}");
    }
}

proptest! {
    #[test]
    fn both_tails_add_up_to_one(x in -38.0..38.0_f64) {
        let (left, right) = (normal_cdf(x), normal_cdf(-x));
        prop_assert!(left.low + right.low <= 1.0 + f64::EPSILON);
        prop_assert!(left.high + right.high >= 1.0 - f64::EPSILON);
    }

    #[test]
    fn the_logarithm_agrees_with_the_value(x in -37.0..8.0_f64) {
        let (value, ln) = (normal_cdf(x), ln_normal_cdf(x));
        prop_assert!(ln.low <= libm::log(value.high) + 1e-15);
        prop_assert!(libm::log(value.low) - 1e-15 <= ln.high);
    }
}
