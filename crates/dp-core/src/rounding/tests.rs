use std::cmp::Ordering;

use dashu_ratio::RBig;
use proptest::prelude::*;

use super::*;

fn exact(x: f64) -> RBig {
    RBig::try_from(x).expect("finite")
}

/// Orders a rational and a float that is not NaN.
fn compare_exactly(exact: &RBig, float: f64) -> Ordering {
    RBig::try_from(float).map_or_else(
        // Only an infinity is left.
        |_| {
            if float > 0.0 {
                Ordering::Less
            } else {
                Ordering::Greater
            }
        },
        |float| exact.cmp(&float),
    )
}

/// The smallest float that is at least `exact`, by steps from the nearest.
fn rational_up(exact: &RBig) -> f64 {
    let mut float = exact.to_f64().value();
    while compare_exactly(exact, float) == Ordering::Greater {
        float = float.next_up();
    }
    while float > f64::NEG_INFINITY
        && compare_exactly(exact, float.next_down()) != Ordering::Greater
    {
        float = float.next_down();
    }
    float
}

fn rational_down(exact: &RBig) -> f64 {
    -rational_up(&-exact.clone())
}

/// Equal numbers; zeros have any sign.
fn equal(a: f64, b: f64) -> bool {
    a <= b && b <= a
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
    fn counting_a_spend_equals_adding_it_again_and_again(times in 0_u64..50, spent in spend()) {
        let (mut counted, mut added) = (ExactSum::new(), ExactSum::new());
        counted.add_times(times, spent);
        for _ in 0..times {
            added.add(spent);
        }
        prop_assert_eq!(counted.to_f64_up().to_bits(), added.to_f64_up().to_bits());
        prop_assert_eq!(counted.to_f64_down().to_bits(), added.to_f64_down().to_bits());
        prop_assert!(counted.is_at_most(counted.to_f64_up()));
        prop_assert!(counted.would_fit(1, spent, added.to_f64_up() + 2.0 * spent));
        prop_assert!(!counted.would_fit(1, spent, added.to_f64_down()));
    }

    /// Sums, comparisons and roundings against rationals, for floats of every kind.
    #[test]
    fn an_exact_sum_is_the_sum_of_rationals(
        terms in prop::collection::vec((any::<f64>(), 0_u64..9), 0..6),
        bound in any::<f64>(),
    ) {
        let (mut sum, mut rational) = (ExactSum::new(), RBig::ZERO);
        for (term, times) in terms {
            sum.add_times(times, term);
            rational += exact(term) * RBig::from(times);
        }
        prop_assert_eq!(sum.compare(bound), Some(rational.cmp(&exact(bound))));
        for near in [sum.to_f64_up(), sum.to_f64_down()] {
            prop_assert_eq!(sum.compare(near), Some(compare_exactly(&rational, near)));
        }
        prop_assert!(equal(sum.to_f64_up(), rational_up(&rational)));
        prop_assert!(equal(sum.to_f64_down(), at_most(rational_down(&rational), f64::MAX)));
        let rest = exact(bound) - rational;
        let rest = if rest > RBig::ZERO { rational_down(&rest) } else { 0.0 };
        prop_assert!(equal(sum.remaining(bound), at_most(rest, f64::MAX)));
    }

    #[test]
    fn a_split_is_that_of_rationals(
        total in any::<f64>(),
        shares in prop::collection::vec(any::<f64>(), 0..6),
    ) {
        let positive = |x: f64| if x > 0.0 { exact(x) } else { RBig::ZERO };
        let sum = shares.iter().fold(RBig::ZERO, |sum, &share| sum + positive(share));
        for (part, &share) in split(total, &shares).into_iter().zip(&shares) {
            let truth = if share > 0.0 { positive(total) * positive(share) / &sum } else { RBig::ZERO };
            prop_assert!(part >= 0.0);
            prop_assert!(equal(part, rational_down(&truth)));
        }
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
