use metric_space::Lattice;
use ndarray::{Array2, array};
use proptest::prelude::*;

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
    fn the_fast_test_is_the_definition(a in triple(0.15), b in triple(0.15), ratio in 0.01_f64..0.2) {
        let all = tuples(&[a, b]);
        let ratio = MatchRatio::new(ratio).expect("valid");
        let expected = u64::from(matches_by_definition(&all, ratio, 0, 1));
        prop_assert_eq!(match_counts(&all, ratio), [expected, expected]);
    }

    /// Lemma 1 on tuples with a common match.
    #[test]
    fn tuples_with_a_common_match_agree_as_the_lemma_says(
        x in triple(0.1), y in triple(0.1), z in triple(0.02), ratio in 0.09_f64..0.2,
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
        logarithms in prop::collection::vec(0.0_f64..1.0, 1..40), ratio in 0.01_f64..0.2,
    ) {
        let kappa = MatchRatio::new(ratio).expect("valid").kappa();
        let n = logarithms.len() as f64;
        let arithmetic = logarithms.iter().map(|x| (kappa * x).exp()).sum::<f64>() / n;
        let geometric = (kappa * logarithms.iter().sum::<f64>() / n).exp();
        prop_assert!(arithmetic <= geometric * (kappa * kappa / 8.0).exp() * (1.0 + 1e-12));
    }
}

#[test]
fn ratios_beyond_a_fifth_are_refused() {
    assert!(MatchRatio::new(0.2).is_ok());
    for bad in [0.0, -0.1, 0.21, f64::NAN, f64::INFINITY] {
        assert!(MatchRatio::new(bad).is_err(), "{bad}");
    }
}
