//! Lloyd steps in few columns, sparing distances by the triangle inequality.
//!
//! Per point an upper bound of the distance to its center and a lower bound of the distance to any other are kept from step to
//! step and loosened by how far centers moved. Where they do not decide, only centers in a ball around the point's own center are
//! looked at.
//!
//! # Source
//! Hamerly (2010), "Making k-means even faster"; Newling, Fleuret (2016), "Fast k-means with accurate bounds" (exponion).

#[cfg(test)]
mod tests;

use rayon::prelude::*;

use super::lloyd::{Sums, part_rows};
use super::points::Points;
use super::seeding::sq_distance_in;

/// Most columns: beyond, bounds decide too little and the kernel is faster.
const MAX_DIMENSION: usize = 4;

/// Most clusters: the table of distances between centers grows as their square.
const MAX_CLUSTERS: usize = 256;

/// The bounds of all points.
pub(super) struct Bounds {
    labels: Vec<u32>,
    /// Not below the distance to the point's own center; infinite before the first step.
    upper: Vec<f64>,
    /// Not above the distance to any other center.
    lower: Vec<f64>,
    /// The centers that the bounds are about, row-major; empty before the first step.
    centers: Vec<f64>,
}

impl Bounds {
    pub(super) fn suit(dimension: usize, k: usize) -> bool {
        (1..=MAX_DIMENSION).contains(&dimension) && (1..=MAX_CLUSTERS).contains(&k)
    }

    pub(super) fn new(n: usize) -> Self {
        Self {
            labels: vec![0; n],
            upper: vec![f64::INFINITY; n],
            lower: vec![0.0; n],
            centers: Vec::new(),
        }
    }

    pub(super) fn labels(&self) -> &[u32] {
        &self.labels
    }

    /// Labels all points anew and adds them up.
    pub(super) fn sums(&mut self, points: &Points<'_>, centers: &[f64]) -> Sums {
        match points.dimension() {
            1 => self.sums_in::<1>(points, centers),
            2 => self.sums_in::<2>(points, centers),
            3 => self.sums_in::<3>(points, centers),
            _ => self.sums_in::<MAX_DIMENSION>(points, centers),
        }
    }

    fn sums_in<const D: usize>(&mut self, points: &Points<'_>, centers: &[f64]) -> Sums {
        let (now, _) = centers.as_chunks::<D>();
        let k = now.len();
        let table = Table::new(now);
        let drift = Drift::new(self.centers.as_chunks::<D>().0, now);
        let (x, _) = points.coordinates().as_chunks::<D>();
        let rows = part_rows(points.len());
        let parts: Vec<Sums> = (self.labels.par_chunks_mut(rows))
            .zip(self.upper.par_chunks_mut(rows))
            .zip(self.lower.par_chunks_mut(rows))
            .enumerate()
            .map(|(p, ((labels, upper), lower))| {
                let mut sums = Sums::new(k, D);
                let (weighted, _) = sums.weighted.as_chunks_mut::<D>();
                let bounds = labels.iter_mut().zip(upper).zip(lower);
                for (i, ((label, upper), lower)) in (p * rows..).zip(bounds) {
                    let own = *label as usize;
                    *upper += drift.moved[own];
                    *lower -= if own == drift.farthest {
                        drift.second
                    } else {
                        drift.most
                    };
                    relabel(&x[i], now, &table, label, upper, lower);
                    let (own, w) = (*label as usize, points.weight(i));
                    sums.mass[own] += w;
                    for t in 0..D {
                        weighted[own][t] += w * x[i][t];
                    }
                }
                sums
            })
            .collect();
        self.centers.clear();
        self.centers.extend_from_slice(centers);
        Sums::merge(k, D, &parts)
    }
}

/// Finds the nearest center of a point, unless its bounds say that it is still the same.
#[inline]
fn relabel<const D: usize>(
    x: &[f64; D],
    centers: &[[f64; D]],
    table: &Table,
    label: &mut u32,
    upper: &mut f64,
    lower: &mut f64,
) {
    let own = *label as usize;
    // Another center is at least as far from the own one as `gap`, so at least gap − u from here: farther than u if u < gap/2.
    let gap = table.gap(own);
    let decided = if *lower > gap / 2.0 {
        *lower
    } else {
        gap / 2.0
    };
    if *upper < decided {
        return;
    }
    let sq_own = sq_distance_in(x, &centers[own]);
    let u = sq_own.sqrt();
    *upper = u;
    if u < decided {
        return;
    }
    // The second nearest center is at most u + gap away, hence the two nearest lie within 2u + gap of the own center.
    let (mut nearest, mut sq_nearest, mut sq_second) = (*label, sq_own, f64::INFINITY);
    for &(distance, j) in table.neighbors(own) {
        if distance > 2.0 * u + gap {
            break;
        }
        let sq = sq_distance_in(x, &centers[j as usize]);
        if (sq, j) < (sq_nearest, nearest) {
            sq_second = sq_nearest;
            (nearest, sq_nearest) = (j, sq);
        } else if sq < sq_second {
            sq_second = sq;
        }
    }
    *label = nearest;
    *upper = sq_nearest.sqrt();
    *lower = sq_second.sqrt();
}

/// For each center the others, nearest first.
struct Table {
    k: usize,
    neighbors: Vec<(f64, u32)>,
}

impl Table {
    fn new<const D: usize>(centers: &[[f64; D]]) -> Self {
        let k = centers.len();
        let mut neighbors = Vec::with_capacity(k * k.saturating_sub(1));
        for a in centers.iter().enumerate() {
            let start = neighbors.len();
            for (j, b) in (0_u32..).zip(centers) {
                if j as usize != a.0 {
                    neighbors.push((sq_distance_in(a.1, b).sqrt(), j));
                }
            }
            neighbors[start..].sort_unstable_by(|p, q| p.0.total_cmp(&q.0));
        }
        Self { k, neighbors }
    }

    fn neighbors(&self, j: usize) -> &[(f64, u32)] {
        &self.neighbors[j * (self.k - 1)..(j + 1) * (self.k - 1)]
    }

    /// Distance to the nearest other center; infinite if there is none.
    fn gap(&self, j: usize) -> f64 {
        self.neighbors(j).first().map_or(f64::INFINITY, |n| n.0)
    }
}

/// How far each center moved since the bounds were made.
struct Drift {
    moved: Vec<f64>,
    /// The center that moved most, by how much, and the most that any other moved.
    farthest: usize,
    most: f64,
    second: f64,
}

impl Drift {
    fn new<const D: usize>(before: &[[f64; D]], now: &[[f64; D]]) -> Self {
        let mut drift = Self {
            moved: vec![0.0; now.len()],
            farthest: 0,
            most: 0.0,
            second: 0.0,
        };
        for (j, (a, b)) in before.iter().zip(now).enumerate() {
            let moved = sq_distance_in(a, b).sqrt();
            drift.moved[j] = moved;
            if moved > drift.most {
                drift.second = drift.most;
                (drift.farthest, drift.most) = (j, moved);
            } else if moved > drift.second {
                drift.second = moved;
            }
        }
        drift
    }
}
