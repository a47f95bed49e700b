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
