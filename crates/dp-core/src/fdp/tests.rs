use proptest::prelude::*;

use super::*;
use crate::pld::{Bound, Mechanism, Precision};

/// Supporting lines whose slopes differ by a tenth in the exponent, beyond the steepest place that is tested.
fn epsilons() -> Vec<f64> {
    (0..=80).map(|i| f64::from(i) / 10.0).collect()
}

#[test]
fn without_noise_nothing_is_hidden_and_without_loss_everything() {
    for a in [0.0, 0.1, 0.5, 0.9, 1.0] {
        assert!(approximate(50.0, 0.0, a) < 1.0 - a + 1e-12);
        assert!((approximate(0.0, 0.0, a) - (1.0 - a)).abs() < 1e-14);
        assert!((gaussian(1e-12, a) - (1.0 - a)).abs() < 1e-9);
        assert!((laplace(1e-12, a) - (1.0 - a)).abs() < 1e-9);
    }
    assert!(gaussian(1.0, f64::NAN).abs() < 1e-14);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn curves_of_one_mechanism_agree_with_its_numerical_profile(
        mu in 0.1..3.0_f64,
        a in 0.001..0.999_f64,
    ) {
        let pairs: [(Mechanism, f64); 2] = [
            (Mechanism::Gaussian { mu }, gaussian(mu, a)),
            (Mechanism::Laplace { epsilon: mu }, laplace(mu, a)),
        ];
        for (mechanism, curve) in pairs {
            let loss = ComposedLoss::of(&[(mechanism, 1)], Bound::Upper, Precision::default())?;
            let by_profile = of_loss(&loss, &epsilons(), a);
            // Supporting lines lie below the curve; a tenth apart they lose at most about half of e^0.1 − 1 of
            // a rate of at most one half.
            prop_assert!(by_profile <= curve + 1e-9, "{by_profile} {curve}");
            prop_assert!(by_profile >= curve - 0.05, "{by_profile} {curve}");
        }
    }

    #[test]
    fn curves_fall_and_lie_below_chance(mu in 0.0..5.0_f64, a in 0.0..1.0_f64, b in 0.0..1.0_f64) {
        let (low, high) = if a < b { (a, b) } else { (b, a) };
        let curves: [fn(f64, f64) -> f64; 3] = [gaussian, laplace, |e, a| approximate(e, 1e-3, a)];
        for curve in curves {
            prop_assert!(curve(mu, high) <= curve(mu, low) + 1e-14);
            prop_assert!(curve(mu, a) <= 1.0 - a + 1e-14 && curve(mu, a) >= 0.0);
        }
    }
}
