//! Exchanging one chosen site for another.

use metric_space::Power;
use rand::RngCore;
use rayon::prelude::*;

use super::{BlackBox, Chosen, Problem, seeding::seed};

/// Swaps that lower the cost by less than this part of it do not count.
const LEAST_GAIN: f64 = 1e-9;

/// k-medoids by eager swaps: each candidate is tried against all chosen sites at once, and a gain is taken when it is seen.
///
/// Ends in a local optimum of single swaps, or after a number of rounds.
///
/// # Complexity
///
/// O(clients) per candidate and O(clients·sites) per round; few rounds are needed.
///
/// # Source
///
/// Schubert, Rousseeuw, "Fast and eager k-medoids clustering", Information Systems 2021.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FasterPam {
    /// Most rounds through all candidates.
    pub max_rounds: usize,
    /// Runs from different seeds, of which the best is kept; at least 1 is made.
    pub n_restarts: usize,
}

impl Default for FasterPam {
    fn default() -> Self {
        Self {
            max_rounds: 50,
            n_restarts: 3,
        }
    }
}

impl BlackBox for FasterPam {
    fn name(&self) -> &'static str {
        "faster-pam"
    }

    /// That of single swaps: 5, or 25 for p = 2, if it ended in a local optimum.
    fn factor(&self, power: Power) -> Option<f64> {
        swap_factor(power, 1)
    }

    fn solve(&self, problem: &Problem<'_>, public: &mut dyn RngCore) -> Chosen {
        let mut best: Option<(f64, Vec<usize>)> = None;
        for _ in 0..self.n_restarts.max(1) {
            let mut state = State::new(problem, seed(problem, public));
            for _ in 0..self.max_rounds {
                if !state.eager_round() {
                    break;
                }
            }
            if best.as_ref().is_none_or(|(cost, _)| state.cost < *cost) {
                best = Some((state.cost, state.chosen));
            }
        }
        Chosen::Sites(best.map_or_else(Vec::new, |(_, chosen)| chosen))
    }
}

/// The factor of a local optimum of t swaps at once: 3 + 2/t (Arya et al. 2004), squared for p = 2 (Gupta, Tangwongsan 2008).
pub(super) fn swap_factor(power: Power, swaps: usize) -> Option<f64> {
    let medians = 3.0 + 2.0 / swaps.max(1) as f64;
    if power == Power::MEDIANS {
        Some(medians)
    } else if power == Power::MEANS {
        Some(medians * medians)
    } else {
        None
    }
}

/// Chosen sites with each client's nearest two.
pub(super) struct State<'a, 'p> {
    problem: &'a Problem<'p>,
    pub(super) chosen: Vec<usize>,
    is_chosen: Vec<bool>,
    /// Position of the nearest chosen site, its cost, and the cost of the second.
    nearest: Vec<(usize, f64, f64)>,
    /// Per chosen site: what its clients pay more without it.
    losses: Vec<f64>,
    pub(super) cost: f64,
}

/// A swap and what it changes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Swap {
    pub(super) change: f64,
    pub(super) out: usize,
    pub(super) site: usize,
}

impl<'a, 'p> State<'a, 'p> {
    pub(super) fn new(problem: &'a Problem<'p>, chosen: Vec<usize>) -> Self {
        let mut is_chosen = vec![false; problem.n_sites()];
        for &site in &chosen {
            is_chosen[site] = true;
        }
        let mut state = Self {
            problem,
            chosen,
            is_chosen,
            nearest: Vec::new(),
            losses: Vec::new(),
            cost: 0.0,
        };
        state.refresh();
        state
    }

    fn refresh(&mut self) {
        let unset = (0, f64::INFINITY, f64::INFINITY);
        self.nearest = vec![unset; self.problem.clients().len()];
        for (position, &site) in self.chosen.iter().enumerate() {
            for (near, &cost) in self
                .nearest
                .iter_mut()
                .zip(self.problem.column(site).iter())
            {
                if cost < near.1 {
                    *near = (position, cost, near.1);
                } else if cost < near.2 {
                    near.2 = cost;
                }
            }
        }
        self.losses = vec![0.0; self.chosen.len()];
        self.cost = 0.0;
        for (&(position, first, second), &weight) in self.nearest.iter().zip(self.problem.weights())
        {
            self.cost += weight * first;
            // With one chosen site there is no second: leaving it is only considered together with a newcomer.
            self.losses[position] += weight * (finite(second) - first);
        }
    }

    /// The best chosen site to exchange for `site`, and what that changes.
    pub(super) fn try_site(&self, site: usize) -> Option<Swap> {
        if self.is_chosen[site] || self.chosen.is_empty() {
            return None;
        }
        let mut changes = self.losses.clone();
        let mut shared = 0.0;
        let column = self.problem.column(site);
        for ((&(position, first, second), &weight), &cost) in self
            .nearest
            .iter()
            .zip(self.problem.weights())
            .zip(column.iter())
        {
            if cost < first {
                shared += weight * (cost - first);
                changes[position] += weight * (first - finite(second));
            } else if cost < second {
                changes[position] += weight * (cost - finite(second));
            }
        }
        let (out, change) = changes
            .into_iter()
            .enumerate()
            .min_by(|a, b| a.1.total_cmp(&b.1))?;
        Some(Swap {
            change: change + shared,
            out,
            site,
        })
    }

    pub(super) fn gains(&self, swap: &Swap) -> bool {
        swap.change < -LEAST_GAIN * self.cost
    }

    pub(super) fn apply(&mut self, swap: &Swap) {
        self.is_chosen[self.chosen[swap.out]] = false;
        self.is_chosen[swap.site] = true;
        self.chosen[swap.out] = swap.site;
        self.refresh();
    }

    /// Tries all sites in order and takes each gain at once; false if there was none.
    fn eager_round(&mut self) -> bool {
        let mut gained = false;
        for site in 0..self.problem.n_sites() {
            if let Some(swap) = self.try_site(site)
                && self.gains(&swap)
            {
                self.apply(&swap);
                gained = true;
            }
        }
        gained
    }

    /// Takes the best of all swaps if it lowers the cost by more than the given part of it.
    pub(super) fn best_step(&mut self, least_part: f64) -> bool {
        let best = (0..self.problem.n_sites())
            .into_par_iter()
            .with_min_len(16)
            .filter_map(|site| self.try_site(site))
            .min_by(|a, b| a.change.total_cmp(&b.change).then(a.site.cmp(&b.site)));
        let part = if least_part > LEAST_GAIN {
            least_part
        } else {
            LEAST_GAIN
        };
        match best {
            Some(swap) if swap.change < -part * self.cost => {
                self.apply(&swap);
                true
            }
            _ => false,
        }
    }
}

/// A cost to compute with where there is no second site: large, but its sums stay finite and cancel exactly enough.
fn finite(second: f64) -> f64 {
    if second.is_finite() { second } else { 0.0 }
}
