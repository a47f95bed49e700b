use ndarray::array;

use super::*;

#[test]
fn tuples_with_equal_points_or_points_off_the_lattice_are_void() {
    let mut tuples = Tuples::new(2, 1, Lattice::default());
    tuples.push(array![[0.5], [-0.5]].view());
    tuples.push(array![[0.5], [0.5]].view());
    tuples.push(array![[0.5], [0.5 + 1e-9]].view());
    tuples.push(array![[0.5], [f64::NAN]].view());
    tuples.push(array![[0.5], [1.5]].view());
    tuples.push(array![[0.5, 0.1], [0.0, 0.1]].view());
    assert_eq!(tuples.len(), 6);
    let void: Vec<bool> = (0..6).map(|t| tuples.is_void(t)).collect();
    assert_eq!(void, [false, true, true, true, true, true]);
    assert_eq!(tuples.tuple(3), [0, 0]);
}

#[test]
fn gaps_and_distances_are_exact_integers() {
    let tuple = [0, 0, 3, 4, -6, 8];
    assert_eq!(sq_gaps(&tuple, 2), [25, 25, 97]);
    let far = [1 << 22; 4];
    let near = [-(1 << 22); 4];
    assert_eq!(sq_distance(&far, &near), 4 << 46);
}

#[test]
fn the_nearest_point_is_the_first_of_equals() {
    assert_eq!(nearest(&[2, -2, 1], &[0]), 2);
    assert_eq!(nearest(&[2, -2], &[0]), 0);
}

/// Four centers with a coordinate in common, each moved a little: all tuples list them alike, whatever order they come in.
#[test]
fn tuples_of_the_same_clusters_list_their_points_alike() {
    let centers = [[0.0, 0.25], [0.0, -0.25], [0.25, 0.0], [-0.25, 0.0]];
    let mut tuples = Tuples::new(4, 2, Lattice::default());
    for shift in [0.0, 1e-4, -2e-4, 3e-4] {
        for first in 0..4 {
            let row = |i: usize| centers[(first + i) % 4];
            let sign = if first % 2 == 0 { 1.0 } else { -1.0 };
            let moved = |i: usize, j: usize| row(i)[j] + sign * shift * (i + 1) as f64;
            tuples.push(ndarray::Array2::from_shape_fn((4, 2), |(i, j)| moved(i, j)).view());
        }
    }
    let near = |t: usize, i: usize| sq_distance(tuples.point(0, i), tuples.point(t, i)) < 1 << 34;
    assert!((0..16).all(|t| (0..4).all(|i| near(t, i))));
}
