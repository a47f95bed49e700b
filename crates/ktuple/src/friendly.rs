//! FriendlyCore: keep the tuples that agree with most others, and average those.
//!
//! # Why it is private
//!
//! A *match* is a relation between two tuples, see [`matching`]. Let `a_i` count the matches of tuple i among the other
//! t − 1. A filter keeps tuples with `a_i` near t, so that any two tuples which may be kept, in either of two
//! neighboring lists, have a match in common; on such *friendly* sets an average moves little when a tuple comes or goes.
//! The filter and its two forms are in [`Filter`], the average in `average`, all proofs in `docs/proofs/friendly-core.md`.
//!
//! # Source
//!
//! Tsfadia, Cohen, Kaplan, Mansour, Stemmer, "FriendlyCore: Practical Differentially Private Aggregation", ICML 2022, for the idea; the
//! predicates, constants and proofs are this crate's own, for replaced tuples with their number public.

mod average;
mod averages;
mod filter;
pub mod matching;
mod plan;
#[cfg(test)]
mod tests;

pub use averages::{FriendlyAverages, RadiusSearch};

use dp_core::sensitivity::Sensitivity;
use dp_core::{Budget, Event, NeighboringRelation, Session};
use rand::RngCore;

use crate::aggregator::{
    Aggregate, Refusal, TupleAggregator, TupleSpend, charge, in_canonical_order,
};
use crate::error::{FitError, ParamsError};
use crate::tuples::{TupleShape, Tuples};
use matching::MatchRatio;
use plan::{Goal, Plan};

/// How friendly tuples are told from the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Filter {
    /// Tuple i is kept with probability (`a_i` − t/2 − 1)/(t/2 − 2), cut to [0, 1].
    ///
    /// A replaced tuple moves each other probability by at most 1/(t/2 − 2), so that an average that is
    /// (ε₀, δ₀)-private for one tuple more or less is, after the filter, private for a replaced tuple with
    /// ε = (t − 1)·ln(1 + (e^ε₀ − 1)/(t/2 − 2)) + 2ε₀, about 4ε₀.
    #[default]
    Proportional,
    /// Tuple i is kept if `a_i` with Gaussian noise exceeds t/2 by a margin: zero-concentrated, ρ₁ + 4ρ₀.
    ///
    /// The noise has variance (t − 1)/(2ρ₁), so it needs t of the order of 16·ln(t/δ)/ρ₁: better than the
    /// proportional filter for large budgets and many tuples only.
    Gaussian,
}

impl Filter {
    /// The name in ledgers.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Proportional => "proportional",
            Self::Gaussian => "gaussian",
        }
    }
}

/// With the default match ratio more than about 20 saves no tuples, with others few; and from hundreds on δ/e^ε is too small a number for its lemma.
const LARGEST_EPSILON: f64 = 64.0;

/// FriendlyCore for k-tuples: the default aggregator.
///
/// Tuples match if each point has a partner within `match_ratio` of both tuples' distances between points. Good
/// centers come out if most tuples agree so; else ⊥, with probability 1 − δ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FriendlyCore {
    ratio: MatchRatio,
    filter: Filter,
}

impl Default for FriendlyCore {
    fn default() -> Self {
        Self {
            ratio: MatchRatio::DEFAULT,
            filter: Filter::Proportional,
        }
    }
}

impl FriendlyCore {
    /// Matches within `match_ratio`, in (0, 1/8]: larger is more tolerant of tuples that differ, smaller gives less noise.
    ///
    /// # Errors
    ///
    /// [`ParamsError::Range`].
    pub fn new(match_ratio: f64, filter: Filter) -> Result<Self, ParamsError> {
        Ok(Self {
            ratio: MatchRatio::new(match_ratio)?,
            filter,
        })
    }

    /// The match ratio γ.
    #[must_use]
    pub fn match_ratio(&self) -> f64 {
        self.ratio.get()
    }

    /// γ(1 − 2γ): points of two tuples whose centers are D apart match within this times D, whatever the errors of the gaps.
    #[must_use]
    pub fn tolerance(&self) -> f64 {
        let ratio = self.ratio.get();
        ratio * (1.0 - 2.0 * ratio)
    }

    /// The filter.
    #[must_use]
    pub const fn filter(&self) -> Filter {
        self.filter
    }

    fn solve(self, shape: TupleShape, budget: Budget) -> Result<Plan, ParamsError> {
        plan::solve(Goal::Tuples(self.ratio), self.filter, shape, budget)
    }

    /// How many of the tuples may get lost, so that the answer is ⊥ with probability at most `failure` over the noise of their count.
    pub(crate) fn spare_tuples(
        self,
        shape: TupleShape,
        budget: Budget,
        failure: f64,
    ) -> Result<f64, ParamsError> {
        let plan = self.solve(shape, budget)?;
        Ok(shape.n_tuples as f64 - plan.enough(failure))
    }

    fn event(
        self,
        shape: TupleShape,
        relation: NeighboringRelation,
        spend: TupleSpend,
        plan: &Plan,
    ) -> Event {
        Event::new(
            "friendly-core",
            Sensitivity::ByTheorem,
            relation,
            spend.charged,
        )
        .purpose("centers from tuples")
        .with("tuples", shape.n_tuples as u64)
        .with("match_ratio", self.ratio.get())
        .with("filter", self.filter.name())
        .with("tuple_epsilon", spend.budget.epsilon.get())
        .with("tuple_delta", spend.budget.delta.get())
        .with("average_epsilon", plan.average_epsilon)
    }
}

impl TupleAggregator for FriendlyCore {
    fn name(&self) -> &'static str {
        "friendly-core"
    }

    fn tuples_needed(&self, shape: TupleShape, budget: Budget) -> Result<u64, ParamsError> {
        plan::tuples_needed(Goal::Tuples(self.ratio), self.filter, shape, budget)
    }

    fn largest_epsilon(&self) -> f64 {
        LARGEST_EPSILON
    }

    fn plan(
        &self,
        shape: TupleShape,
        relation: NeighboringRelation,
        spend: TupleSpend,
    ) -> Result<Vec<Event>, ParamsError> {
        let plan = self.solve(shape, spend.budget)?;
        Ok(vec![self.event(shape, relation, spend, &plan)])
    }

    fn aggregate(
        &self,
        tuples: &Tuples,
        spend: TupleSpend,
        session: &mut Session<'_>,
        _public: &mut dyn RngCore,
    ) -> Result<Aggregate, FitError> {
        let shape = tuples.shape();
        let plan = self.solve(shape, spend.budget)?;
        let event = self.event(shape, session.relation(), spend, &plan);
        let charge = charge(session, event)?;
        let matches = matching::match_counts(tuples, self.ratio);
        let kept = filter::keep(matches, &plan, &charge, session);
        let Some(centers) =
            average::tuple_averages(tuples, &kept, self.ratio, &plan, &charge, session)?
        else {
            let enough = self.tuples_needed(shape, spend.budget)?;
            let refusal = Refusal::new(self.name(), shape, enough, self.tolerance());
            return Ok(Aggregate::Refused(refusal));
        };
        Ok(Aggregate::Centers(in_canonical_order(centers)))
    }
}
