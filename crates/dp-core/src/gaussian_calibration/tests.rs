#![expect(
    clippy::unreadable_literal,
    clippy::excessive_precision,
    reason = "reference values with all their digits"
)]

use proptest::prelude::*;

use super::*;

/// μ, ε, ln δ(ε), from 400 digits: both forms, and the places where one takes over from the other.
const PROFILE: [(f64, f64, f64); 15] = [
    (1e-8, 1e-9, -19.467834057525211),
    (1e-6, 3.3e-5, -566.23019373414338),
    (2.7e-8, 1e-6, -711.44344151795333),
    (0.01, 0.2, -211.42302113398079),
    (0.0199, 0.7, -630.28040811337079),
    (0.0201, 0.7, -617.99984503909147),
    (0.0201, 0.0, -4.82599083075843),
    (0.1, 1.0, -57.356933724833952),
    (0.5, 10.0, -202.64208209739637),
    (3.0, 100.0, -513.51467477209144),
    (37.0, 700.0, -1.115111301184866),
    (30.0, 1.0, -1.2098135550518786e-50),
    (2.0, 2.0, -1.1029275898711642),
    (1.0, 30.0, -442.84937808230364),
    (6.0, 0.001, -0.0027048009452354763),
];

#[test]
fn the_profile_is_enclosed_and_closely() {
    for (mu, epsilon, ln) in PROFILE {
        let bounds = ln_gaussian_profile(mu, epsilon);
        assert!(
            bounds.low <= ln && ln <= bounds.high,
            "{mu} {epsilon}: {ln} not in {bounds:?}"
        );
        assert!(
            bounds.high - bounds.low < 1e-9,
            "{mu} {epsilon}: {bounds:?}"
        );
    }
}

#[test]
fn what_is_not_a_number_costs_everything() {
    assert!((gaussian_profile(f64::NAN, 1.0).high - 1.0).abs() < f64::EPSILON);
    assert!((gaussian_profile(1.0, f64::NAN).high - 1.0).abs() < f64::EPSILON);
    assert!((gaussian_profile(f64::INFINITY, 1.0).high - 1.0).abs() < f64::EPSILON);
    assert!(epsilon_of_gaussian(1.0, 1.0, 0.0).is_infinite());
    assert!(epsilon_of_gaussian(0.0, 1.0, 1e-6).is_infinite());
    assert!(epsilon_of_gaussian(f64::NAN, 1.0, 1e-6).is_infinite());
    let (one, delta) = (
        Epsilon::new(1.0).expect("valid"),
        Delta::new(1e-6).expect("valid"),
    );
    assert!(std_dev_for(one, Delta::ZERO, 1.0).is_none());
    assert!(std_dev_for(one, delta, f64::NAN).is_none());
    assert!(std_dev_classic(one, delta, 1.0).is_none());
}

/// 10^x for an exponent drawn evenly.
fn power_of_ten(low: f64, high: f64) -> impl Strategy<Value = f64> {
    (low..high).prop_map(libm::exp10)
}

proptest! {
    #[test]
    fn the_noise_found_backward_is_accepted_forward(
        epsilon in power_of_ten(-6.0, 2.845),
        delta in power_of_ten(-300.0, -0.302),
        sensitivity in power_of_ten(-3.0, 9.0),
    ) {
        let (e, d) = (Epsilon::new(epsilon)?, Delta::new(delta)?);
        let std_dev = std_dev_for(e, d, sensitivity).expect("delta is above 0");
        prop_assert!(delta_of_gaussian(std_dev, sensitivity, epsilon) <= delta);
        prop_assert!(delta_of_gaussian(std_dev * (1.0 - 1e-9), sensitivity, epsilon) > delta);
        // Rounding δ outward by some units in the last place moves ε by about as much, absolutely: for a
        // tiny ε beside a large δ that is more than its own last places.
        let forward = epsilon_of_gaussian(std_dev, sensitivity, delta);
        prop_assert!(forward <= epsilon * (1.0 + 1e-12) + 1e-12);
        let mu = mu_for(e, d).expect("delta is above 0");
        prop_assert!((mu * std_dev / sensitivity - 1.0).abs() < 1e-9);
    }

    #[test]
    fn the_profile_falls_with_epsilon_and_with_noise(
        mu in power_of_ten(-8.0, 2.0),
        epsilon in power_of_ten(-6.0, 2.845),
        factor in 1.000_001..3.0_f64,
    ) {
        let here = ln_gaussian_profile(mu, epsilon);
        prop_assert!(here.low <= here.high && here.high <= 0.0);
        prop_assert!(ln_gaussian_profile(mu, epsilon * factor).low <= here.high);
        prop_assert!(ln_gaussian_profile(mu * factor, epsilon).high >= here.low);
    }

    #[test]
    fn the_profile_beats_its_concentrated_bound(
        mu in power_of_ten(-5.0, 1.0),
        epsilon in power_of_ten(-4.0, 2.0),
    ) {
        // ρ = μ²/2 gives a δ that is valid, hence no smaller than the exact one.
        let bound = crate::conversion::delta_of_rho(mu * mu / 2.0, epsilon);
        prop_assert!(gaussian_profile(mu, epsilon).low <= bound);
    }

    #[test]
    fn the_classic_form_asks_for_more_noise(
        epsilon in power_of_ten(-4.0, -0.01),
        delta in power_of_ten(-12.0, -2.0),
    ) {
        let (epsilon, delta) = (Epsilon::new(epsilon)?, Delta::new(delta)?);
        let tight = std_dev_for(epsilon, delta, 1.0).expect("delta is above 0");
        prop_assert!(tight < std_dev_classic(epsilon, delta, 1.0).expect("epsilon is below 1"));
    }
}
