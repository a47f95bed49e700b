//! The optimum, by trying all sets of k sites.

use metric_space::Power;
use rand::RngCore;

use super::{BlackBox, Chosen, LocalSearch, Problem};

/// Exact search for tiny instances; where there are more than `max_sets` sets of k sites, it is [`LocalSearch`] with one swap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exact {
    /// Most sets of k sites that are tried.
    pub max_sets: u64,
}

impl Default for Exact {
    fn default() -> Self {
        Self {
            max_sets: 5_000_000,
        }
    }
}

impl Exact {
    /// Does the search go through all sets for so many sites and clusters?
    #[must_use]
    pub fn covers(&self, n_sites: usize, n_clusters: usize) -> bool {
        let k = n_clusters.min(n_sites);
        let mut sets = 1_u128;
        for i in 0..k {
            sets = sets * (n_sites - i) as u128 / (i + 1) as u128;
            if sets > u128::from(self.max_sets) {
                return false;
            }
        }
        true
    }
}

impl BlackBox for Exact {
    fn name(&self) -> &'static str {
        "exact"
    }

    /// 1, where it searches at all: see [`Exact::covers`].
    fn factor(&self, _power: Power) -> Option<f64> {
        Some(1.0)
    }

    fn solve(&self, problem: &Problem<'_>, public: &mut dyn RngCore) -> Chosen {
        if !self.covers(problem.n_sites(), problem.n_clusters()) {
            return LocalSearch::single().solve(problem, public);
        }
        let mut best = (f64::INFINITY, problem.completed([]));
        let nearest = vec![f64::INFINITY; problem.clients().len()];
        search(problem, &mut Vec::new(), &nearest, 0, &mut best);
        Chosen::Sites(best.1)
    }
}

fn search(
    problem: &Problem<'_>,
    chosen: &mut Vec<usize>,
    nearest: &[f64],
    from: usize,
    best: &mut (f64, Vec<usize>),
) {
    let missing = problem.n_chosen() - chosen.len();
    if missing == 0 {
        let cost: f64 = nearest
            .iter()
            .zip(problem.weights())
            .map(|(c, w)| c * w)
            .sum();
        if cost < best.0 {
            *best = (cost, chosen.clone());
        }
        return;
    }
    for site in from..=problem.n_sites() - missing {
        let lowered: Vec<f64> = (nearest.iter().zip(problem.column(site).iter()))
            .map(|(&near, &cost)| if cost < near { cost } else { near })
            .collect();
        chosen.push(site);
        search(problem, chosen, &lowered, site + 1, best);
        chosen.pop();
    }
}
