use proptest::prelude::*;

use super::*;

fn loss(epsilon: f64, delta: f64) -> ApproxLoss {
    ApproxLoss { epsilon, delta }
}

#[test]
fn basic_composition_rounds_up() {
    let total = basic(&[loss(0.1, 1e-7); 10]);
    assert!(total.epsilon > 1.0 && total.epsilon < 1.0 + 1e-15);
    assert!(total.delta >= 1e-6 && total.delta < 1e-6 + 1e-20);
    assert_eq!(basic(&[]), loss(0.0, 0.0));
    assert!(basic(&[loss(f64::NAN, 0.0)]).epsilon.is_infinite());
}

#[test]
fn no_slack_no_advanced_composition() {
    for slack in [0.0, -1.0, f64::NAN, 1.5] {
        assert!(advanced(10, loss(0.1, 0.0), slack).epsilon.is_infinite());
        assert!(
            advanced_mixed(&[loss(0.1, 0.0)], slack)
                .epsilon
                .is_infinite()
        );
        assert!(advanced_for(10, 1.0, slack).is_none());
    }
    assert!(advanced_loose(10, loss(1.5, 0.0), 1e-6).is_none());
}

/// 10^x for an exponent drawn evenly.
fn power_of_ten(low: f64, high: f64) -> impl Strategy<Value = f64> {
    (low..high).prop_map(libm::exp10)
}

proptest! {
    #[test]
    fn the_tight_form_is_below_the_loose_one(
        uses in 1_u64..100_000,
        epsilon in power_of_ten(-6.0, 0.0),
        slack in power_of_ten(-300.0, -0.302),
    ) {
        let each = loss(epsilon, 1e-12);
        let (tight, loose) = (
            advanced(uses, each, slack),
            advanced_loose(uses, each, slack).expect("epsilon is at most 1"),
        );
        prop_assert!(tight.epsilon <= loose.epsilon);
        prop_assert!(tight.delta >= slack && (tight.delta - loose.delta).abs() < f64::MIN_POSITIVE);
    }

    #[test]
    fn the_share_found_backward_is_accepted_forward(
        uses in 1_u64..100_000,
        epsilon in power_of_ten(-6.0, 2.845),
        slack in power_of_ten(-300.0, -0.302),
    ) {
        let each = advanced_for(uses, epsilon, slack).expect("the slack is above 0");
        prop_assert!(advanced(uses, loss(each, 0.0), slack).epsilon <= epsilon);
        prop_assert!(advanced(uses, loss(each * (1.0 + 1e-9), 0.0), slack).epsilon > epsilon);
    }

    #[test]
    fn equal_losses_mixed_are_the_plain_form(
        uses in 1_u64..200,
        epsilon in power_of_ten(-6.0, 1.0),
        slack in power_of_ten(-30.0, -0.302),
    ) {
        let losses = vec![loss(epsilon, 1e-9); usize::try_from(uses).expect("small")];
        let (mixed, plain) = (advanced_mixed(&losses, slack), advanced(uses, losses[0], slack));
        prop_assert!((mixed.epsilon / plain.epsilon - 1.0).abs() < 1e-11);
        prop_assert!((mixed.delta / plain.delta - 1.0).abs() < 1e-11);
    }

    #[test]
    fn the_best_of_both_is_no_worse_than_either(
        uses in 1_u64..10_000,
        epsilon in power_of_ten(-6.0, 1.0),
        slack in power_of_ten(-30.0, -0.302),
    ) {
        let each = loss(epsilon, 0.0);
        let best = best_of(uses, each, slack);
        prop_assert!(best.epsilon <= advanced(uses, each, slack).epsilon);
        prop_assert!(best.epsilon <= (uses as f64 * epsilon).next_up());
    }
}
