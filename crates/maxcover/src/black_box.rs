//! Black boxes: solvers without privacy that choose k sites for released demand.
//!
//! They see a [`Problem`] of released numbers only, so whatever they do is post-processing. The caller trades time against the
//! factor M by which their cost may exceed the optimum:
//!
//! | black box | factor for p = 1, p = 2 | time |
//! |---|---|---|
//! | [`Seeding`] | none proved here | O(k) columns |
//! | [`FasterPam`] | none better than its local optimum: that of one swap | a few passes over all columns |
//! | [`LocalSearch`] | 3 + 2/t, (3 + 2/t)² with t swaps at once | many passes; the t-th power of the sites |
//! | [`Exact`] | 1 | all k-subsets: tiny instances |
//! | [`FreeLloyd`] | none | Lloyd's iterations; centers are means, not sites |
//!
//! A column is the list of the costs of all clients at one site.

use ndarray::Array2;
use rand::RngCore;

mod exact;
mod free_lloyd;
mod multi_swap;
mod problem;
mod seeding;
mod swaps;
#[cfg(test)]
mod tests;

pub use exact::Exact;
pub use free_lloyd::FreeLloyd;
pub use multi_swap::LocalSearch;
pub use problem::Problem;
pub use seeding::Seeding;
pub use swaps::FasterPam;

/// What a black box chose.
#[derive(Clone, Debug, PartialEq)]
pub enum Chosen {
    /// Distinct rows of the sites, min(k, number of sites) of them.
    Sites(Vec<usize>),
    /// Points that need not be sites, shape (k, d).
    Points(Array2<f64>),
}

/// A solver without privacy for weighted demand at public sites.
pub trait BlackBox: Send + Sync {
    /// The name in releases.
    fn name(&self) -> &'static str;

    /// An upper bound of cost / optimum for Σ d^p that is known to hold, up to the stopping rule; none if none is known.
    fn factor(&self, power: metric_space::Power) -> Option<f64>;

    /// Chooses; `public` may be known to anyone.
    fn solve(&self, problem: &Problem<'_>, public: &mut dyn RngCore) -> Chosen;
}
