//! First sites by D^p sampling.

use metric_space::Power;
use rand::{Rng, RngCore};

use super::{BlackBox, Chosen, Problem};

/// D^p sampling: each next site is a client's, drawn with probability ∝ weight · cost so far; of several draws the best is
/// kept.
///
/// # Source
///
/// Arthur, Vassilvitskii, "k-means++: the advantages of careful seeding", SODA 2007, Section 5 for other powers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seeding;

impl BlackBox for Seeding {
    fn name(&self) -> &'static str {
        "seeding"
    }

    fn factor(&self, _power: Power) -> Option<f64> {
        None
    }

    fn solve(&self, problem: &Problem<'_>, public: &mut dyn RngCore) -> Chosen {
        Chosen::Sites(seed(problem, public))
    }
}

/// The sites of one seeding, completed to min(k, sites).
pub(super) fn seed(problem: &Problem<'_>, public: &mut dyn RngCore) -> Vec<usize> {
    let k = problem.n_chosen();
    let mut nearest = vec![f64::INFINITY; problem.clients().len()];
    let mut chosen = Vec::with_capacity(k);
    let draws = 2 + usize::try_from(k.checked_ilog2().unwrap_or(0)).unwrap_or(0);
    while chosen.len() < k {
        let first = chosen.is_empty();
        let masses: Vec<f64> = (nearest.iter().zip(problem.weights()))
            .map(|(&cost, &weight)| if first { weight } else { weight * cost })
            .collect();
        let total: f64 = masses.iter().sum();
        if !(total > 0.0 && total.is_finite()) {
            break;
        }
        let mut best: Option<(f64, usize, Vec<f64>)> = None;
        for _ in 0..draws {
            let site = problem.clients()[draw(&masses, total, public)];
            let column = problem.column(site);
            let lowered: Vec<f64> = (nearest.iter().zip(column.iter()))
                .map(|(&near, &cost)| if cost < near { cost } else { near })
                .collect();
            let cost: f64 = lowered
                .iter()
                .zip(problem.weights())
                .map(|(c, w)| c * w)
                .sum();
            if best.as_ref().is_none_or(|(least, _, _)| cost < *least) {
                best = Some((cost, site, lowered));
            }
        }
        let Some((_, site, lowered)) = best else {
            break;
        };
        chosen.push(site);
        nearest = lowered;
    }
    problem.completed(chosen)
}

/// An index with probability ∝ its mass; rounding goes to the last of positive mass.
fn draw(masses: &[f64], total: f64, public: &mut dyn RngCore) -> usize {
    let mut rest = public.random::<f64>() * total;
    let mut last = 0;
    for (i, &mass) in masses.iter().enumerate() {
        if mass > 0.0 {
            last = i;
            if rest < mass {
                return i;
            }
            rest -= mass;
        }
    }
    last
}
