use ndarray::{array, s};
use proptest::prelude::*;
use rand::Rng;
use rand_chacha::ChaCha20Rng;

use super::*;
use crate::cost::k_means_cost;
use crate::records::Records;

fn rng(seed: u64) -> ChaCha20Rng {
    ChaCha20Rng::seed_from_u64(seed)
}

fn lloyd(k: usize) -> Lloyd {
    LloydParams::new(k).check().unwrap()
}

fn random_points(n: usize, d: usize, seed: u64) -> Array2<f64> {
    let mut rng = rng(seed);
    Array2::from_shape_simple_fn((n, d), || rng.random_range(-1.0..1.0))
}

/// Lowest cost over all ways to label n points with k labels.
fn optimum(points: &Array2<f64>, weights: &[f64], k: usize) -> f64 {
    let (n, d) = points.dim();
    let mut lowest = f64::INFINITY;
    for code in 0..k.pow(u32::try_from(n).unwrap()) {
        let label = |i: usize| code / k.pow(u32::try_from(i).unwrap()) % k;
        let mut cost = 0.0;
        for j in 0..k {
            let members: Vec<usize> = (0..n).filter(|&i| label(i) == j).collect();
            let mass: f64 = members.iter().map(|&i| weights[i]).sum();
            for t in 0..d {
                let mean = members
                    .iter()
                    .map(|&i| weights[i] * points[[i, t]])
                    .sum::<f64>()
                    / mass;
                cost += members
                    .iter()
                    .map(|&i| weights[i] * (points[[i, t]] - mean).powi(2))
                    .sum::<f64>();
            }
        }
        if cost < lowest {
            lowest = cost;
        }
    }
    lowest
}

#[test]
fn parameters_out_of_range_are_refused_by_name() {
    let refused = |p: LloydParams| p.check().unwrap_err();
    assert_eq!(
        refused(LloydParams::new(0)),
        LloydParamsError::Clusters { got: 0 }
    );
    assert_eq!(
        refused(LloydParams::new(1).n_restarts(0)),
        LloydParamsError::NoRestarts
    );
    let got = -1.0;
    assert_eq!(
        refused(LloydParams::new(1).tolerance(got)),
        LloydParamsError::Tolerance { got }
    );
    assert_eq!(
        refused(LloydParams::new(1).bound(got)),
        LloydParamsError::Bound { got }
    );
    assert!(LloydParams::new(1).bound(f64::NAN).check().is_err());
    assert!(LloydParams::new(1).tolerance(f64::NAN).check().is_err());
}

#[test]
fn shapes_that_do_not_fit_are_refused() {
    let points = random_points(4, 2, 1);
    assert!(
        lloyd(2)
            .fit(points.view(), Some(&[1.0; 3]), &mut rng(1))
            .is_err()
    );
    let three = points.slice(s![..3, ..]);
    assert!(lloyd(2).fit_from(points.view(), None, three).is_err());
    let narrow = points.slice(s![..2, ..1]);
    assert!(lloyd(2).fit_from(points.view(), None, narrow).is_err());
}

#[test]
fn no_points_few_points_and_equal_points_give_k_centers() {
    for d in [1, 2, 6] {
        for (n, k) in [(0, 3), (1, 3), (2, 5), (9, 4)] {
            let points = Array2::from_elem((n, d), 0.3);
            let solution = lloyd(k).fit(points.view(), None, &mut rng(2)).unwrap();
            assert_eq!(solution.centers.dim(), (k, d));
            assert_eq!(solution.labels, vec![0; n]);
            assert!(solution.cost.abs() < 1e-25);
            let expected = if n == 0 { 0.0 } else { 0.3 };
            assert!(
                solution
                    .centers
                    .iter()
                    .all(|c| (c - expected).abs() < 1e-12)
            );
        }
    }
    let flat = Array2::<f64>::zeros((5, 0));
    assert_eq!(
        lloyd(2)
            .fit(flat.view(), None, &mut rng(3))
            .unwrap()
            .centers
            .dim(),
        (2, 0)
    );
}

#[test]
fn values_and_weights_that_are_no_numbers_count_as_zero() {
    let odd = array![[f64::NAN, 0.5], [0.2, f64::INFINITY], [0.9, 0.9]];
    let clean = array![[0.0, 0.5], [0.2, 0.0], [0.9, 0.9]];
    let fitted = |points: &Array2<f64>, w: &[f64]| {
        lloyd(2).fit(points.view(), Some(w), &mut rng(4)).unwrap()
    };
    assert_eq!(
        fitted(&odd, &[1.0, f64::NAN, 2.0]),
        fitted(&clean, &[1.0, 0.0, 2.0])
    );
}

#[test]
fn weights_without_a_positive_one_leave_finite_centers_inside() {
    let points = random_points(50, 2, 5);
    for weight in [0.0, -1.0] {
        let solution = lloyd(3)
            .fit(points.view(), Some(&[weight; 50]), &mut rng(5))
            .unwrap();
        assert!(solution.centers.iter().all(|c| c.abs() <= 1.0));
        assert!(solution.cost <= 0.0);
    }
}

#[test]
fn the_number_of_threads_and_the_memory_layout_do_not_change_a_bit() {
    for (d, k) in [(2, 9), (6, 5)] {
        let points = random_points(9000, d, 6);
        let columns = points.t().as_standard_layout().into_owned();
        let weights: Vec<f64> = points.column(0).iter().map(|x| x + 0.7).collect();
        let fitted = [1, 3].map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            pool.install(|| {
                lloyd(k)
                    .fit(points.view(), Some(&weights), &mut rng(7))
                    .unwrap()
            })
        });
        assert_eq!(fitted[0], fitted[1]);
        let transposed = lloyd(k)
            .fit(columns.t(), Some(&weights), &mut rng(7))
            .unwrap();
        assert_eq!(fitted[0], transposed);
    }
}

#[test]
fn a_cluster_without_points_is_refilled() {
    // Two clouds and a start whose second center wins no point.
    for d in [2, 6] {
        let mut points = random_points(40, d, 8) * 0.1;
        points.slice_mut(s![..20, ..]).mapv_inplace(|x| x + 0.8);
        let start = Array2::from_shape_fn((2, d), |(j, _)| if j == 0 { 0.4 } else { -90.0 });
        let solution = lloyd(2)
            .fit_from(points.view(), None, start.view())
            .unwrap();
        assert_eq!(
            solution
                .labels
                .iter()
                .filter(|&&l| l == solution.labels[0])
                .count(),
            20
        );
    }
}

#[test]
fn with_negative_weights_a_center_is_the_signed_mean_and_is_clipped() {
    let points = array![[0.0, 0.0], [0.5, 0.2], [0.9, -0.9]];
    let center = |w: &[f64]| step(points.view(), Some(w), array![[0.1, 0.1]].view(), 1.0).unwrap();
    // (−0 + 2·0.5 − 0.5·0.9) / 0.5 = 1.1 is clipped; (2·0.2 + 0.5·0.9) / 0.5 = 1.7 too.
    assert_eq!(center(&[-1.0, 2.0, -0.5]), array![[1.0, 1.0]]);
    let mean = center(&[-0.5, 1.5, 1.0]);
    assert!((mean[[0, 0]] - 1.65 / 2.0).abs() < 1e-15 && (mean[[0, 1]] + 0.3).abs() < 1e-15);
    // A mass of 0, or below, leaves the center where it was.
    assert_eq!(center(&[-1.0, 1.0, 0.0]), array![[0.1, 0.1]]);
    assert_eq!(center(&[-1.0, 0.5, -1.0]), array![[0.1, 0.1]]);
}

#[test]
fn no_fit_of_a_tiny_instance_beats_the_optimum_and_the_best_start_reaches_it() {
    let lloyd = LloydParams::new(3).tolerance(0.0).check().unwrap();
    for seed in 0..12 {
        let points = random_points(7, 2, 100 + seed);
        let w: Vec<f64> = (random_points(7, 1, 200 + seed).iter().map(|x| x + 1.1)).collect();
        let best = optimum(&points, &w, 3);
        // Every way to start from three of the points, so nothing here is left to chance.
        let mut reached = f64::INFINITY;
        for (i, j, l) in (0..343).map(|t| (t % 7, t / 7 % 7, t / 49)) {
            let start = ndarray::stack![
                ndarray::Axis(0),
                points.row(i),
                points.row(j),
                points.row(l)
            ];
            let cost = lloyd
                .fit_from(points.view(), Some(&w), start.view())
                .unwrap()
                .cost;
            assert!(cost >= best - 1e-12);
            if cost < reached {
                reached = cost;
            }
        }
        assert!((reached - best).abs() < 1e-12, "{reached} {best}");
        let fitted = lloyd
            .fit(points.view(), Some(&w), &mut rng(seed))
            .unwrap()
            .cost;
        assert!(
            (best - 1e-12..best * 1.1).contains(&fitted),
            "{fitted} {best}"
        );
    }
}

fn instance() -> impl Strategy<Value = (usize, usize, u64, Vec<f64>)> {
    (
        1..7_usize,
        1..7_usize,
        any::<u64>(),
        proptest::collection::vec(-0.5..2.0_f64, 60),
    )
}

proptest! {
    #[test]
    fn no_fit_costs_more_than_its_start_and_labels_are_nearest((d, k, seed, w) in instance(), signed: bool) {
        let points = random_points(60, d, seed);
        let start = random_points(k, d, seed ^ 1);
        let w: Vec<f64> = if signed { w } else { w.iter().map(|w| w.abs()).collect() };
        let solution = lloyd(k).fit_from(points.view(), Some(&w), start.view()).unwrap();
        let cost = |c: &Array2<f64>| k_means_cost(Records::from(&points), c.view(), Some(&w)).unwrap();
        prop_assert!(solution.cost <= cost(&start) + 1e-9);
        prop_assert!((solution.cost - cost(&solution.centers)).abs() < 1e-9);
        prop_assert!(solution.centers.iter().all(|c| c.abs() <= 1.0));
    }

    #[test]
    fn a_step_with_positive_weights_never_raises_the_cost((d, k, seed, w) in instance()) {
        let points = random_points(60, d, seed);
        let start = random_points(k, d, seed ^ 2);
        let w: Vec<f64> = w.iter().map(|w| w.abs()).collect();
        let cost = |c: &Array2<f64>| k_means_cost(Records::from(&points), c.view(), Some(&w)).unwrap();
        let next = step(points.view(), Some(&w), start.view(), 1.0).unwrap();
        prop_assert!(cost(&next) <= cost(&start) + 1e-12);
    }
}
