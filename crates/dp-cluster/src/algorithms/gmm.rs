//! `gmm`: a private mixture of Gaussians around centers on which blocks agree.

use std::collections::BTreeMap;

use dp_core::{Budget, Delta, Epsilon, NeighboringRelation, Session, Value};
use gmm::learner::Sigmas;
use gmm::{GaussianMixture, GmmOutcome, PrivateGmm, PrivateGmmParams};
use ktuple::planner::Prospect;
use metric_space::{Frame, FramedSource, RecordSource};
use rand::RngCore;

use super::failure::{failed, refusal, refused};
use super::ktuple::{AggregatorChoice, FAILURE_PROBABILITY, aggregator, show, unused};
use crate::algorithm::{Algorithm, DeltaNeed, Facts, FitError, Outcome};
use crate::plan::Plan;
use crate::request::{FitRequest, RequestError};

const NAME: &str = "gmm";

/// Default bounds on standard deviations, as shares of a column's width.
const LEAST_SHARE: f64 = 1.0 / 1024.0;
const MOST_SHARE: f64 = 0.5;

/// Half widths of columns whose squares, as a covariance has them, are numbers with room on either side.
const HALF_WIDTHS: std::ops::RangeInclusive<f64> = 1e-140..=1e140;

/// `PrivatekGMM`.
pub(crate) struct Gmm;

/// The share of the tuples for which published clusterings are sized, and which they get.
const PUBLISHED_SHARE: f64 = 0.5;

/// Bounds on standard deviations, original units, per column.
fn bounds(request: &FitRequest) -> Vec<[f64; 2]> {
    let options = &request.options;
    let of_column = |[lo, hi]: &[f64; 2]| {
        let width = hi - lo;
        [
            options.sigma_min.unwrap_or(width * LEAST_SHARE),
            options.sigma_max.unwrap_or(width * MOST_SHARE),
        ]
    };
    request.bounds.iter().map(of_column).collect()
}

/// The bounds in scaled units, refused in the words and units of the caller.
fn sigmas(request: &FitRequest, frame: &Frame) -> Result<Sigmas, RequestError> {
    let options = &request.options;
    for (flag, given) in [
        ("sigma-min", options.sigma_min),
        ("sigma-max", options.sigma_max),
    ] {
        if let Some(got) = given
            && !(got > 0.0 && got.is_finite())
        {
            return Err(refusal(
                flag,
                format!("must be finite and above 0, got {got}"),
            ));
        }
    }
    let (mut least, mut most) = (Vec::new(), Vec::new());
    for (([low, high], [lo, hi]), name) in bounds(request)
        .into_iter()
        .zip(&request.bounds)
        .zip(&request.columns)
    {
        if low >= high {
            let origin = |given: Option<f64>, default| given.map_or(default, |_| "");
            return Err(refusal(
                "sigma-min",
                format!(
                    "must be below `sigma-max`; for column `{name}` they are {low}{} and {high}{}",
                    origin(options.sigma_min, " (by default 1/1024 of its width)"),
                    origin(options.sigma_max, " (by default half of its width)"),
                ),
            ));
        }
        let half = (hi - lo) / 2.0;
        let [floor, ceiling] = Sigmas::visible(frame).map(|sigma| sigma * half);
        for (flag, got, fits, limit) in [
            (
                "sigma-max",
                high,
                high >= floor,
                format!("at least {floor}"),
            ),
            (
                "sigma-min",
                low,
                low <= ceiling,
                format!("at most {ceiling}"),
            ),
        ] {
            if !fits {
                return Err(refusal(
                    flag,
                    format!("for column `{name}` it must be {limit}, got {got}"),
                ));
            }
        }
        least.push(low / half);
        most.push(high / half);
    }
    Sigmas::new(least, most).map_err(refused(NAME))
}

/// What runs, with the number of blocks and the share that it will have.
fn check(request: &FitRequest, frame: &Frame) -> Result<PrivateGmm, RequestError> {
    let options = &request.options;
    let budget = request.required_budget()?;
    // Public, so that no covariance is found to be no number after it was paid for.
    let odd = |[lo, hi]: &[f64; 2]| !HALF_WIDTHS.contains(&((hi - lo) / 2.0));
    if let Some(column) = request.bounds.iter().position(odd) {
        let name = request.columns.get(column).map_or("", String::as_str);
        return Err(refusal(
            NAME,
            format!(
                "the bounds of `{name}` are too wide or too narrow for covariances, which are in squared units"
            ),
        ));
    }
    let choice = options.aggregator.unwrap_or_default();
    let scale_min = 2.0 * LEAST_SHARE;
    let (aggregator, share) = match choice {
        AggregatorChoice::FriendlyCore => (gmm::private::default_aggregator(), None),
        AggregatorChoice::Averages | AggregatorChoice::NoisyCenters => {
            let tuples = share_of(budget, PUBLISHED_SHARE).map_err(refused(NAME))?;
            let clusters = (request.n_clusters, request.columns.len());
            let published = aggregator(choice, clusters, tuples, scale_min, FAILURE_PROBABILITY)
                .map_err(refused(NAME))?;
            // A number of blocks that was asked for may need more.
            (
                published,
                options.blocks.is_none().then_some(PUBLISHED_SHARE),
            )
        }
    };
    PrivateGmmParams::new(request.n_clusters, budget)
        .kind(options.covariance.unwrap_or_default())
        .sigmas(Some(sigmas(request, frame)?))
        .aggregator(aggregator)
        .n_blocks(options.blocks)
        .tuple_share(share)
        .n_hint(request.n_hint)
        .check()
        .and_then(|checked| checked.resolved(frame))
        .map_err(refused(NAME))
}

/// Public parameters, defaults filled in.
fn parameters(
    request: &FitRequest,
    checked: &PrivateGmm,
    frame: &Frame,
) -> Result<BTreeMap<String, Value>, RequestError> {
    use ktuple::TupleAggregator;
    let params = checked.params();
    let blocks = checked.n_blocks(frame).map_err(refused(NAME))?;
    let share = checked.tuple_share(frame).map_err(refused(NAME))?;
    let bounds = bounds(request);
    let column = |at: usize| Value::List(bounds.iter().map(|pair| pair[at].into()).collect());
    Ok(BTreeMap::from([
        ("covariance".into(), params.covariance_kind().name().into()),
        ("sigma_min".into(), column(0)),
        ("sigma_max".into(), column(1)),
        ("aggregator".into(), params.tuple_aggregator().name().into()),
        ("blocks".into(), (blocks as u64).into()),
        ("split".into(), params.stages_divide().name().into()),
        ("tuple_share".into(), share.into()),
        ("labeler".into(), params.labeler_name().into()),
        ("learner".into(), params.learner_name().into()),
        ("lattice_bits".into(), frame.lattice().bits().into()),
    ]))
}

/// Covariances in original units: column i was divided by half its width.
fn original_covariances(mixture: &GaussianMixture, request: &FitRequest) -> Vec<Vec<Vec<f64>>> {
    let halves: Vec<f64> = request
        .bounds
        .iter()
        .map(|[lo, hi]| (hi - lo) / 2.0)
        .collect();
    let of_component = |covariance: ndarray::ArrayView2<'_, f64>| {
        let row = |i: usize| {
            let entries = halves.iter().enumerate();
            entries
                .map(|(j, half)| covariance[[i, j]] * (halves[i] * half))
                .collect()
        };
        (0..halves.len()).map(row).collect()
    };
    mixture
        .covariances()
        .outer_iter()
        .map(of_component)
        .collect()
}

/// What blocks can show, where there are blocks and a public number of records.
fn prospect(request: &FitRequest, checked: &PrivateGmm, frame: &Frame) -> Option<Prospect> {
    if request.n_clusters < 2 {
        return None;
    }

    let blocks = checked.n_blocks(frame).ok()? as u64;
    let n = request.n_hint?;
    let ratio = checked.params().tuple_aggregator().tolerance();
    let clusters = (request.n_clusters, frame.dimension());
    Some(Prospect::new(n, blocks, clusters, ratio))
}

/// A share of (ε, δ).
fn share_of(budget: Budget, share: f64) -> Result<Budget, ktuple::ParamsError> {
    let too_small = |_| ktuple::ParamsError::BudgetTooSmall;
    Ok(Budget::approx(
        Epsilon::new(budget.epsilon.get() * share).map_err(too_small)?,
        Delta::new(budget.delta.get() * share).map_err(too_small)?,
    ))
}

impl Algorithm for Gmm {
    fn facts(&self) -> Facts {
        Facts {
            name: NAME,
            summary: "a mixture of well separated Gaussians: weights, means, covariances; refuses what is not separated",
            private: true,
            proof: NeighboringRelation::AddRemove,
            delta: DeltaNeed::Required,
            needs_size: false,
            options: &[
                "aggregator",
                "blocks",
                "covariance",
                "sigma-min",
                "sigma-max",
            ],
        }
    }

    fn plan(&self, request: &FitRequest) -> Result<Plan, RequestError> {
        let frame = request.frame()?;
        let checked = check(request, &frame)?;
        let events = checked
            .plan(&frame, request.relation)
            .map_err(refused(NAME))?;
        let mut plan = Plan::new(events).parameters(parameters(request, &checked, &frame)?);
        plan.warnings.extend(unused(request));
        if let Some(prospect) = prospect(request, &checked, &frame) {
            show(&mut plan, prospect);
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
        let checked = check(request, &frame)?;
        let outcome = checked
            .fit(&FramedSource::new(source, &frame), session, public)
            .map_err(failed(NAME))?;
        let outcome = match outcome {
            GmmOutcome::Released {
                mixture,
                noisy_counts,
            } => {
                let mut outcome =
                    Outcome::scaled(mixture.means().clone()).noisy_counts(Some(noisy_counts));
                outcome.own.weights = Some(mixture.weights().to_vec());
                outcome.own.covariances = Some(original_covariances(&mixture, request));
                outcome
            }
            GmmOutcome::Refused(refusal) => Outcome::refused(refusal.to_string()),
        };
        Ok(outcome.parameters(parameters(request, &checked, &frame)?))
    }
}
