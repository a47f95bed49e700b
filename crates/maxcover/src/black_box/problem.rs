//! Weighted demand at public sites.

use std::borrow::Cow;

use metric_space::{Metric, Power};
use rayon::prelude::*;

/// Entries of the table of costs that is kept; above, columns are computed when they are asked for.
const MAX_TABLE: usize = 1 << 24;

/// Choose k of the sites for clients that stand at sites and have weights.
///
/// Everything in it is released or public.
pub struct Problem<'a> {
    metric: &'a dyn Metric,
    power: Power,
    sites: &'a [f64],
    columns: usize,
    n_clusters: usize,
    /// Sites where the clients stand: distinct, of positive weight.
    clients: Vec<usize>,
    weights: Vec<f64>,
    /// Site after site, the costs of all clients there.
    table: Option<Vec<f64>>,
}

impl<'a> Problem<'a> {
    /// A problem on `sites` (row after row of `columns` numbers) with clients given as rows of sites.
    ///
    /// Clients whose weight is not positive and finite are left out, as are rows that do not exist.
    pub fn new(
        metric: &'a dyn Metric,
        power: Power,
        sites: &'a [f64],
        columns: usize,
        n_clusters: usize,
        clients: impl IntoIterator<Item = (usize, f64)>,
    ) -> Self {
        let n_sites = sites.len() / columns.max(1);
        let (clients, weights) = clients
            .into_iter()
            .filter(|&(site, weight)| site < n_sites && weight > 0.0 && weight.is_finite())
            .unzip();
        let mut problem = Self {
            metric,
            power,
            sites,
            columns: columns.max(1),
            n_clusters,
            clients,
            weights,
            table: None,
        };
        if problem.clients.len().saturating_mul(n_sites) <= MAX_TABLE {
            let mut table = vec![0.0; n_sites * problem.clients.len()];
            if !problem.clients.is_empty() {
                table
                    .par_chunks_exact_mut(problem.clients.len())
                    .enumerate()
                    .for_each(|(site, column)| problem.fill(site, column));
            }
            problem.table = Some(table);
        }
        problem
    }

    /// How many sites are to be chosen: min(k, number of sites).
    #[must_use]
    pub fn n_chosen(&self) -> usize {
        self.n_clusters.min(self.n_sites())
    }

    /// The k that was asked for.
    #[must_use]
    pub const fn n_clusters(&self) -> usize {
        self.n_clusters
    }

    /// The exponent of the objective.
    #[must_use]
    pub const fn power(&self) -> Power {
        self.power
    }

    /// Number of sites.
    #[must_use]
    pub fn n_sites(&self) -> usize {
        self.sites.len() / self.columns
    }

    /// Number of columns of a site.
    #[must_use]
    pub const fn columns(&self) -> usize {
        self.columns
    }

    /// Rows of the sites where the clients stand.
    #[must_use]
    pub fn clients(&self) -> &[usize] {
        &self.clients
    }

    /// Their weights.
    #[must_use]
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Coordinates of a site.
    ///
    /// # Panics
    ///
    /// If there is no such site.
    #[must_use]
    pub fn site(&self, i: usize) -> &'a [f64] {
        &self.sites[i * self.columns..(i + 1) * self.columns]
    }

    /// d^p of every client to a site.
    #[must_use]
    pub fn column(&self, site: usize) -> Cow<'_, [f64]> {
        let n = self.clients.len();
        if let Some(table) = &self.table {
            return Cow::Borrowed(table.get(site * n..(site + 1) * n).unwrap_or_default());
        }
        let mut column = vec![0.0; n];
        self.fill(site, &mut column);
        Cow::Owned(column)
    }

    /// Σ w·min d^p over chosen sites.
    #[must_use]
    pub fn cost(&self, chosen: &[usize]) -> f64 {
        let mut nearest = vec![f64::INFINITY; self.clients.len()];
        for &site in chosen {
            for (near, &cost) in nearest.iter_mut().zip(self.column(site).iter()) {
                if cost < *near {
                    *near = cost;
                }
            }
        }
        nearest
            .iter()
            .zip(&self.weights)
            .map(|(cost, weight)| cost * weight)
            .sum()
    }

    fn fill(&self, site: usize, column: &mut [f64]) {
        let there = self.site(site);
        for (cost, &client) in column.iter_mut().zip(&self.clients) {
            *cost = self
                .power
                .of(self.metric.distance(self.site(client), there));
        }
    }

    /// Distinct sites, min(k, sites) of them: those given (repetitions and strangers left out), then the first others.
    #[must_use]
    pub fn completed(&self, given: impl IntoIterator<Item = usize>) -> Vec<usize> {
        let mut taken = vec![false; self.n_sites()];
        let mut chosen = Vec::with_capacity(self.n_chosen());
        for site in given.into_iter().chain(0..self.n_sites()) {
            if chosen.len() == self.n_chosen() {
                break;
            }
            if let Some(taken) = taken.get_mut(site)
                && !std::mem::replace(taken, true)
            {
                chosen.push(site);
            }
        }
        chosen
    }
}

impl std::fmt::Debug for Problem<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Problem")
            .field("metric", &self.metric.name())
            .field("power", &self.power)
            .field("sites", &self.n_sites())
            .field("clients", &self.clients.len())
            .field("n_clusters", &self.n_clusters)
            .finish_non_exhaustive()
    }
}
