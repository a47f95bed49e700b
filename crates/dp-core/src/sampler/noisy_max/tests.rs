use super::*;
use crate::rng::InsecureSeededRng;
use crate::sampler::tests::{chosen_with, laplace_cdf, ratio};

const N: usize = 200_000;
const SCORES: [i64; 4] = [2, 2, 0, 3];

/// The law by summing over the winner's noise. `ties_low` says whether the lowest index wins a tie.
fn law(eta: f64, ties_low: bool) -> Vec<f64> {
    let cdf = |x: i64| laplace_cdf(x.into(), 1.0 / eta);
    let wins = |i: usize, z: i64| -> f64 {
        let beaten = |j: usize| {
            let reach = z + SCORES[i] - SCORES[j];
            // An item before the winner must stay strictly below it, if ties go to the lowest.
            if (j < i) == ties_low {
                cdf(reach - 1)
            } else {
                cdf(reach)
            }
        };
        (0..SCORES.len()).filter(|&j| j != i).map(beaten).product()
    };
    (0..SCORES.len())
        .map(|i| {
            (-200..200)
                .map(|z| (cdf(z) - cdf(z - 1)) * wins(i, z))
                .sum()
        })
        .collect()
}

#[test]
fn choices_have_the_summed_law() {
    let expected = law(0.5, true);
    assert!((expected.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    let mut rng = InsecureSeededRng::new(91);
    assert!(chosen_with(&expected, N, || select(
        &SCORES,
        &ratio(1, 2),
        &mut rng
    )));
}

#[test]
fn ties_to_the_highest_and_noise_a_tenth_off_are_told_apart() {
    let mut rng = InsecureSeededRng::new(92);
    let mut draw = || select(&SCORES, &ratio(1, 2), &mut rng);
    assert!(!chosen_with(&law(0.5, false), N, &mut draw));
    assert!(!chosen_with(&law(0.55, true), N, &mut draw));
}

#[test]
fn extremes_stay_total() {
    let mut rng = InsecureSeededRng::new(93);
    assert_eq!(select(&[], &RBig::ONE, &mut rng), None);
    assert_eq!(select(&[i64::MIN], &RBig::ONE, &mut rng), Some(0));
    assert_eq!(
        select(&[i64::MAX, i64::MIN, 0], &RBig::ONE, &mut rng),
        Some(0)
    );
    for eta in [RBig::ZERO, ratio(-1, 2)] {
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
    assert_eq!(choices, [1, 0, 0, 1, 0, 1, 3, 0, 3, 1, 1, 3]);
}
