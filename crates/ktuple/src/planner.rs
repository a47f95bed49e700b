//! How many blocks and records an assumed separation needs: from public assumptions alone.
//!
//! The model: k clusters of at least a share w of the records, spread σ per coordinate, nearest centers D apart. A block of s
//! records has about w·s records of a cluster, so its mean is off by a normal vector of standard deviation σ/√(ws) per
//! coordinate. Two blocks match if these vectors differ by less than γ·D(1 − 2γ), which normal vectors of length at most
//! (√d + √(2·ln(2kt/β)))·σ/√(ws) do, and no block may miss a cluster: (1 − w)^s·k·t ≤ β.

use dp_core::Budget;

use crate::aggregator::TupleAggregator;
use crate::error::ParamsError;
use crate::friendly::{Filter, FriendlyCore};
use crate::tuples::TupleShape;

#[cfg(test)]
mod tests;

/// What is assumed of the records.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Assumption {
    /// D/σ: distance of nearest centers in units of the spread of a coordinate within a cluster.
    pub separation: f64,
    /// w, the share of the smallest cluster; 1/k if clusters are equal.
    pub least_share: f64,
    /// β, with which any block may be bad.
    pub failure_probability: f64,
}

/// A feasible division of the records into blocks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockPlan {
    /// t, blocks.
    pub n_blocks: u64,
    /// s, records per block that are enough.
    pub block_size: u64,
    /// The match ratio γ.
    pub match_ratio: f64,
}

impl BlockPlan {
    /// n, the number of records that is enough.
    #[must_use]
    pub const fn n_records(&self) -> u64 {
        self.n_blocks.saturating_mul(self.block_size)
    }
}

/// The division that needs the fewest records, for FriendlyCore at `budget` (its own, on the tuples).
///
/// Compare its [`n_records`](BlockPlan::n_records) with what is there: fewer is not feasible.
///
/// # Errors
///
/// [`ParamsError`] if nothing is feasible at this budget, or an assumption is out of range.
///
/// # Example
///
/// ```
/// use dp_core::{Budget, Delta, Epsilon};
/// use ktuple::{TupleShape, planner::{Assumption, best_blocks}};
/// use metric_space::Lattice;
///
/// let shape = TupleShape { n_tuples: 0, n_clusters: 8, dimension: 8, lattice: Lattice::default() };
/// let budget = Budget::approx(Epsilon::new(0.75)?, Delta::new(7.5e-7)?);
/// let assumed = Assumption { separation: 40.0, least_share: 0.1, failure_probability: 0.05 };
/// let plan = best_blocks(shape, budget, assumed)?;
/// // A bound that is proved, not a measurement: runs on such data succeed with a fraction of it.
/// assert!(plan.n_records() < 400_000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn best_blocks(
    shape: TupleShape,
    budget: Budget,
    assumption: Assumption,
) -> Result<BlockPlan, ParamsError> {
    check(assumption)?;
    let mut best: Option<BlockPlan> = None;
    for step in 0..16 {
        // From 1/64 to 1/5.
        let match_ratio = libm::exp2(-6.0 + f64::from(step) * 0.24);
        let ratio = if match_ratio < 0.2 { match_ratio } else { 0.2 };
        let core = FriendlyCore::new(ratio, Filter::Proportional)?;
        let Ok(needed) = core.tuples_needed(shape, budget) else {
            continue;
        };
        let n_blocks = needed + needed / 8;
        let plan = BlockPlan {
            n_blocks,
            block_size: block_size(n_blocks, shape, ratio, assumption),
            match_ratio: ratio,
        };
        if best.is_none_or(|best| plan.n_records() < best.n_records()) {
            best = Some(plan);
        }
    }
    best.ok_or(ParamsError::Infeasible)
}

fn check(assumption: Assumption) -> Result<(), ParamsError> {
    let range = |name, high: f64, got: f64| {
        let refused = ParamsError::Range {
            name,
            low: 0.0,
            high,
            got,
        };
        if got > 0.0 && got <= high {
            Ok(())
        } else {
            Err(refused)
        }
    };
    range("separation", 1e12, assumption.separation)?;
    range("least_share", 1.0, assumption.least_share)?;
    range("failure_probability", 1.0, assumption.failure_probability)
}

/// s for t blocks by the model.
fn block_size(n_blocks: u64, shape: TupleShape, ratio: f64, assumption: Assumption) -> u64 {
    let Assumption {
        separation,
        least_share,
        failure_probability,
    } = assumption;
    let places = shape.n_clusters as f64 * n_blocks as f64;
    let tail = libm::sqrt(2.0 * libm::log(2.0 * places / failure_probability));
    let length = libm::sqrt(shape.dimension as f64) + tail;
    // Difference of two means: √2 of one's standard deviation.
    let allowed = ratio * separation * (1.0 - 2.0 * ratio);
    let for_match = 2.0 * length * length / (allowed * allowed * least_share);
    let for_presence =
        libm::log(places / failure_probability) / -libm::log1p(-least_share.clamp(0.0, 0.999));
    let larger = if for_match > for_presence {
        for_match
    } else {
        for_presence
    };
    // The records of a cluster in a block vary: room for three standard deviations of few.
    let members = larger * least_share;
    let roomy = members + 3.0 * libm::sqrt(members) + 1.0;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "positive; `as` saturates"
    )]
    let size = (roomy / least_share).ceil() as u64;
    size.max(shape.n_clusters as u64)
}

/// One line for a plan with a public number of records: how large blocks would be and what separation they can tell.
#[must_use]
pub fn advice(n_records: u64, n_blocks: u64, n_clusters: usize, dimension: usize) -> String {
    let ratio = FriendlyCore::default().match_ratio();
    advice_at(ratio, n_records, n_blocks, n_clusters, dimension)
}

/// [`advice`] for another match ratio than the default.
#[must_use]
pub fn advice_at(
    match_ratio: f64,
    n_records: u64,
    n_blocks: u64,
    n_clusters: usize,
    dimension: usize,
) -> String {
    let size = n_records / n_blocks.max(1);
    let members = size as f64 / n_clusters.max(1) as f64;
    if members < 4.0 {
        let needed = n_blocks.saturating_mul(8 * n_clusters as u64);
        return format!(
            "not feasible: blocks of {size} records cannot show {n_clusters} clusters; {n_blocks} blocks need n >= {needed}"
        );
    }
    let spread =
        (libm::sqrt(dimension as f64) + 4.0) * core::f64::consts::SQRT_2 / libm::sqrt(members);
    let separation = spread / (match_ratio * (1.0 - 2.0 * match_ratio));
    format!(
        "{n_blocks} blocks of about {size} records: clusters of equal size are agreed on if their centers are at least {separation:.0} \
         standard deviations apart"
    )
}
