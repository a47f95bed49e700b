//! Demand around public sites: how many uncovered records each ball holds, kept up to date.
//!
//! Counts are updated, not recomputed: when the threshold grows, each uncovered record adds itself to the sites of its new
//! ring; when it is covered it takes itself out of its ball. A record is covered once, so over all thresholds it costs one visit
//! to each site that is nearer than the threshold at which it was covered, twice.
//!
//! Running time depends on the records (how long they stay uncovered, how many sites are near); results do not depend on
//! their order.

use metric_space::{BallIndex, Domain, Metric, RecordSource, SourceError, metric::nearest_site};
use rayon::prelude::*;

use crate::greedy::Coverage;

#[cfg(test)]
mod tests;

/// Private records as points of the public domain: distinct points with how often each occurs, in an order of their own.
#[derive(Clone)]
pub(crate) struct Demand {
    /// Row after row.
    points: Vec<f64>,
    columns: usize,
    multiplicity: Vec<i64>,
}

impl Demand {
    /// Reads all records and clips each into the domain (what is not finite becomes the middle of its bounds).
    pub(crate) fn read<S: RecordSource + ?Sized>(
        source: &S,
        domain: &Domain,
    ) -> Result<Self, SourceError> {
        let columns = domain.dimension();
        let mut rows: Vec<f64> = Vec::new();
        source.for_each_chunk(&mut |chunk| {
            if chunk.dimension() != columns {
                return Err(SourceError::Columns {
                    expected: columns,
                    found: chunk.dimension(),
                });
            }
            let start = rows.len();
            rows.resize(start + chunk.len() * columns, 0.0);
            chunk.copy_to_f64(&mut rows[start..]);
            rows[start..]
                .par_chunks_mut(columns)
                .with_min_len(1024)
                .for_each_init(Vec::new, |record, row| {
                    record.clear();
                    record.extend_from_slice(row);
                    domain.clip_original(record);
                    row.copy_from_slice(record);
                });
            Ok(())
        })?;
        Ok(Self::from_rows(&rows, columns))
    }

    fn from_rows(rows: &[f64], columns: usize) -> Self {
        let mut order: Vec<&[f64]> = rows.chunks_exact(columns).collect();
        let compare = |a: &&[f64], b: &&[f64]| {
            let differing = a.iter().zip(*b).map(|(x, y)| x.total_cmp(y));
            differing.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
        };
        order.par_sort_unstable_by(compare);
        let mut points = Vec::new();
        let mut multiplicity = Vec::new();
        for same in order.chunk_by(|a, b| compare(a, b).is_eq()) {
            points.extend_from_slice(same[0]);
            multiplicity.push(i64::try_from(same.len()).unwrap_or(i64::MAX));
        }
        Self {
            points,
            columns,
            multiplicity,
        }
    }

    /// Number of distinct points: private.
    pub(crate) fn len(&self) -> usize {
        self.multiplicity.len()
    }

    /// Number of records: private under add-remove.
    pub(crate) fn total(&self) -> u64 {
        self.multiplicity
            .iter()
            .map(|times| times.unsigned_abs())
            .sum()
    }

    pub(crate) const fn columns(&self) -> usize {
        self.columns
    }

    /// How many records are this point.
    pub(crate) fn times(&self, i: u32) -> i64 {
        self.multiplicity[i as usize]
    }

    /// Indices of all distinct points.
    pub(crate) fn indices(&self) -> Vec<u32> {
        (0..u32::try_from(self.len()).unwrap_or(u32::MAX)).collect()
    }

    pub(crate) fn point(&self, i: u32) -> &[f64] {
        let i = i as usize;
        &self.points[i * self.columns..(i + 1) * self.columns]
    }

    /// How many records have each of the sites (rows of `columns` numbers) as their nearest, ties to the lowest index.
    pub(crate) fn nearest_counts<M: Metric>(&self, metric: &M, sites: &[f64]) -> Vec<i64> {
        let n_sites = sites.len() / self.columns;
        let zero = || vec![0_i64; n_sites];
        (self
            .points
            .par_chunks_exact(self.columns)
            .zip(&self.multiplicity))
        .with_min_len(512)
        .fold(zero, |mut counts, (point, times)| {
            let (nearest, _) = nearest_site(metric, point, sites, self.columns);
            if let Some(count) = counts.get_mut(nearest) {
                *count += times;
            }
            counts
        })
        .reduce(zero, added)
    }
}

fn added(mut total: Vec<i64>, part: Vec<i64>) -> Vec<i64> {
    for (total, part) in total.iter_mut().zip(part) {
        *total += part;
    }
    total
}

/// Demand that no pick has covered yet, at the current threshold.
pub(crate) struct DemandCoverage<'a, M> {
    demand: &'a Demand,
    index: &'a BallIndex<'a, M>,
    /// Indices of uncovered points.
    uncovered: Vec<u32>,
    /// Per site: uncovered records at distance at most `radius`.
    scores: Vec<i64>,
    /// Current threshold; below zero before the first.
    radius: f64,
}

/// Points that are worth a task of their own.
const TASK_POINTS: usize = 256;

impl<'a, M: Metric> DemandCoverage<'a, M> {
    pub(crate) fn new(demand: &'a Demand, index: &'a BallIndex<'a, M>) -> Self {
        Self {
            uncovered: (0..u32::try_from(demand.multiplicity.len()).unwrap_or(u32::MAX)).collect(),
            scores: vec![0; index.len()],
            radius: -1.0,
            demand,
            index,
        }
    }

    /// Goes on to a larger threshold; ∞ covers everything.
    pub(crate) fn widen(&mut self, radius: f64) {
        let before = std::mem::replace(&mut self.radius, radius);
        if radius == f64::INFINITY {
            let all: i64 = self
                .uncovered
                .iter()
                .map(|&i| self.demand.multiplicity[i as usize])
                .sum();
            self.scores.fill(all);
            return;
        }
        let added = self.count(&self.uncovered, |distance| distance > before);
        for (score, added) in self.scores.iter_mut().zip(added) {
            *score += added;
        }
    }

    /// Per site: records among `points` at distance at most the current radius for which `counts` holds.
    fn count(&self, points: &[u32], counts: impl Fn(f64) -> bool + Sync) -> Vec<i64> {
        let zero = || vec![0_i64; self.scores.len()];
        let add = |mut sums: Vec<i64>, &i: &u32| {
            let times = self.demand.multiplicity[i as usize];
            self.index
                .within(self.demand.point(i), self.radius, |site, distance| {
                    if counts(distance) {
                        sums[site] += times;
                    }
                });
            sums
        };
        if points.len() < 2 * TASK_POINTS {
            return points.iter().fold(zero(), add);
        }
        let task = points
            .len()
            .div_ceil(4 * rayon::current_num_threads())
            .max(TASK_POINTS);
        points
            .par_chunks(task)
            .map(|part| part.iter().fold(zero(), add))
            .reduce(zero, added)
    }
}

impl<M: Metric> Coverage for DemandCoverage<'_, M> {
    fn len(&self) -> usize {
        self.scores.len()
    }

    fn scores(&self) -> &[i64] {
        &self.scores
    }

    fn cover(&mut self, set: usize) {
        if self.radius == f64::INFINITY {
            self.uncovered.clear();
            self.scores.fill(0);
            return;
        }
        // The same comparison as in the counts: the distance of the point to the site, and the radius.
        let site = self.index.site(set);
        let is_covered =
            |&i: &u32| self.index.metric().distance(self.demand.point(i), site) <= self.radius;
        let (covered, uncovered): (Vec<u32>, Vec<u32>) = if self.uncovered.len() < 16 * TASK_POINTS
        {
            self.uncovered.iter().partition(|i| is_covered(i))
        } else {
            self.uncovered
                .par_iter()
                .with_min_len(TASK_POINTS)
                .partition(|i| is_covered(i))
        };
        if covered.is_empty() {
            return;
        }
        let removed = self.count(&covered, |_| true);
        for (score, removed) in self.scores.iter_mut().zip(removed) {
            *score -= removed;
        }
        self.uncovered = uncovered;
    }
}
