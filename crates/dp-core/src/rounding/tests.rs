use std::cmp::Ordering;

use proptest::prelude::*;

use super::*;

fn exact(x: f64) -> RBig {
    RBig::try_from(x).expect("finite")
}

#[test]
fn ten_tenths_are_more_than_one() {
    let mut sum = ExactSum::new();
    for _ in 0..10 {
        sum.add(0.1);
    }
    assert_eq!(sum.compare(1.0), Some(Ordering::Greater));
    assert!(sum.to_f64_up() > 1.0);
    assert!((sum.to_f64_down() - 1.0).abs() < f64::EPSILON);
}

#[test]
fn a_term_that_is_not_finite_exceeds_every_bound() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut sum = ExactSum::new();
        sum.add(1.0);
        sum.add(bad);
        assert!(!sum.is_at_most(f64::MAX));
        assert!(!sum.is_at_most(f64::INFINITY));
        assert!(sum.to_f64_up().is_infinite());
        assert!(sum.to_rational().is_none());
        assert!(sum.remaining(1e300).abs() < f64::MIN_POSITIVE);
    }
}

#[test]
fn the_empty_sum_is_zero() {
    let sum = ExactSum::new();
    assert_eq!(sum.compare(0.0), Some(Ordering::Equal));
    assert!(sum.to_f64_up().abs() < f64::MIN_POSITIVE);
    assert_eq!(sum.compare(f64::NAN), None);
}

#[test]
fn bad_shares_get_nothing() {
    assert_eq!(
        split(1.0, &[f64::NAN, -1.0, 0.0, f64::INFINITY, 2.0]),
        [0.0, 0.0, 0.0, 0.0, 1.0]
    );
    for total in [f64::NAN, f64::INFINITY, 0.0, -1.0] {
        assert_eq!(split(total, &[1.0, 2.0]), [0.0, 0.0]);
    }
    assert!(split(1.0, &[]).is_empty());
    assert_eq!(split(1.0, &[0.0, 0.0]), [0.0, 0.0]);
}

#[test]
fn halving_bits_finds_the_threshold() {
    let found = largest_holding(f64::MIN_POSITIVE, f64::MAX, |x| x <= 0.3);
    assert_eq!(found.map(f64::to_bits), Some(0.3_f64.to_bits()));
    assert_eq!(largest_holding(1.0, 2.0, |_| false), None);
    assert_eq!(largest_holding(1.0, 2.0, |_| true), Some(2.0));
    let found = smallest_holding(f64::MIN_POSITIVE, f64::MAX, |x| x >= 0.3);
    assert_eq!(found.map(f64::to_bits), Some(0.3_f64.to_bits()));
    assert_eq!(smallest_holding(1.0, 2.0, |_| false), None);
}

/// Positive floats of every magnitude that a spend can have.
fn spend() -> impl Strategy<Value = f64> {
    (-40.0..40.0_f64).prop_map(f64::exp2)
}

proptest! {
    #[test]
    fn the_parts_of_a_split_never_exceed_the_total(
        total in spend(),
        shares in prop::collection::vec(spend(), 1..20),
    ) {
        let parts = split(total, &shares);
        let sum = parts.iter().fold(RBig::ZERO, |sum, &part| sum + exact(part));
        prop_assert!(parts.iter().all(|&part| part > 0.0));
        prop_assert!(sum <= exact(total));
        prop_assert!(sum >= exact(total) * (RBig::ONE - exact(1e-12)));
    }

    #[test]
    fn rounding_a_rational_brackets_it(numerator in any::<i64>(), denominator in 1..=u64::MAX) {
        let rational = RBig::from_parts(numerator.into(), denominator.into());
        let (low, high) = (rational_down(&rational), rational_up(&rational));
        prop_assert!(exact(low) <= rational && rational <= exact(high));
        prop_assert!(low.next_up() >= high);
    }

    #[test]
    fn counting_a_spend_equals_adding_it_again_and_again(times in 0_u64..50, spent in spend()) {
        let (mut counted, mut added) = (ExactSum::new(), ExactSum::new());
        counted.add_times(times, spent);
        for _ in 0..times {
            added.add(spent);
        }
        prop_assert_eq!(counted.to_rational(), added.to_rational());
        prop_assert!(counted.is_at_most(counted.to_f64_up()));
        prop_assert!(counted.would_fit(1, spent, added.to_f64_up() + 2.0 * spent));
        prop_assert!(!counted.would_fit(1, spent, added.to_f64_down()));
    }

    #[test]
    fn what_remains_still_fits(bound in spend(), spent in spend()) {
        let mut sum = ExactSum::new();
        sum.add(spent);
        let rest = sum.remaining(bound);
        prop_assert!(rest >= 0.0);
        prop_assert!(spent > bound || sum.would_fit(1, rest, bound));
    }

    #[test]
    fn a_directed_sum_brackets_the_exact_one(terms in prop::collection::vec(-1e6..1e6_f64, 1..12)) {
        let sum = Sum::of(&terms);
        let truth = terms.iter().fold(RBig::ZERO, |sum, &term| sum + exact(term));
        prop_assert!(exact(sum.down()) <= truth && truth <= exact(sum.up()));
    }

    #[test]
    fn up_and_down_enclose(value in -1e9..1e9_f64, ulps in 0_u32..100) {
        prop_assert!(down(value, ulps) < value && value < up(value, ulps));
    }
}
