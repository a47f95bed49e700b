//! `auto`: picks an algorithm from public facts, and says which and why.
//!
//! # Privacy
//!
//! The choice reads the request alone: k, the number of columns, ε, δ, the relation and, if there is one, the public
//! size. It spends nothing, and what it picks keeps the whole budget. Every pick releases k centers, whatever the records are.

use dp_core::{NeighboringRelation, Session};
use lloyd_dp::vote_refine::VoteRefineParams;
use metric_space::RecordSource;
use rand::RngCore;

use crate::algorithm::{Algorithm, DeltaNeed, Facts, FitError, Outcome, find};
use crate::plan::Plan;
use crate::request::{FitRequest, RequestError};

/// The choice.
pub(crate) struct Auto;

/// What `plan` compares. All but k-tuples release k centers with certainty.
///
/// K-tuples are never picked: in each setting that was measured and where they answered, vote-refine was about twice as precise or more for
/// the same budget (the table in `docs/benchmarks.md`, "K-tuples"). So no share needs to be kept back for a fallback after ⊥.
const ALTERNATIVES: [&str; 6] = [
    "vote-refine",
    "grid-k",
    "eug",
    "hybrid-refine",
    "dplloyd",
    "ktuple",
];

/// Most columns in which a grid alone may be the best.
const GRID_COLUMNS: usize = 3;

/// Signal (see [`lloyd_dp::vote_refine::Rules`]) below which a part of the budget spent on steps is lost to the grid they start from.
const LEAST_SIGNAL: f64 = 4.35;

/// A pick and its reason, in words that stand in the model.
struct Choice {
    name: &'static str,
    because: &'static str,
}

/// The numbers behind it are in `docs/benchmarks.md`: the study of vote-refine, on synthetic data.
fn choose(request: &FitRequest) -> Result<Choice, RequestError> {
    let n = request.n_hint.map(|n| n as f64);
    let d = request.dimension();
    let params = VoteRefineParams::new(request.n_clusters, request.required_budget()?);
    let rules = params.rules(n, d, request.relation);
    Ok(if d <= GRID_COLUMNS && rules.signal < LEAST_SIGNAL {
        Choice {
            name: "grid-k",
            because: "few columns, and too few records per cluster for this budget to refine a grid's centers",
        }
    } else if d <= GRID_COLUMNS {
        Choice {
            name: "vote-refine",
            because: "few columns: a grid gives the start, a step within a private radius takes its bias out",
        }
    } else {
        Choice {
            name: "vote-refine",
            because: "a grid of so many columns is too coarse, and steps alone do not find the clusters",
        }
    })
}

/// The same request for the algorithm that was picked.
fn delegated(request: &FitRequest, name: &str) -> FitRequest {
    FitRequest {
        algorithm: name.to_owned(),
        ..request.clone()
    }
}

impl Algorithm for Auto {
    fn facts(&self) -> Facts {
        Facts {
            name: "auto",
            summary: "picks the best of the others from public facts: columns, clusters, budget, size",
            private: true,
            proof: NeighboringRelation::AddRemove,
            delta: DeltaNeed::Optional,
            needs_size: true,
            options: &[],
        }
    }

    fn plan(&self, request: &FitRequest) -> Result<Plan, RequestError> {
        let choice = choose(request)?;
        let mut plan = find(choice.name)?.plan(&delegated(request, choice.name))?;
        plan.parameters
            .insert("chosen".to_owned(), choice.name.into());
        plan.parameters
            .insert("chosen_because".to_owned(), choice.because.into());
        plan.notes.push(format!(
            "`auto` would run `{}`: {}",
            choice.name, choice.because
        ));
        plan.notes.push(
            "the choice is by measured cost, start included, and not by the errors that follow"
                .to_owned(),
        );
        for name in ALTERNATIVES {
            // One that does not fit these columns, or this budget, is no alternative.
            let Ok(other) = find(name).and_then(|other| other.plan(&delegated(request, name)))
            else {
                continue;
            };
            if let Some(error) = other.expected_sq_error {
                plan.notes.push(format!(
                    "predicted squared error of a center by `{name}`, its start aside: {error:.3e} (scaled units)"
                ));
            }
        }
        Ok(plan)
    }

    fn fit(
        &self,
        request: &FitRequest,
        source: &dyn RecordSource,
        session: &mut Session<'_>,
        public: &mut dyn RngCore,
    ) -> Result<Outcome, FitError> {
        let choice = choose(request)?;
        let request = delegated(request, choice.name);
        let outcome = find(choice.name)?.fit(&request, source, session, public)?;
        let mut outcome = outcome.parameter("chosen_because", choice.because);
        outcome.own.chosen = Some(choice.name.to_owned());
        Ok(outcome)
    }
}

#[cfg(test)]
mod tests;
