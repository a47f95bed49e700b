use std::sync::atomic::{AtomicU64, Ordering};

use metric_space::Lattice;
use ndarray::{Array2, array};
use proptest::prelude::*;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;

fn tuples(points: &[Array2<f64>]) -> Tuples {
    let (k, d) = points[0].dim();
    let mut tuples = Tuples::new(k, d, Lattice::default());
    for points in points {
        tuples.push(points.view());
    }
    tuples
}

#[test]
fn order_inside_a_tuple_does_not_matter_and_void_tuples_match_nothing() {
    let all = tuples(&[
        array![[0.0, 0.0], [0.8, 0.0], [0.0, 0.8]],
        array![[0.0, 0.82], [0.01, 0.0], [0.8, 0.01]],
        array![[0.0, 0.0], [0.8, 0.0], [0.0, 0.5]],
        array![[0.1, 0.1], [0.1, 0.1], [0.0, 0.8]],
    ]);
    let ratio = MatchRatio::new(0.1).expect("valid");
    assert_eq!(match_counts(&all, ratio), [1, 1, 0, 0]);
}

/// The definition, by all bijections.
fn matches_by_definition(tuples: &Tuples, ratio: MatchRatio, a: usize, b: usize) -> bool {
    let d = tuples.shape().dimension;
    let (gaps_a, gaps_b) = (sq_gaps(tuples.tuple(a), d), sq_gaps(tuples.tuple(b), d));
    let square = u128::from(ratio.0) * u128::from(ratio.0);
    let close = |i: usize, j: usize| {
        let distance = u128::from(sq_distance(tuples.point(a, i), tuples.point(b, j)));
        distance << (2 * RATIO_BITS) <= square * u128::from(gaps_a[i].min(gaps_b[j]))
    };
    let permutations = [
        [0, 1, 2],
        [0, 2, 1],
        [1, 0, 2],
        [1, 2, 0],
        [2, 0, 1],
        [2, 1, 0],
    ];
    !tuples.is_void(a)
        && !tuples.is_void(b)
        && permutations.iter().any(|p| (0..3).all(|i| close(i, p[i])))
}

fn triple(spread: f64) -> impl Strategy<Value = Array2<f64>> {
    // Three places with a jitter that matches about half of the time.
    let jitter = prop::collection::vec(-spread..spread, 6);
    (jitter, 0..3_usize).prop_map(|(jitter, turn)| {
        let places = [[-0.7, -0.6], [0.7, -0.5], [0.1, 0.8]];
        Array2::from_shape_fn((3, 2), |(i, j)| {
            places[(i + turn) % 3][j] + jitter[2 * i + j]
        })
    })
}

proptest! {
    #[test]
    fn the_fast_test_is_the_definition(a in triple(0.15), b in triple(0.15), ratio in 0.01_f64..0.125) {
        let all = tuples(&[a, b]);
        let ratio = MatchRatio::new(ratio).expect("valid");
        let expected = u64::from(matches_by_definition(&all, ratio, 0, 1));
        prop_assert_eq!(match_counts(&all, ratio), [expected, expected]);
    }

    /// Lemma 1 on tuples with a common match.
    #[test]
    fn tuples_with_a_common_match_agree_as_the_lemma_says(
        x in triple(0.1), y in triple(0.1), z in triple(0.02), ratio in 0.09_f64..0.125,
    ) {
        let all = tuples(&[x, y, z]);
        let ratio = MatchRatio::new(ratio).expect("valid");
        prop_assume!(matches_by_definition(&all, ratio, 0, 2));
        prop_assume!(matches_by_definition(&all, ratio, 1, 2));
        let gaps: Vec<Vec<f64>> = (0..2)
            .map(|t| sq_gaps(all.tuple(t), 2).into_iter().map(|g| (g as f64).sqrt()).collect())
            .collect();
        for i in 0..3 {
            let j = crate::tuples::nearest(all.tuple(1), all.point(0, i));
            // A bijection: no other point of X has the same nearest.
            for other in 0..3 {
                let same = crate::tuples::nearest(all.tuple(1), all.point(0, other)) == j;
                prop_assert_eq!(same, other == i);
            }
            prop_assert!((gaps[0][i].ln() - gaps[1][j].ln()).abs() <= ratio.kappa() + 1e-9);
            let distance = (sq_distance(all.point(0, i), all.point(1, j)) as f64).sqrt();
            let most = 2.0 * ratio.get() * (1.0 + ratio.get()) * (1.0 + 1e-9);
            prop_assert!(distance <= most * gaps[0][i] && distance <= most * gaps[1][j]);
        }
    }
}

proptest! {
    /// Hoeffding's lemma for the logarithms of gaps, on which the reach rests: numbers within a factor e^κ of each other have an
    /// arithmetic mean of at most e^(κ²/8) times the geometric one.
    #[test]
    fn means_of_gaps_are_close(
        logarithms in prop::collection::vec(0.0_f64..1.0, 1..40), ratio in 0.01_f64..0.125,
    ) {
        let kappa = MatchRatio::new(ratio).expect("valid").kappa();
        let n = logarithms.len() as f64;
        let arithmetic = logarithms.iter().map(|x| (kappa * x).exp()).sum::<f64>() / n;
        let geometric = (kappa * logarithms.iter().sum::<f64>() / n).exp();
        prop_assert!(arithmetic <= geometric * (kappa * kappa / 8.0).exp() * (1.0 + 1e-12));
    }
}

/// Void tuples cost nothing, and the counts are those of all pairs.
#[test]
fn void_tuples_are_not_asked_and_nothing_else_is_left_out() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    for share in [0.0, 0.5, 0.97, 1.0] {
        let mut all = Tuples::new(3, 2, Lattice::default());
        for _ in 0..200 {
            if rng.random_bool(share) {
                all.push_void();
            } else {
                let places = [[-0.7, -0.6], [0.7, -0.5], [0.1, 0.8]];
                let jitter = Array2::from_shape_fn((3, 2), |_| rng.random_range(-0.1..0.1));
                all.push((Array2::from(places.to_vec()) + jitter).view());
            }
        }
        let ratio = MatchRatio::LARGEST;
        let by_definition = |a: usize| {
            let others = (0..all.len()).filter(|&b| b != a);
            others
                .filter(|&b| matches_by_definition(&all, ratio, a, b))
                .count() as u64
        };
        let expected: Vec<u64> = (0..all.len()).map(by_definition).collect();
        assert_eq!(match_counts(&all, ratio), expected, "{share}");
        let asked = AtomicU64::new(0);
        counts(&all, |a, b| {
            assert!(!all.is_void(a) && !all.is_void(b));
            asked.fetch_add(1, Ordering::Relaxed);
            true
        });
        let present = not_void(&all).len() as u64;
        let pairs = present * present.saturating_sub(1) / 2;
        assert_eq!(asked.into_inner(), pairs, "{share}");
    }
}

#[test]
fn ratios_beyond_an_eighth_are_refused() {
    assert_eq!(MatchRatio::new(0.125), Ok(MatchRatio::LARGEST));
    for bad in [0.0, -0.1, 0.125_000_1, 0.2, f64::NAN, f64::INFINITY] {
        assert!(MatchRatio::new(bad).is_err(), "{bad}");
    }
}

/// Rings of k points, each turned against the one before by `turn` of the way to the next point.
fn rings(k: usize, turn: f64, n: usize) -> Tuples {
    let angle =
        |t: usize, i: usize| (i as f64 + turn * t as f64) / k as f64 * core::f64::consts::TAU;
    let ring = |t: usize| {
        Array2::from_shape_fn((k, 2), |(i, j)| {
            let (sin, cos) = angle(t, i).sin_cos();
            0.9 * [cos, sin][j]
        })
    };
    tuples(&(0..n).map(ring).collect::<Vec<_>>())
}

/// Lemma 1(d): why ratios end at an eighth. Rings that are turned six times by a sixth of the way to the next point come back to themselves with each point in the
/// place of the next. Where neighbors of the six match, any two of three (each other one) have a match in common, and sort points differently.
#[test]
fn three_tuples_with_matches_in_common_sort_points_alike() {
    let nearest = |all: &Tuples, from: usize, i: usize, to: usize| {
        crate::tuples::nearest(all.tuple(to), all.point(from, i))
    };
    // The places of the points of ring `a` in ring `c`, by way of ring `b` and at once.
    let alike = |all: &Tuples, [a, b, c]: [usize; 3], k: usize| {
        (0..k).all(|i| nearest(all, b, nearest(all, a, i, b), c) == nearest(all, a, i, c))
    };
    for k in [4_usize, 5, 8, 24] {
        // The twin: a ratio of a fifth.
        let fifth = MatchRatio((1 << RATIO_BITS) / 5);
        let turned = rings(k, 1.0 / 6.0, 6);
        assert_eq!(match_counts(&turned, fifth), [2; 6], "{k}");
        assert!(!alike(&turned, [0, 2, 4], k), "{k}");
        assert_eq!(match_counts(&turned, MatchRatio::LARGEST), [0; 6], "{k}");
        // As far as the largest ratio lets them turn.
        let matching = |turn: f64| {
            let counts = match_counts(&rings(k, turn, 2), MatchRatio::LARGEST);
            counts == [1, 1]
        };
        let turn = dp_core::rounding::largest_holding(1e-3, 1.0 / 6.0, matching).expect("a little");
        assert!(turn > 0.1 && 6.0 * turn < 0.8, "{k}: {turn}");
        assert!(alike(&rings(k, turn, 5), [0, 2, 4], k), "{k}: {turn}");
    }
    // Six steps are shorter than the way to the next point: what the lemma proves for any tuples.
    let gamma = MatchRatio::LARGEST.get();
    assert!(2.0 * gamma * (3.0 + 6.0 * gamma + 4.0 * gamma * gamma) < 1.0);
}
