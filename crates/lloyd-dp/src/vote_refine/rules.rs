//! Defaults from public numbers.

use dp_core::NeighboringRelation;

use super::params::VoteRefineParams;
use super::plan::StartSpends;
use crate::error::ParamsError;
use crate::error_model;

/// Differences of coordinates that all votes of a round may take: a few seconds.
const MAX_WORK: f64 = 4e10;

/// Most candidates that a rule asks for.
const MOST_CANDIDATES: f64 = 8192.0;

/// Where the steps start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// From candidates that records voted for.
    Votes,
    /// From a grid of noisy counts: in few columns cells are votes whose noise averages out.
    Grid,
}

impl Start {
    /// The name in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Votes => "votes",
            Self::Grid => "grid",
        }
    }
}

/// Most columns for which the start is a grid.
const GRID_COLUMNS: usize = 3;

/// Most columns for which the start is a grid where the signal is too weak for votes.
const FEW_COLUMNS: usize = 8;

/// Signal below which votes hardly stand out of their noise.
const LEAST_SIGNAL: f64 = 15.0;

/// Signal of all records together below which the shape drowns in its noise; with Laplace noise, whose parts lose more, and without.
const LEAST_WHOLE: (f64, f64) = (300.0, 75.0);

/// What a run does: set by the caller, or by rules.
///
/// The rules read one number, the **signal** s = n/(k·σ): the records of a cluster of usual size over the standard deviation that a count
/// would have if the whole budget went to it. Many records or a large budget allow more candidates, more centers before the merge, and more
/// steps, each with a smaller part of the budget. They were chosen on synthetic data; `cargo xtask study vote-refine` shows how.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// The signal s.
    pub signal: f64,
    /// Where the steps start.
    pub start: Start,
    /// Share of ε that goes to the grid, if that is the start.
    pub grid_share: f64,
    /// Candidates of a round.
    pub n_candidates: usize,
    /// Rounds of votes.
    pub n_rounds: usize,
    /// Steps before the merge.
    pub first_steps: usize,
    /// Steps after it.
    pub last_steps: usize,
    /// Share of the budget that goes to the votes.
    pub vote_share: f64,
    /// Centers before the merge.
    pub n_centers: usize,
}

/// Loss of Laplace noise against Gaussian noise by composition: split into J parts, its standard deviation grows J-fold, not √J-fold, and J is about 16.
const LAPLACE_FACTOR: f64 = 4.0;

/// Signal where no size is known, for plans.
const USUAL_SIGNAL: f64 = 100.0;

impl VoteRefineParams {
    /// What a run with n records (public, or noisy) does; without n what it would do with a usual number.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "clamped to small positive numbers, and `as` saturates"
    )]
    pub fn rules(&self, n: Option<f64>, dimension: usize, relation: NeighboringRelation) -> Rules {
        let k = self.n_clusters as f64;
        let signal = n.map_or(USUAL_SIGNAL, |n| n / (k * self.count_std_dev(relation)));
        let whole = if self.budget.delta.is_zero() {
            LEAST_WHOLE.0
        } else {
            LEAST_WHOLE.1
        };
        let few = if signal < LEAST_SIGNAL || signal * k < whole {
            FEW_COLUMNS
        } else {
            GRID_COLUMNS
        };
        let start = self.start.unwrap_or(if dimension <= few {
            Start::Grid
        } else {
            Start::Votes
        });
        if start == Start::Grid {
            return Rules {
                signal,
                start,
                grid_share: self.grid_share,
                n_candidates: 0,
                n_rounds: 0,
                first_steps: 0,
                last_steps: self.last_steps.unwrap_or(1),
                vote_share: 0.0,
                n_centers: self.n_clusters,
            };
        }
        let n_rounds = if signal < 50.0 { 1 } else { 2 };
        let n_rounds = self.n_rounds.unwrap_or(n_rounds);
        let affordable = MAX_WORK / (n.unwrap_or(1.0) * dimension as f64 * n_rounds as f64);
        // From 410 clusters on there are 20 candidates for each, and no more.
        let least = 20.0 * k;
        let most = if least > MOST_CANDIDATES {
            least
        } else {
            MOST_CANDIDATES
        };
        let wanted = (k * signal).clamp(least, most);
        // The least costs as much as 20 steps: never fewer.
        let n_candidates = wanted.clamp(least, affordable.clamp(least, f64::MAX));
        let over_provision = self
            .over_provision
            .unwrap_or((signal / 60.0).clamp(2.0, 16.0));
        Rules {
            signal,
            start,
            grid_share: 0.0,
            n_candidates: self
                .n_candidates
                .unwrap_or((n_candidates as usize).max(self.n_clusters.saturating_mul(2))),
            n_rounds,
            first_steps: self
                .first_steps
                .unwrap_or((signal / 12.0).clamp(1.0, 3.0) as usize),
            last_steps: self
                .last_steps
                .unwrap_or((signal.sqrt() / 2.0).clamp(2.0, 8.0) as usize),
            vote_share: self
                .vote_share
                .unwrap_or(if signal < 50.0 { 0.2 } else { 0.3 }),
            n_centers: ((over_provision * k).ceil() as usize).max(self.n_clusters),
        }
    }

    /// Every number that a run with these rules uses, by its name in reports.
    #[must_use]
    pub fn numbers(&self, rules: &Rules) -> Vec<(&'static str, f64)> {
        let mut numbers = vec![
            ("signal", rules.signal),
            ("last_steps", rules.last_steps as f64),
            ("radius_share", self.radius_share),
            ("settling", self.settling),
            ("quantile", self.quantile),
            ("drift", self.drift),
        ];
        numbers.extend(match rules.start {
            Start::Grid => vec![
                ("grid_share", rules.grid_share),
                ("grid_bias", self.grid_bias),
            ],
            Start::Votes => vec![
                ("candidates", rules.n_candidates as f64),
                ("rounds", rules.n_rounds as f64),
                ("first_steps", rules.first_steps as f64),
                ("centers_before_merge", rules.n_centers as f64),
                ("shape_share", self.shape_share),
                ("vote_share", rules.vote_share),
                ("spread", self.spread),
                ("growth", self.growth),
                ("threshold", self.threshold),
            ],
        });
        numbers
    }

    /// Predicted squared error of a center, scaled units, for n records in clusters of equal size: the noise of the last steps around a center that
    /// settled, and the grid's own error where that is the start. Says nothing of clusters that the start does not find.
    ///
    /// # Errors
    ///
    /// [`ParamsError`] if the budget is too small.
    pub fn predicted_sq_error(
        &self,
        n: f64,
        dimension: usize,
        relation: NeighboringRelation,
    ) -> Result<f64, ParamsError> {
        let (k, d) = (self.n_clusters, dimension as f64);
        let rules = self.rules(Some(n), dimension, relation);
        let spends = self.spends(&self.sized(relation)?, &rules, dimension)?;
        let size = n / k as f64;
        // Records of a cluster lie within about this radius; in lattice units of 1/1000.
        let radius = 0.2 * d.sqrt() / (k as f64).powf(1.0 / d);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a small positive number"
        )]
        let units = (1000.0 * radius).ceil() as u64;
        // Errors of independent measurements: their inverses add up.
        let mut precision = 0.0;
        for step in &spends.last {
            let noise = step.sums.sums(relation, units, dimension)?.std_dev() / 1000.0;
            precision += size * size / (d * noise * noise);
        }
        if let StartSpends::Grid(epsilon) = &spends.start {
            let epsilon = epsilon.get() / relation.steps() as f64;
            let cells = error_model::grid_cells(k, dimension, n, epsilon, self.grid_bias);
            let variance = error_model::grid_variance(k, dimension, n, epsilon, cells);
            precision +=
                1.0 / (variance + error_model::grid_sq_bias(k, dimension, cells, self.grid_bias));
        }
        Ok(1.0 / precision)
    }

    /// Standard deviation of a count that the whole budget is spent on.
    fn count_std_dev(&self, relation: NeighboringRelation) -> f64 {
        let steps = relation.steps() as f64;
        match self.budget.gaussian() {
            Some(whole) => (steps / (2.0 * whole.rho().get())).sqrt(),
            None => LAPLACE_FACTOR * 2_f64.sqrt() * steps / self.budget.epsilon.get(),
        }
    }
}
