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
