use proptest::prelude::*;

use super::*;
use crate::composition::{ApproxLoss, advanced};
use crate::gaussian_calibration::{epsilon_of_gaussian, gaussian_profile};

fn composed(plan: &[(Mechanism, u64)], bound: Bound) -> ComposedLoss {
    ComposedLoss::of(plan, bound, Precision::default()).expect("the parameters are valid")
}

/// Both bounds of a plan.
fn both(plan: &[(Mechanism, u64)]) -> (ComposedLoss, ComposedLoss) {
    (composed(plan, Bound::Upper), composed(plan, Bound::Lower))
}

#[test]
fn parameters_outside_their_range_are_refused() {
    let bad = [
        Mechanism::Gaussian { mu: 0.0 },
        Mechanism::Laplace { epsilon: f64::NAN },
        Mechanism::Pure {
            epsilon: f64::INFINITY,
        },
        Mechanism::Approximate {
            epsilon: 1.0,
            delta: 1.0,
        },
        Mechanism::DiscreteLaplace {
            scale: 1.0,
            sensitivity: 0,
        },
        Mechanism::DiscreteGaussian {
            std_dev: -1.0,
            sensitivity: 1,
        },
        Mechanism::SubsampledGaussian {
            sampling_probability: 1.5,
            mu: 1.0,
        },
        Mechanism::SubsampledLaplace {
            sampling_probability: 0.0,
            epsilon: 1.0,
        },
    ];
    for mechanism in bad {
        let result = ComposedLoss::of(&[(mechanism, 1)], Bound::Upper, Precision::default());
        assert!(
            matches!(result, Err(PldError::Parameter { .. })),
            "{mechanism:?}"
        );
    }
}

#[test]
fn the_largest_and_the_smallest_losses_are_still_bracketed() {
    let plans = [
        (Mechanism::Gaussian { mu: 40.0 }, 1000),
        (Mechanism::Pure { epsilon: 700.0 }, 7),
        (Mechanism::Laplace { epsilon: 700.0 }, 7),
        (Mechanism::Gaussian { mu: 1e-9 }, 1 << 40),
        (Mechanism::Laplace { epsilon: 1e-9 }, 3),
        (
            Mechanism::SubsampledGaussian {
                sampling_probability: 1e-9,
                mu: 40.0,
            },
            2,
        ),
    ];
    for (mechanism, uses) in plans {
        let (upper, lower) = both(&[(mechanism, uses)]);
        for epsilon in [0.0, 1e-6, 1.0, 100.0, 1000.0] {
            let (above, below) = (upper.delta(epsilon), lower.delta(epsilon));
            assert!(
                0.0 <= below && below <= above && above <= 1.0,
                "{mechanism:?} at {epsilon}: {below} {above}"
            );
        }
        assert!(!upper.epsilon(1e-6).is_nan());
    }
    let without_privacy = composed(&[(Mechanism::Gaussian { mu: 40.0 }, 1000)], Bound::Upper);
    assert!(without_privacy.delta(1.0) > 0.999_999);
}

#[test]
fn composing_nothing_loses_nothing() {
    for plan in [vec![], vec![(Mechanism::Gaussian { mu: 1.0 }, 0)]] {
        let loss = composed(&plan, Bound::Upper);
        assert!(loss.epsilon(0.0).abs() < f64::MIN_POSITIVE);
        assert!(loss.delta(0.0).abs() < f64::MIN_POSITIVE);
    }
}

#[test]
fn many_gaussians_are_bracketed_closely_down_to_a_small_epsilon() {
    // μ per use and uses; the last is a millionth part of ε in each of a million uses.
    for (mu, uses) in [
        (1.0, 1),
        (1.0, 10),
        (0.05, 100),
        (0.001, 1 << 20),
        (1e-5, 3),
    ] {
        let (upper, lower) = both(&[(Mechanism::Gaussian { mu }, uses)]);
        let total = mu * libm::sqrt(uses as f64);
        for delta in [1e-3, 1e-6, 1e-9] {
            let truth = epsilon_of_gaussian(1.0, total, delta);
            let (above, below) = (upper.epsilon(delta), lower.epsilon(delta));
            assert!(below <= truth * (1.0 + 1e-12) && truth <= above * (1.0 + 1e-12));
            assert!(
                above <= truth * 1.002 + 1e-300,
                "{mu} {uses}: {above} {truth}"
            );
            assert!(below >= truth * 0.99, "{mu} {uses}: {below} {truth}");
        }
        for z in [0.0, 1.0, 3.0] {
            let truth = gaussian_profile(total, z * total);
            let (above, below) = (upper.delta(z * total), lower.delta(z * total));
            assert!(below <= truth.high && truth.low <= above, "{mu} {uses} {z}");
        }
        assert!(
            upper.atoms() < 40_000,
            "memory is bounded: {}",
            upper.atoms()
        );
    }
}

#[test]
fn randomized_response_composes_to_its_binomial_formula() {
    // Kairouz, Oh and Viswanath: k uses of (ε, δ) lose Σ C(k, i)·p^(k−i)·(1 − p)^i at ε·(k − 2i).
    let (epsilon, delta, uses) = (0.3_f64, 1e-7_f64, 12_u64);
    let (upper, lower) = both(&[(Mechanism::Approximate { epsilon, delta }, uses)]);
    let p = 1.0 / (1.0 + libm::exp(-epsilon));
    for target in [0.0, 0.5, 1.7, 3.5] {
        let (mut sum, mut binomial) = (0.0, 1.0);
        for i in 0..=12_i32 {
            let loss = epsilon * f64::from(12 - 2 * i);
            let weight =
                binomial * libm::pow(p, f64::from(12 - i)) * libm::pow(1.0 - p, f64::from(i));
            if loss > target {
                sum += weight * -libm::expm1(target - loss);
            }
            binomial *= f64::from(12 - i) / f64::from(i + 1);
        }
        let lost = -libm::expm1(12.0 * libm::log1p(-delta));
        let truth = lost + (1.0 - lost) * sum;
        // Atoms of little weight share a cell: within the tolerance, and on the right side.
        let (above, below) = (upper.delta(target), lower.delta(target));
        assert!(above >= truth * (1.0 - 1e-12) && above <= truth * 1.001);
        assert!(
            below <= truth * (1.0 + 1e-12) && below >= truth * 0.999,
            "{below} {truth}"
        );
    }
}

#[test]
fn a_fine_discrete_gaussian_is_nearly_the_continuous_one() {
    // Just above the border the cells are integrals; just below, sums over the integers.
    let mechanisms = [1023.0, 1025.0, 1e6].map(|std_dev| Mechanism::DiscreteGaussian {
        std_dev,
        sensitivity: if std_dev > 1e5 { 500_000 } else { 512 },
    });
    for mechanism in mechanisms {
        let Mechanism::DiscreteGaussian {
            std_dev,
            sensitivity,
        } = mechanism
        else {
            unreachable!("all three are");
        };
        let (upper, lower) = both(&[(mechanism, 8)]);
        let mu = sensitivity as f64 / std_dev * libm::sqrt(8.0);
        for delta in [1e-3, 1e-6, 1e-9] {
            let nearly = epsilon_of_gaussian(1.0, mu, delta);
            assert!(
                (upper.epsilon(delta) / nearly - 1.0).abs() < 2e-3,
                "{std_dev}"
            );
            assert!(
                (lower.epsilon(delta) / nearly - 1.0).abs() < 2e-3,
                "{std_dev}"
            );
        }
    }
}

#[test]
fn a_large_sensitivity_is_taken_in_blocks_that_still_bracket() {
    // A discrete Laplace of a fine lattice is nearly the continuous one.
    let discrete = Mechanism::DiscreteLaplace {
        scale: 1e6,
        sensitivity: 500_000,
    };
    let (upper, lower) = both(&[(discrete, 10)]);
    let (above, below) = both(&[(Mechanism::Laplace { epsilon: 0.5 }, 10)]);
    for delta in [1e-3, 1e-6] {
        assert!(upper.epsilon(delta) >= below.epsilon(delta) * (1.0 - 1e-4));
        assert!(upper.epsilon(delta) <= above.epsilon(delta) * 1.002);
        assert!(lower.epsilon(delta) <= upper.epsilon(delta));
        assert!(lower.epsilon(delta) >= below.epsilon(delta) * 0.998);
    }
}

#[test]
fn no_noise_level_is_found_where_none_will_do() {
    let plan = |level: f64| {
        vec![(
            Mechanism::Laplace {
                epsilon: 1.0 / level,
            },
            3,
        )]
    };
    let found = calibrate(plan, (0.1, 0.0), (1.0, 10.0), 1e-3, Precision::default());
    assert_eq!(found, Ok(None));
    let found = calibrate(plan, (0.1, 0.0), (1.0, 100.0), 1e-3, Precision::default());
    let level = found.expect("valid").expect("30 will do");
    assert!((30.0..30.1).contains(&level), "{level}");
}

/// 10^x for an exponent drawn evenly.
fn power_of_ten(low: f64, high: f64) -> impl Strategy<Value = f64> {
    (low..high).prop_map(libm::exp10)
}

fn mechanism() -> impl Strategy<Value = Mechanism> {
    let loss = || power_of_ten(-4.0, 1.0);
    let q = || power_of_ten(-3.0, -0.05);
    prop_oneof![
        loss().prop_map(|mu| Mechanism::Gaussian { mu }),
        loss().prop_map(|epsilon| Mechanism::Laplace { epsilon }),
        loss().prop_map(|epsilon| Mechanism::Pure { epsilon }),
        (loss(), power_of_ten(-12.0, -2.0))
            .prop_map(|(epsilon, delta)| Mechanism::Approximate { epsilon, delta }),
        (loss(), 1_u64..20).prop_map(|(a, sensitivity)| Mechanism::DiscreteLaplace {
            scale: sensitivity as f64 / a,
            sensitivity,
        }),
        (loss(), 1_u64..20).prop_map(|(mu, sensitivity)| Mechanism::DiscreteGaussian {
            std_dev: sensitivity as f64 / mu,
            sensitivity,
        }),
        (q(), power_of_ten(-2.0, 0.5)).prop_map(|(q, mu)| Mechanism::SubsampledGaussian {
            sampling_probability: q,
            mu,
        }),
        (q(), power_of_ten(-2.0, 0.5)).prop_map(|(q, epsilon)| Mechanism::SubsampledLaplace {
            sampling_probability: q,
            epsilon,
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn the_bounds_enclose_each_other_and_fall_with_epsilon(
        first in mechanism(),
        second in mechanism(),
        uses in 1_u64..6,
    ) {
        let (upper, lower) = both(&[(first, uses), (second, 1)]);
        let mut before = 1.0;
        for epsilon in [0.0, 1e-4, 0.01, 0.1, 0.5, 1.0, 3.0, 10.0, 100.0] {
            let (above, below) = (upper.delta(epsilon), lower.delta(epsilon));
            prop_assert!((0.0..=1.0).contains(&above) && (0.0..=1.0).contains(&below));
            prop_assert!(below <= above, "{epsilon}: {below} > {above}");
            prop_assert!(above <= before);
            before = above;
        }
        for delta in [1e-2, 1e-6, 1e-10] {
            let epsilon = upper.epsilon(delta);
            prop_assert!(lower.epsilon(delta) <= epsilon);
            prop_assert!(epsilon.is_infinite() || upper.delta(epsilon) <= delta);
        }
    }

    #[test]
    fn the_bounds_are_close(first in mechanism(), second in mechanism(), uses in 1_u64..6) {
        let (upper, lower) = both(&[(first, uses), (second, 1)]);
        // Halfway to the ε of a small δ, away from where a bounded loss ends.
        let epsilon = upper.epsilon(1e-6);
        prop_assume!(epsilon.is_finite());
        let (above, below) = (upper.delta(epsilon / 2.0), lower.delta(epsilon / 2.0));
        prop_assert!(below >= above * 0.98, "{epsilon}: {below} {above}");
    }

    #[test]
    fn numerical_composition_is_no_worse_than_advanced(
        epsilon in power_of_ten(-3.0, -0.5),
        uses in 1_u64..300,
    ) {
        let loss = composed(&[(Mechanism::Pure { epsilon }, uses)], Bound::Upper);
        let by_theorem = advanced(uses, ApproxLoss { epsilon, delta: 0.0 }, 1e-6);
        prop_assert!(loss.epsilon(1e-6) <= by_theorem.epsilon);
        prop_assert!(loss.epsilon(1e-6) <= uses as f64 * epsilon * (1.0 + 1e-9));
    }
}
