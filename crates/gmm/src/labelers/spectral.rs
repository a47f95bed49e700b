//! Projection on the first k principal components, then single linkage cut at k clusters.
//!
//! # Source
//!
//! Achlioptas, McSherry, "On spectral learning of mixtures of distributions", COLT 2005.

use nalgebra::DMatrix;
use ndarray::{Array2, ArrayView2, Axis};
use rand::RngCore;

use super::Labeler;
use crate::error::ParamsError;

/// Spectral labeling. O(m²) for m records of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spectral {
    n_clusters: usize,
}

impl Spectral {
    /// k labels.
    ///
    /// # Errors
    ///
    /// [`ParamsError::NoClusters`] if k is 0.
    pub const fn new(n_clusters: usize) -> Result<Self, ParamsError> {
        if n_clusters == 0 {
            return Err(ParamsError::NoClusters);
        }
        Ok(Self { n_clusters })
    }
}

impl Labeler for Spectral {
    fn labels(&self, records: ArrayView2<'_, f64>, _: &mut dyn RngCore) -> Option<Vec<u32>> {
        if records.nrows() < self.n_clusters || !records.iter().all(|x| x.is_finite()) {
            return None;
        }
        let projected = project(records, self.n_clusters)?;
        Some(single_linkage(projected.view(), self.n_clusters))
    }
}

/// Coordinates along the `k` directions of largest variance (all columns if there are no more).
fn project(records: ArrayView2<'_, f64>, k: usize) -> Option<Array2<f64>> {
    let (_, d) = records.dim();
    let centered = &records - &records.mean_axis(Axis(0))?;
    if d <= k {
        return Some(centered);
    }
    let scatter = centered.t().dot(&centered);
    let eigen = crate::spd::eigen(DMatrix::from_fn(d, d, |i, j| scatter[[i, j]]))?;
    let mut order: Vec<usize> = (0..d).collect();
    order.sort_by(|&a, &b| {
        eigen.eigenvalues[b]
            .total_cmp(&eigen.eigenvalues[a])
            .then(a.cmp(&b))
    });
    let basis = Array2::from_shape_fn((d, k), |(i, j)| eigen.eigenvectors[(i, order[j])]);
    Some(centered.dot(&basis))
}

/// Cuts the k − 1 longest edges of the minimum spanning tree.
fn single_linkage(points: ArrayView2<'_, f64>, k: usize) -> Vec<u32> {
    let m = points.nrows();
    // Prim: the cheapest edge from the tree to each point outside.
    let mut cheapest = vec![(f64::INFINITY, 0_usize); m];
    let mut inside = vec![false; m];
    let mut edges: Vec<(f64, usize, usize)> = Vec::with_capacity(m.saturating_sub(1));
    let mut last = 0;
    inside[0] = true;
    for _ in 1..m {
        let mut next = None;
        for at in 0..m {
            if inside[at] {
                continue;
            }
            let distance: f64 = points
                .row(at)
                .iter()
                .zip(points.row(last))
                .map(|(a, b)| (a - b) * (a - b))
                .sum();
            if distance < cheapest[at].0 {
                cheapest[at] = (distance, last);
            }
            if next.is_none_or(|best: usize| cheapest[at].0 < cheapest[best].0) {
                next = Some(at);
            }
        }
        let Some(at) = next else { break };
        inside[at] = true;
        edges.push((cheapest[at].0, cheapest[at].1, at));
        last = at;
    }
    edges.sort_by(|a, b| a.0.total_cmp(&b.0));
    edges.truncate(m.saturating_sub(k));
    components(m, &edges)
}

/// Labels of connected components, numbered by their first point.
fn components(m: usize, edges: &[(f64, usize, usize)]) -> Vec<u32> {
    let mut neighbors = vec![Vec::new(); m];
    for &(_, a, b) in edges {
        neighbors[a].push(b);
        neighbors[b].push(a);
    }
    let mut labels = vec![u32::MAX; m];
    let mut next = 0;
    for start in 0..m {
        if labels[start] != u32::MAX {
            continue;
        }
        let mut open = vec![start];
        labels[start] = next;
        while let Some(at) = open.pop() {
            for &to in &neighbors[at] {
                if labels[to] == u32::MAX {
                    labels[to] = next;
                    open.push(to);
                }
            }
        }
        next += 1;
    }
    labels
}
