use proptest::prelude::*;

use super::*;

fn loss(epsilon: f64, delta: f64) -> ApproxLoss {
    ApproxLoss { epsilon, delta }
}

#[test]
fn a_group_of_one_is_the_unit_itself() {
    let one = of_size(1, loss(0.3, 1e-6));
    assert!(one.epsilon >= 0.3 && one.epsilon <= 0.3_f64.next_up());
    assert!(one.delta >= 1e-6 && one.delta < 1.000_001e-6);
    assert!(rho_of_size(1, 0.5) >= 0.5);
}

#[test]
fn a_group_that_is_too_large_is_not_protected() {
    let all = of_size(1000, loss(3.0, 1e-9));
    assert!((all.delta - 1.0).abs() < f64::EPSILON);
    // Without a δ there is nothing to overflow.
    assert!(of_size(u64::MAX, loss(3.0, 0.0)).delta.abs() < f64::MIN_POSITIVE);
}

/// An event whose probability starts at 0 and grows by as much as (ε, δ) allows with each of five units: what it is at the end is the
/// exact δ of the five at any ε. The printed one of Fact 2.8, k·e^(kε)·δ, is more than three times that.
#[test]
fn a_chain_attains_the_delta_of_a_group_and_the_printed_one_is_loose() {
    let each = loss(0.5, 1e-3);
    let grow = libm::exp(each.epsilon);
    let mut probability = 0.0;
    for _ in 0..5 {
        let next = grow * probability + each.delta;
        // The event, the other way round, and its opposite both ways: neighbors are (ε, δ)-close.
        assert!(probability <= next && 1.0 - next <= 1.0 - probability);
        assert!(1.0 - probability <= grow * (1.0 - next) + each.delta);
        probability = next;
    }
    let sharp = of_size(5, each).delta;
    assert!(sharp >= probability && sharp < probability * (1.0 + 1e-11));
    assert!(of_size_loose(5, each).delta > 3.0 * probability);
}

proptest! {
    #[test]
    fn the_factor_is_the_sum_of_a_chain(size in 1_u64..40, epsilon in 0.0..5.0_f64, ln_delta in -90.0..-80.0_f64) {
        let delta = libm::exp(ln_delta * 3.0);
        let mut chain = 0.0;
        for step in 0..size {
            chain += delta * libm::exp(step as f64 * epsilon);
        }
        let group = of_size(size, loss(epsilon, delta));
        prop_assert!(group.delta >= chain * (1.0 - 1e-13) || chain >= 1.0);
        prop_assert!(group.delta <= chain * (1.0 + 1e-11));
        prop_assert!(group.delta <= of_size_loose(size, loss(epsilon, delta)).delta * (1.0 + 1e-11));
    }

    #[test]
    fn concentrated_groups_grow_with_the_square(size in 1_u64..1_000_000, rho in 1e-9..1e3_f64) {
        let group = rho_of_size(size, rho);
        let k = size as f64;
        prop_assert!(group >= k * k * rho && group <= k * k * rho * (1.0 + 1e-14));
    }
}
