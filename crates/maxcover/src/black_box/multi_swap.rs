//! Local search with one or several swaps at once.

use metric_space::Power;
use rand::RngCore;

use super::swaps::{State, swap_factor};
use super::{BlackBox, Chosen, Problem, seeding::seed};

/// Local search: the best exchange of up to `swaps` chosen sites for as many others, while it gains more than a small part.
///
/// Stopping at gains below `tolerance`/k of the cost costs a factor of about 1/(1 − tolerance) on the bound.
///
/// # Complexity
///
/// O(clients·sites) per step for one swap; for t ≥ 2, (k·sites)^t·clients in the worst case. With a `pool`, swaps of several
/// sites only bring in sites that it holds (drawn by seeding): fast, but then the factor is that of one swap.
///
/// # Source
///
/// Arya, Garg, Khandekar, Meyerson, Munagala, Pandit, "Local search heuristics for k-median and facility location problems",
/// SIAM Journal on Computing 2004.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LocalSearch {
    /// Sites that may be exchanged at once: 1 or more; above 3 there is no use.
    pub swaps: usize,
    /// Sites that swaps of several may bring in; none: all.
    pub pool: Option<usize>,
    /// Least gain of a step, times k, relative to the cost.
    pub tolerance: f64,
    /// Most steps.
    pub max_steps: usize,
}

impl LocalSearch {
    /// One swap at a time.
    #[must_use]
    pub const fn single() -> Self {
        Self {
            swaps: 1,
            pool: None,
            tolerance: 1e-3,
            max_steps: 10_000,
        }
    }

    /// Up to `swaps` at a time.
    #[must_use]
    pub const fn multi(swaps: usize, pool: Option<usize>) -> Self {
        Self {
            swaps,
            pool,
            ..Self::single()
        }
    }
}

impl BlackBox for LocalSearch {
    fn name(&self) -> &'static str {
        if self.swaps <= 1 {
            "local-search"
        } else {
            "local-search-multi"
        }
    }

    fn factor(&self, power: Power) -> Option<f64> {
        let swaps = if self.pool.is_some() { 1 } else { self.swaps };
        let slack = 1.0 - self.tolerance.clamp(0.0, 0.5);
        swap_factor(power, swaps).map(|factor| factor / slack)
    }

    fn solve(&self, problem: &Problem<'_>, public: &mut dyn RngCore) -> Chosen {
        let part = self.tolerance / problem.n_clusters().max(1) as f64;
        let mut state = State::new(problem, seed(problem, public));
        let mut pool: Vec<usize> = (0..problem.n_sites()).collect();
        if let Some(size) = self.pool {
            pool.clear();
            while pool.len() < size.min(problem.n_sites()) {
                let before = pool.len();
                pool.extend(seed(problem, public));
                pool.sort_unstable();
                pool.dedup();
                if pool.len() == before {
                    break;
                }
            }
            pool.truncate(size);
        }
        for _ in 0..self.max_steps {
            if state.best_step(part) {
                continue;
            }
            let several = (2..=self.swaps).find_map(|t| {
                let mut tuples = Tuples {
                    problem,
                    pool: &pool,
                    target: state.cost * (1.0 - part.clamp(1e-9, 1.0)),
                    found: None,
                };
                tuples.remove(&state.chosen, t, 0);
                tuples.found
            });
            match several {
                Some(chosen) => state = State::new(problem, chosen),
                None => break,
            }
        }
        Chosen::Sites(state.chosen)
    }
}

/// A search through all exchanges of exactly t sites for the best below a target.
struct Tuples<'a, 'p> {
    problem: &'a Problem<'p>,
    pool: &'a [usize],
    target: f64,
    found: Option<Vec<usize>>,
}

impl Tuples<'_, '_> {
    /// Takes t of the chosen sites out, from position `from` on, in all ways.
    fn remove(&mut self, chosen: &[usize], t: usize, from: usize) {
        self.remove_from(chosen, t, t, from);
    }

    fn remove_from(&mut self, left: &[usize], t: usize, still: usize, from: usize) {
        if still == 0 {
            let mut nearest = vec![f64::INFINITY; self.problem.clients().len()];
            for &site in left {
                lower(&mut nearest, &self.problem.column(site));
            }
            self.add(&mut left.to_vec(), &nearest, t, 0);
            return;
        }
        for position in from..left.len() {
            let mut fewer = left.to_vec();
            fewer.remove(position);
            self.remove_from(&fewer, t, still - 1, position);
        }
    }

    /// Puts `still` sites of the pool in, from its position `from` on, in all ways.
    fn add(&mut self, chosen: &mut Vec<usize>, nearest: &[f64], still: usize, from: usize) {
        if still == 0 {
            let cost: f64 = nearest
                .iter()
                .zip(self.problem.weights())
                .map(|(c, w)| c * w)
                .sum();
            if cost < self.target {
                self.target = cost;
                self.found = Some(chosen.clone());
            }
            return;
        }
        for position in from..self.pool.len() {
            let site = self.pool[position];
            if chosen.contains(&site) {
                continue;
            }
            let mut lowered = nearest.to_vec();
            lower(&mut lowered, &self.problem.column(site));
            chosen.push(site);
            self.add(chosen, &lowered, still - 1, position + 1);
            chosen.pop();
        }
    }
}

fn lower(nearest: &mut [f64], column: &[f64]) {
    for (near, &cost) in nearest.iter_mut().zip(column) {
        if cost < *near {
            *near = cost;
        }
    }
}
