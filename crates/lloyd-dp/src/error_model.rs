//! Predicted error of a fit, from public facts alone: what `plan` shows and what choices between algorithms use.
//!
//! The model assumes balanced clusters in the scaled domain; real data are skewed, so it ranks and warns, it
//! does not promise.

use crate::schedule::CENTER_SPREAD;

/// Mean squared error of a center that `DPLloyd` as published makes in its last iteration
/// (Su et al. 2016, Proposition 1): 2b²k²(d + ‖o‖²)/n² with b = (d + 1)·T/ε, summed over coordinates.
///
/// `n` is a public size, ε the budget of all `n_iterations` iterations.
#[must_use]
pub fn dplloyd_paper_mse(
    n_clusters: usize,
    dimension: usize,
    n: f64,
    epsilon: f64,
    n_iterations: usize,
) -> f64 {
    let (k, d, t) = (n_clusters as f64, dimension as f64, n_iterations as f64);
    let scale = (d + 1.0) * t / epsilon;
    let norm_squared = 4.0 * d * CENTER_SPREAD * CENTER_SPREAD;
    2.0 * scale * scale * k * k * (d + norm_squared) / (n * n)
}

/// Variance of a center that is found on a noisy grid (Su et al. 2016, Equation 9): (2/3)·d·M·k^(1−2/d)/(nε)², summed
/// over coordinates, for clusters that are cubes of the k-th part of the domain.
///
/// ε is the inverse of the noise's scale.
#[must_use]
pub fn grid_variance(n_clusters: usize, dimension: usize, n: f64, epsilon: f64, cells: f64) -> f64 {
    let (k, d) = (n_clusters as f64, dimension as f64);
    2.0 / 3.0 * d * cells * k.powf(1.0 - 2.0 / d) / (n * epsilon * n * epsilon)
}

/// Bound on the squared bias of a center that is found on a grid (Su et al. 2016, Equation 10): d·M^(−2/d): all records of
/// a cell could lie in one corner.
#[must_use]
pub fn grid_sq_bias_bound(dimension: usize, cells: f64) -> f64 {
    let d = dimension as f64;
    d * cells.powf(-2.0 / d)
}

/// The number of cells that minimizes [`grid_variance`] + `bias`²·[`grid_sq_bias_bound`]:
/// M = ((3·bias²/d)·(nε)²·k^(2/d−1))^(d/(d+2)).
///
/// *Proof.* With a = (2/3)·d·k^(1−2/d)/(nε)² and b = bias²·d the sum is aM + bM^(−2/d), convex on M > 0, with derivative
/// a − (2b/d)·M^(−(d+2)/d): zero at M^((d+2)/d) = 2b/(da) = (3·bias²/d)·(nε)²·k^(2/d−1). ∎ More clusters ask for fewer cells
/// from three columns on (each holds fewer records while as many cells of its cube add noise), for more in one column.
#[must_use]
pub fn grid_cells(n_clusters: usize, dimension: usize, n: f64, epsilon: f64, bias: f64) -> f64 {
    let (k, d) = (n_clusters as f64, dimension as f64);
    let ratio = 3.0 * bias * bias / d * (n * epsilon) * (n * epsilon) * k.powf(2.0 / d - 1.0);
    ratio.powf(d / (d + 2.0))
}
