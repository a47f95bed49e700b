//! The baseline: local search whose swaps are drawn by the exponential mechanism, pure ε.
//!
//! # Source
//!
//! Gupta, Ligett, McSherry, Roth, Talwar, "Differentially Private Combinatorial Optimization", SODA 2010, Algorithm 1. Different
//! here: costs are integers (each record's d^p in units of Δ^p/2¹⁶, rounded), and under add-remove, where costs only grow with a
//! record, each pick costs half of what the paper says.

use dp_core::mechanism::{SelectionMechanism, SelectionRule};
use dp_core::rounding::split;
use dp_core::sensitivity::ScoreWidth;
use dp_core::{Confidential, Epsilon, Event, NeighboringRelation, Session};
use metric_space::{Metric, Power, RecordSource};
use rand::RngCore;

use crate::coverage::Demand;
use crate::error::{FitError, ParamsError};
use crate::space::Space;

#[cfg(test)]
mod tests;

/// What a record costs at most, in integer units.
const COST_UNITS: u64 = 1 << 16;

/// Steps beyond which a search is refused.
const MAX_STEPS: u64 = 1_000_000;

/// Private local search with T = ⌈6k·ln|V|⌉ swaps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GuptaLocalSearch {
    n_clusters: usize,
    epsilon: Epsilon,
    power: Power,
}

impl GuptaLocalSearch {
    /// k centers for Σ d^p at loss ε.
    ///
    /// # Errors
    ///
    /// [`ParamsError::NoClusters`] if k is 0.
    pub fn new(n_clusters: usize, epsilon: Epsilon, power: Power) -> Result<Self, ParamsError> {
        if n_clusters == 0 {
            return Err(ParamsError::NoClusters);
        }
        Ok(Self {
            n_clusters,
            epsilon,
            power,
        })
    }

    /// T for so many sites: swaps made; one more pick chooses among the sets on the way.
    #[must_use]
    pub fn steps(&self, n_sites: usize) -> u64 {
        if self.n_clusters >= n_sites {
            return 0;
        }
        let steps = (6.0 * self.n_clusters as f64 * libm::log(n_sites as f64)).ceil();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a cast saturates"
        )]
        let steps = steps as u64;
        steps.max(1)
    }

    fn mechanism(
        &self,
        relation: NeighboringRelation,
        n_sites: usize,
    ) -> Result<SelectionMechanism, ParamsError> {
        let too_small = ParamsError::BudgetTooSmall { purpose: "a swap" };
        let picks = self.steps(n_sites) + 1;
        if picks > MAX_STEPS {
            return Err(ParamsError::Count {
                name: "the number of swaps",
                least: 1,
                most: MAX_STEPS,
                got: picks,
            });
        }
        let shares = vec![1.0; usize::try_from(picks).unwrap_or(1)];
        let each = split(self.epsilon.get(), &shares)
            .first()
            .copied()
            .unwrap_or(0.0);
        let each = Epsilon::new(each).map_err(|_| too_small.clone())?;
        // Under add-remove costs move one way by at most one record's; a replacement moves them either way.
        let width = ScoreWidth::new(COST_UNITS * relation.steps()).map_err(|_| too_small)?;
        Ok(SelectionMechanism::calibrate(
            SelectionRule::Exponential,
            width,
            each,
        ))
    }

    /// What a fit spends, from public facts alone.
    ///
    /// # Errors
    ///
    /// [`ParamsError`] if the budget is too small to be divided.
    pub fn plan(
        &self,
        relation: NeighboringRelation,
        n_sites: usize,
    ) -> Result<Vec<Event>, ParamsError> {
        let mechanism = self.mechanism(relation, n_sites)?;
        let steps = self.steps(n_sites);
        let swaps = mechanism.event(relation, SWAP).times(steps);
        let last = mechanism.event(relation, LAST);
        Ok(if steps > 0 {
            vec![swaps, last]
        } else {
            Vec::new()
        })
    }

    /// Rows of the chosen sites, min(k, |V|) distinct ones.
    ///
    /// # Privacy
    ///
    /// T + 1 picks by the exponential mechanism at ε/(T + 1) each. The first sites are drawn from `public`.
    ///
    /// # Errors
    ///
    /// [`FitError`] if the session's budget does not cover the plan or the source cannot be read.
    ///
    /// # Complexity
    ///
    /// O(T·|V|·|D|) time, 8·|V|·|D| bytes: for small instances.
    pub fn fit<M: Metric, S: RecordSource + ?Sized>(
        &self,
        space: &Space<'_, M>,
        source: &S,
        session: &mut Session<'_>,
        public: &mut dyn RngCore,
    ) -> Result<Vec<usize>, FitError> {
        let n = space.n_sites();
        session.admit(&self.plan(session.relation(), n)?)?;
        let mechanism = self.mechanism(session.relation(), n)?;
        let k = self.n_clusters.min(n);
        let mut chosen = rand::seq::index::sample(&mut *public, n, k).into_vec();
        let steps = self.steps(n);
        if steps == 0 {
            return Ok((0..k).collect());
        }
        let costs = Costs::new(space, &Demand::read(source, space.domain())?, self.power);
        let mut sets = vec![(costs.total(&chosen), chosen.clone())];
        for _ in 0..steps {
            let others: Vec<usize> = (0..n).filter(|site| !chosen.contains(site)).collect();
            let scores = Confidential::new(costs.swaps(&chosen, &others));
            let pick = session.select(&mechanism, SWAP, &scores, None)?;
            if let (Some(out), Some(&site)) = (
                chosen.get_mut(pick / others.len()),
                others.get(pick % others.len()),
            ) {
                *out = site;
            }
            sets.push((costs.total(&chosen), chosen.clone()));
        }
        let scores = Confidential::new(sets.iter().map(|(cost, _)| -cost).collect());
        let best = session.select(&mechanism, LAST, &scores, None)?;
        Ok(sets.swap_remove(best.min(sets.len() - 1)).1)
    }
}

const SWAP: &str = "a swap";
const LAST: &str = "the best set on the way";

/// Integer costs of all records at all sites.
struct Costs {
    /// Site after site.
    table: Vec<i64>,
    times: Vec<i64>,
}

impl Costs {
    fn new<M: Metric>(space: &Space<'_, M>, demand: &Demand, power: Power) -> Self {
        let indices = demand.indices();
        let diameter = if space.diameter() > 0.0 {
            space.diameter()
        } else {
            1.0
        };
        let cost = |site: usize, i: u32| {
            let part = space.metric().distance(demand.point(i), space.site(site)) / diameter;
            let units = (power.of(part.clamp(0.0, 1.0)) * COST_UNITS as f64).round();
            #[expect(clippy::cast_possible_truncation, reason = "at most 2^16")]
            let units = units as i64;
            units
        };
        Self {
            table: (0..space.n_sites())
                .flat_map(|site| indices.iter().map(move |&i| (site, i)))
                .map(|(site, i)| cost(site, i))
                .collect(),
            times: indices.iter().map(|&i| demand.times(i)).collect(),
        }
    }

    fn column(&self, site: usize) -> &[i64] {
        let n = self.times.len();
        self.table.get(site * n..(site + 1) * n).unwrap_or_default()
    }

    fn total(&self, chosen: &[usize]) -> i64 {
        let cost = |i: usize| {
            chosen
                .iter()
                .map(|&site| self.column(site)[i])
                .min()
                .unwrap_or(0)
        };
        self.times
            .iter()
            .enumerate()
            .map(|(i, times)| times * cost(i))
            .sum()
    }

    /// −cost after each exchange of a chosen site (outer) for another (inner).
    fn swaps(&self, chosen: &[usize], others: &[usize]) -> Vec<i64> {
        let n = self.times.len();
        // Per record: position and cost of the nearest chosen site, and cost of the second.
        let mut nearest = vec![(0, i64::MAX, i64::MAX); n];
        for (position, &site) in chosen.iter().enumerate() {
            for (near, &cost) in nearest.iter_mut().zip(self.column(site)) {
                if cost < near.1 {
                    *near = (position, cost, near.1);
                } else if cost < near.2 {
                    near.2 = cost;
                }
            }
        }
        let mut scores = vec![0; chosen.len() * others.len()];
        for (at, &site) in others.iter().enumerate() {
            let mut kept = 0;
            let mut extra = vec![0; chosen.len()];
            for ((&(position, first, second), &times), &cost) in
                nearest.iter().zip(&self.times).zip(self.column(site))
            {
                kept += times * cost.min(first);
                extra[position] += times * (cost.min(second) - cost.min(first));
            }
            for (out, extra) in extra.into_iter().enumerate() {
                scores[out * others.len() + at] = -(kept + extra);
            }
        }
        scores
    }
}
