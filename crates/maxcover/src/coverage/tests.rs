use metric_space::{
    Angular, BoxDomain, Chebyshev, ClosureMetric, Euclidean, Haversine, Manhattan, MatrixMetric,
    Minkowski,
};
use ndarray::Array2;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;

fn random(rows: usize, columns: usize, seed: u64) -> Array2<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    Array2::from_shape_simple_fn((rows, columns), || rng.random_range(-1.0..1.0))
}

/// Updates counts over growing radii with some picks, and compares each with a count from scratch.
fn updates_equal_recounts<M: Metric>(
    metric: &M,
    records: &Array2<f64>,
    sites: &Array2<f64>,
    radii: &[f64],
) {
    let columns = records.ncols();
    let domain =
        Domain::from(BoxDomain::new(vec![-90.0; columns], vec![90.0; columns]).expect("valid"));
    let demand = Demand::read(records, &domain).expect("in memory");
    let flat: Vec<f64> = sites.iter().copied().collect();
    let index = BallIndex::new(metric, &flat, columns);
    let mut coverage = DemandCoverage::new(&demand, &index);
    let mut left: Vec<Vec<f64>> = records.rows().into_iter().map(|row| row.to_vec()).collect();
    let mut rng = ChaCha8Rng::seed_from_u64(9);
    for &radius in radii {
        coverage.widen(radius);
        for _ in 0..4 {
            let within = |row: &Vec<f64>, site: usize| {
                radius == f64::INFINITY || metric.distance(row, index.site(site)) <= radius
            };
            let recount: Vec<i64> = (0..sites.nrows())
                .map(|site| {
                    i64::try_from(left.iter().filter(|row| within(row, site)).count())
                        .expect("small")
                })
                .collect();
            assert_eq!(coverage.scores(), recount, "{} at {radius}", metric.name());
            let site = rng.random_range(0..sites.nrows());
            coverage.cover(site);
            left.retain(|row| !within(row, site));
        }
    }
}

#[test]
fn updated_counts_are_those_of_a_recount_in_every_metric() {
    let radii = [1e-9, 0.01, 0.05, 0.1, 0.3, 0.5, 1.0, f64::INFINITY];
    for columns in [1, 2, 3, 5, 9] {
        let (records, sites) = (random(700, columns, 1), random(150, columns, 2));
        updates_equal_recounts(&Euclidean, &records, &sites, &radii);
        updates_equal_recounts(&Manhattan, &records, &sites, &radii);
        updates_equal_recounts(&Chebyshev, &records, &sites, &radii);
        updates_equal_recounts(
            &Minkowski::new(1.5).expect("valid"),
            &records,
            &sites,
            &radii,
        );
        updates_equal_recounts(
            &Minkowski::new(5.0).expect("valid"),
            &records,
            &sites,
            &radii,
        );
        updates_equal_recounts(&Angular, &records, &sites, &radii);
        let closure = ClosureMetric::new("city", 1e3, |a: &[f64], b: &[f64]| (a[0] - b[0]).abs());
        updates_equal_recounts(&closure.expect("valid"), &records, &sites, &radii);
    }
    let degrees = |rows, seed| random(rows, 2, seed).mapv(|x| x * 30.0);
    let meters = [1.0, 1e4, 1e5, 5e5, 2e6, 8e6, f64::INFINITY];
    updates_equal_recounts(&Haversine, &degrees(700, 3), &degrees(150, 4), &meters);
    let places = Array2::from_shape_fn((40, 40), |(i, j): (usize, usize)| i.abs_diff(j) as f64);
    let matrix = MatrixMetric::new(places).expect("valid");
    let rows = Array2::from_shape_fn((500, 1), |(i, _)| (i * i % 40) as f64);
    let sites = Array2::from_shape_fn((40, 1), |(i, _)| i as f64);
    updates_equal_recounts(&matrix, &rows, &sites, &[0.0, 1.0, 3.0, 9.0, f64::INFINITY]);
}

#[test]
fn demand_is_clipped_whatever_it_is_and_its_order_does_not_matter() {
    let domain = Domain::from(BoxDomain::new(vec![0.0, 10.0], vec![4.0, 30.0]).expect("valid"));
    let records = ndarray::array![
        [f64::NAN, 50.0],
        [1.0, 12.0],
        [-9.0, f64::INFINITY],
        [1.0, 12.0]
    ];
    let demand = Demand::read(&records, &domain).expect("in memory");
    assert_eq!(demand.points, [0.0, 20.0, 1.0, 12.0, 2.0, 30.0]);
    assert_eq!(demand.multiplicity, [1, 2, 1]);
    let reversed = records.select(
        ndarray::Axis(0),
        &(0..records.nrows()).rev().collect::<Vec<_>>(),
    );
    let again = Demand::read(&reversed, &domain).expect("in memory");
    assert_eq!(
        (again.points, again.multiplicity),
        (demand.points, demand.multiplicity)
    );
}

#[test]
fn ties_of_the_histogram_go_to_the_lowest_site() {
    let domain = Domain::from(BoxDomain::new(vec![0.0], vec![10.0]).expect("valid"));
    let demand = Demand::read(&ndarray::array![[5.0], [5.0], [9.0]], &domain).expect("in memory");
    // 4 and 6 are equally near to 5; 6 occurs twice.
    assert_eq!(
        demand.nearest_counts(&Euclidean, &[4.0, 6.0, 6.0]),
        [2, 1, 0]
    );
    let nobody = Demand::read(&Array2::<f64>::zeros((0, 1)), &domain).expect("in memory");
    assert_eq!(nobody.nearest_counts(&Euclidean, &[4.0, 6.0]), [0, 0]);
}
