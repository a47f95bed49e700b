//! `vote-refine`: candidates that records vote for, then Lloyd steps within a private radius.

use std::collections::BTreeMap;

use dp_core::{NeighboringRelation, Session, Value};
use lloyd_dp::vote_refine::{Rules, VoteRefine as Checked, VoteRefineParams};
use metric_space::{FramedSource, RecordSource};
use rand::RngCore;

use super::failure::{failed, refused};
use crate::algorithm::{Algorithm, DeltaNeed, Facts, FitError, Outcome};
use crate::plan::Plan;
use crate::request::{FitRequest, RequestError};

const NAME: &str = "vote-refine";

/// Vote and refine.
pub(crate) struct VoteRefine;

fn check(request: &FitRequest) -> Result<Checked, RequestError> {
    VoteRefineParams::new(request.n_clusters, request.required_budget()?)
        .n_hint(request.n_hint)
        .check()
        .map_err(refused(NAME))
}

/// What ran, or would run.
fn parameters(
    request: &FitRequest,
    checked: &Checked,
    rules: &Rules,
) -> Result<BTreeMap<String, Value>, RequestError> {
    let frame = request.frame()?;
    let mut parameters = BTreeMap::new();
    let mut set = |name: &str, value: Value| parameters.insert(name.to_owned(), value);
    set("start", rules.start.name().into());
    for (name, value) in checked.params().numbers(rules) {
        set(name, value.into());
    }
    set("lattice_bits", frame.lattice().bits().into());
    Ok(parameters)
}

impl Algorithm for VoteRefine {
    fn facts(&self) -> Facts {
        Facts {
            name: NAME,
            summary: "records vote for candidates, then Lloyd steps within a private radius; what `auto` takes nearly always",
            private: true,
            proof: NeighboringRelation::AddRemove,
            delta: DeltaNeed::Optional,
            needs_size: true,
            options: &[],
        }
    }

    fn plan(&self, request: &FitRequest) -> Result<Plan, RequestError> {
        let frame = request.frame()?;
        let checked = check(request)?;
        let events = checked
            .plan(&frame, request.relation)
            .map_err(refused(NAME))?;
        let n = request.n_hint.map(|n| n as f64);
        let rules = checked
            .params()
            .rules(n, frame.dimension(), request.relation);
        let mut plan = Plan::new(events).parameters(parameters(request, &checked, &rules)?);
        if let Some(n) = n {
            let predicted =
                checked
                    .params()
                    .predicted_sq_error(n, frame.dimension(), request.relation);
            plan.expected_sq_error = Some(predicted.map_err(refused(NAME))?);
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
        let frame = request.frame()?;
        let checked = check(request)?;
        let fit = checked
            .fit(&FramedSource::new(source, &frame), session, public)
            .map_err(failed(NAME))?;
        Ok(Outcome::scaled(fit.clustering.centers)
            .noisy_counts(fit.clustering.noisy_counts)
            .parameters(parameters(request, &checked, &fit.rules)?))
    }
}
