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

/// Squared bias of a center that is found on a grid whose cells are finer than the clusters: `bias`·(d/3)·h²·(h/w)², with h = M^(−1/d) half
/// the width of a cell and w = k^(−1/d) half that of a cluster.
///
/// A record lies within h of its cell's middle, so a cell that holds a whole cluster shifts its center by up to h, by h²/3 per coordinate
/// on average over positions. Shifts in the many cells of one cluster cancel: where the density is smooth the
/// shift of a cell is of the order h²/w, so that its square is smaller by (h/w)². `bias` stands for the shape of the clusters.
#[must_use]
pub fn grid_sq_bias(n_clusters: usize, dimension: usize, cells: f64, bias: f64) -> f64 {
    let (k, d) = (n_clusters as f64, dimension as f64);
    bias * d / 3.0 * k.powf(2.0 / d) * cells.powf(-4.0 / d)
}

/// The number of cells that minimizes [`grid_variance`] + [`grid_sq_bias`]:
/// M = ((2·bias/d)·(nε)²·k^(4/d−1))^(d/(d+4)).
///
/// *Proof.* With a = (2/3)·d·k^(1−2/d)/(nε)² and b = bias·(d/3)·k^(2/d) the sum is aM + bM^(−4/d), convex on M > 0, with
/// derivative a − (4b/d)·M^(−(d+4)/d): zero at M^((d+4)/d) = 4b/(da) = (2·bias/d)·(nε)²·k^(4/d−1). ∎ In up to three columns
/// more clusters ask for more cells, which must stay finer than the clusters; from five on for fewer, because each cluster holds fewer
/// records while the noise of more cells falls to it.
#[must_use]
pub fn grid_cells(n_clusters: usize, dimension: usize, n: f64, epsilon: f64, bias: f64) -> f64 {
    let (k, d) = (n_clusters as f64, dimension as f64);
    let ratio = 2.0 * bias / d * (n * epsilon) * (n * epsilon) * k.powf(4.0 / d - 1.0);
    ratio.powf(d / (d + 4.0))
}

/// Whether the model says that a grid with half of ε and one `DPLloyd` iteration with the other half beats a grid with all of it (Su et al. 2016,
/// Inequality 15): 8k²(d + 1)²(d + ‖o‖²)/(nε)² ≤ [`grid_variance`] with M = (nε/10)^(2d/(2+d)).
///
/// The norm of a center is taken as ‖o‖² = 4dρ² with the public ρ = 0.225: the real one is private. The paper's other
/// condition (14), that the hybrid beats `DPLloyd` with t ≥ 2 iterations, always holds for its t = 5.
#[must_use]
pub fn hybrid_refines(n_clusters: usize, dimension: usize, n: f64, epsilon: f64) -> bool {
    let d = dimension as f64;
    let refined = dplloyd_paper_mse(n_clusters, dimension, n, epsilon / 2.0, 1);
    let cells = (n * epsilon / 10.0).powf(2.0 * d / (2.0 + d));
    refined <= grid_variance(n_clusters, dimension, n, epsilon, cells)
}

#[cfg(test)]
mod tests;
