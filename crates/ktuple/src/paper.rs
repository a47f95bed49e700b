//! The two published k-tuple clusterings, mended: `PrivatekAverages` and `PrivatekNoisyCenters`.
//!
//! Both test first whether nearly all tuples are partitioned by the same balls ([`partition`](crate::partition)) and answer ⊥ if not. Then
//! [`PrivateKAverages`] averages each cluster, [`PrivateKNoisyCenters`] adds noise to the centers of the balls. They need
//! thousands to millions of tuples and wide separation; they are here to be compared with, and as the reference of the paper.
//! What was mended is listed in `docs/proofs/ktuple.md`.
//!
//! # Source
//!
//! Cohen, Kaplan, Mansour, Stemmer, Tsfadia, "Differentially-Private Clustering of Easy Instances", ICML 2021, Algorithms 4.14 and 4.18.

mod k_averages;
mod noisy_centers;
#[cfg(test)]
mod tests;

pub use k_averages::PrivateKAverages;
pub use noisy_centers::{NoisyComposition, PrivateKNoisyCenters};

use dp_core::sensitivity::Sensitivity;
use dp_core::{Budget, Epsilon, Event, NeighboringRelation, Session};
use rand::RngCore;

use crate::aggregator::{Aggregate, Refusal, TupleAggregator, TupleSpend};
use crate::error::{FitError, ParamsError};
use crate::partition::{Formulas, TestCall, TestPlan};
use crate::tuples::{TupleShape, Tuples};

/// Both are proved for ε up to 1.
const LARGEST_EPSILON: f64 = 1.0;

/// One of the published clusterings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Paper2021 {
    /// Algorithm 4.14.
    Averages(PrivateKAverages),
    /// Algorithm 4.18, with point 9 mended.
    NoisyCenters(PrivateKNoisyCenters),
}

impl Paper2021 {
    fn inner(&self) -> &dyn TupleAggregator {
        match self {
            Self::Averages(averages) => averages,
            Self::NoisyCenters(centers) => centers,
        }
    }

    /// What of a budget they can spend: their theorems end at ε = 1.
    #[must_use]
    pub fn affordable(budget: Budget) -> Budget {
        match Epsilon::new(LARGEST_EPSILON) {
            Ok(largest) if budget.epsilon > largest => Budget::approx(largest, budget.delta),
            _ => budget,
        }
    }

    /// About 1/Δ: how far points of two tuples may be apart for one to lie in the other's balls, in units of the distance
    /// between centers.
    #[must_use]
    pub fn tolerance(&self) -> f64 {
        match self {
            Self::Averages(_) => 1.0 / k_averages::SEPARATION,
            Self::NoisyCenters(centers) => 1.0 / centers.separation(),
        }
    }
}

impl TupleAggregator for Paper2021 {
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

/// The test's plan for an algorithm that may spend `budget`, if t tuples suffice.
fn tested(
    algorithm: &'static str,
    shape: TupleShape,
    budget: Budget,
    failure_probability: f64,
) -> Result<TestPlan, ParamsError> {
    if budget.delta.is_zero() {
        return Err(ParamsError::NoDelta);
    }
    if shape.n_clusters < 2 {
        return Err(ParamsError::Count {
            name: "n_clusters of the tuple test",
            least: 2,
            got: shape.n_clusters as u64,
        });
    }
    let (epsilon, delta) = (budget.epsilon.get(), budget.delta.get());
    let call = TestCall::of_algorithm(epsilon, delta, failure_probability);
    let formulas = Formulas::default();
    let t = shape.n_tuples as u64;
    let plan = formulas.plan(t, call);
    let enough = plan.filter(|plan| t as f64 >= 2.0 * plan.n_outside + 2.0);
    let Some(plan) = enough else {
        return Err(ParamsError::TooFewTuples {
            got: t,
            needed: formulas.least_tuples(call)?.n_tuples,
        });
    };
    plan.check(algorithm, epsilon, delta)?;
    Ok(plan)
}

/// The smallest number of tuples that the test takes.
fn least_tuples(budget: Budget, failure_probability: f64) -> Result<u64, ParamsError> {
    let call = TestCall::of_algorithm(
        budget.epsilon.get(),
        budget.delta.get(),
        failure_probability,
    );
    Ok(Formulas::default().least_tuples(call)?.n_tuples)
}

/// The one event of either algorithm.
fn event(
    mechanism: &'static str,
    shape: TupleShape,
    relation: NeighboringRelation,
    spend: TupleSpend,
    plan: &TestPlan,
) -> Event {
    Event::new(mechanism, Sensitivity::ByTheorem, relation, spend.charged)
        .purpose("centers from tuples")
        .with("tuples", shape.n_tuples as u64)
        .with("tested", plan.n_drawn)
        .with("tuple_epsilon", spend.budget.epsilon.get())
        .with("tuple_delta", spend.budget.delta.get())
}

fn refusal(aggregator: &'static str, shape: TupleShape, enough: u64, separation: f64) -> Aggregate {
    Aggregate::Refused(Refusal::new(aggregator, shape, enough, 1.0 / separation))
}

/// Checks β.
fn probability(failure_probability: f64) -> Result<f64, ParamsError> {
    if failure_probability > 0.0 && failure_probability <= 1.0 {
        Ok(failure_probability)
    } else {
        Err(ParamsError::Range {
            name: "failure_probability",
            low: 0.0,
            high: 1.0,
            got: failure_probability,
        })
    }
}
