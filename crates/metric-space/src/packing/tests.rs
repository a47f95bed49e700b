use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;

use super::*;
use crate::distance::euclidean;

/// Half the least distance of two points, and the least distance to the border.
fn radii(points: &Array2<f64>) -> (f64, f64) {
    let rows: Vec<Vec<f64>> = points.outer_iter().map(|p| p.to_vec()).collect();
    let mut half_gap = f64::INFINITY;
    for (i, a) in rows.iter().enumerate() {
        for b in &rows[..i] {
            let half = euclidean(a, b) / 2.0;
            if half < half_gap {
                half_gap = half;
            }
        }
    }
    let border = points
        .iter()
        .map(|x| 1.0 - x.abs())
        .fold(1.0, |a, b| if b < a { b } else { a });
    (half_gap, border)
}

#[test]
fn spheres_of_one_radius_fit_inside_and_do_not_overlap() {
    for (k, d) in [(2, 1), (5, 2), (15, 2), (40, 3), (10, 8), (5, 500)] {
        let points = sphere_packing(k, d, &mut ChaCha20Rng::seed_from_u64(7));
        let (half_gap, border) = radii(&points);
        // In two columns the spheres cover more than 38 % of the square; random placing jams at 55
        // %.
        let least = if d == 2 {
            0.7 / (k as f64).sqrt()
        } else {
            0.01
        };
        assert!(
            half_gap >= least && border >= least,
            "{k} {d}: {half_gap} {border}"
        );
    }
}

#[test]
fn packed_centers_keep_further_apart_than_uniform_ones() {
    let mut rng = ChaCha20Rng::seed_from_u64(8);
    // 20 pairs; a uniform draw of 15 points is as spread in less than one of 1000.
    for _ in 0..20 {
        let packed = radii(&sphere_packing(15, 2, &mut rng)).0;
        assert!(packed > radii(&uniform_centers(15, 2, &mut rng)).0);
    }
}

#[test]
fn a_single_center_is_the_middle() {
    for d in [1, 30] {
        let point = sphere_packing(1, d, &mut ChaCha20Rng::seed_from_u64(9));
        assert!(point.iter().all(|x| x.abs() < 0.02));
    }
}

#[test]
fn no_center_and_no_column_give_empty_arrays() {
    let mut rng = ChaCha20Rng::seed_from_u64(10);
    assert_eq!(sphere_packing(0, 3, &mut rng).dim(), (0, 3));
    assert_eq!(sphere_packing(3, 0, &mut rng).dim(), (3, 0));
    assert_eq!(uniform_centers(2, 4, &mut rng).dim(), (2, 4));
}

#[test]
fn many_centers_in_few_columns_are_placed_through_buckets() {
    let points = sphere_packing(20_000, 2, &mut ChaCha20Rng::seed_from_u64(11));
    // That is, the spheres cover more than 28 % of the square.
    assert!(radii(&points.slice(ndarray::s![..2000, ..]).to_owned()).0 > 0.6 / 20_000_f64.sqrt());
}

#[test]
fn work_that_runs_out_ends_the_attempt() {
    let mut work = 1000;
    let placed = place(
        100,
        50,
        0.01,
        &mut work,
        &mut ChaCha20Rng::seed_from_u64(12),
    );
    assert!(placed.is_none() && work == 0);
}
