use proptest::prelude::*;

use super::*;
use crate::conversion::epsilon_of_rho;

/// 10^x for an exponent drawn evenly.
fn power_of_ten(low: f64, high: f64) -> impl Strategy<Value = f64> {
    (low..high).prop_map(libm::exp10)
}

#[test]
fn no_orders_or_no_delta_is_no_bound() {
    let empty = RenyiCurve::of(&[1.0, 0.5, f64::NAN], |_| 0.1);
    assert!(empty.points().is_empty());
    assert!(empty.epsilon(1e-6).0.is_infinite());
    assert!((empty.delta(1.0).0 - 1.0).abs() < f64::EPSILON);
    let curve = RenyiCurve::of(&DEFAULT_ORDERS, |order| gaussian(0.1, order));
    assert!(curve.epsilon(0.0).0.is_infinite());
    let broken = RenyiCurve::of(&DEFAULT_ORDERS, |_| f64::NAN);
    assert!(broken.epsilon(1e-6).0.is_infinite());
}

proptest! {
    #[test]
    fn fixed_orders_are_no_better_than_the_best_order(
        mu in power_of_ten(-4.0, 1.0),
        delta in power_of_ten(-30.0, -0.302),
    ) {
        let curve = RenyiCurve::of(&DEFAULT_ORDERS, |order| gaussian(mu, order));
        let (epsilon, _) = curve.epsilon(delta);
        prop_assert!(epsilon >= epsilon_of_rho(mu * mu / 2.0, delta) * (1.0 - 1e-12));
        prop_assert!(epsilon <= curve.epsilon_classic(delta).0);
    }

    #[test]
    fn curves_of_pure_mechanisms_lie_below_their_epsilon_and_rise(
        epsilon in power_of_ten(-6.0, 2.845),
        order in power_of_ten(0.01, 4.0),
    ) {
        let curves: [fn(f64, f64) -> f64; 4] = [
            pure,
            laplace,
            bounded_range,
            |epsilon, order| discrete_laplace(3.0 / epsilon, 3, order),
        ];
        for curve in curves {
            let value = curve(epsilon, order);
            prop_assert!(value >= 0.0 && value <= epsilon * (1.0 + 1e-14), "{value}");
            prop_assert!(curve(epsilon, order * 1.5) >= value * (1.0 - 1e-9));
        }
        // Randomized response dominates every ε-private mechanism.
        prop_assert!(laplace(epsilon, order) <= pure(epsilon, order) * (1.0 + 1e-9));
    }

    #[test]
    fn whole_orders_and_the_integral_agree(
        q in power_of_ten(-6.0, -0.01),
        mu in power_of_ten(-2.0, 0.5),
        order in 2_u32..60,
    ) {
        let order = f64::from(order);
        let sum = binomial_ln_excess(q, mu, order);
        let integral = integral_ln_excess(q, mu, order);
        prop_assert!((sum - integral).abs() < 1e-9, "{sum} {integral}");
    }

    #[test]
    fn sampling_less_costs_less(
        q in power_of_ten(-6.0, -0.01),
        mu in power_of_ten(-3.0, 1.0),
        order in power_of_ten(0.01, 3.0),
    ) {
        let (some, more) = (
            subsampled_gaussian(q, mu, order),
            subsampled_gaussian(f64::midpoint(1.0, q), mu, order),
        );
        prop_assert!(some.is_finite() && some >= 0.0);
        prop_assert!(some <= more * (1.0 + 1e-9) && more <= gaussian(mu, order));
    }
}
