//! Predictions against simulations, on balanced mixtures. Means of squares over 4 clusters, d coordinates and `RUNS` runs: at least 240
//! independent squares of noise each, so that a mean is off by a factor of 2 with probability below 10⁻⁶ (the squared Laplace noise has
//! relative variance 5; Chebyshev's bound on the sum is crude, its normal approximation is 7 standard deviations).

use dp_core::NeighboringRelation::AddRemove;
use metric_space::solver::step;
use ndarray::Array2;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::dplloyd::DpLloydParams;
use crate::grid::{CellRule, GridParams, GridSynopsis};
use crate::init::Init;
use crate::testing::{public, pure, run};

const RUNS: u64 = 30;
const N: usize = 8000;

/// Four corners of the square ±0.45 in the first two columns, 0.45 in the others: ‖o‖² = 4dρ² with ρ = 0.225.
fn centers(d: usize) -> Array2<f64> {
    Array2::from_shape_fn((4, d), |(j, i)| {
        if i < 2 && (j >> i) & 1 == 1 {
            -0.45
        } else {
            0.45
        }
    })
}

/// A quarter of the records in a cube of half width 0.3 around each center.
fn mixture(d: usize) -> Array2<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    let centers = centers(d);
    Array2::from_shape_fn((N, d), |(i, c)| {
        centers[[i % 4, c]] + rng.random_range(-0.3..0.3)
    })
}

/// True means of the four clusters.
fn means(records: &Array2<f64>) -> Array2<f64> {
    let mut means = Array2::zeros((4, records.ncols()));
    for (i, row) in records.rows().into_iter().enumerate() {
        let mut mean = means.row_mut(i % 4);
        mean += &row;
    }
    means / (records.nrows() / 4) as f64
}

/// Mean over clusters of the squared distance between two sets of centers.
fn sq_error(a: &Array2<f64>, b: &Array2<f64>) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>() / a.nrows() as f64
}

fn within_a_factor_of_two(predicted: f64, measured: f64, what: &str) {
    let ratio = measured / predicted;
    assert!(
        (0.5..2.0).contains(&ratio),
        "{what}: predicted {predicted:.3e}, measured {measured:.3e}"
    );
}

#[test]
fn the_error_of_dplloyd_is_predicted_within_a_factor_of_two() {
    for d in 2..=10 {
        let records = mixture(d);
        let truth = means(&records);
        for n_iterations in [1, 5] {
            let budget = pure(2.0);
            let lloyd = DpLloydParams::paper(4, budget)
                .n_iterations(n_iterations)
                .init(Init::Given(truth.clone()))
                .check()
                .expect("valid");
            let total: f64 = (0..RUNS)
                .map(|seed| {
                    let (fit, _) = run(budget, AddRemove, seed, &records, |source, session| {
                        lloyd.fit(source, session, &mut public())
                    });
                    sq_error(&fit.centers, &truth)
                })
                .sum();
            let predicted = dplloyd_paper_mse(4, d, N as f64, 2.0, n_iterations);
            let what = format!("d = {d}, T = {n_iterations}");
            within_a_factor_of_two(predicted, total / RUNS as f64, &what);
        }
    }
}

/// One Lloyd step from the true means on a synopsis.
fn on_grid(synopsis: &GridSynopsis, truth: &Array2<f64>) -> Array2<f64> {
    let (cells, weights) = synopsis.weighted_cells();
    step(cells.view(), Some(&weights), truth.view(), 1.0).expect("shapes fit")
}

fn synopsis(records: &Array2<f64>, m: u64, epsilon: f64, seed: u64) -> GridSynopsis {
    let params = GridParams::new(4, pure(epsilon), CellRule::PerAxis(m)).n_hint(Some(N as u64));
    let grid = params.check().expect("valid");
    let (synopsis, _) = run(
        pure(epsilon),
        AddRemove,
        seed,
        records,
        |source, session| grid.synopsis(source, session),
    );
    synopsis
}

#[test]
fn the_variance_of_a_grid_is_predicted_within_a_factor_of_two_and_its_bias_is_bounded() {
    for (d, m) in [
        (2, 16),
        (3, 10),
        (4, 6),
        (5, 4),
        (6, 4),
        (7, 4),
        (8, 2),
        (9, 2),
        (10, 2),
    ] {
        let records = mixture(d);
        let truth = means(&records);
        let cells = (m as f64).powf(d as f64);
        // With a huge budget counts are exact.
        let exact = on_grid(&synopsis(&records, m, 1e6, 1), &truth);
        let total: f64 = (0..RUNS)
            .map(|seed| {
                let noisy = on_grid(&synopsis(&records, m, 1.0, seed), &truth);
                sq_error(&noisy, &exact)
            })
            .sum();
        let predicted = grid_variance(4, d, N as f64, 1.0, cells);
        within_a_factor_of_two(predicted, total / RUNS as f64, &format!("d = {d}, m = {m}"));
        // The bias depends on where cells cut clusters; the bound holds whatever they do.
        let sq_bias = sq_error(&exact, &truth);
        assert!(
            sq_bias <= grid_sq_bias_bound(d, cells),
            "d = {d}: {sq_bias:.3e}"
        );
    }
}

#[test]
fn shifts_of_fine_cells_cancel_as_the_second_bias_model_says() {
    // Smooth clusters on grids of rising fineness: the squared bias falls at least as fast as h⁴, and stays below the model with factor 1.
    for d in 2..=4 {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let middle = centers(d);
        let bell =
            |rng: &mut ChaCha8Rng| (0..4).map(|_| rng.random_range(-0.2..0.2)).sum::<f64>() / 2.0;
        let records = Array2::from_shape_fn((N, d), |(i, c)| middle[[i % 4, c]] + bell(&mut rng));
        let truth = means(&records);
        for m in [6, 10] {
            let exact = on_grid(&synopsis(&records, m, 1e6, 1), &truth);
            let sq_bias = sq_error(&exact, &truth);
            let model = grid_sq_bias(4, d, (m as f64).powf(d as f64), 1.0);
            assert!(
                sq_bias <= model,
                "d = {d}, m = {m}: {sq_bias:.3e} against {model:.3e}"
            );
        }
    }
}

#[test]
fn the_number_of_cells_is_where_variance_and_bias_are_smallest() {
    for (k, d, n, epsilon) in [
        (15, 2, 5000.0, 0.1),
        (5, 6, 48_842.0, 1.0),
        (3, 10, 26_733.0, 0.5),
        (4, 1, 1e4, 1.0),
    ] {
        let mse =
            |cells: f64| grid_variance(k, d, n, epsilon, cells) + grid_sq_bias(k, d, cells, 0.5);
        let best = grid_cells(k, d, n, epsilon, 0.5);
        for factor in [0.5, 0.9, 1.1, 2.0] {
            assert!(
                mse(best) < mse(best * factor),
                "k = {k}, d = {d}, factor {factor}"
            );
        }
    }
}
