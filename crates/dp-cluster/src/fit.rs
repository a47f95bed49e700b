//! Running an algorithm by name, from a request to a model.

use dp_core::rng::NoiseRng;
use dp_core::{Budget, Epsilon, Session, Value};
use metric_space::{Domain, RecordSource};
use ndarray::Array2;
use rand::RngCore;

use crate::algorithm::{Centers, FitError, Outcome};
use crate::model::{FORMAT_VERSION, Model, ModelOutcome};
use crate::request::{FitRequest, RequestError, box_domain};
use crate::synopsis::Synopsis;

/// What a fit gives: the model, and advice where the mechanism answered ⊥.
#[derive(Clone, Debug, PartialEq)]
pub struct Fitted {
    /// The release.
    pub model: Model,
    /// Why there are no centers and what may help, from public values.
    pub advice: Option<String>,
    /// The grid synopsis that was released on the way, where there is one: free to use again.
    pub synopsis: Option<Synopsis>,
}

/// Fits `request` to the records of `source`.
///
/// # Privacy
///
/// The model's `guarantee`, proved by its `ledger`. `noise` is the secret randomness; `public` draws what
/// costs nothing (first centers, projections) and may be known.
///
/// # Errors
///
/// [`FitError`]: the request was refused (nothing was read or spent), or the source cannot be read.
/// Never for what the records hold.
pub fn fit(
    request: &FitRequest,
    source: &dyn RecordSource,
    noise: &mut dyn NoiseRng,
    public: &mut dyn RngCore,
) -> Result<Fitted, FitError> {
    let algorithm = request.check()?;
    let private = algorithm.facts().private;
    let mut session = Session::new(session_budget(request, private)?, request.relation, noise);
    let plan = algorithm.plan(request)?;
    session.admit(&plan.events)?;
    let outcome = algorithm.fit(request, source, &mut session, public)?;
    let release = session.release(outcome);
    let domain = Domain::from(box_domain(&request.columns, &request.bounds)?);
    let outcome = release.value;
    let centers = match outcome.centers.as_ref() {
        Some(Centers::Scaled(centers)) => rows(centers, |row| domain.to_original(row)),
        Some(Centers::Original(centers)) => rows(centers, <[f64]>::to_vec),
        None => Vec::new(),
    };
    let parameters = all_parameters(request, &outcome);
    let model = Model {
        format_version: FORMAT_VERSION,
        algorithm: request.algorithm.clone(),
        chosen: outcome.own.chosen,
        outcome: if outcome.centers.is_some() {
            ModelOutcome::Released
        } else {
            ModelOutcome::Refused
        },
        private,
        seeded: release.seeded,
        columns: request.columns.clone(),
        bounds: request.bounds.clone(),
        centers,
        noisy_counts: outcome.noisy_counts,
        weights: outcome.own.weights,
        covariances: outcome.own.covariances,
        metric: outcome.own.metric,
        power: outcome.own.power,
        site_rows: outcome.own.site_rows,
        guarantee: private.then_some(release.guarantee),
        ledger: release.ledger,
        parameters,
    };
    model.check()?;
    let synopsis = outcome.synopsis;
    let synopsis = synopsis.and_then(|grid| Synopsis::of(&model, grid));
    Ok(Fitted {
        model,
        advice: outcome.advice,
        synopsis,
    })
}

/// What the run may spend. An algorithm that is not private draws no noise, and a session cannot have
/// no budget at all: it gets the least there is.
fn session_budget(request: &FitRequest, private: bool) -> Result<Budget, RequestError> {
    match request.required_budget() {
        Err(_) if !private => Epsilon::new(f64::MIN_POSITIVE)
            .map(Budget::pure)
            .map_err(|error| RequestError::Parameter {
                parameter: "epsilon",
                reason: error.to_string(),
            }),
        budget => budget,
    }
}

fn rows(centers: &Array2<f64>, convert: impl Fn(&[f64]) -> Vec<f64>) -> Vec<Vec<f64>> {
    let to_row = |row: ndarray::ArrayView1<'_, f64>| convert(&row.to_vec());
    centers.outer_iter().map(to_row).collect()
}

/// What was asked for, and what the algorithm made of it.
fn all_parameters(
    request: &FitRequest,
    outcome: &Outcome,
) -> std::collections::BTreeMap<String, Value> {
    let mut parameters = outcome.parameters.clone();
    let mut set = |name: &str, value: Value| parameters.insert(name.to_owned(), value);
    set("clusters", request.n_clusters.into());
    set("epsilon", request.epsilon.map(Epsilon::get).into());
    set("delta", request.delta.get().into());
    set("relation", request.relation.name().into());
    set("n_hint", request.n_hint.into());
    parameters
}
