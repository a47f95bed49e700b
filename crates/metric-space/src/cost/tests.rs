#![expect(
    clippy::float_cmp,
    reason = "bitwise equality is what is claimed, or small integers"
)]

use ndarray::{Array1, Array2, array};
use proptest::prelude::*;

use super::*;
use crate::distance::euclidean;

fn plain(rows: &Array2<f64>, centers: &Array2<f64>, weights: &[f64], power: f64) -> f64 {
    let nearest = |x: &Array1<f64>| {
        let to = |c: ndarray::ArrayView1<'_, f64>| euclidean(&x.to_vec(), &c.to_vec());
        centers
            .outer_iter()
            .map(to)
            .fold(f64::INFINITY, |a, b| if b < a { b } else { a })
    };
    let rows = rows
        .outer_iter()
        .map(|x| nearest(&x.to_owned()).powf(power));
    rows.zip(weights).map(|(c, w)| c * w).sum()
}

#[test]
fn arguments_that_do_not_fit_are_refused() {
    let rows = array![[0.0, 1.0]];
    let wide = array![[0.0, 1.0, 2.0]];
    let records = Records::from(&rows);
    let columns = ShapeError::Columns {
        expected: 3,
        found: 2,
    };
    assert_eq!(
        k_means_cost(records, wide.view(), None),
        Err(columns.into())
    );
    let none = Array2::zeros((0, 2));
    assert_eq!(
        k_means_cost(records, none.view(), None),
        Err(CostError::NoCenters)
    );
    assert!(matches!(
        mean_cost(records, rows.view(), Some(&[1.0, 2.0])),
        Err(CostError::Shape(ShapeError::Length { .. }))
    ));
    for got in [0.0, -1.0, f64::INFINITY] {
        assert_eq!(
            power_cost(records, rows.view(), None, got),
            Err(CostError::Power { got })
        );
    }
    assert!(power_cost(records, rows.view(), None, f64::NAN).is_err());
}

#[test]
fn no_records_cost_nothing() {
    let none = Array2::<f32>::zeros((0, 1));
    let centers = array![[0.0]];
    assert_eq!(
        mean_cost(Records::from(&none), centers.view(), None),
        Ok(0.0)
    );
    assert_eq!(
        k_median_cost(Records::from(&none), centers.view(), None),
        Ok(0.0)
    );
}

#[test]
fn far_from_the_origin_no_digits_are_lost() {
    let rows = array![[1e8], [1e8 + 3.0], [1e8 + 10.0]];
    let centers = array![[1e8 + 1.0], [1e8 + 9.0]];
    assert_eq!(
        k_means_cost(Records::from(&rows), centers.view(), None),
        Ok(6.0)
    );
}

#[test]
fn the_number_of_threads_does_not_change_the_last_bit() {
    let rows = Array2::from_shape_fn((30_000, 3), |(i, j)| {
        f64::from(u32::try_from(i * 7 + j).unwrap()).sin()
    });
    let centers = rows.slice(ndarray::s![..9, ..]).to_owned();
    let costs = [1, 2, 7].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| power_cost(Records::from(&rows), centers.view(), None, 1.5).unwrap())
    });
    assert_eq!(costs, [costs[0]; 3]);
}

proptest! {
    #[test]
    fn every_cost_is_the_sum_of_powers_of_distances(
        x in proptest::collection::vec(-5.0..5.0_f64, 3 * 20),
        c in proptest::collection::vec(-5.0..5.0_f64, 3 * 4),
        w in proptest::collection::vec(-1.0..5.0_f64, 20),
    ) {
        let rows = Array2::from_shape_vec((20, 3), x).unwrap();
        let centers = Array2::from_shape_vec((4, 3), c).unwrap();
        let records = Records::from(&rows);
        let close = |a: f64, b: f64| (a - b).abs() <= 1e-9 * (1.0 + b.abs());
        let view = centers.view();
        prop_assert!(close(k_means_cost(records, view, Some(&w)).unwrap(), plain(&rows, &centers, &w, 2.0)));
        prop_assert!(close(k_median_cost(records, view, Some(&w)).unwrap(), plain(&rows, &centers, &w, 1.0)));
        prop_assert!(close(power_cost(records, view, Some(&w), 3.0).unwrap(), plain(&rows, &centers, &w, 3.0)));
        let ones = [1.0; 20];
        prop_assert!(close(mean_cost(records, view, None).unwrap(), plain(&rows, &centers, &ones, 2.0) / 20.0));
    }
}
