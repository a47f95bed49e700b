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

/// Whether the ε found forward is at most the one that the noise was made for, but for what the enclosure of the profile owes.
///
/// The upper bound of the profile was seen to be at most δ at ε, so the search ends at ε or below unless it met an x above at which
/// that bound exceeds δ. The profile itself falls from ε to x by at least (x − ε)·s, where s is the smaller of its slopes
/// e^t·Φ(−t/μ − μ/2) at both ends (the slope rises, then falls); so the enclosure at x must be wider than that.
fn forward_is_due(std_dev: f64, sensitivity: f64, epsilon: f64, delta: f64) -> bool {
    let forward = epsilon_of_gaussian(std_dev, sensitivity, delta);
    if forward <= epsilon {
        return true;
    }
    let mu = ratio_up(std_dev, sensitivity);
    // The float below is the last at which the bound was too large.
    let x = forward.next_down();
    // φ(a)·R(b), which does not underflow where its factors do.
    let slope = |t: f64| libm::exp(ln_density(t / mu - mu / 2.0)) * mills(t / mu + mu / 2.0);
    let (near, far) = (slope(epsilon), slope(x));
    let slope = if near < far { near } else { far };
    let enclosure = gaussian_profile(mu, x);
    // A part in 10⁹ for the arithmetic of this line.
    (x - epsilon) * slope <= (enclosure.high - enclosure.low) * (1.0 + 1e-9)
}

/// The twin: forward from noise that is a part in 10⁶ smaller, ε is not due.
#[test]
fn an_epsilon_that_is_too_large_forward_is_seen() {
    for (epsilon, delta) in [(1e-6, 0.49), (1e-3, 1e-9), (1.0, 1e-6), (600.0, 1e-300)] {
        let (e, d) = (
            Epsilon::new(epsilon).expect("valid"),
            Delta::new(delta).expect("valid"),
        );
        let std_dev = std_dev_for(e, d, 1.0).expect("delta is above 0");
        assert!(forward_is_due(std_dev, 1.0, epsilon, delta));
        let less = std_dev * (1.0 - 1e-6);
        let forward = epsilon_of_gaussian(less, 1.0, delta);
        assert!(
            !forward_is_due(less, 1.0, epsilon, delta),
            "{epsilon}, {delta}: {forward}"
        );
    }
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
        prop_assert!(forward_is_due(std_dev, sensitivity, epsilon, delta));
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
