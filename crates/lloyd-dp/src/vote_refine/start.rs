//! A grid as the start: in few columns every cell is a candidate, and the noise of cells averages out.

use dp_core::{Budget, Epsilon};
use ndarray::Array2;

use crate::error::ParamsError;
use crate::grid::{CellRule, Grid, GridParams, GridSynopsis};

/// The grid whose cells depend on k, for a public or noisy size that is known by now.
pub(super) fn grid_start(
    n_clusters: usize,
    epsilon: Epsilon,
    n: f64,
    bias: f64,
) -> Result<Grid, ParamsError> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "at least 1, and `as` saturates"
    )]
    let n = n.round() as u64;
    GridParams::new(
        n_clusters,
        Budget::pure(epsilon),
        CellRule::ClusterAware { bias },
    )
    .n_hint(Some(n.max(1)))
    .capped(true)
    .check()
}

/// Expected squared error of each center that was found on a synopsis, from the synopsis alone.
///
/// *Noise*: a center is Σw(x − c)/Σw over its cells, and each w has the noise's variance. *Bias*: records lie anywhere in their cell, d·h²/3 from
/// its middle for half width h, less by as much as errors of about (Σw)²/Σw² cells cancel where the density is smooth.
pub(super) fn variances(synopsis: &GridSynopsis, centers: &Array2<f64>) -> Vec<f64> {
    let (cells, weights) = synopsis.weighted_cells();
    let d = cells.ncols() as f64;
    let scale = synopsis.noise_scale();
    let noise = 2.0 * scale * scale;
    let half = 1.0 / synopsis.cells_per_axis() as f64;
    let mut sums = vec![Sums::default(); centers.nrows()];
    for (cell, weight) in cells.outer_iter().zip(weights) {
        let nearest = nearest(centers, &cell.to_vec());
        if let Some((j, sq_distance)) = nearest {
            sums[j].weight += weight;
            sums[j].excess += weight * weight - noise;
            sums[j].spread += noise * sq_distance;
        }
    }
    sums.iter()
        .map(|sums| {
            let weight = sums.weight.clamp(scale, f64::MAX);
            let cells = (weight * weight / sums.excess.clamp(noise, f64::MAX)).clamp(1.0, f64::MAX);
            sums.spread / (weight * weight) + d * half * half / (3.0 * cells * cells)
        })
        .collect()
}

#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    weight: f64,
    /// Σw² less what noise adds to it.
    excess: f64,
    spread: f64,
}

fn nearest(centers: &Array2<f64>, cell: &[f64]) -> Option<(usize, f64)> {
    let distances = centers.outer_iter().map(|center| {
        center
            .iter()
            .zip(cell)
            .map(|(c, x)| (c - x) * (c - x))
            .sum::<f64>()
    });
    distances.enumerate().min_by(|a, b| a.1.total_cmp(&b.1))
}
