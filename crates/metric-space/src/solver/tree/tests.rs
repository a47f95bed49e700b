use ndarray::Array2;
use proptest::prelude::*;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha20Rng;

use super::*;
use crate::distance::squared_euclidean;

/// Sums by every distance, ties to the lowest index.
fn plain(points: &Points<'_>, centers: &[f64]) -> Sums {
    let d = points.dimension();
    let mut sums = Sums::new(centers.len() / d, d);
    for i in 0..points.len() {
        let sq = centers
            .chunks(d)
            .map(|c| squared_euclidean(points.row(i), c));
        let own = (0..).zip(sq).min_by(|a, b| a.1.total_cmp(&b.1)).unwrap().0;
        let w = points.weight(i);
        sums.mass[own] += w;
        for t in 0..d {
            sums.weighted[own * d + t] += w * points.row(i)[t];
        }
    }
    sums
}

fn are_close(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9)
}

proptest! {
    #[test]
    fn the_tree_adds_up_what_all_distances_do(
        n in 0..400_usize, d in 1..=MAX_DIMENSION, k in 1..20_usize, seed: u64, coarse: bool
    ) {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        // On the coarse lattice points coincide. Centers stay off it: ties go to any nearest center
        // here.
        let mut draw = || {
            let x: f64 = rng.random_range(-1.0..1.0);
            if coarse { (x * 4.0).round() / 4.0 } else { x }
        };
        let array = Array2::from_shape_simple_fn((n, d), &mut draw);
        let weights: Vec<f64> = (0..n).map(|_| draw() + 0.3).collect();
        let centers: Vec<f64> = (0..k * d).map(|_| rng.random_range(-1.2..1.2)).collect();
        let mut points = Points::new(array.view(), Some(&weights)).unwrap();
        let expected = plain(&points, &centers);
        let (tree, order) = Tree::build(&mut points).unwrap();
        let sums = tree.sums(&points, &centers);
        prop_assert!(are_close(&sums.mass, &expected.mass));
        prop_assert!(are_close(&sums.weighted, &expected.weighted));
        for (place, &i) in order.iter().enumerate() {
            prop_assert_eq!(points.row(place), array.row(i).to_slice().unwrap());
        }
    }
}

#[test]
fn many_points_are_cut_into_tasks_that_add_up_to_the_same() {
    let mut rng = ChaCha20Rng::seed_from_u64(31);
    let array = Array2::from_shape_simple_fn((5 * TASK, 2), || rng.random_range(-1.0..1.0));
    let centers: Vec<f64> = (0..2 * 30).map(|_| rng.random_range(-1.0..1.0)).collect();
    let mut points = Points::new(array.view(), None).unwrap();
    let expected = plain(&points, &centers);
    let (tree, _) = Tree::build(&mut points).unwrap();
    let sums = tree.sums(&points, &centers);
    assert!(are_close(&sums.mass, &expected.mass));
    assert!(
        sums.weighted
            .iter()
            .zip(&expected.weighted)
            .all(|(a, b)| (a - b).abs() < 1e-6)
    );
}

#[test]
fn equal_centers_share_nothing() {
    let array = Array2::from_shape_vec((3, 1), vec![-0.5, 0.0, 0.5]).unwrap();
    let mut points = Points::new(array.view(), None).unwrap();
    let (tree, _) = Tree::build(&mut points).unwrap();
    let mass = tree.sums(&points, &[1.0, -1.0, 1.0, -1.0]).mass;
    assert!(are_close(&mass, &[2.0, 1.0, 0.0, 0.0]));
}

#[test]
fn more_columns_have_no_tree() {
    let array = Array2::zeros((3, MAX_DIMENSION + 1));
    assert!(Tree::build(&mut Points::new(array.view(), None).unwrap()).is_none());
}
