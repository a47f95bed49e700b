use proptest::prelude::*;

use super::*;
use crate::pld::{Bound, ComposedLoss, Mechanism, Precision};

/// 10^x for an exponent drawn evenly: every magnitude is as likely as another.
fn power_of_ten(low: f64, high: f64) -> impl Strategy<Value = f64> {
    (low..high).prop_map(libm::exp10)
}

#[test]
fn no_delta_no_conversion() {
    assert!(epsilon_of_rho(0.1, 0.0).is_infinite());
    assert!(epsilon_of_rho(f64::NAN, 0.1).is_infinite());
    assert!(epsilon_of_rho(0.1, f64::NAN).is_infinite());
    assert!(epsilon_of_rho(f64::INFINITY, 0.1).is_infinite());
    assert!(epsilon_of_rho(0.0, 1e-6).abs() < f64::MIN_POSITIVE);
    let one = Epsilon::new(1.0).expect("valid");
    assert!(rho_for(one, Delta::ZERO).is_none());
    assert!((delta_of_rho(f64::NAN, 1.0) - 1.0).abs() < f64::EPSILON);
}

/// Else a plan whose parts add up to a float less than ρ would be refused, as those of 2.34 and 1e-8 once were.
#[test]
fn sums_of_rounded_parts_fit_like_the_whole() {
    let budgets = [
        (2.34, 1e-8),
        (3.09, 2e-5),
        (3.81, 1e-7),
        (2.45, 3e-4),
        (0.1, 1e-5),
    ];
    let more = (1..100).flat_map(|i| [(0.05 * f64::from(i), 1e-6), (0.05 * f64::from(i), 1e-9)]);
    for (epsilon, delta) in budgets.into_iter().chain(more) {
        let unit = Epsilon::new(epsilon).expect("valid");
        let rho = rho_for(unit, Delta::new(delta).expect("valid")).expect("delta is above 0");
        let mut part = rho.get();
        for _ in 0..12 {
            assert!(epsilon_of_rho(part, delta) <= epsilon, "{epsilon}, {delta}");
            part = part.next_down();
        }
    }
}

/// Exact laws of discrete noise against the claim: single releases with small noise, where the lattice shows, and several together.
#[test]
fn discrete_gaussians_with_their_surplus_are_no_worse_than_continuous_ones() {
    let precision = Precision::default();
    for (sensitivity, rho) in [(1, 1.0), (1, 0.2), (2, 0.5), (3, 1.0), (1, 0.01), (40, 0.3)] {
        for uses in [1, 3] {
            let each = rho / uses as f64;
            let squared = (sensitivity * sensitivity) as f64;
            let exact = |surplus: f64| {
                let std_dev = (squared / (2.0 * each) + surplus).sqrt();
                let noise = Mechanism::DiscreteGaussian {
                    std_dev,
                    sensitivity,
                };
                ComposedLoss::of(&[(noise, uses)], Bound::Lower, precision).expect("in range")
            };
            let (with, without) = (exact(f64::from(GAUSSIAN_SURPLUS)), exact(0.0));
            let mut exceeded = false;
            for i in 0..400 {
                let epsilon = 0.02 * f64::from(i);
                let claimed = delta_of_gaussians(rho, epsilon);
                assert!(
                    with.delta(epsilon) <= claimed,
                    "{sensitivity} {rho} {uses} {epsilon}"
                );
                exceeded |= without.delta(epsilon) > claimed;
            }
            // The surplus is needed: without it small noise breaks the claim.
            if sensitivity == 1 && uses == 1 && rho >= 0.2 {
                assert!(exceeded, "{rho}");
            }
        }
    }
}

#[test]
fn a_budget_in_gaussians_is_accepted_forward_with_parts_that_were_rounded() {
    for i in 1..60 {
        for delta in [1e-4, 1e-6, 1e-9] {
            let epsilon = 0.1 * f64::from(i);
            let unit = Epsilon::new(epsilon).expect("valid");
            let rho = rho_for_gaussians(unit, Delta::new(delta).expect("valid"));
            let mut part = rho.expect("delta is above 0").get();
            assert!(epsilon_of_gaussians(part * (1.0 + 1e-9), delta) > epsilon);
            assert!(
                part > rho_for(unit, Delta::new(delta).expect("valid"))
                    .expect("there")
                    .get()
            );
            for _ in 0..12 {
                assert!(
                    epsilon_of_gaussians(part, delta) <= epsilon,
                    "{epsilon}, {delta}"
                );
                part = part.next_down();
            }
        }
    }
    assert!(epsilon_of_gaussians(0.1, 0.0).is_infinite());
    assert!(epsilon_of_gaussians(f64::NAN, 0.1).is_infinite());
    assert!(epsilon_of_gaussians(0.0, 1e-6) <= 0.0);
    assert!(delta_of_gaussians(f64::NAN, 1.0) >= 1.0);
}

proptest! {
    #[test]
    fn the_gaussian_budget_found_backward_is_accepted_forward(
        epsilon in power_of_ten(-6.0, 2.0),
        delta in power_of_ten(-250.0, -0.302),
    ) {
        let (epsilon, delta) = (Epsilon::new(epsilon)?, Delta::new(delta)?);
        let rho = rho_for_gaussians(epsilon, delta).expect("delta is above 0");
        prop_assert!(epsilon_of_gaussians(rho.get(), delta.get()) <= epsilon.get());
    }

    #[test]
    fn the_budget_found_backward_is_accepted_forward(
        epsilon in power_of_ten(-6.0, 2.845),
        delta in power_of_ten(-300.0, -0.302),
    ) {
        let (epsilon, delta) = (Epsilon::new(epsilon)?, Delta::new(delta)?);
        let rho = rho_for(epsilon, delta).expect("delta is above 0");
        prop_assert!(epsilon_of_rho(rho.get(), delta.get()) <= epsilon.get());
        // And not much is left: a little more would not do.
        prop_assert!(epsilon_of_rho(rho.get() * (1.0 + 1e-9), delta.get()) > epsilon.get());
    }

    #[test]
    fn more_rho_is_more_loss(
        rho in power_of_ten(-12.0, 3.0),
        factor in 1.000_001..10.0_f64,
        delta in power_of_ten(-300.0, -0.302),
        epsilon in power_of_ten(-6.0, 2.845),
    ) {
        prop_assert!(epsilon_of_rho(rho, delta) <= epsilon_of_rho(rho * factor, delta));
        prop_assert!(delta_of_rho(rho, epsilon) <= delta_of_rho(rho * factor, epsilon));
        prop_assert!(epsilon_of_rho(rho, delta) >= epsilon_of_rho(rho, delta * factor));
        prop_assert!(delta_of_rho(rho, epsilon) >= delta_of_rho(rho, epsilon * factor));
    }

    #[test]
    fn the_two_directions_agree(
        rho in power_of_ten(-6.0, 2.0),
        delta in power_of_ten(-200.0, -0.302),
    ) {
        let epsilon = epsilon_of_rho(rho, delta);
        prop_assume!(epsilon > 1e-9);
        let back = delta_of_rho(rho, epsilon);
        prop_assert!(back <= delta * (1.0 + 1e-9), "{back} {delta}");
        prop_assert!(back >= delta * (1.0 - 1e-6), "{back} {delta}");
    }

    #[test]
    fn the_best_order_beats_the_classic_one(
        rho in power_of_ten(-12.0, 3.0),
        delta in power_of_ten(-300.0, -0.302),
    ) {
        prop_assert!(epsilon_of_rho(rho, delta) <= epsilon_of_rho_classic(rho, delta));
    }

    #[test]
    fn pure_and_zero_concentrated_round_outward(epsilon in power_of_ten(-6.0, 2.845)) {
        let rho = rho_of_pure(epsilon);
        prop_assert!(rho >= epsilon * epsilon / 2.0);
        prop_assert!(rho_of_pure(pure_for_rho(rho)) <= rho);
        prop_assert!(rho_of_bounded_range(epsilon) >= epsilon * epsilon / 8.0);
    }
}

proptest! {
    #[test]
    fn a_replace_one_budget_run_as_add_remove_stays_within(
        epsilon in power_of_ten(-6.0, 2.845),
        delta in power_of_ten(-300.0, -0.302),
    ) {
        let budget = ApproxLoss { epsilon, delta };
        let run = add_remove_budget(budget);
        let back = replace_one_of_add_remove(run);
        prop_assert!(back.epsilon <= epsilon && back.delta <= delta);
        prop_assert!(back.delta >= delta * (1.0 - 1e-9) || run.delta < f64::MIN_POSITIVE);
        prop_assert!(rho_replace_one_of_add_remove(add_remove_rho(delta)) <= delta);
        prop_assert!(pure_replace_one_of_add_remove(run.epsilon) <= epsilon);
    }
}
