//! How a run divides what it has between the two stages, from public facts alone.
//!
//! The tuples want large blocks: each must show every component, and its means must be near those of other blocks. How many blocks the clustering
//! needs falls with its share; what is left is the learner's, whose noise falls with its own share. So the share is the least with which blocks are large
//! enough. [`block_size`] says from when blocks show all components; where records are plenty, half of the surplus (in logarithms) goes to larger blocks, which agree
//! on components that are closer together, and half to the learner. Constants were chosen on generated mixtures (`reproduce gmm rules`).

use dp_core::mechanism::GaussianSpend;
use dp_core::{Budget, Delta, Epsilon};
use ktuple::{TupleAggregator, TupleShape, TupleSpend};
use metric_space::Frame;

use super::PrivateGmm;
use crate::error::ParamsError;

#[cfg(test)]
mod tests;

/// Shares of the tuples that are tried.
const SHARES: [f64; 9] = [0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7];

/// The share where no number of records was given, one of [`SHARES`].
const UNKNOWN: f64 = SHARES[UNKNOWN_AT];
const UNKNOWN_AT: usize = 6;

/// Blocks for each one that the clustering needs: room for some that do not agree.
const ROOM: f64 = 1.35;

/// Expected number of components that a block of the least size misses.
const MISSED: f64 = 0.15;

/// More blocks than this are not chosen: matching them takes time that grows with their square.
const MOST_BLOCKS: u64 = 6000;

/// Labels of records are looked at as 32 bits where blocks are dealt; what has a greater one is in no block.
const MOST_LABELS: u64 = 1 << 32;

/// What the two stages divide.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Split {
    /// The budget: all records take part in both stages, and the losses add up. The default.
    #[default]
    Budget,
    /// The records, by secret coins: a record takes part in one of the stages, and each has the whole budget.
    Halves,
}

impl Split {
    /// The name in flags and ledgers.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Budget => "budget",
            Self::Halves => "halves",
        }
    }
}

/// A share with what follows from it.
#[derive(Clone, Copy, Debug)]
struct Choice {
    share: f64,
    tuples: Budget,
    learner: Budget,
    n_blocks: u64,
}

/// A run's division.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Division {
    /// t, 1 where there are no tuples.
    pub(super) n_blocks: usize,
    /// Labels of records: as many as blocks, or more, those of the second stage.
    pub(super) n_labels: u64,
    /// What tuples get of the budget, or of the records.
    pub(super) tuple_share: f64,
    /// Loss of the tuples; none with one cluster.
    pub(super) tuples: Option<TupleSpend>,
    /// What the learner may spend.
    pub(super) learner_spend: GaussianSpend,
}

impl PrivateGmm {
    pub(super) fn shape(&self, frame: &Frame, n_blocks: usize) -> TupleShape {
        TupleShape {
            n_tuples: n_blocks,
            n_clusters: self.params.n_clusters,
            dimension: frame.dimension(),
            lattice: frame.lattice(),
        }
    }

    pub(super) fn division(&self, frame: &Frame) -> Result<Division, ParamsError> {
        let params = &self.params;
        if let Some((shape, division)) = self.known
            && self.shape(frame, division.n_blocks) == shape
        {
            return Ok(division);
        }
        if params.n_clusters == 1 {
            return Ok(Division {
                n_blocks: 1,
                n_labels: 1,
                tuple_share: 0.0,
                tuples: None,
                learner_spend: gaussian(params.budget)?,
            });
        }
        let choice = self.choose(frame)?;
        let n_blocks = usize::try_from(choice.n_blocks).map_err(|_| ParamsError::Infeasible)?;
        self.shape(frame, n_blocks).check_size()?;
        let second = match params.split {
            Split::Budget => 0,
            Split::Halves => second_labels(choice.n_blocks, choice.share)?,
        };
        Ok(Division {
            n_blocks,
            n_labels: choice.n_blocks + second,
            tuple_share: choice.share,
            tuples: Some(TupleSpend::direct(choice.tuples)),
            learner_spend: gaussian(choice.learner)?,
        })
    }

    /// Budgets of tuples and learner.
    fn budgets(&self, share: f64) -> Result<(Budget, Budget), ParamsError> {
        let budget = self.params.budget;
        let most = self.params.aggregator.largest_epsilon();
        if self.params.split == Split::Halves {
            let tuples = if budget.epsilon.get() > most {
                approx(most, budget.delta.get())?
            } else {
                budget
            };
            return Ok((tuples, budget));
        }
        let shares = [share, 1.0 - share];
        let mut epsilons = dp_core::rounding::split(budget.epsilon.get(), &shares);
        if epsilons[0] > most {
            let rest = dp_core::rounding::down(budget.epsilon.get() - most, 2);
            epsilons = vec![most, rest];
        }
        let deltas = dp_core::rounding::split(budget.delta.get(), &shares);
        Ok((
            approx(epsilons[0], deltas[0])?,
            approx(epsilons[1], deltas[1])?,
        ))
    }

    /// t for a budget: a little more than the clustering needs.
    fn blocks(&self, frame: &Frame, tuples: Budget) -> Result<u64, ParamsError> {
        let shape = self.shape(frame, 1);
        let needed = self.params.aggregator.tuples_needed(shape, tuples)?;
        whole(needed as f64 * ROOM)
    }

    /// What was asked for, or the least share with which blocks are as large as they should be.
    fn choose(&self, frame: &Frame) -> Result<Choice, ParamsError> {
        let params = &self.params;
        match (params.tuple_share, params.n_blocks, params.n_hint) {
            (Some(share), ..) => self.choice(frame, share),
            (None, Some(n_blocks), _) => {
                self.choice(frame, self.share_for_blocks(frame, n_blocks as u64))
            }
            (None, None, Some(n_records)) => self.least_share(frame, n_records as f64),
            (None, None, None) => self.choice(frame, UNKNOWN),
        }
    }

    fn choice(&self, frame: &Frame, share: f64) -> Result<Choice, ParamsError> {
        let (tuples, learner) = self.budgets(share)?;
        let n_blocks = match self.params.n_blocks {
            Some(n_blocks) => {
                let shape = self.shape(frame, n_blocks);
                self.params.aggregator.check_enough(shape, tuples)?;
                n_blocks as u64
            }
            None => self.blocks(frame, tuples)?,
        };
        Ok(Choice {
            share,
            tuples,
            learner,
            n_blocks,
        })
    }

    /// The least of [`SHARES`] with which blocks are large enough; the largest if none is: where records are few, whatever helps the tuples, since without
    /// centers the learner is of no use.
    ///
    /// Blocks grow with the share, so the list is bisected: to find how many blocks a share needs takes nearly all of the time.
    fn least_share(&self, frame: &Frame, n_records: f64) -> Result<Choice, ParamsError> {
        // Records in a block; none where the budget is too small or the blocks are too many.
        let size = |choice: &Result<Choice, ParamsError>| -> Option<f64> {
            let choice = choice.as_ref().ok()?;
            let records = match self.params.split {
                Split::Budget => n_records,
                Split::Halves => choice.share * n_records,
            };
            (choice.n_blocks <= MOST_BLOCKS || choice.share >= UNKNOWN)
                .then(|| records / choice.n_blocks as f64)
        };
        let middle = self.choice(frame, UNKNOWN);
        let least = block_size(self.params.n_clusters);
        let plenty = size(&middle).map_or(1.0, |size| size / least);
        let wanted = least * if plenty > 1.0 { plenty.sqrt() } else { 1.0 };
        let enough =
            |choice: &Result<Choice, ParamsError>| size(choice).is_some_and(|size| size >= wanted);
        // The answer is one of these; the last of them if no other is enough.
        let (mut low, mut high, mut last) = if enough(&middle) {
            (0, UNKNOWN_AT, Some(middle))
        } else {
            (UNKNOWN_AT + 1, SHARES.len() - 1, None)
        };
        while low < high {
            let at = usize::midpoint(low, high);
            let choice = self.choice(frame, SHARES[at]);
            if enough(&choice) {
                (high, last) = (at, Some(choice));
            } else {
                low = at + 1;
            }
        }
        last.unwrap_or_else(|| self.choice(frame, SHARES[high]))
    }

    /// The share for a number of blocks that was asked for: one half, or more where the clustering needs it.
    fn share_for_blocks(&self, frame: &Frame, n_blocks: u64) -> f64 {
        let shape = self.shape(frame, 1);
        let mut enough = SHARES.into_iter().filter(|&share| {
            let needed = self
                .budgets(share)
                .and_then(|(tuples, _)| Ok(self.params.aggregator.tuples_needed(shape, tuples)?));
            share >= UNKNOWN && needed.is_ok_and(|needed| needed <= n_blocks)
        });
        enough.next().unwrap_or(UNKNOWN)
    }
}

/// Records from which on blocks mostly show all of k components, none of which has half the weight of another: k·(1 − 1/(2k − 1))^s = 0.15.
fn block_size(n_clusters: usize) -> f64 {
    let k = n_clusters as f64;
    libm::log(k / MISSED) / -libm::log1p(-1.0 / (2.0 * k - 1.0))
}

/// u such that t of t + u equally likely labels have the given share, nearly; at least 1.
fn second_labels(n_blocks: u64, share: f64) -> Result<u64, ParamsError> {
    let most = MOST_LABELS.saturating_sub(n_blocks);
    let second = whole(n_blocks as f64 * (1.0 - share) / share).unwrap_or(u64::MAX);
    if second > most {
        return Err(ParamsError::Range {
            name: "tuple_share",
            low: n_blocks as f64 / MOST_LABELS as f64,
            high: 1.0,
            got: share,
        });
    }
    Ok(second.max(1))
}

/// Rounds up.
fn whole(x: f64) -> Result<u64, ParamsError> {
    if !(0.0..2_f64.powi(53)).contains(&x) {
        return Err(ParamsError::Infeasible);
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "checked to be in range"
    )]
    let x = x.ceil() as u64;
    Ok(x)
}

fn approx(epsilon: f64, delta: f64) -> Result<Budget, ParamsError> {
    Ok(Budget::approx(
        Epsilon::new(epsilon).map_err(|_| ParamsError::BudgetTooSmall)?,
        Delta::new(delta).map_err(|_| ParamsError::BudgetTooSmall)?,
    ))
}

fn gaussian(budget: Budget) -> Result<GaussianSpend, ParamsError> {
    budget.gaussian().ok_or(ParamsError::BudgetTooSmall)
}
