//! One move of a center to where it is missed most.
//!
//! # Source
//!
//! Lattanzi, Sohler 2019, "A better k-means++ algorithm via local search": a candidate by D² sampling replaces the
//! center whose loss costs least.

use metric_space::squared_euclidean;
use ndarray::{Array2, ArrayView2};
use rand::{Rng, RngCore};

/// The centers with one of them moved to a cell drawn with probability ∝ weight · squared distance; the one whose move
/// leaves the lowest cost. None if no cell can be drawn or there is a single center.
///
/// Weights are not negative here.
pub(super) fn swapped(
    cells: ArrayView2<'_, f64>,
    weights: &[f64],
    centers: ArrayView2<'_, f64>,
    public: &mut dyn RngCore,
) -> Option<Array2<f64>> {
    if centers.nrows() < 2 {
        return None;
    }
    let near: Vec<Nearest> = cells
        .rows()
        .into_iter()
        .zip(weights)
        .map(|(cell, &w)| {
            if w > 0.0 {
                nearest(cell, centers)
            } else {
                Nearest::default()
            }
        })
        .collect();
    let potential: f64 = near
        .iter()
        .zip(weights)
        .map(|(near, w)| w * near.first)
        .sum();
    if !(potential > 0.0 && potential.is_finite()) {
        return None;
    }
    let mut left = public.random::<f64>() * potential;
    let drawn = near.iter().zip(weights).position(|(near, w)| {
        left -= w * near.first;
        w * near.first > 0.0 && left < 0.0
    });
    let drawn = drawn.or_else(|| {
        near.iter()
            .zip(weights)
            .rposition(|(near, w)| w * near.first > 0.0)
    })?;
    let candidate = cells.row(drawn);
    // What the cost rises by if center j is lost while the candidate is there.
    let mut loss = vec![0.0; centers.nrows()];
    for ((cell, &w), near) in cells.rows().into_iter().zip(weights).zip(&near) {
        if w > 0.0 {
            let new = distance(cell, candidate);
            let kept = if new < near.first { new } else { near.first };
            let without = if new < near.second { new } else { near.second };
            loss[near.label] += w * (without - kept);
        }
    }
    let dropped = (0..loss.len()).min_by(|&a, &b| loss[a].total_cmp(&loss[b]))?;
    let mut next = centers.to_owned();
    next.row_mut(dropped).assign(&candidate);
    Some(next)
}

/// Squared distances to the nearest and the second nearest center.
#[derive(Clone, Copy, Debug, Default)]
struct Nearest {
    label: usize,
    first: f64,
    second: f64,
}

fn nearest(cell: ndarray::ArrayView1<'_, f64>, centers: ArrayView2<'_, f64>) -> Nearest {
    let mut near = Nearest {
        label: 0,
        first: f64::INFINITY,
        second: f64::INFINITY,
    };
    for (j, center) in centers.rows().into_iter().enumerate() {
        let sq = distance(cell, center);
        if sq < near.first {
            near = Nearest {
                label: j,
                first: sq,
                second: near.first,
            };
        } else if sq < near.second {
            near.second = sq;
        }
    }
    near
}

fn distance(a: ndarray::ArrayView1<'_, f64>, b: ndarray::ArrayView1<'_, f64>) -> f64 {
    match (a.as_slice(), b.as_slice()) {
        (Some(a), Some(b)) => squared_euclidean(a, b),
        _ => a.iter().zip(&b).map(|(a, b)| (a - b) * (a - b)).sum(),
    }
}
