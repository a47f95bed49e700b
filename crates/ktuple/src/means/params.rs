//! Parameters of `PrivatekMeans`, checked once.

use dp_core::rounding::down;
use dp_core::{Budget, Delta, Epsilon, Event, NeighboringRelation, Session};
use rand::RngCore;

use super::PrivateKMeans;
use super::refine::Refine;
use crate::aggregator::{Aggregate, TupleAggregator, TupleSpend};
use crate::blocks::Sampling;
use crate::error::{FitError, ParamsError};
use crate::friendly::FriendlyCore;
use crate::paper::Paper2021;
use crate::tuples::{TupleShape, Tuples, share};

/// ε up to which sampling with replacement is proved: Lemma 2.25 ends at ε/6 = 1.
const LARGEST_PRINTED: f64 = 6.0;

/// The private k-tuple clustering of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Aggregator {
    /// FriendlyCore, the default.
    FriendlyCore(FriendlyCore),
    /// One of the two published ones, mended.
    Paper2021(Paper2021),
}

impl Default for Aggregator {
    fn default() -> Self {
        Self::FriendlyCore(FriendlyCore::default())
    }
}

impl Aggregator {
    fn inner(&self) -> &dyn TupleAggregator {
        match self {
            Self::FriendlyCore(core) => core,
            Self::Paper2021(paper) => paper,
        }
    }

    /// How far points of two tuples may be apart for the tuples to agree, in units of the distance between centers.
    #[must_use]
    pub fn tolerance(&self) -> f64 {
        match self {
            Self::FriendlyCore(core) => core.tolerance(),
            Self::Paper2021(paper) => paper.tolerance(),
        }
    }
}

impl TupleAggregator for Aggregator {
    fn name(&self) -> &'static str {
        self.inner().name()
    }

    fn tuples_needed(&self, shape: TupleShape, budget: Budget) -> Result<u64, ParamsError> {
        self.inner().tuples_needed(shape, budget)
    }

    fn check_enough(&self, shape: TupleShape, budget: Budget) -> Result<(), ParamsError> {
        self.inner().check_enough(shape, budget)
    }

    fn largest_epsilon(&self) -> f64 {
        self.inner().largest_epsilon()
    }

    fn plan(
        &self,
        shape: TupleShape,
        relation: NeighboringRelation,
        spend: TupleSpend,
    ) -> Result<Vec<Event>, ParamsError> {
        self.inner().plan(shape, relation, spend)
    }

    fn aggregate(
        &self,
        tuples: &Tuples,
        spend: TupleSpend,
        session: &mut Session<'_>,
        public: &mut dyn RngCore,
    ) -> Result<Aggregate, FitError> {
        self.inner().aggregate(tuples, spend, session, public)
    }
}

/// Unchecked parameters of `PrivatekMeans`; [`check`](Self::check) turns them into a [`PrivateKMeans`].
#[derive(Clone, Debug, PartialEq)]
#[must_use = "parameters do nothing until `check` is called"]
pub struct PrivateKMeansParams {
    pub(super) n_clusters: usize,
    pub(super) budget: Budget,
    pub(super) aggregator: Aggregator,
    pub(super) n_blocks: Option<usize>,
    pub(super) sampling: Sampling,
    pub(super) n_restarts: usize,
    pub(super) tuple_share: f64,
    pub(super) refine: Refine,
    pub(super) n_hint: Option<u64>,
}

impl PrivateKMeansParams {
    /// FriendlyCore on disjoint blocks, as many as it needs.
    pub fn new(n_clusters: usize, budget: Budget) -> Self {
        Self {
            n_clusters,
            budget,
            aggregator: Aggregator::default(),
            n_blocks: None,
            sampling: Sampling::Disjoint,
            n_restarts: 4,
            tuple_share: 0.75,
            refine: Refine::default(),
            n_hint: None,
        }
    }

    /// Sets the private k-tuple clustering.
    pub fn aggregator(mut self, aggregator: Aggregator) -> Self {
        self.aggregator = aggregator;
        self
    }

    /// Sets t, the number of blocks (default: from the budget, and from `n_hint` if there is one).
    pub const fn n_blocks(mut self, n_blocks: Option<usize>) -> Self {
        self.n_blocks = n_blocks;
        self
    }

    /// Sets how records get into blocks.
    pub const fn sampling(mut self, sampling: Sampling) -> Self {
        self.sampling = sampling;
        self
    }

    /// Sets the number of k-means++ starts in each block (default 4).
    pub const fn n_restarts(mut self, n_restarts: usize) -> Self {
        self.n_restarts = n_restarts;
        self
    }

    /// Sets the share of ε and of δ that the tuples get, in (0, 1) (default 0.75; with replacement it is as printed).
    pub const fn tuple_share(mut self, share: f64) -> Self {
        self.tuple_share = share;
        self
    }

    /// Sets how centers are refined on all records.
    pub const fn refine(mut self, refine: Refine) -> Self {
        self.refine = refine;
        self
    }

    /// Sets the number of records as publicly known; needed with replacement, else it improves the number of blocks.
    pub const fn n_hint(mut self, n_hint: Option<u64>) -> Self {
        self.n_hint = n_hint;
        self
    }

    /// ε of the tuples, and what is left of it: a share, unless the aggregator has no use for so much.
    pub(super) fn shares(&self) -> (f64, f64) {
        let epsilon = self.budget.epsilon.get();
        let (tuples, rest) = share(epsilon, self.tuple_share);
        let most = self.aggregator.largest_epsilon();
        if tuples <= most {
            (tuples, rest)
        } else {
            (most, down(epsilon - most, 2))
        }
    }

    /// What the private k-tuple clustering may spend, for the replacement of one tuple: the share of the tuples, or the printed
    /// (ε/6, δ/(4e^ε)) with replacement.
    ///
    /// # Errors
    ///
    /// [`ParamsError::BudgetTooSmall`]; with replacement [`ParamsError::EpsilonTooLarge`] above ε = 6.
    pub fn tuple_budget(&self) -> Result<Budget, ParamsError> {
        let (epsilon, delta) = (self.budget.epsilon.get(), self.budget.delta.get());
        let (epsilon, delta) = match self.sampling {
            Sampling::Disjoint => {
                let (epsilon, _) = self.shares();
                let delta_share = share(delta, self.tuple_share).0;
                let delta = dp_core::planted!("ktuple-delta-twice": delta; delta_share);
                (epsilon, delta)
            }
            Sampling::WithReplacement { .. } => {
                if epsilon > LARGEST_PRINTED {
                    return Err(ParamsError::EpsilonTooLarge {
                        algorithm: "sampling with replacement",
                        most: LARGEST_PRINTED,
                        got: epsilon,
                    });
                }
                (
                    down(epsilon / 6.0, 2),
                    down(delta / (4.0 * libm::exp(epsilon)), 8),
                )
            }
        };
        Ok(Budget::approx(
            Epsilon::new(epsilon).map_err(|_| ParamsError::BudgetTooSmall)?,
            Delta::new(delta).map_err(|_| ParamsError::BudgetTooSmall)?,
        ))
    }

    /// The private k-tuple clustering.
    #[must_use]
    pub const fn tuple_aggregator(&self) -> &Aggregator {
        &self.aggregator
    }

    /// Name of the private k-tuple clustering.
    #[must_use]
    pub fn aggregator_name(&self) -> &'static str {
        self.aggregator.name()
    }

    /// Name of the sampling.
    #[must_use]
    pub const fn sampling_name(&self) -> &'static str {
        self.sampling.name()
    }

    /// s, records per block, where they are drawn with replacement.
    #[must_use]
    pub const fn block_size(&self) -> Option<u64> {
        match self.sampling {
            Sampling::Disjoint => None,
            Sampling::WithReplacement { block_size } => Some(block_size),
        }
    }

    /// The number of k-means++ starts in each block.
    #[must_use]
    pub const fn restarts(&self) -> usize {
        self.n_restarts
    }

    /// The share of ε and δ that the tuples get; none with replacement, where the budgets are as printed, or where a share of ε is more than
    /// the aggregator can use.
    #[must_use]
    pub fn share_of_tuples(&self) -> Option<f64> {
        let asked = share(self.budget.epsilon.get(), self.tuple_share).0;
        let is_whole = asked <= self.aggregator.largest_epsilon();
        (self.sampling == Sampling::Disjoint && is_whole).then_some(self.tuple_share)
    }

    /// How centers are refined.
    #[must_use]
    pub const fn refinement(&self) -> Refine {
        self.refine
    }

    /// Checks every field once.
    ///
    /// # Errors
    ///
    /// The [`ParamsError`] of the first field that is out of range.
    pub fn check(self) -> Result<PrivateKMeans, ParamsError> {
        let Self {
            n_clusters,
            budget,
            aggregator: _, // checked when it was made
            n_blocks,
            sampling,
            n_restarts,
            tuple_share,
            refine,
            n_hint,
        } = &self;
        let count = |name, got: u64| {
            let refused = ParamsError::Count {
                name,
                least: 1,
                got,
            };
            if got == 0 { Err(refused) } else { Ok(()) }
        };
        if *n_clusters == 0 {
            return Err(ParamsError::NoClusters);
        }
        if budget.delta.is_zero() {
            return Err(ParamsError::NoDelta);
        }
        count("n_blocks", n_blocks.map_or(1, |t| t as u64))?;
        count("n_restarts", *n_restarts as u64)?;
        count("n_hint", n_hint.unwrap_or(1))?;
        if let Sampling::WithReplacement { block_size } = sampling {
            count("block_size", *block_size)?;
        }
        if !(*tuple_share > 0.0 && *tuple_share < 1.0) {
            return Err(ParamsError::Range {
                name: "tuple_share",
                low: 0.0,
                high: 1.0,
                got: *tuple_share,
            });
        }
        refine.check()?;
        Ok(PrivateKMeans { params: self })
    }
}
