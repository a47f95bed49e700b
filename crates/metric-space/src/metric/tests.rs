use ndarray::{Array2, array};
use proptest::prelude::*;

use super::*;
use crate::BoxDomain;

fn axioms<M: Metric>(metric: &M, a: &[f64], b: &[f64], c: &[f64], slack: f64) {
    let d = |x: &[f64], y: &[f64]| metric.distance(x, y);
    assert!(d(a, b) >= 0.0 && d(a, b).is_finite(), "{}", metric.name());
    assert!(
        (d(a, b) - d(b, a)).abs() <= slack,
        "{} is symmetric",
        metric.name()
    );
    assert!(d(a, a) <= slack, "{} of a point to itself", metric.name());
    assert!(
        d(a, b) <= d(a, c) + d(c, b) + slack,
        "{} and the triangle",
        metric.name()
    );
}

fn reach_holds<M: Metric>(metric: &M, a: &[f64], b: &[f64], bound: f64) {
    let domain =
        Domain::from(BoxDomain::new(vec![-bound; a.len()], vec![bound; a.len()]).expect("valid"));
    let site =
        Array2::from_shape_vec((1, b.len()), b.iter().map(|x| 2.0 * x).collect()).expect("one row");
    let far = site.row(0).to_vec();
    assert!(
        metric.distance(a, &far) <= metric.reach(&domain, site.view()),
        "{}",
        metric.name()
    );
}

proptest! {
    #[test]
    fn metrics_obey_their_axioms_and_their_reach(
        points in prop::collection::vec(prop::collection::vec(-80.0..80.0_f64, 3), 3),
    ) {
        let [a, b, c] = [&points[0], &points[1], &points[2]];
        axioms(&Euclidean, a, b, c, 1e-9);
        axioms(&Manhattan, a, b, c, 1e-9);
        axioms(&Chebyshev, a, b, c, 1e-9);
        axioms(&Angular, a, b, c, 1e-7);
        for exponent in [1.0, 1.5, 2.0, 7.0] {
            let minkowski = Minkowski::new(exponent).expect("valid");
            axioms(&minkowski, a, b, c, 1e-9);
            reach_holds(&minkowski, a, b, 80.0);
        }
        axioms(&Haversine, &a[..2], &b[..2], &c[..2], 1.0);
        reach_holds(&Euclidean, a, b, 80.0);
        reach_holds(&Manhattan, a, b, 80.0);
        reach_holds(&Chebyshev, a, b, 80.0);
        reach_holds(&Angular, a, b, 80.0);
        reach_holds(&Haversine, &[a[0] / 2.0, a[1]], &[b[0] / 2.0, b[1]], 80.0);
    }

    #[test]
    fn an_index_finds_what_a_scan_finds(
        sites in prop::collection::vec(-1.0..1.0_f64, 300),
        point in prop::collection::vec(-1.0..1.0_f64, 2),
        radius in 0.0..0.8_f64,
    ) {
        let index = BallIndex::new(&Manhattan, &sites, 2);
        let mut found = Vec::new();
        index.within(&point, radius, |site, _| found.push(site));
        found.sort_unstable();
        let scan: Vec<usize> = (0..150).filter(|&i| Manhattan.distance(&point, index.site(i)) <= radius).collect();
        prop_assert_eq!(found, scan);
    }

    #[test]
    fn powers_keep_the_relaxed_triangle_inequality(
        (x, y, p) in (0.0..100.0_f64, 0.0..100.0_f64, 1.0..6.0_f64),
    ) {
        let power = Power::new(p).expect("valid");
        let bound = power.relaxation() * (power.of(x) + power.of(y));
        prop_assert!(power.of(x + y) <= bound * (1.0 + 1e-12));
    }
}

#[test]
fn distances_known_by_heart() {
    let (a, b) = ([0.0, 0.0], [3.0, 4.0]);
    assert!((Euclidean.distance(&a, &b) - 5.0).abs() < 1e-12);
    assert!((Manhattan.distance(&a, &b) - 7.0).abs() < 1e-12);
    assert!((Chebyshev.distance(&a, &b) - 4.0).abs() < 1e-12);
    assert!((Minkowski::new(2.0).expect("valid").distance(&a, &b) - 5.0).abs() < 1e-12);
    assert!(
        (Angular.distance(&[1.0, 0.0], &[0.0, 2.0]) - std::f64::consts::FRAC_PI_2).abs() < 1e-12
    );
    // A quarter of the equator, and from pole to pole.
    let quarter = std::f64::consts::FRAC_PI_2 * EARTH_RADIUS;
    assert!((Haversine.distance(&[0.0, 0.0], &[0.0, 90.0]) - quarter).abs() < 1e-3);
    assert!((Haversine.distance(&[90.0, 0.0], &[-90.0, 77.0]) - 2.0 * quarter).abs() < 1.0);
}

#[test]
fn tables_that_hold_no_distances_are_refused() {
    let refused = |table: Array2<f64>| MatrixMetric::new(table).expect_err("refused");
    assert!(matches!(
        refused(Array2::zeros((2, 3))),
        MetricError::NotSquare {
            rows: 2,
            columns: 3
        }
    ));
    assert!(matches!(
        refused(array![[0.0, -1.0], [-1.0, 0.0]]),
        MetricError::Entry {
            row: 0,
            column: 1,
            ..
        }
    ));
    assert!(matches!(
        refused(array![[0.0, f64::NAN], [1.0, 0.0]]),
        MetricError::Entry { .. }
    ));
    assert!(matches!(
        refused(array![[1.0]]),
        MetricError::Diagonal { row: 0, .. }
    ));
    assert!(matches!(
        refused(array![[0.0, 2.0], [1.0, 0.0]]),
        MetricError::Asymmetric { .. }
    ));
    let detour = array![[0.0, 1.0, 9.0], [1.0, 0.0, 1.0], [9.0, 1.0, 0.0]];
    let table = MatrixMetric::new(detour).expect("symmetric");
    assert!(matches!(
        table.check_triangles(),
        Err(MetricError::Triangle {
            from: 0,
            to: 2,
            via: 1,
            ..
        })
    ));
}

#[test]
fn a_negative_zero_in_a_table_is_zero_both_ways() {
    let metric = MatrixMetric::new(array![[-0.0, 0.0], [-0.0, 0.0]]).expect("all zero");
    for (a, b) in [(0.0, 0.0), (0.0, 1.0), (1.0, 0.0)] {
        assert_eq!(metric.distance(&[a], &[b]).to_bits(), 0);
    }
}

#[test]
fn exponents_below_one_are_refused() {
    assert!(Minkowski::new(0.5).is_err() && Minkowski::new(f64::NAN).is_err());
    assert!(Power::new(0.9).is_err() && Power::new(f64::INFINITY).is_err());
    assert!(ClosureMetric::new("none", 0.0, |_: &[f64], _: &[f64]| 0.0).is_err());
}

/// Where squares have no digits left, relative room in a radius is none.
#[test]
fn an_index_finds_what_a_scan_finds_where_squares_vanish() {
    let step = 1.6e-162;
    let sites: Vec<f64> = (0..100)
        .flat_map(|i| [f64::from(i / 10) * step, f64::from(i % 10) * step])
        .collect();
    let index = BallIndex::new(&Chebyshev, &sites, 2);
    let mut found = Vec::new();
    index.within(&[0.0, 0.0], step, |site, _| found.push(site));
    found.sort_unstable();
    assert_eq!(found, [0, 1, 10, 11]);
}
