//! Lloyd's iterations on weighted points.

#[cfg(test)]
mod tests;

use ndarray::{Array2, ArrayView2};
use rayon::prelude::*;

use super::points::{Points, to_array};
use super::tree::Tree;
use crate::distance::squared_euclidean;
use crate::error::{ShapeError, check_columns};
use crate::nearest::PackedCenters;

/// Parts that the points are cut into, whatever the number of threads: sums of floats then have one
/// order.
const PARTS: usize = 16;

/// Fewest points of a part.
const MIN_PART: usize = 2048;

/// Points that are labeled and added before the next ones are: they stay in cache.
const BLOCK: usize = 1024;

/// With negative weights steps need not descend: a run ends when this many in a row found nothing
/// better.
const PATIENCE: usize = 20;

/// Points per part.
fn part_rows(n: usize) -> usize {
    n.div_ceil(PARTS).max(MIN_PART)
}

/// When a run ends, and where centers may lie.
pub(super) struct Limits {
    pub(super) max_iterations: usize,
    pub(super) tolerance: f64,
    pub(super) bound: f64,
}

/// What a run found.
pub(super) struct Run {
    pub(super) centers: Vec<f64>,
    pub(super) cost: f64,
    pub(super) labels: Vec<u32>,
    pub(super) n_iterations: usize,
}

/// Σ w·x and Σ w of each cluster.
pub(super) struct Sums {
    pub(super) weighted: Vec<f64>,
    pub(super) mass: Vec<f64>,
}

impl Sums {
    pub(super) fn new(k: usize, d: usize) -> Self {
        Self {
            weighted: vec![0.0; k * d],
            mass: vec![0.0; k],
        }
    }

    /// Adds the sums of other points.
    pub(super) fn add(&mut self, other: &Self) {
        for (a, b) in self.weighted.iter_mut().zip(&other.weighted) {
            *a += b;
        }
        for (a, b) in self.mass.iter_mut().zip(&other.mass) {
            *a += b;
        }
    }

    /// Adds points to one cluster: their Σ w·x and Σ w.
    #[inline]
    pub(super) fn add_to<const D: usize>(
        &mut self,
        cluster: usize,
        weighted: &[f64; D],
        mass: f64,
    ) {
        self.mass[cluster] += mass;
        for (s, x) in self.weighted[cluster * D..].iter_mut().zip(weighted) {
            *s += x;
        }
    }

    /// Σ w·‖x − c‖² from the sums and Σ w·‖x‖².
    fn cost(&self, centers: &[f64], d: usize, sq_norms: f64) -> f64 {
        let clusters = centers
            .chunks_exact(d)
            .zip(self.weighted.chunks_exact(d))
            .zip(&self.mass);
        let offsets = clusters.map(|((c, s), mass)| {
            let terms = c.iter().zip(s).map(|(c, s)| c * (mass * c - 2.0 * s));
            terms.sum::<f64>()
        });
        sq_norms + offsets.sum::<f64>()
    }

    /// The next centers: weighted means, clipped where a weight is negative; where the mass is not
    /// positive the center stays.
    fn centers(&self, now: &[f64], d: usize, clip: Option<f64>) -> Vec<f64> {
        let mut next = now.to_vec();
        for (j, center) in next.chunks_exact_mut(d).enumerate() {
            if self.mass[j] > 0.0 {
                for (c, s) in center.iter_mut().zip(&self.weighted[j * d..]) {
                    let mean = s / self.mass[j];
                    // A mass next to 0 may overflow the quotient; such a center stays as well.
                    if mean.is_finite() {
                        *c = clip.map_or(mean, |bound| mean.clamp(-bound, bound));
                    }
                }
            }
        }
        next
    }
}

fn pack(centers: &[f64], d: usize) -> PackedCenters<f64> {
    let view = ArrayView2::from_shape((centers.len() / d, d), centers);
    let packed = view.ok().and_then(|view| PackedCenters::new(view).ok());
    packed.expect("there is at least 1 center and 1 column, and k has 32 bits")
}

/// Gives each point to its nearest center, by every distance.
fn sums_by_kernel(points: &Points<'_>, centers: &[f64]) -> Sums {
    let d = points.dimension();
    let k = centers.len() / d;
    let packed = pack(centers, d);
    let rows = part_rows(points.len());
    let parts: Vec<Sums> = points
        .coordinates()
        .par_chunks(rows * d)
        .enumerate()
        .map(|(p, part)| {
            let mut sums = Sums::new(k, d);
            let mut labels = vec![0; BLOCK];
            for (b, block) in part.chunks(BLOCK * d).enumerate() {
                let labels = &mut labels[..block.len() / d];
                packed.assign(block, labels);
                let first = p * rows + b * BLOCK;
                for (t, (x, &label)) in block.chunks_exact(d).zip(&*labels).enumerate() {
                    let (j, w) = (label as usize, points.weight(first + t));
                    sums.mass[j] += w;
                    for (s, x) in sums.weighted[j * d..(j + 1) * d].iter_mut().zip(x) {
                        *s += w * x;
                    }
                }
            }
            sums
        })
        .collect();
    let mut total = Sums::new(k, d);
    for part in &parts {
        total.add(part);
    }
    total
}

/// Labels and cost of centers, by every distance.
fn evaluate(points: &Points<'_>, centers: &[f64]) -> (Vec<u32>, f64) {
    let d = points.dimension();
    let packed = pack(centers, d);
    let rows = part_rows(points.len());
    let mut labels = vec![0; points.len()];
    let costs: Vec<f64> = labels
        .par_chunks_mut(rows)
        .enumerate()
        .map(|(p, labels)| {
            let coordinates = &points.coordinates()[p * rows * d..][..labels.len() * d];
            let mut sq_distances = vec![0.0; labels.len()];
            packed.assign_with_distance(coordinates, labels, &mut sq_distances);
            let weighted = sq_distances.iter().enumerate();
            weighted
                .map(|(t, sq)| points.weight(p * rows + t) * sq)
                .sum()
        })
        .collect();
    (labels, costs.iter().sum())
}

/// Runs from `centers` (row-major) until they settle or the steps are used up. A tree, if there is
/// one, must be that of the points.
pub(super) fn run(
    points: &Points<'_>,
    tree: Option<&Tree>,
    mut centers: Vec<f64>,
    limits: &Limits,
) -> Run {
    let d = points.dimension();
    if d == 0 || points.len() == 0 {
        return Run {
            centers,
            cost: 0.0,
            labels: vec![0; points.len()],
            n_iterations: 0,
        };
    }
    // Without negative weights every step descends, and the last centers are the best.
    let signed = points.has_negative_weight();
    let clip = signed.then_some(limits.bound);
    let sq_norms = if signed { sum_sq_norms(points) } else { 0.0 };
    let mut best: Option<(f64, Vec<f64>)> = None;
    let (mut n_iterations, mut n_in_vain) = (0, 0);
    while n_iterations < limits.max_iterations && n_in_vain < PATIENCE {
        n_iterations += 1;
        let sums = tree.map_or_else(
            || sums_by_kernel(points, &centers),
            |tree| tree.sums(points, &centers),
        );
        if signed {
            let cost = sums.cost(&centers, d, sq_norms);
            if best.as_ref().is_none_or(|(lowest, _)| cost < *lowest) {
                best = Some((cost, centers.clone()));
                n_in_vain = 0;
            } else {
                n_in_vain += 1;
            }
        }
        let mut next = sums.centers(&centers, d, clip);
        if !signed {
            refill(points, &sums.mass, &centers, &mut next);
        }
        let sq_moved = largest_sq_move(&centers, &next, d);
        centers = next;
        if sq_moved <= limits.tolerance * limits.tolerance {
            break;
        }
    }
    let (mut labels, mut cost) = evaluate(points, &centers);
    if let Some((_, earlier)) = best.filter(|(lowest, _)| *lowest < cost) {
        let (earlier_labels, earlier_cost) = evaluate(points, &earlier);
        if earlier_cost < cost {
            (centers, labels, cost) = (earlier, earlier_labels, earlier_cost);
        }
    }
    Run {
        centers,
        cost,
        labels,
        n_iterations,
    }
}

fn sum_sq_norms(points: &Points<'_>) -> f64 {
    let sq_norm = |i: usize| points.row(i).iter().map(|x| x * x).sum::<f64>();
    (0..points.len())
        .map(|i| points.weight(i) * sq_norm(i))
        .sum()
}

fn largest_sq_move(from: &[f64], to: &[f64], d: usize) -> f64 {
    let moves = from.chunks_exact(d).zip(to.chunks_exact(d));
    let moves = moves.map(|(a, b)| squared_euclidean(a, b));
    moves.fold(0.0, |most, sq| if sq > most { sq } else { most })
}

/// Moves the centers of empty clusters to the points that cost most now, each to another one.
fn refill(points: &Points<'_>, mass: &[f64], now: &[f64], next: &mut [f64]) {
    let d = points.dimension();
    let empty: Vec<usize> = (0..mass.len()).filter(|&j| mass[j] <= 0.0).collect();
    if empty.is_empty() {
        return;
    }
    let (labels, _) = evaluate(points, now);
    let mut costs: Vec<(f64, usize)> = (labels.iter().enumerate())
        .filter_map(|(i, &label)| {
            let (x, c) = (points.row(i), &now[label as usize * d..][..d]);
            let sq = squared_euclidean(x, c);
            // Points that differ from their center by rounding alone gain nothing.
            let sq_norm: f64 = x.iter().map(|x| x * x).sum();
            (sq > 1e-26 * sq_norm).then_some((points.weight(i) * sq, i))
        })
        .filter(|&(cost, _)| cost > 0.0)
        .collect();
    // The most expensive first, ties by index.
    let order = |a: &(f64, usize), b: &(f64, usize)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
    if costs.len() > empty.len() {
        costs.select_nth_unstable_by(empty.len(), order);
        costs.truncate(empty.len());
    }
    costs.sort_unstable_by(order);
    for (&j, &(_, i)) in empty.iter().zip(&costs) {
        next[j * d..(j + 1) * d].copy_from_slice(points.row(i));
    }
}

/// One Lloyd step: every point goes to its nearest center (ties to the lowest index), every center
/// to the weighted mean of its points, clipped to `[-bound, bound]` per coordinate if a weight is
/// negative; a center whose points have no positive mass together stays.
///
/// # Errors
/// [`ShapeError`] if the columns differ or the number of weights is not n.
pub fn step(
    points: ArrayView2<'_, f64>,
    weights: Option<&[f64]>,
    centers: ArrayView2<'_, f64>,
    bound: f64,
) -> Result<Array2<f64>, ShapeError> {
    check_columns(points.ncols(), centers.ncols())?;
    let points = Points::new(points, weights)?;
    let (k, d) = centers.dim();
    let now: Vec<f64> = centers
        .iter()
        .map(|&c| if c.is_finite() { c } else { 0.0 })
        .collect();
    if k == 0 || d == 0 {
        return Ok(to_array(k, d, now));
    }
    let sums = sums_by_kernel(&points, &now);
    let clip = (points.has_negative_weight() && bound > 0.0).then_some(bound);
    Ok(to_array(k, d, sums.centers(&now, d, clip)))
}
