//! `ktuple`: centers of secret blocks, agreed on privately, then refined.

use std::collections::BTreeMap;

use dp_core::{Budget, Loss, NeighboringRelation, Session, Value};
use ktuple::averages::Axes;
use ktuple::blocks::Sampling;
use ktuple::friendly::matching::MatchRatio;
use ktuple::friendly::{Filter, FriendlyCore};
use ktuple::means::{Aggregator, KMeansOutcome, PrivateKMeans, PrivateKMeansParams, Refine};
use ktuple::paper::{NoisyComposition, Paper2021, PrivateKAverages, PrivateKNoisyCenters};
use ktuple::planner::{Assumption, BlockPlan, Prospect, best_blocks, blocks_for, closest};
use ktuple::{ParamsError, TupleShape};
use metric_space::{Frame, FramedSource, Lattice, RecordSource};
use rand::RngCore;

use super::failure::{failed, refusal, refused};
use crate::algorithm::{Algorithm, DeltaNeed, Facts, FitError, Outcome};
use crate::plan::Plan;
use crate::request::{FitRequest, RequestError};

const NAME: &str = "ktuple";

/// β of the published clusterings, as in the paper's experiments, and of blocks for an assumed separation.
pub(super) const FAILURE_PROBABILITY: f64 = 0.05;

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
/// widest column, `failure_probability` the published ones' β.
pub(super) fn aggregator(
    choice: AggregatorChoice,
    (n_clusters, dimension): (usize, usize),
    tuples: Budget,
    scale_min: f64,
    failure_probability: f64,
) -> Result<Aggregator, ParamsError> {
    Ok(match choice {
        AggregatorChoice::FriendlyCore => Aggregator::default(),
        AggregatorChoice::Averages => Aggregator::Paper2021(Paper2021::Averages(
            PrivateKAverages::new(scale_min, failure_probability, Axes::Own)?,
        )),
        AggregatorChoice::NoisyCenters => {
            let tuples = Paper2021::affordable(tuples);
            let basic = NoisyComposition::Basic;
            // With one cluster there is nothing to agree on, and nothing to swap.
            let separation = match n_clusters {
                0 | 1 => PrivateKNoisyCenters::wide_separation(tuples, 2, failure_probability),
                _ => PrivateKNoisyCenters::steady_separation(
                    tuples,
                    shape((n_clusters, dimension)),
                    failure_probability,
                    basic,
                )?,
            };
            Aggregator::Paper2021(Paper2021::NoisyCenters(PrivateKNoisyCenters::new(
                separation,
                failure_probability,
                basic,
            )?))
        }
    })
}

/// Options about tuples that were given for one cluster, which needs none: a warning.
pub(super) fn unused(request: &FitRequest) -> Option<String> {
    let options = &request.options;
    let given = [
        ("aggregator", options.aggregator.is_some()),
        ("blocks", options.blocks.is_some()),
        ("sampling", options.sampling.is_some()),
        ("block-size", options.block_size.is_some()),
        ("separation", options.separation.is_some()),
        ("failure-probability", options.failure_probability.is_some()),
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

/// Half the width of the widest column, original units: what one is in scaled units.
fn widest_half(request: &FitRequest) -> f64 {
    let halves = request.bounds.iter().map(|[lo, hi]| hi / 2.0 - lo / 2.0);
    halves.fold(0.0, |a, b| if b > a { b } else { a })
}

fn check(request: &FitRequest) -> Result<PrivateKMeans, RequestError> {
    let options = &request.options;
    let budget = request.required_budget()?;
    let mut refine = Refine::default();
    if let Some(scale_min) = options.scale_min {
        let widest = widest_half(request);
        if !(scale_min > 0.0 && scale_min <= widest) {
            return Err(refusal(
                "scale-min",
                format!(
                    "must be above 0 and at most {widest:?}, half the widest column, got {scale_min:?}"
                ),
            ));
        }
        refine.scale_min = match scale_min / widest {
            // Far below one lattice unit, where all are the same.
            0.0 => f64::MIN_POSITIVE,
            share => share,
        };
    }
    let params = PrivateKMeansParams::new(request.n_clusters, budget)
        .refine(refine)
        .n_hint(request.n_hint);
    if request.n_clusters < 2 {
        // No blocks and no tuples: see `unused`.
        return params.check().map_err(refused(NAME));
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
    let params = params.sampling(sampling);
    let tuples = params.tuple_budget().map_err(refused(NAME))?;
    let (aggregator, n_blocks) = match assumed(request, tuples)? {
        Some(plan) => {
            let core = FriendlyCore::new(plan.match_ratio, Filter::Proportional);
            let core = core.map_err(refused(NAME))?;
            let n_blocks = usize::try_from(plan.n_blocks).unwrap_or(usize::MAX);
            (Aggregator::FriendlyCore(core), Some(n_blocks))
        }
        None if let Some(core) = fitted_core(request, tuples)? => {
            (Aggregator::FriendlyCore(core), None)
        }
        None => {
            let choice = options.aggregator.unwrap_or_default();
            let clusters = (request.n_clusters, request.columns.len());
            let chosen = aggregator(choice, clusters, tuples, refine.scale_min, beta(request)?);
            (chosen.map_err(refused(NAME))?, options.blocks)
        }
    };
    params
        .aggregator(aggregator)
        .n_blocks(n_blocks)
        .check()
        .map_err(refused(NAME))
}

/// FriendlyCore for the public number of records, where there is one and nothing else was asked for.
fn fitted_core(request: &FitRequest, tuples: Budget) -> Result<Option<FriendlyCore>, RequestError> {
    let options = &request.options;
    let is_free = !is_published(request)
        && options.sampling.unwrap_or_default() == SamplingChoice::Disjoint
        && options.blocks.is_none()
        && request.n_clusters > 1;
    let Some(n_records) = request.n_hint.filter(|_| is_free) else {
        return Ok(None);
    };
    let core = closest(
        n_records,
        shape((request.n_clusters, request.dimension())),
        tuples,
    );
    core.map(Some).map_err(refused(NAME))
}

/// Whether `separation` could be added to a request, and could choose blocks that may differ more.
fn may_differ_more(request: &FitRequest, checked: &PrivateKMeans) -> bool {
    let options = &request.options;
    let is_free = options.separation.is_none() && options.blocks.is_none();
    match checked.params().tuple_aggregator() {
        Aggregator::FriendlyCore(core) => {
            let is_disjoint = options.sampling.unwrap_or_default() == SamplingChoice::Disjoint;
            is_free && is_disjoint && core.match_ratio() < 0.999 * MatchRatio::LARGEST.get()
        }
        Aggregator::Paper2021(_) => false,
    }
}

/// The shape of the tuples but for their number, for k clusters in d columns.
fn shape((n_clusters, dimension): (usize, usize)) -> TupleShape {
    TupleShape {
        n_tuples: 0,
        n_clusters,
        dimension,
        lattice: Lattice::default(),
    }
}

/// Shows what blocks can show: what is hopeless, as a warning.
pub(super) fn show(plan: &mut Plan, prospect: Prospect) {
    let shown = if prospect.is_feasible() {
        &mut plan.notes
    } else {
        &mut plan.warnings
    };
    shown.push(prospect.to_string());
}

/// Whether one of the published clusterings was asked for.
fn is_published(request: &FitRequest) -> bool {
    request.options.aggregator.unwrap_or_default() != AggregatorChoice::FriendlyCore
}

/// β, where something depends on it.
fn beta(request: &FitRequest) -> Result<f64, RequestError> {
    let options = &request.options;
    match options.failure_probability {
        None => Ok(FAILURE_PROBABILITY),
        Some(beta) if !(beta > 0.0 && beta <= 1.0) => Err(refusal(
            "failure-probability",
            format!("must be above 0 and at most 1, got {beta:?}"),
        )),
        Some(_)
            if options.separation.is_none() && !is_published(request) && request.n_clusters > 1 =>
        {
            Err(refusal(
                "failure-probability",
                "goes with `separation`, or with the aggregators `averages` and `noisy-centers`",
            ))
        }
        Some(beta) => Ok(beta),
    }
}

/// The blocks for an assumed separation, if one is assumed: of the public number of records, or as few as will do.
fn assumed(request: &FitRequest, tuples: Budget) -> Result<Option<BlockPlan>, RequestError> {
    let options = &request.options;
    let failure_probability = beta(request)?;
    let Some(separation) = options.separation else {
        return Ok(None);
    };
    if !(separation > 0.0 && separation <= 1e12) {
        return Err(refusal(
            "separation",
            format!("must be above 0 and at most 1e12 standard deviations, got {separation:?}"),
        ));
    }
    if request.n_clusters < 2 {
        return Ok(None);
    }
    if is_published(request) || options.sampling == Some(SamplingChoice::WithReplacement) {
        return Err(refusal(
            "separation",
            "blocks are chosen for `friendly-core` on disjoint blocks alone",
        ));
    }
    if options.blocks.is_some() {
        return Err(refusal(
            "separation",
            "chooses the `blocks`; give one of the two",
        ));
    }
    let shape = shape((request.n_clusters, request.dimension()));
    let assumption = Assumption {
        separation,
        least_share: 1.0 / request.n_clusters as f64,
        failure_probability,
    };
    let plan = match request.n_hint {
        Some(n) => blocks_for(n, shape, tuples, assumption),
        None => best_blocks(shape, tuples, assumption),
    };
    plan.map(Some).map_err(refused(NAME))
}

/// Public parameters, defaults filled in.
fn parameters(
    request: &FitRequest,
    checked: &PrivateKMeans,
) -> Result<BTreeMap<String, Value>, RequestError> {
    let frame = request.frame()?;
    let params = checked.params();
    let scale_min = request
        .options
        .scale_min
        .unwrap_or_else(|| params.refinement().scale_min * widest_half(request));
    let mut parameters: BTreeMap<String, Value> = BTreeMap::from([
        ("scale_min".into(), scale_min.into()),
        (
            "rounds".into(),
            (params.refinement().n_rounds as u64).into(),
        ),
        ("lattice_bits".into(), frame.lattice().bits().into()),
    ]);
    if request.n_clusters == 1 {
        // No blocks, no tuples.
        return Ok(parameters);
    }
    let blocks = checked
        .n_blocks(&frame, request.relation)
        .map_err(refused(NAME))?;
    parameters.insert("aggregator".into(), params.aggregator_name().into());
    parameters.insert("blocks".into(), (blocks as u64).into());
    parameters.insert("sampling".into(), params.sampling_name().into());
    parameters.insert("restarts".into(), (params.restarts() as u64).into());
    if let Some(block_size) = params.block_size() {
        parameters.insert("block_size".into(), block_size.into());
    }
    if let Some(share) = params.share_of_tuples() {
        parameters.insert("tuple_share".into(), share.into());
    }
    let options = &request.options;
    if is_published(request) || options.separation.is_some() {
        parameters.insert("failure_probability".into(), beta(request)?.into());
    }
    if let Some(separation) = options.separation {
        parameters.insert("separation".into(), separation.into());
    }
    if let Aggregator::FriendlyCore(core) = params.tuple_aggregator() {
        parameters.insert("match_ratio".into(), core.match_ratio().into());
    }
    Ok(parameters)
}

/// Coordinates that FriendlyCore compares, two for each pair of blocks, in about a quarter of an hour of one core.
const MANY_COMPARISONS: f64 = 1e12;

/// Whether FriendlyCore would compare so many blocks with each other that a user should know.
fn slow(
    checked: &PrivateKMeans,
    request: &FitRequest,
    frame: &Frame,
) -> Result<Option<String>, RequestError> {
    let params = checked.params();
    let Aggregator::FriendlyCore(_) = params.tuple_aggregator() else {
        return Ok(None);
    };
    let blocks = checked
        .n_blocks(frame, request.relation)
        .map_err(refused(NAME))?;
    let t = blocks as f64;
    let comparisons = t * t * request.n_clusters as f64 * request.dimension() as f64;
    Ok((comparisons > MANY_COMPARISONS).then(|| {
        format!(
            "each of {blocks} blocks is compared with all others, which may take hours where all of them hold records; with more epsilon \
             fewer are needed"
        )
    }))
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
                "separation",
                "failure-probability",
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
        plan.warnings.extend(unused(request));
        plan.warnings.extend(slow(&checked, request, &frame)?);
        if request.n_hint.is_none() && request.n_clusters > 1 {
            let tuples = checked.params().tuple_budget().map_err(refused(NAME))?;
            if let Some(blocks) = assumed(request, tuples)? {
                plan.warnings.push(format!(
                    "the blocks for this separation are proved to agree from n >= {} on, for clusters of equal size",
                    blocks.n_records()
                ));
            }
        }
        if request.n_hint.is_some() {
            let prospect = checked
                .prospect(&frame, request.relation)
                .map_err(refused(NAME))?;
            if request.n_clusters > 1 {
                show(&mut plan, prospect);
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
            KMeansOutcome::Refused(refusal) if may_differ_more(request, &checked) => {
                Outcome::refused(format!(
                    "{refusal}; an assumed `separation` chooses blocks that may differ more"
                ))
            }
            KMeansOutcome::Refused(refusal) => Outcome::refused(refusal.to_string()),
        };
        Ok(outcome.parameters(parameters(request, &checked)?))
    }
}
