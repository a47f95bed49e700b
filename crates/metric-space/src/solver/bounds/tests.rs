use ndarray::Array2;
use proptest::prelude::*;

use super::*;
use crate::distance::squared_euclidean;

/// Labels by every distance, ties to the lowest index.
fn plain_labels(points: &Points<'_>, centers: &[f64]) -> Vec<u32> {
    let d = points.dimension();
    let nearest = |i: usize| {
        let sq = centers
            .chunks(d)
            .map(|c| squared_euclidean(points.row(i), c));
        (0_u32..)
            .zip(sq)
            .min_by(|a, b| a.1.total_cmp(&b.1))
            .unwrap()
            .0
    };
    (0..points.len()).map(nearest).collect()
}

proptest! {
    #[test]
    fn step_after_step_the_bounded_labels_are_those_of_all_distances(
        d in 1..=MAX_DIMENSION, k in 1..12_usize,
        x in proptest::collection::vec(-1.0..1.0_f64, 200 * MAX_DIMENSION),
        moves in proptest::collection::vec(-0.2..0.2_f64, 6 * 12 * MAX_DIMENSION),
    ) {
        let array = Array2::from_shape_vec((200, d), x[..200 * d].to_vec()).unwrap();
        let points = Points::new(array.view(), None).unwrap();
        let mut centers = x[x.len() - k * d..].to_vec();
        let mut bounds = Bounds::new(200);
        for (round, moves) in moves.chunks(12 * MAX_DIMENSION).enumerate() {
            let sums = bounds.sums(&points, &centers);
            let expected = plain_labels(&points, &centers);
            prop_assert_eq!(bounds.labels(), &expected[..]);
            for j in 0..k {
                let count = expected.iter().filter(|&&l| l as usize == j).count();
                prop_assert!((sums.mass[j] - count as f64).abs() < 1e-9);
            }
            // Later rounds move less, so that bounds decide more.
            for (c, m) in centers.iter_mut().zip(moves) {
                *c += m / f64::from(1 << (2 * round));
            }
        }
    }
}

#[test]
fn equal_centers_and_ties_go_to_the_lowest_index() {
    let array = Array2::from_shape_vec((3, 1), vec![-0.5, 0.0, 0.5]).unwrap();
    let points = Points::new(array.view(), None).unwrap();
    let mut bounds = Bounds::new(3);
    for centers in [[1.0, -1.0, 1.0], [0.25, -0.25, -0.25]] {
        bounds.sums(&points, &centers);
        assert_eq!(bounds.labels(), [1, 0, 0]);
    }
}
