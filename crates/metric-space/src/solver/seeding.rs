//! First centers by D² sampling.
//!
//! # Source
//! Arthur, Vassilvitskii (2007), "k-means++: the advantages of careful seeding". The greedy form draws several candidates each time
//! and keeps the one that lowers the cost most; Grunau, Özüdoğru, Rozhoň, Tětek (2023) analyze it.

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use ndarray::{Array2, ArrayView2};
use rand::Rng;
use rayon::prelude::*;

use super::points::{Points, to_array};
use crate::distance::squared_euclidean;
use crate::error::ShapeError;

/// Points whose potentials are added before blocks are: fixed, so that threads do not change the last bit.
const BLOCK: usize = 1024;

/// Blocks that are worth a task of their own.
const MIN_BLOCKS: usize = 8;

/// How first centers are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Init {
    /// D² sampling: each next center is a point drawn with probability ∝ weight · squared distance to the centers so far.
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
/// Total: no points give centers at the origin; where no weight is positive all count alike; where fewer than k distinct
/// points remain, points are repeated.
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
struct Seeder<'a> {
    n: usize,
    dimension: usize,
    coordinates: Cow<'a, [f64]>,
    /// Positive; without weights all 1.
    weights: Option<Cow<'a, [f64]>>,
    /// Squared distance to the nearest center; infinite before the first.
    sq_distances: Vec<f64>,
    /// Σ weight · squared distance of each block; Σ weight before the first center.
    potentials: Vec<f64>,
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
        let n = weights
            .as_ref()
            .map_or(points.len(), |w: &Cow<'_, [f64]>| w.len());
        let potentials = (0..n.div_ceil(BLOCK)).map(|b| {
            let block = b * BLOCK..(b * BLOCK + BLOCK).min(n);
            weights
                .as_ref()
                .map_or(block.len() as f64, |w| w[block].iter().sum())
        });
        Self {
            potentials: potentials.collect(),
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

    /// Draws a point with probability proportional to its part of the potential; if nothing is left of it, to its weight.
    fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> usize {
        let total: f64 = self.potentials.iter().sum();
        let u: f64 = rng.random();
        if total > 0.0 && total.is_finite() {
            let mut target = u * total;
            let mut block = 0;
            while block + 1 < self.potentials.len() && target >= self.potentials[block] {
                target -= self.potentials[block];
                block += 1;
            }
            let end = (block * BLOCK + BLOCK).min(self.n);
            pick(block * BLOCK..end, target, |i| self.potential(i))
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
        let potentials = match self.dimension {
            1 => self.potentials_in::<1>(candidates),
            2 => self.potentials_in::<2>(candidates),
            3 => self.potentials_in::<3>(candidates),
            4 => self.potentials_in::<4>(candidates),
            _ => self.potentials_with(candidates, |i, candidate| {
                squared_euclidean(self.row(i), self.row(candidate))
            }),
        };
        let pairs = candidates.iter().zip(&potentials);
        pairs
            .min_by(|a, b| a.1.total_cmp(b.1))
            .map_or(0, |(&i, _)| i)
    }

    /// Potentials after each candidate, for a dimension that the compiler knows.
    fn potentials_in<const D: usize>(&self, candidates: &[usize]) -> Vec<f64> {
        let (rows, _) = self.coordinates.as_chunks::<D>();
        self.potentials_with(candidates, |i, candidate| {
            sq_distance_in(&rows[i], &rows[candidate])
        })
    }

    fn potentials_with(
        &self,
        candidates: &[usize],
        sq_distance: impl Fn(usize, usize) -> f64 + Sync,
    ) -> Vec<f64> {
        let blocks: Vec<Vec<f64>> = (0..self.potentials.len())
            .into_par_iter()
            .with_min_len(MIN_BLOCKS)
            .map(|b| {
                let mut sums = vec![0.0; candidates.len()];
                for i in b * BLOCK..(b * BLOCK + BLOCK).min(self.n) {
                    let (now, weight) = (self.sq_distances[i], self.weight(i));
                    for (sum, &candidate) in sums.iter_mut().zip(candidates) {
                        let sq = sq_distance(i, candidate);
                        *sum += weight * if sq < now { sq } else { now };
                    }
                }
                sums
            })
            .collect();
        let column = |c: usize| blocks.iter().map(|sums| sums[c]).sum();
        (0..candidates.len()).map(column).collect()
    }

    /// Makes a point a center.
    fn add(&mut self, center: usize) {
        let d = self.dimension;
        let center = self.row(center).to_vec();
        let (coordinates, weights) = (&self.coordinates, &self.weights);
        self.sq_distances
            .par_chunks_mut(BLOCK)
            .zip(&mut self.potentials)
            .enumerate()
            .with_min_len(MIN_BLOCKS)
            .for_each(|(b, (sq_distances, potential))| {
                *potential = 0.0;
                for (t, now) in sq_distances.iter_mut().enumerate() {
                    let i = b * BLOCK + t;
                    let sq = squared_euclidean(&coordinates[i * d..(i + 1) * d], &center);
                    if sq < *now {
                        *now = sq;
                    }
                    *potential += weights.as_ref().map_or(1.0, |w| w[i]) * *now;
                }
            });
    }
}

/// The index where the running sum passes `target`; rounding may leave it unpassed: the last index of positive share then.
fn pick(range: std::ops::Range<usize>, mut target: f64, share: impl Fn(usize) -> f64) -> usize {
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

#[inline]
pub(super) fn sq_distance_in<const D: usize>(a: &[f64; D], b: &[f64; D]) -> f64 {
    let mut sq = 0.0;
    for t in 0..D {
        sq += (a[t] - b[t]) * (a[t] - b[t]);
    }
    sq
}
