use super::*;
use crate::rng::InsecureSeededRng;
use crate::sampler::tests::{Script, chosen_with, normalized, ratio};

const N: usize = 200_000;
const SCORES: [i64; 5] = [3, 1, 4, 1, 5];
const WEIGHTS: [u64; 5] = [7, 0, 1, 20, 2];

fn law(scores: &[i64], weights: &[u64], eta: f64) -> Vec<f64> {
    let weight = |(s, w): (&i64, &u64)| *w as f64 * libm::exp(eta * *s as f64);
    normalized(&scores.iter().zip(weights).map(weight).collect::<Vec<_>>())
}

#[test]
fn choices_have_the_law_on_both_paths() {
    let mut rng = InsecureSeededRng::new(71);
    let eta = ratio(1, 2);
    let plain = law(&SCORES, &[1; 5], 0.5);
    assert!(chosen_with(&plain, N, || select(
        &SCORES, &eta, None, &mut rng
    )));
    let weighted = law(&SCORES, &WEIGHTS, 0.5);
    assert!(chosen_with(&weighted, N, || select(
        &SCORES,
        &eta,
        Some(&WEIGHTS),
        &mut rng
    )));
    let exact = Selector::new(&SCORES, &eta, Some(&WEIGHTS)).undecided();
    assert!(chosen_with(&weighted, N / 8, || exact.select(&mut rng)));
    let falling = law(&SCORES, &WEIGHTS, -0.5);
    let eta = ratio(-1, 2);
    assert!(chosen_with(&falling, N, || select(
        &SCORES,
        &eta,
        Some(&WEIGHTS),
        &mut rng
    )));
}

#[test]
fn a_rate_a_tenth_off_and_forgotten_weights_are_told_apart() {
    let mut rng = InsecureSeededRng::new(72);
    let eta = ratio(1, 2);
    let mut draw = || select(&SCORES, &eta, Some(&WEIGHTS), &mut rng);
    assert!(!chosen_with(&law(&SCORES, &WEIGHTS, 0.55), N, &mut draw));
    assert!(!chosen_with(&law(&SCORES, &WEIGHTS, 0.45), N, &mut draw));
    assert!(!chosen_with(&law(&SCORES, &[1; 5], 0.5), N, &mut draw));
}

#[test]
fn changed_scores_and_removed_items_leave_the_law_of_the_rest() {
    let mut rng = InsecureSeededRng::new(73);
    let mut selector = Selector::new(&[9, 9, 2, 60, 5, 0], &ratio(1, 2), None);
    selector.update(0, 3);
    selector.update(1, 1);
    // Far above the rest: once gone, the others must be weighed anew.
    selector.remove(3);
    selector.update(2, 4);
    selector.update(5, 7); // up again
    selector.update(3, 100); // stays out
    selector.update(17, 1); // past the end
    selector.remove(17);
    let expected = law(&[3, 1, 4, 0, 5, 7], &[1, 1, 1, 0, 1, 1], 0.5);
    assert!(chosen_with(&expected, N, || selector.select(&mut rng)));
    let exact = selector.clone().undecided();
    assert!(chosen_with(&expected, N / 8, || exact.select(&mut rng)));
    // The twin: the scores before the last change.
    let stale = law(&[3, 1, 4, 0, 5, 0], &[1, 1, 1, 0, 1, 1], 0.5);
    assert!(!chosen_with(&stale, N, || selector.select(&mut rng)));
    assert_eq!((selector.score(5), selector.score(6)), (Some(7), None));
    assert_eq!((selector.len(), selector.is_empty()), (6, false));
}

#[test]
fn taking_one_by_one_ends_with_all_taken() {
    let mut rng = InsecureSeededRng::new(74);
    // Steps of 100 at η = 1: out of order with probability below 50·exp(-100). Each take lets the total
    // collapse.
    let scores: Vec<i64> = (0..50).map(|i| 100 * ((i * 17) % 50)).collect();
    let mut selector = Selector::new(&scores, &RBig::ONE, None);
    let taken: Vec<i64> = std::iter::from_fn(|| selector.take(&mut rng))
        .map(|item| scores[item])
        .collect();
    let descending: Vec<i64> = (0..50).rev().map(|i| 100 * i).collect();
    assert_eq!(taken, descending);
    assert_eq!(selector.select(&mut rng), None);
}

#[test]
fn scores_that_rise_above_the_top_are_weighed_anew() {
    let mut rng = InsecureSeededRng::new(75);
    let mut selector = Selector::new(&[0, 0, 0], &RBig::ONE, Some(&[1, u64::MAX, 1]));
    // Wrong with probability exp(-956).
    selector.update(2, 1_000);
    assert_eq!(selector.select(&mut rng), Some(2));
    selector.update(1, 2_000);
    assert_eq!(selector.select(&mut rng), Some(1));
    let mut falling = Selector::new(&[0, 0, 0], &RBig::NEG_ONE, None);
    falling.update(0, -1_000);
    assert_eq!(falling.select(&mut rng), Some(0));
}

#[test]
fn nothing_to_choose_from_is_none() {
    let mut rng = Script(Vec::new());
    for selector in [
        Selector::new(&[], &RBig::ONE, None),
        Selector::new(&[1, 2], &RBig::ONE, Some(&[0, 0])),
        Selector::new(&[1, 2], &RBig::ONE, Some(&[])),
    ] {
        assert_eq!(selector.draw(&mut rng), None);
    }
}

#[test]
fn extreme_scores_and_rates_stay_total() {
    let mut rng = InsecureSeededRng::new(76);
    let huge = RBig::from(UBig::ONE << 2_000);
    let spread = [i64::MIN, 0, i64::MAX, 1 << 62];
    // Wrong with probability exp(-2^62) at most.
    assert_eq!(select(&spread, &RBig::ONE, None, &mut rng), Some(2));
    assert_eq!(select(&spread, &huge, None, &mut rng), Some(2));
    assert_eq!(select(&spread, &-&huge, None, &mut rng), Some(0));
    assert_eq!(
        select(&spread, &huge, Some(&[1, 1, 0, 1]), &mut rng),
        Some(3)
    );
    // Too small a rate to matter: uniform, or by weight.
    let tiny = RBig::ONE / huge;
    for eta in [tiny, RBig::ZERO] {
        assert!(chosen_with(&[0.25; 4], N / 10, || select(
            &spread, &eta, None, &mut rng
        )));
    }
    // 2^64 - 1 at exp(-44) is 1.43 times a weight of 1, 62-bit shares or not.
    let expected = law(&[0, 44], &[u64::MAX, 1], 1.0);
    let weights = [u64::MAX, 1];
    assert!(chosen_with(&expected, N, || {
        select(&[0, 44], &RBig::ONE, Some(&weights), &mut rng)
    }));
}

#[test]
fn a_million_items_are_served() {
    let scores: Vec<i64> = (0..1_000_000).map(|i| i / 250_000).collect();
    let selector = Selector::new(&scores, &ratio(1, 4), None);
    let mut rng = InsecureSeededRng::new(77);
    let quarters = law(&[0, 1, 2, 3], &[1; 4], 0.25);
    assert!(chosen_with(&quarters, N, || selector
        .select(&mut rng)
        .map(|i| i / 250_000)));
}

#[test]
fn a_seed_gives_the_same_choices_forever() {
    let mut rng = InsecureSeededRng::new(7);
    let mut draw = || select(&SCORES, &ratio(1, 2), Some(&WEIGHTS), &mut rng);
    let choices: Vec<_> = (0..12).filter_map(|_| draw()).collect();
    assert_eq!(choices, [0, 3, 4, 0, 0, 3, 3, 4, 3, 4, 3, 4]);
}

#[test]
fn acceptance_is_decided_at_the_exact_weight() {
    // In units of 2^-61: 1 is 2^61, 1/e is 848272237658610659.34…, and exp(-100) far below one unit.
    let selector = Selector::new(&[100, 99, 0], &RBig::ONE, None);
    let accept =
        |item, residue, next| selector.accept_exactly(item, residue, &mut Script(vec![next; 8]));
    let floor = 848_272_237_658_610_659;
    for next in [0, u64::MAX] {
        assert!(accept(0, (1 << 61) - 1, next) && !accept(0, 1 << 61, next));
        assert!(accept(1, floor - 1, next) && !accept(1, floor + 1, next));
    }
    // Between, the fraction decides: 0.34… of a unit is left.
    assert!(accept(1, floor, u64::MAX / 3) && !accept(1, floor, u64::MAX / 2));
    assert!(!accept(2, 0, 1));
}

#[test]
fn a_point_above_the_exact_weight_is_drawn_anew() {
    let selector = Selector::new(&[0], &RBig::ONE, None);
    // The last point of the share of 2^61 and a bit, the 128 bits that refuse it, and a point in the middle.
    let mut rng = Script(vec![u64::MAX, 0, 0, 1 << 63]);
    assert_eq!(selector.draw(&mut rng), Some(0));
    assert!(rng.0.is_empty());
}
