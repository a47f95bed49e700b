use ndarray::Array2;
use proptest::prelude::*;

use super::*;

proptest! {
    #[test]
    fn the_cost_from_sums_is_the_cost_from_distances(
        x in proptest::collection::vec(-1.0..1.0_f64, 3 * 50), w in proptest::collection::vec(-1.0..2.0_f64, 50)
    ) {
        let array = Array2::from_shape_vec((50, 3), x).unwrap();
        let points = Points::new(array.view(), Some(&w)).unwrap();
        let centers = &points.coordinates()[..12];
        let sums = sums_by_kernel(&points, centers);
        let (_, expected) = evaluate(&points, centers);
        prop_assert!((sums.cost(centers, 3, sum_sq_norms(&points)) - expected).abs() < 1e-9);
    }
}

#[test]
fn a_run_ends_when_centers_rest_or_the_steps_are_used_up() {
    let array = Array2::from_shape_fn((100, 2), |(i, j)| {
        ((i * 37 + j * 11) % 100) as f64 / 50.0 - 1.0
    });
    let points = Points::new(array.view(), None).unwrap();
    let start = points.coordinates()[..10].to_vec();
    let steps = |max_iterations, tolerance| {
        let limits = Limits {
            max_iterations,
            tolerance,
            bound: 1.0,
        };
        run(&points, None, start.clone(), &limits).n_iterations
    };
    assert_eq!(steps(0, 0.0), 0);
    assert_eq!(steps(2, 0.0), 2);
    assert_eq!(steps(1000, 10.0), 1);
    assert!((3..1000).contains(&steps(1000, 0.0)));
}

#[test]
fn empty_clusters_go_to_the_most_expensive_points_one_each() {
    let array = Array2::from_shape_vec((4, 1), vec![0.0, 1.0, 5.0, 4.0]).unwrap();
    let points = Points::new(array.view(), Some(&[1.0, 1.0, 1.0, 3.0])).unwrap();
    let now = [0.0, 90.0, 91.0];
    let mut next = now;
    refill(&points, &[6.0, 0.0, 0.0], &now, &mut next);
    // 3·16 before 1·25.
    assert_eq!(next.map(f64::to_bits), [0.0, 4.0, 5.0].map(f64::to_bits));
}
