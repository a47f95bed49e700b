//! What all private k-tuple clusterings have in common: [`TupleAggregator`].

use std::fmt;

use dp_core::composition::ApproxLoss;
use dp_core::session::Charge;
use dp_core::{Budget, Epsilon, Event, Loss, NeighboringRelation, Session, SpendError};
use dp_core::{Delta, subsampling};
use ndarray::Array2;
use rand::RngCore;

use crate::error::{FitError, ParamsError};
use crate::planner::Prospect;
use crate::tuples::{TupleShape, Tuples};

/// What an aggregation may spend on the tuples, and what that costs the records behind them.
///
/// Aggregators are private when one *tuple* is replaced, with the number of tuples public. If one record touches one tuple,
/// whatever its value or presence, that loss is the record's loss too, under either relation: [`direct`](Self::direct).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TupleSpend {
    /// (ε, δ) for the replacement of one tuple.
    pub budget: Budget,
    /// What the ledger charges: the loss of one record.
    pub charged: Loss,
}

impl TupleSpend {
    /// One record touches one tuple: what the tuples pay is what the record pays.
    #[must_use]
    pub const fn direct(budget: Budget) -> Self {
        Self {
            budget,
            charged: Loss::Approx(budget.epsilon, budget.delta),
        }
    }

    /// The tuples come from `drawn` draws with replacement of `population` records (public): what Lemma 2.25 makes of the budget.
    ///
    /// # Errors
    ///
    /// [`ParamsError::Subsampling`] unless 2·`drawn` ≤ `population` and ε ≤ 1.
    pub fn with_replacement(
        budget: Budget,
        drawn: u64,
        population: u64,
    ) -> Result<Self, ParamsError> {
        let inner = ApproxLoss {
            epsilon: budget.epsilon.get(),
            delta: budget.delta.get(),
        };
        let outer = subsampling::with_replacement(drawn, population, inner)?;
        let too_small = |_| ParamsError::BudgetTooSmall;
        Ok(Self {
            budget,
            charged: Loss::Approx(
                Epsilon::new(outer.epsilon).map_err(too_small)?,
                Delta::new(outer.delta).map_err(too_small)?,
            ),
        })
    }
}

/// What an aggregation answered: centers, or ⊥ with advice.
#[derive(Clone, Debug, PartialEq)]
pub enum Aggregate {
    /// k centers, shape (k, d), scaled coordinates, in lexicographic order of the released values; they may lie a
    /// little outside of [-1, 1]^d.
    Centers(Array2<f64>),
    /// ⊥: the tuples do not agree, or so the noise has it. An ordinary outcome that was paid for.
    Refused(Refusal),
}

/// Why ⊥ was answered and what may help: computed from public values alone.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    /// Which aggregator said so.
    pub aggregator: &'static str,
    /// t, the public number of tuples.
    pub n_tuples: u64,
    /// Tuples with which the aggregator would answer if nearly all of them agreed.
    pub enough_tuples: u64,
    /// Records with which that many blocks would nearly all show every cluster, if clusters are of equal size.
    pub enough_records: u64,
    /// How far apart clusters must be for tuples to agree, in units of the distance between two tuples' points for the same cluster.
    pub separation: f64,
}

impl Refusal {
    /// Of t tuples of k points; `tolerance` is how far points of two tuples may be apart for the tuples to agree, in units of the distance
    /// between centers.
    pub(crate) fn new(
        aggregator: &'static str,
        shape: TupleShape,
        enough_tuples: u64,
        tolerance: f64,
    ) -> Self {
        let clusters = (shape.n_clusters, shape.dimension);
        Self {
            aggregator,
            n_tuples: shape.n_tuples as u64,
            enough_tuples,
            enough_records: Prospect::new(0, enough_tuples, clusters, tolerance).needed_records,
            separation: 1.0 / tolerance,
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the {} block solutions do not agree on the same well separated clusters ({}): each pair of clusters must be about {:.0} \
             times as far apart as the solutions of two blocks differ. Larger blocks differ less: use fewer blocks (at least {} \
             at this budget) or more records (at least {} for so many blocks to show every cluster); or another number of clusters; \
             else an algorithm that needs no separation",
            self.n_tuples,
            self.aggregator,
            self.separation,
            self.enough_tuples,
            self.enough_records
        )
    }
}

/// A private k-tuple clustering: from t tuples of k points, each a guess of the same k centers, to k centers.
///
/// # Privacy
///
/// Private for the replacement of one tuple; t is public. All noise comes through the session, the whole loss is charged before
/// any tuple is looked at, and ⊥ is one of the answers.
pub trait TupleAggregator: fmt::Debug + Sync {
    /// The name in flags and files.
    fn name(&self) -> &'static str;

    /// The smallest number of tuples with which it works at this budget (k and d from `shape`).
    ///
    /// # Errors
    ///
    /// [`ParamsError`] if no number will do.
    fn tuples_needed(&self, shape: TupleShape, budget: Budget) -> Result<u64, ParamsError>;

    /// Refuses a number of tuples that [`plan`](Self::plan) takes, because the answer is private, but that is too small for an answer
    /// worth having.
    ///
    /// # Errors
    ///
    /// [`ParamsError::TooFewTuples`].
    fn check_enough(&self, _shape: TupleShape, _budget: Budget) -> Result<(), ParamsError> {
        Ok(())
    }

    /// The largest ε that it has a use for: its theorem ends there, or it needs no fewer tuples with more.
    fn largest_epsilon(&self) -> f64 {
        f64::INFINITY
    }

    /// What a run would charge.
    ///
    /// # Errors
    ///
    /// [`ParamsError`] if the budget or the number of tuples is too small.
    fn plan(
        &self,
        shape: TupleShape,
        relation: NeighboringRelation,
        spend: TupleSpend,
    ) -> Result<Vec<Event>, ParamsError>;

    /// Runs. `public` is public randomness.
    ///
    /// # Errors
    ///
    /// [`FitError`] as [`plan`](Self::plan), or if the session's budget does not cover it; nothing is spent then.
    fn aggregate(
        &self,
        tuples: &Tuples,
        spend: TupleSpend,
        session: &mut Session<'_>,
        public: &mut dyn RngCore,
    ) -> Result<Aggregate, FitError>;
}

/// Charges the one event of a plan, under which the draws of an aggregation follow.
pub(crate) fn charge(session: &mut Session<'_>, event: Event) -> Result<Charge, SpendError> {
    session.charge(event)
}

/// Sorts centers lexicographically: an order that depends on released values alone.
pub(crate) fn in_canonical_order(mut centers: Vec<Vec<f64>>) -> Array2<f64> {
    centers.sort_by(|a, b| {
        let mut pairs = a.iter().zip(b).map(|(x, y)| x.total_cmp(y));
        pairs
            .find(|order| order.is_ne())
            .unwrap_or(std::cmp::Ordering::Equal)
    });
    let (k, d) = (centers.len(), centers.first().map_or(0, Vec::len));
    Array2::from_shape_fn((k, d), |(i, j)| centers[i][j])
}
