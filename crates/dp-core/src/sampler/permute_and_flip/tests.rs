use super::*;
use crate::rng::InsecureSeededRng;
use crate::sampler::tests::{chosen_with, normalized, ratio};

const N: usize = 200_000;
const SCORES: [i64; 4] = [3, 0, 5, 4];

/// The law by enumeration: all orders, and in each the first head.
fn law(scores: &[i64], eta: f64) -> Vec<f64> {
    fn visit(waiting: &[usize], reached: f64, p: &[f64], law: &mut [f64]) {
        for &item in waiting {
            let here = reached / waiting.len() as f64;
            law[item] += here * p[item];
            let rest: Vec<usize> = waiting.iter().copied().filter(|&i| i != item).collect();
            visit(&rest, here * (1.0 - p[item]), p, law);
        }
    }
    let best = scores.iter().max().expect("not empty");
    let p: Vec<f64> = scores
        .iter()
        .map(|s| libm::exp(-eta * (best - s) as f64))
        .collect();
    let mut law = vec![0.0; scores.len()];
    let all: Vec<usize> = (0..scores.len()).collect();
    visit(&all, 1.0, &p, &mut law);
    law
}

#[test]
fn choices_have_the_enumerated_law_on_both_paths() {
    let expected = law(&SCORES, 0.5);
    assert!((expected.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    let mut rng = InsecureSeededRng::new(81);
    assert!(chosen_with(&expected, N, || select(
        &SCORES,
        &ratio(1, 2),
        &mut rng
    )));
    assert!(chosen_with(&expected, N / 4, || {
        flip_in_order(&SCORES, &ratio(1, 2), u64::MAX, &mut rng)
    }));
}

#[test]
fn the_exponential_mechanism_and_a_rate_a_tenth_off_are_told_apart() {
    let mut rng = InsecureSeededRng::new(82);
    let mut draw = || select(&SCORES, &ratio(1, 2), &mut rng);
    let weights: Vec<f64> = SCORES.iter().map(|s| libm::exp(0.5 * *s as f64)).collect();
    assert!(!chosen_with(&normalized(&weights), N, &mut draw));
    assert!(!chosen_with(&law(&SCORES, 0.55), N, &mut draw));
}

#[test]
fn extremes_stay_total() {
    let mut rng = InsecureSeededRng::new(83);
    assert_eq!(select(&[], &RBig::ONE, &mut rng), None);
    assert_eq!(select(&[i64::MIN], &RBig::ONE, &mut rng), Some(0));
    // Wrong with probability exp(-2^64).
    assert_eq!(select(&[i64::MIN, i64::MAX], &RBig::ONE, &mut rng), Some(1));
    let huge = RBig::from(UBig::ONE << 2_000);
    assert_eq!(
        select(&[1, 2, 2, 1], &huge, &mut rng).map(|i| (1..3).contains(&i)),
        Some(true)
    );
    // Without a rate every item is as good as the best.
    for eta in [RBig::ZERO, ratio(-1, 2), RBig::ONE / huge] {
        assert!(chosen_with(&[0.25; 4], N / 10, || select(
            &SCORES, &eta, &mut rng
        )));
    }
}

#[test]
fn a_seed_gives_the_same_choices_forever() {
    let mut rng = InsecureSeededRng::new(7);
    let choices: Vec<_> = (0..12)
        .filter_map(|_| select(&SCORES, &ratio(1, 2), &mut rng))
        .collect();
    assert_eq!(choices, [2, 3, 2, 3, 2, 2, 2, 3, 2, 2, 2, 3]);
}
