//! `ktuple`: centers of secret blocks, agreed on privately, then refined.

use std::collections::BTreeMap;

use dp_core::{Budget, Loss, NeighboringRelation, Session, Value};
use ktuple::averages::Axes;
use ktuple::blocks::Sampling;
use ktuple::means::{Aggregator, KMeansOutcome, PrivateKMeans, PrivateKMeansParams, Refine};
use ktuple::paper::{NoisyComposition, Paper2021, PrivateKAverages, PrivateKNoisyCenters};
use ktuple::{ParamsError, TupleShape};
use metric_space::{FramedSource, Lattice, RecordSource};
use rand::RngCore;

use super::failure::{failed, refusal, refused};
use crate::algorithm::{Algorithm, DeltaNeed, Facts, FitError, Outcome};
use crate::plan::Plan;
use crate::request::{FitRequest, RequestError};

const NAME: &str = "ktuple";

/// β of the published clusterings, as in the paper's experiments.
const FAILURE_PROBABILITY: f64 = 0.05;

/// The private k-tuple clustering of `ktuple` and of mixtures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AggregatorChoice {
    /// FriendlyCore.
    #[default]
    FriendlyCore,
    /// `PrivatekAverages`, mended.
    Averages,
    /// `PrivatekNoisyCenters`, mended.
    NoisyCenters,
}

/// How records get into blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SamplingChoice {
    /// Each record in one block.
    #[default]
    Disjoint,
    /// Blocks drawn with replacement, as published; needs a block size and a public number of records.
    WithReplacement,
}

/// `PrivatekMeans`.
pub(crate) struct KTuple;

/// The aggregator of a request for k clusters in d columns; `tuples` is what it may spend, `scale_min` a fraction of half the
/// widest column.
pub(super) fn aggregator(
    choice: AggregatorChoice,
    (n_clusters, dimension): (usize, usize),
    tuples: Budget,
    scale_min: f64,
) -> Result<Aggregator, ParamsError> {
    Ok(match choice {
        AggregatorChoice::FriendlyCore => Aggregator::default(),
        AggregatorChoice::Averages => Aggregator::Paper2021(Paper2021::Averages(
            PrivateKAverages::new(scale_min, FAILURE_PROBABILITY, Axes::Own)?,
        )),
        AggregatorChoice::NoisyCenters => {
            let shape = TupleShape {
                n_tuples: 0,
                n_clusters,
                dimension,
                lattice: Lattice::default(),
            };
            let basic = NoisyComposition::Basic;
            // With one cluster there is nothing to agree on, and nothing to swap.
            let separation = match n_clusters {
                0 | 1 => PrivateKNoisyCenters::wide_separation(tuples, 2, FAILURE_PROBABILITY),
                _ => PrivateKNoisyCenters::steady_separation(
                    tuples,
                    shape,
                    FAILURE_PROBABILITY,
                    basic,
                )?,
            };
            Aggregator::Paper2021(Paper2021::NoisyCenters(PrivateKNoisyCenters::new(
                separation,
                FAILURE_PROBABILITY,
                basic,
            )?))
        }
    })
}

/// Options about tuples that were given for one cluster, which needs none: for the notes of a plan.
pub(super) fn unused(request: &FitRequest) -> Option<String> {
    let options = &request.options;
    let given = [
        ("aggregator", options.aggregator.is_some()),
        ("blocks", options.blocks.is_some()),
        ("sampling", options.sampling.is_some()),
        ("block-size", options.block_size.is_some()),
    ];
    let given: Vec<String> = given
        .into_iter()
        .filter(|&(_, given)| given)
        .map(|(name, _)| format!("`{name}`"))
        .collect();
    (request.n_clusters == 1 && !given.is_empty()).then(|| {
        format!(
            "one cluster needs no blocks and nothing to agree on them: not used: {}",
            given.join(", ")
        )
    })
}

fn check(request: &FitRequest) -> Result<PrivateKMeans, RequestError> {
    let options = &request.options;
    let budget = request.required_budget()?;
    let mut refine = Refine::default();
    if let Some(scale_min) = options.scale_min {
        let halves = request.bounds.iter().map(|[lo, hi]| (hi - lo) / 2.0);
        let widest = halves.fold(0.0, |a, b| if b > a { b } else { a });
        refine.scale_min = scale_min / widest;
    }
    let sampling = match (options.sampling.unwrap_or_default(), options.block_size) {
        (SamplingChoice::Disjoint, None) => Sampling::Disjoint,
        (SamplingChoice::Disjoint, Some(_)) => {
            return Err(refusal(
                NAME,
                "disjoint blocks have no size of their own; set the number of blocks, or sample with replacement",
            ));
        }
        (SamplingChoice::WithReplacement, Some(block_size)) => {
            Sampling::WithReplacement { block_size }
        }
        (SamplingChoice::WithReplacement, None) => {
            return Err(refusal(NAME, ParamsError::NoBlockSize));
        }
    };
    let params = PrivateKMeansParams::new(request.n_clusters, budget).sampling(sampling);
    let choice = options.aggregator.unwrap_or_default();
    let clusters = (request.n_clusters, request.columns.len());
    let tuples = params.tuple_budget().map_err(refused(NAME))?;
    let aggregator =
        aggregator(choice, clusters, tuples, refine.scale_min).map_err(refused(NAME))?;
    params
        .aggregator(aggregator)
        .n_blocks(options.blocks)
        .refine(refine)
        .n_hint(request.n_hint)
        .check()
        .map_err(refused(NAME))
}

/// Public parameters, defaults filled in.
fn parameters(
    request: &FitRequest,
    checked: &PrivateKMeans,
) -> Result<BTreeMap<String, Value>, RequestError> {
    let frame = request.frame()?;
    let params = checked.params();
    let blocks = checked
        .n_blocks(&frame, request.relation)
        .map_err(refused(NAME))?;
    let mut parameters: BTreeMap<String, Value> = BTreeMap::new();
    parameters.insert("aggregator".into(), params.aggregator_name().into());
    parameters.insert("blocks".into(), (blocks as u64).into());
    parameters.insert("sampling".into(), params.sampling_name().into());
    parameters.insert("scale_min".into(), params.refinement().scale_min.into());
    parameters.insert(
        "rounds".into(),
        (params.refinement().n_rounds as u64).into(),
    );
    parameters.insert("restarts".into(), (params.restarts() as u64).into());
    if let Some(block_size) = params.block_size() {
        parameters.insert("block_size".into(), block_size.into());
    }
    if let Some(share) = params.share_of_tuples() {
        parameters.insert("tuple_share".into(), share.into());
    }
    if request.options.aggregator.unwrap_or_default() != AggregatorChoice::FriendlyCore {
        parameters.insert("failure_probability".into(), FAILURE_PROBABILITY.into());
    }
    parameters.insert("lattice_bits".into(), frame.lattice().bits().into());
    Ok(parameters)
}

/// Records of each cluster that a block needs before its solver can be expected to find it.
const LEAST_IN_BLOCK: u64 = 4;

/// Squared error of a center by the noise of the last sums, scaled units, for clusters of equal size that lie as close as
/// [vote-refine's prediction](lloyd_dp::vote_refine::VoteRefineParams::predicted_sq_error) assumes; none where blocks are too small to answer.
fn expected_sq_error(request: &FitRequest, plan: &Plan, n: u64, blocks: usize) -> Option<f64> {
    let (k, d) = (request.n_clusters as f64, request.dimension() as f64);
    let in_block = n / (blocks as u64 * request.n_clusters as u64).max(1);
    let Loss::Zcdp(rho) = plan.events.last()?.loss else {
        return None;
    };
    let radius = 0.2 * d.sqrt() / k.powf(1.0 / d) * request.relation.steps() as f64;
    let size = n as f64 / k;
    (in_block >= LEAST_IN_BLOCK).then(|| d * radius * radius / (2.0 * rho.get()) / (size * size))
}

impl Algorithm for KTuple {
    fn facts(&self) -> Facts {
        Facts {
            name: NAME,
            summary: "centers on which k-means in secret blocks agrees: for well separated clusters, refuses others",
            private: true,
            proof: NeighboringRelation::AddRemove,
            delta: DeltaNeed::Required,
            needs_size: false,
            options: &[
                "aggregator",
                "blocks",
                "sampling",
                "block-size",
                "scale-min",
            ],
        }
    }

    fn plan(&self, request: &FitRequest) -> Result<Plan, RequestError> {
        let checked = check(request)?;
        let frame = request.frame()?;
        let events = checked
            .plan(&frame, request.relation)
            .map_err(refused(NAME))?;
        let mut plan = Plan::new(events).parameters(parameters(request, &checked)?);
        plan.notes.extend(unused(request));
        if request.n_hint.is_some() {
            let prospect = checked
                .prospect(&frame, request.relation)
                .map_err(refused(NAME))?;
            if request.n_clusters > 1 {
                plan = plan.note(prospect.to_string());
            }
            let n_blocks = usize::try_from(prospect.n_blocks).unwrap_or(usize::MAX);
            plan.expected_sq_error =
                expected_sq_error(request, &plan, prospect.n_records, n_blocks);
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
        let outcome = checked
            .fit(&FramedSource::new(source, &frame), session, public)
            .map_err(failed(NAME))?;
        let outcome = match outcome {
            KMeansOutcome::Released {
                centers,
                noisy_counts,
            } => Outcome::scaled(centers).noisy_counts(Some(noisy_counts)),
            KMeansOutcome::Refused(refusal) => Outcome::refused(refusal.to_string()),
        };
        Ok(outcome.parameters(parameters(request, &checked)?))
    }
}
