//! First centers by D² sampling.
//!
//! # Source
//! Arthur, Vassilvitskii (2007), "k-means++: the advantages of careful seeding". The greedy form
//! draws several candidates each time and keeps the one that lowers the cost most; Grunau,
//! Özüdoğru, Rozhoň, Tětek (2023) analyze it.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::ops::Range;

use ndarray::{Array2, ArrayView2};
use rand::Rng;
use rayon::prelude::*;

use super::points::{Points, to_array};
use crate::distance::{squared_euclidean, squared_in};
use crate::error::ShapeError;

/// Points of a block: one box bounds them, and their potentials are added before those of blocks
/// are, so that the number of threads does not change the last bit.
const BLOCK: usize = 128;

/// Blocks that are worth a task of their own.
const MIN_BLOCKS: usize = 64;

/// How first centers are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Init {
    /// D² sampling: each next center is a point drawn with probability ∝ weight · squared distance
    /// to the centers so far.
    KMeansPlusPlus,
    /// The best of 2 + ⌊ln k⌋ such draws each time.
    GreedyKMeansPlusPlus,
}

impl Init {
    fn n_candidates(self, k: usize) -> usize {
        match self {
            Self::KMeansPlusPlus => 1,
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "the logarithm of a count is below 45, and k is at least 1"
            )]
            Self::GreedyKMeansPlusPlus => 2 + libm::log(k as f64) as usize,
        }
    }
}

/// Draws `k` first centers among the points, shape (k, d). Weights count as max(w, 0).
///
/// Total: no points give centers at the origin; where no weight is positive all count alike; where
/// fewer than k distinct points remain, points are repeated.
///
/// # Errors
/// [`ShapeError`] if the number of weights is not n.
///
/// # Complexity
/// O(n·d·k) for D² sampling, O(n·d·k·log k) for the greedy form.
pub fn seed<R: Rng + ?Sized>(
    points: ArrayView2<'_, f64>,
    weights: Option<&[f64]>,
    k: usize,
    init: Init,
    rng: &mut R,
) -> Result<Array2<f64>, ShapeError> {
    let points = Points::new(points, weights)?;
    Ok(to_array(k, points.dimension(), draw(&points, k, init, rng)))
}

/// As [`seed`], row-major.
pub(super) fn draw<R: Rng + ?Sized>(
    points: &Points<'_>,
    k: usize,
    init: Init,
    rng: &mut R,
) -> Vec<f64> {
    let d = points.dimension();
    let mut seeder = Seeder::new(points);
    if seeder.n == 0 || d == 0 || k == 0 {
        return vec![0.0; k * d];
    }
    let mut centers = Vec::with_capacity(k * d);
    // Before the first center all distances count as 1.
    let first = seeder.sample(rng);
    seeder.add(first);
    centers.extend_from_slice(seeder.row(first));
    for _ in 1..k {
        let candidates: Vec<usize> = (0..init.n_candidates(k))
            .map(|_| seeder.sample(rng))
            .collect();
        let chosen = seeder.best(&candidates);
        seeder.add(chosen);
        centers.extend_from_slice(seeder.row(chosen));
    }
    centers
}

/// The points that may become centers, with their distance to the nearest center so far.
///
/// A center that is farther from the box of a block than each point of it from its own center
/// changes nothing there. Points that come in the order of a tree make small boxes, and most blocks
/// are then skipped.
struct Seeder<'a> {
    n: usize,
    dimension: usize,
    coordinates: Cow<'a, [f64]>,
    /// Positive; without weights all 1.
    weights: Option<Cow<'a, [f64]>>,
    /// Squared distance to the nearest center; infinite before the first.
    sq_distances: Vec<f64>,
    blocks: Vec<Block>,
}

/// Consecutive points.
struct Block {
    lo: Vec<f64>,
    hi: Vec<f64>,
    /// Σ weight · squared distance; Σ weight before the first center.
    potential: f64,
    /// Largest squared distance.
    farthest: f64,
}

impl Block {
    fn new(x: &[f64], d: usize, mass: f64) -> Self {
        let (mut lo, mut hi) = (x[..d].to_vec(), x[..d].to_vec());
        for row in x.chunks_exact(d) {
            for (t, &v) in row.iter().enumerate() {
                if v < lo[t] {
                    lo[t] = v;
                }
                if v > hi[t] {
                    hi[t] = v;
                }
            }
        }
        Self {
            lo,
            hi,
            potential: mass,
            farthest: f64::INFINITY,
        }
    }

    /// Is every point nearer to its own center than to this one?
    fn is_settled(&self, center: &[f64]) -> bool {
        let offsets = center.iter().zip(self.lo.iter().zip(&self.hi));
        let sq: f64 = offsets
            .map(|(&c, (&lo, &hi))| (c - c.clamp(lo, hi)).powi(2))
            .sum();
        sq >= self.farthest
    }
}

impl<'a> Seeder<'a> {
    fn new(points: &'a Points<'_>) -> Self {
        let dimension = points.dimension();
        let (coordinates, weights) = match points.weights() {
            Some(w) if w.iter().all(|&w| w > 0.0) => {
                (Cow::Borrowed(points.coordinates()), Some(Cow::Borrowed(w)))
            }
            Some(w) if w.iter().any(|&w| w > 0.0) => {
                let positive: Vec<usize> = (0..w.len()).filter(|&i| w[i] > 0.0).collect();
                let rows = positive.iter().flat_map(|&i| points.row(i).iter().copied());
                let weights = positive.iter().map(|&i| w[i]).collect();
                (Cow::Owned(rows.collect()), Some(Cow::Owned(weights)))
            }
            _ => (Cow::Borrowed(points.coordinates()), None),
        };
        let n = (weights.as_ref()).map_or(points.len(), |w: &Cow<'_, [f64]>| w.len());
        let block = |x: &[f64], b: usize| {
            let range = b * BLOCK..(b * BLOCK + BLOCK).min(n);
            let mass = weights
                .as_ref()
                .map_or(range.len() as f64, |w| w[range].iter().sum());
            Block::new(x, dimension, mass)
        };
        let blocks = match dimension {
            0 => Vec::new(),
            d => coordinates
                .chunks(BLOCK * d)
                .zip(0..)
                .map(|(x, b)| block(x, b))
                .collect(),
        };
        Self {
            blocks,
            n,
            dimension,
            coordinates,
            weights,
            sq_distances: vec![f64::INFINITY; n],
        }
    }

    fn row(&self, i: usize) -> &[f64] {
        &self.coordinates[i * self.dimension..(i + 1) * self.dimension]
    }

    fn weight(&self, i: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |w| w[i])
    }

    /// What a point adds to the potential.
    fn potential(&self, i: usize) -> f64 {
        let sq = self.sq_distances[i];
        self.weight(i) * if sq == f64::INFINITY { 1.0 } else { sq }
    }

    /// Draws a point with probability proportional to its part of the potential; if nothing is left
    /// of it, to its weight.
    fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> usize {
        let total: f64 = self.blocks.iter().map(|block| block.potential).sum();
        let u: f64 = rng.random();
        if total > 0.0 && total.is_finite() {
            let mut target = u * total;
            let mut b = 0;
            while b + 1 < self.blocks.len() && target >= self.blocks[b].potential {
                target -= self.blocks[b].potential;
                b += 1;
            }
            let end = (b * BLOCK + BLOCK).min(self.n);
            pick(b * BLOCK..end, target, |i| self.potential(i))
        } else {
            let mass: f64 = (0..self.n).map(|i| self.weight(i)).sum();
            pick(0..self.n, u * mass, |i| self.weight(i))
        }
    }

    /// The candidate that leaves the lowest potential; the first of equals.
    fn best(&self, candidates: &[usize]) -> usize {
        if candidates.len() == 1 {
            return candidates[0];
        }
        let blocks: Vec<Vec<f64>> = (self.blocks.par_iter().enumerate())
            .with_min_len(MIN_BLOCKS)
            .map(|(b, block)| {
                let after = |&c: &usize| self.potential_with(b, block, self.row(c));
                candidates.iter().map(after).collect()
            })
            .collect();
        let total = |c: usize| blocks.iter().map(|after| after[c]).sum::<f64>();
        let totals: Vec<f64> = (0..candidates.len()).map(total).collect();
        let pairs = candidates.iter().zip(&totals);
        let best = pairs.min_by(|a, b| a.1.total_cmp(b.1));
        best.map_or(0, |(&i, _)| i)
    }

    /// A block's potential if there were one center more.
    fn potential_with(&self, b: usize, block: &Block, center: &[f64]) -> f64 {
        if block.is_settled(center) {
            return block.potential;
        }
        let d = self.dimension;
        let start = b * BLOCK;
        let end = (start + BLOCK).min(self.n);
        let mut potential = 0.0;
        each_sq_distance(&self.coordinates[start * d..end * d], center, |t, sq| {
            let now = self.sq_distances[start + t];
            potential += self.weight(start + t) * if sq < now { sq } else { now };
        });
        potential
    }

    /// Makes a point a center.
    fn add(&mut self, center: usize) {
        let d = self.dimension;
        let center = self.row(center).to_vec();
        let weights = self.weights.as_deref();
        (self.blocks.par_iter_mut())
            .zip(self.sq_distances.par_chunks_mut(BLOCK))
            .zip(self.coordinates.par_chunks(BLOCK * d))
            .enumerate()
            .with_min_len(MIN_BLOCKS)
            .for_each(|(b, ((block, sq_distances), x))| {
                if block.is_settled(&center) {
                    return;
                }
                (block.potential, block.farthest) = (0.0, 0.0);
                each_sq_distance(x, &center, |t, sq| {
                    let now = &mut sq_distances[t];
                    if sq < *now {
                        *now = sq;
                    }
                    if *now > block.farthest {
                        block.farthest = *now;
                    }
                    block.potential += weights.map_or(1.0, |w| w[b * BLOCK + t]) * *now;
                });
            });
    }
}

/// Calls `visit` with each row's place and its squared distance to `center`.
#[inline]
fn each_sq_distance(x: &[f64], center: &[f64], visit: impl FnMut(usize, f64)) {
    #[inline]
    fn each<const D: usize>(x: &[f64], center: &[f64], mut visit: impl FnMut(usize, f64)) {
        if let Some(center) = center.first_chunk::<D>() {
            for (t, row) in x.as_chunks::<D>().0.iter().enumerate() {
                visit(t, squared_in(row, center));
            }
        }
    }
    match center.len() {
        1 => each::<1>(x, center, visit),
        2 => each::<2>(x, center, visit),
        3 => each::<3>(x, center, visit),
        4 => each::<4>(x, center, visit),
        d => {
            let mut visit = visit;
            for (t, row) in x.chunks_exact(d).enumerate() {
                visit(t, squared_euclidean(row, center));
            }
        }
    }
}

/// The index where the running sum passes `target`; rounding may leave it unpassed: the last index
/// of positive share then.
fn pick(range: Range<usize>, mut target: f64, share: impl Fn(usize) -> f64) -> usize {
    let mut last = range.start;
    for i in range {
        let share = share(i);
        if share > 0.0 {
            last = i;
            if target < share {
                break;
            }
            target -= share;
        }
    }
    last
}
