use dashu_check::exact_sum_is_at_most;
use proptest::prelude::*;

use super::*;

/// The library's exact sum, under a name that says what it is used for.
mod dashu_check {
    pub(super) fn exact_sum_is_at_most(parts: &[f64], bound: f64) -> bool {
        let mut sum = dp_core::rounding::ExactSum::new();
        for &part in parts {
            sum.add(part);
        }
        sum.is_at_most(bound)
    }
}

fn close(actual: &[f64], expected: &[f64]) {
    assert_eq!(actual.len(), expected.len());
    for (a, e) in actual.iter().zip(expected) {
        assert!((a - e).abs() < 1e-4, "{actual:?} against {expected:?}");
    }
}

#[test]
fn the_least_useful_budget_is_the_published_one() {
    let minimum = minimum_epsilon(5, 5, 50_000.0, 0.3);
    assert!((minimum - 0.0775).abs() < 5e-5, "{minimum}");
}

#[test]
fn trisection_reproduces_the_published_example() {
    let minimum = minimum_epsilon(5, 5, 50_000.0, 0.3);
    close(
        &BudgetSchedule::Trisection.epsilons(10.0, 10, minimum),
        &[
            3.1525, 2.1275, 1.4442, 0.9886, 0.6849, 0.5634, 0.4419, 0.3205, 0.1990, 0.0775,
        ],
    );
}

#[test]
fn trisection_with_five_iterations_rises_once() {
    let minimum = minimum_epsilon(5, 5, 50_000.0, 0.3);
    let parts = BudgetSchedule::Trisection.epsilons(10.0 + 1.0, 5, minimum);
    assert!(parts[2] > parts[1]);
    let parts = BudgetSchedule::Trisection.epsilons(11.0, 2, minimum);
    assert!(exact_sum_is_at_most(&parts, 11.0) && parts.iter().sum::<f64>() > 10.999);
}

#[test]
fn halving_spends_the_rest_at_the_end() {
    let parts = BudgetSchedule::Halving.epsilons(10.0, 9, 0.0);
    assert!((parts[7] - 0.039).abs() < 1e-3);
    assert!((parts[7] - parts[8]).abs() < 1e-12);
    close(&BudgetSchedule::Halving.epsilons(1.0, 1, 0.0), &[1.0]);
}

#[test]
fn a_budget_below_the_minimum_is_spread_evenly() {
    for rule in [BudgetSchedule::Arithmetic, BudgetSchedule::Trisection] {
        close(&rule.epsilons(1.0, 4, 0.3), &[0.25; 4]);
        close(&rule.epsilons(1.0, 4, f64::NAN), &[0.25; 4]);
        close(&rule.epsilons(1.0, 1, 0.3), &[1.0]);
    }
}

#[test]
fn names_go_both_ways() {
    for rule in BudgetSchedule::ALL {
        assert_eq!(BudgetSchedule::from_name(rule.name()), Some(rule));
    }
    assert_eq!(BudgetSchedule::from_name("Uniform"), None);
}

proptest! {
    #[test]
    fn parts_are_positive_fall_and_add_up_to_the_total(
        epsilon in 1e-3..50.0_f64,
        t in 1_usize..200,
        minimum in 0.0..2.0_f64,
    ) {
        for rule in BudgetSchedule::ALL {
            let parts = rule.epsilons(epsilon, t, minimum);
            prop_assert_eq!(parts.len(), t);
            prop_assert!(parts.iter().all(|&part| part > 0.0));
            prop_assert!(exact_sum_is_at_most(&parts, epsilon));
            prop_assert!(parts.iter().sum::<f64>() > epsilon * (1.0 - 1e-9));
            if rule != BudgetSchedule::Trisection || t >= 7 || t == 1 {
                prop_assert!(parts.is_sorted_by(|a, b| *a >= *b * (1.0 - 1e-12)), "{rule:?} {parts:?}");
            }
        }
    }
}
