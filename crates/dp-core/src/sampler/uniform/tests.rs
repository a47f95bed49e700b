use super::*;
use crate::rng::InsecureSeededRng;
use crate::sampler::tests::{RATE, Script, ratio};
use testkit::rates;

const N: usize = 200_000;

/// How often each residue modulo 3 comes up.
fn residues(mut draw: impl FnMut() -> u128) -> [u64; 3] {
    let mut counts = [0; 3];
    for _ in 0..N {
        counts[usize::try_from(draw() % 3).expect("below 3")] += 1;
    }
    counts
}

const THIRDS: [f64; 3] = [1.0 / 3.0; 3];

#[test]
fn bounded_integers_are_uniform() {
    let mut rng = InsecureSeededRng::new(11);
    // Three quarters of the range: without rejection the residue 0 would come up twice as often.
    let (narrow, wide) = (3 << 62, 3 << 126);
    let counts = residues(|| below_u64(narrow, &mut rng).into());
    assert_eq!(rates::implausible_cell(&counts, &THIRDS, RATE), None);
    let counts = residues(|| below_u128(wide, &mut rng));
    assert_eq!(rates::implausible_cell(&counts, &THIRDS, RATE), None);
    let big = UBig::from(wide);
    let counts = residues(|| u128::try_from(below_big(&big, &mut rng)).expect("below 2^128"));
    assert_eq!(rates::implausible_cell(&counts, &THIRDS, RATE), None);
}

#[test]
fn skipping_the_rejection_is_caught() {
    let mut rng = InsecureSeededRng::new(11);
    let counts = residues(|| (u128::from(rng.next_u64()) * (3 << 62)) >> 64);
    assert!(rates::implausible_cell(&counts, &THIRDS, RATE).is_some());
}

#[test]
fn bounded_integers_fill_their_range_evenly() {
    let mut rng = InsecureSeededRng::new(12);
    for bound in [
        2,
        10,
        (1 << 40) + 1,
        u128::from(u64::MAX),
        (1 << 64) + 1,
        u128::MAX >> 1,
    ] {
        let draws: Vec<i128> = (0..N)
            .map(|_| i128::try_from(below_u128(bound, &mut rng)).expect("below 2^127"))
            .collect();
        let cdf = |x: i128| ((x as f64 + 1.0) / bound as f64).clamp(0.0, 1.0);
        let gap = rates::largest_gap(draws, cdf);
        assert!(gap <= rates::allowed_gap(N, RATE), "bound {bound}: {gap}");
    }
}

#[test]
fn words_of_an_incomplete_round_are_rejected() {
    // 2^64 = 3·k + 1: of the words with a low product below 1, that is 0 alone, one is too many.
    assert_eq!(below_u64(3, &mut Script(vec![0, u64::MAX])), 2);
    assert_eq!(below_u64(3, &mut Script(vec![1])), 0);
    // A power of two rejects nothing.
    assert_eq!(below_u64(8, &mut Script(vec![0])), 0);
}

#[test]
fn bounds_of_zero_and_one_leave_zero() {
    for bound in [0_u64, 1] {
        assert_eq!(below_u64(bound, &mut Script(Vec::new())), 0);
        assert_eq!(below_u128(bound.into(), &mut Script(Vec::new())), 0);
        assert_eq!(
            below_big(&bound.into(), &mut Script(Vec::new())),
            UBig::ZERO
        );
    }
}

#[test]
fn rational_coins_keep_their_odds() {
    let mut rng = InsecureSeededRng::new(13);
    let odds = [2.0 / 7.0, 5.0 / 7.0];
    let mut heads = [[0_u64; 2]; 3];
    let big = RBig::from_parts(2.into(), 7_u8.into());
    // 2·2^100 of 7·2^100, by the wide path.
    for _ in 0..N {
        heads[0][usize::from(!bernoulli_ratio(2, 7, &mut rng))] += 1;
        heads[1][usize::from(!bernoulli_ratio(2 << 100, 7 << 100, &mut rng))] += 1;
        heads[2][usize::from(!bernoulli(&big, &mut rng))] += 1;
    }
    for counts in heads {
        assert_eq!(rates::implausible_cell(&counts, &odds, RATE), None);
        // The twin: a tenth more.
        let off = [2.2 / 7.0, 4.8 / 7.0];
        assert!(rates::implausible_cell(&counts, &off, RATE).is_some());
    }
}

#[test]
fn probabilities_are_cut_to_their_range() {
    let mut none = Script(Vec::new());
    assert!(bernoulli_ratio(7, 7, &mut none) && bernoulli_ratio(8, 7, &mut none));
    assert!(bernoulli(&RBig::ONE, &mut none) && bernoulli(&ratio(9, 2), &mut none));
    assert!(!bernoulli(&ratio(-1, 2), &mut none));
    assert!(!bernoulli(&RBig::ZERO, &mut none) && !bernoulli_ratio(0, 1, &mut none));
}
