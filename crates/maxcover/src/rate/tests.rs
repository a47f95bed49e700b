use super::*;

fn units(epsilon: f64, delta: f64) -> (Epsilon, Delta) {
    (
        Epsilon::new(epsilon).expect("valid"),
        Delta::new(delta).expect("valid"),
    )
}

/// Σ (P − e^ε·Q)₊ over the first step at which the one covering set among `sets` is picked, in a chain of `steps` families with
/// one pick each; P without the element, Q with it.
fn chain_divergences(epsilon: f64, rate: f64, sets: f64, steps: i32) -> (f64, f64) {
    let (p, q) = (1.0 / sets, rate.exp() / (sets - 1.0 + rate.exp()));
    let (mut without, mut with) = (0.0, 0.0);
    let (mut still_p, mut still_q) = (1.0_f64, 1.0_f64);
    let mut add = |p: f64, q: f64| {
        let (there, back) = (p - epsilon.exp() * q, q - epsilon.exp() * p);
        without += there.clamp(0.0, 1.0);
        with += back.clamp(0.0, 1.0);
    };
    for _ in 0..steps {
        add(still_p * p, still_q * q);
        still_p *= 1.0 - p;
        still_q *= 1.0 - q;
    }
    add(still_p, still_q);
    (without, with)
}

#[test]
fn the_three_rates_are_those_of_the_formulas() {
    let (epsilon, delta) = units(0.5, 1e-6);
    let rates = Rate::ALL.map(|rate| rate.value(epsilon, delta).expect("a rate"));
    for (rate, expected) in rates.into_iter().zip([0.0169, 0.0332, 0.0497]) {
        assert!((rate - expected).abs() < 5e-5, "{rate} is not {expected}");
    }
}

#[test]
fn every_rate_is_valid_on_a_chain_of_single_picks() {
    for (epsilon, delta) in [
        (0.5, 1e-6),
        (0.05, 1e-9),
        (1.0, 1e-3),
        (5.0, 1e-6),
        (50.0, 1e-6),
    ] {
        for rate in Rate::ALL {
            let (e, d) = units(epsilon, delta);
            let value = rate.value(e, d).expect("a rate");
            assert!(value <= epsilon);
            let (without, with) = chain_divergences(epsilon, value, 3000.0, 60_000);
            assert!(
                without <= delta,
                "{rate:?} at {epsilon}, {delta}: {without}"
            );
            assert!(with <= 0.0, "{rate:?} at {epsilon}, {delta}: {with}");
        }
    }
}

#[test]
fn the_largest_rate_is_nearly_attained_and_a_twentieth_more_is_not_private() {
    let (epsilon, delta) = units(0.5, 1e-6);
    let rate = Rate::Largest.value(epsilon, delta).expect("a rate");
    let (tight, _) = chain_divergences(0.5, rate, 3000.0, 60_000);
    assert!((0.99e-6..=1e-6).contains(&tight), "{tight}");
    let (broken, _) = chain_divergences(0.5, 1.05 * rate, 3000.0, 60_000);
    assert!(broken > 1.5e-6, "{broken}");
}

#[test]
fn the_printed_rate_without_its_cut_breaks_its_promise() {
    // ε_s = 100, δ = 1e-6: e^x − 1 ≤ 2x fails, and so does the formula.
    let printed = 50.0 / (2.0 * (1.0 + 1e6_f64.ln()));
    assert!(printed > 1.25);
    let (broken, _) = chain_divergences(50.0, printed, 3000.0, 60_000);
    assert!(broken > 4e-6, "{broken}");
    let (epsilon, delta) = units(50.0, 1e-6);
    assert!(Rate::Printed.value(epsilon, delta).expect("a rate") <= 1.25);
}

#[test]
fn no_delta_no_rate_and_tiny_budgets_end_well() {
    assert_eq!(
        Rate::Largest.value(Epsilon::new(1.0).expect("valid"), Delta::ZERO),
        None
    );
    for rate in Rate::ALL {
        for epsilon in [f64::MIN_POSITIVE, 1e-200, 1e-12, 700.0, 1e300] {
            for delta in [f64::MIN_POSITIVE, 1e-300, 1e-12, 0.999_999] {
                let (e, d) = units(epsilon, delta);
                if let Some(value) = rate.value(e, d) {
                    assert!(
                        value > 0.0 && value <= epsilon,
                        "{rate:?} {epsilon} {delta}: {value}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_larger_budget_never_has_a_smaller_rate() {
    for rate in Rate::ALL {
        let values = (1..200).filter_map(|i| {
            let (e, d) = units(0.05 * f64::from(i), 1e-6);
            rate.value(e, d)
        });
        let values: Vec<f64> = values.collect();
        assert!(values.windows(2).all(|pair| pair[0] <= pair[1]), "{rate:?}");
    }
}
