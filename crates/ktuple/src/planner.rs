//! From public numbers alone: how many blocks and records an assumed separation needs ([`best_blocks`], a bound that is proved), and what
//! separation a number of records is enough for ([`Prospect`], an estimate).
//!
//! The model of the bound: k clusters of at least a share w of the records each, normal with spread σ per coordinate, nearest centers D apart;
//! every record is in a block of its own choice, s of them in each of t blocks on the average, and a block's tuple holds the means of its members of
//! each cluster. A block is *good* if all of them lie within r = γD/(2(1 + γ)) of the centers: good blocks match. The mean of N members is too far
//! off with probability P(χ²_d ≥ N·(r/σ)²), which by Markov's inequality for e^(θχ²), and on the average over N, makes a block bad with probability
//! at most
//!
//! > q = k·(1 − 2θ)^(−d/2)·exp(−ws·(1 − e^(−θ(r/σ)²))), for any θ in [0, ½).
//!
//! Not all blocks have to be good: FriendlyCore answers although a few in a hundred are not. The proof, with the number of bad blocks that β
//! allows, is in `docs/proofs/friendly-core.md`, "How many records".

use std::fmt;

use dp_core::Budget;
use dp_core::rounding::largest_holding;

use crate::aggregator::TupleAggregator;
use crate::error::ParamsError;
use crate::friendly::matching::MatchRatio;
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
    /// β, with which FriendlyCore may refuse nevertheless.
    pub failure_probability: f64,
}

/// A division of the records into blocks with which FriendlyCore answers.
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
/// [`blocks_for`] asks the same of a number of records.
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
/// // 1,468 blocks of 127 records. A bound that is proved, not a measurement: runs on such data succeed with about half of it.
/// assert!(plan.n_records() <= 1_468 * 127);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn best_blocks(
    shape: TupleShape,
    budget: Budget,
    assumption: Assumption,
) -> Result<BlockPlan, ParamsError> {
    check(shape, assumption)?;
    let mut best: Option<BlockPlan> = None;
    for ratio in ratios() {
        let core = FriendlyCore::new(ratio, Filter::Proportional)?;
        let ratio = core.match_ratio();
        let Ok(needed) = core.tuples_needed(shape, budget) else {
            continue;
        };
        // An eighth more than needed, to four times as many more: the more blocks there are, the more may be bad, and the smaller they are.
        for surplus in (0..6).map(|step| (needed / 8).max(1) << step) {
            let n_blocks = needed + surplus;
            let Some(bad_share) = bad_share(core, n_blocks, shape, budget, assumption) else {
                continue;
            };
            let plan = BlockPlan {
                n_blocks,
                block_size: block_size(bad_share, shape, ratio, assumption),
                match_ratio: ratio,
            };
            // Clusters so close that no number of records will do.
            if plan.n_blocks.checked_mul(plan.block_size).is_none() {
                continue;
            }
            if best.is_none_or(|best| plan.n_records() < best.n_records()) {
                best = Some(plan);
            }
        }
    }
    best.ok_or(ParamsError::Infeasible)
}

/// The division of `n_records` records, a public number: the blocks of [`best_blocks`], with all records in them.
///
/// # Errors
///
/// [`ParamsError::NotFeasible`], with the number of records that would do, if there are too few; else as [`best_blocks`].
pub fn blocks_for(
    n_records: u64,
    shape: TupleShape,
    budget: Budget,
    assumption: Assumption,
) -> Result<BlockPlan, ParamsError> {
    let least = best_blocks(shape, budget, assumption)?;
    let needed = least.n_records();
    if n_records < needed {
        return Err(ParamsError::NotFeasible {
            got: n_records,
            needed,
        });
    }
    Ok(BlockPlan {
        block_size: n_records / least.n_blocks,
        ..least
    })
}

/// t where the aggregator needs `needed`: an eighth more, and up to three times that where so many records are known to be there that blocks still
/// hold forty of each cluster.
pub(crate) fn comfortable_blocks(needed: u64, n_records: Option<u64>, n_clusters: usize) -> u64 {
    let comfortable = needed + needed / 8;
    let most = n_records.map_or(0, |n| n / (40 * n_clusters.max(1) as u64));
    most.clamp(comfortable, comfortable.saturating_mul(3))
}

/// FriendlyCore for a public number of records: with the match ratio that tells the closest clusters, by [`Prospect`].
///
/// A larger ratio forgives blocks that differ more, but needs more blocks, which are smaller: it is better where the blocks of the default show
/// all clusters easily. The prospect is an estimate, within a sixth of what was measured, so the default stays unless clusters may be a tenth closer, and
/// no ratio is taken whose blocks would not still be a quarter larger than needed to show every cluster.
///
/// # Errors
///
/// [`ParamsError::Infeasible`] if no number of blocks will do for the default.
pub fn closest(
    n_records: u64,
    shape: TupleShape,
    budget: Budget,
) -> Result<FriendlyCore, ParamsError> {
    let clusters = (shape.n_clusters, shape.dimension);
    let prospect = |core: FriendlyCore| {
        let needed = core.tuples_needed(shape, budget)?;
        let n_blocks = comfortable_blocks(needed, Some(n_records), shape.n_clusters);
        let prospect = Prospect::new(n_records, n_blocks, clusters, core.tolerance());
        Ok::<_, ParamsError>(prospect)
    };
    let default = FriendlyCore::default();
    let mut closest = prospect(default)?
        .separation
        .map(|separation| 0.9 * separation);
    let mut best = default;
    for ratio in ratios() {
        let core = FriendlyCore::new(ratio, Filter::Proportional)?;
        let Ok(prospect) = prospect(core) else {
            continue;
        };
        let has_room = n_records / 5 >= prospect.needed_records / 4;
        if has_room
            && let Some(separation) = prospect.separation
            && closest.is_none_or(|closest| separation < closest)
        {
            (closest, best) = (Some(separation), core);
        }
    }
    Ok(best)
}

/// The match ratios that are tried, from 1/64 to 1/8.
fn ratios() -> impl Iterator<Item = f64> {
    let largest = MatchRatio::LARGEST.get();
    (0..14).map(move |step| {
        let ratio = libm::exp2(-6.0 + f64::from(step) * 0.24);
        if ratio < largest { ratio } else { largest }
    })
}

fn check(shape: TupleShape, assumption: Assumption) -> Result<(), ParamsError> {
    if shape.n_clusters < 2 {
        return Err(ParamsError::Count {
            name: "n_clusters of a separation",
            least: 2,
            got: shape.n_clusters as u64,
        });
    }
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
    // The smallest of k shares.
    let equal = 1.0 / shape.n_clusters as f64;
    range("least_share", equal, assumption.least_share)?;
    range("failure_probability", 1.0, assumption.failure_probability)
}

/// q, the largest probability with which a block may be bad if `n_blocks` of them are to be answered; none if none is small enough.
fn bad_share(
    core: FriendlyCore,
    n_blocks: u64,
    shape: TupleShape,
    budget: Budget,
    assumption: Assumption,
) -> Option<f64> {
    // Bad blocks, coins of the filter and noise of the count: each has a third of β.
    let failure = assumption.failure_probability / 3.0;
    let shape = TupleShape {
        n_tuples: usize::try_from(n_blocks).ok()?,
        ..shape
    };
    let spare = core.spare_tuples(shape, budget, failure).ok()?;
    let t = n_blocks as f64;
    let at_most = |mean| at_most(mean, failure);
    let lost = |bad: f64| bad + at_most((t - bad) * bad / (t / 2.0 - 2.0));
    // Nor more than what a prospect calls feasible.
    largest_holding(1e-9, ASTRAY, |q| lost(at_most(t * q)) <= spare)
}

/// What a number of events with this mean exceeds with probability at most `failure`, by Bernstein's inequality.
fn at_most(mean: f64, failure: f64) -> f64 {
    let tail = -libm::log(failure);
    mean + libm::sqrt(2.0 * mean * tail) + tail / 3.0
}

/// s with which a block is bad with probability at most `bad_share`, by the model.
fn block_size(bad_share: f64, shape: TupleShape, ratio: f64, assumption: Assumption) -> u64 {
    let radius = ratio * assumption.separation / (2.0 * (1.0 + ratio));
    let tail = libm::log(shape.n_clusters as f64 / bad_share);
    let half_dimension = shape.dimension as f64 / 2.0;
    // Any θ proves it: those up to 0.46 that are not far apart come within hundredths of the best.
    let thetas = (1..=128).map(|step| 0.5 * libm::exp2(-f64::from(step) / 8.0));
    let members = thetas.map(|theta| {
        (tail - half_dimension * libm::log1p(-2.0 * theta)) / -libm::expm1(-theta * radius * radius)
    });
    let members = members.min_by(f64::total_cmp).unwrap_or(f64::INFINITY);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "positive; `as` saturates"
    )]
    let size = (members / assumption.least_share).ceil() as u64;
    size.max(shape.n_clusters as u64)
}

/// Share of blocks that may disagree: with more of them too few tuples are kept.
const ASTRAY: f64 = 0.03;

/// What blocks can show of k clusters, from public numbers alone: whether it is worth the budget to try.
///
/// Get one from [`PrivateKMeans::prospect`](crate::means::PrivateKMeans::prospect), or from numbers of blocks that were chosen otherwise. It
/// costs nothing and reads nothing.
///
/// # Model
///
/// Clusters of equal size, spread σ in every direction, nearest centers D apart. A block of s records misses none of them with
/// probability 97 % if k·(1 − 1/k)^s ≤ 0.03: below that s nothing is feasible, at any separation. Else two blocks' centers of a cluster
/// differ by a normal vector of √(2k/s)·σ per coordinate, whose length is below √(2k/s)·(√(d − ½) + z/√2)·σ with probability
/// 1 − 0.03/k, z the normal quantile there; that must be at most `ratio`·D. In the mixtures of `cargo xtask reproduce ktuple separations` (k = 2,
/// d = 1 and 4, 11 to 117 records a block) the separations for 90 % success are within a sixth of this.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prospect {
    /// The public number of records.
    pub n_records: u64,
    /// t, blocks.
    pub n_blocks: u64,
    /// s, records in a block on the average.
    pub block_size: u64,
    /// The fewest records with which so many blocks would all show k clusters.
    pub needed_records: u64,
    /// D/σ from which on centers are agreed on, in standard deviations of a coordinate inside a cluster; none if `n_records` is below
    /// `needed_records`.
    pub separation: Option<f64>,
}

impl Prospect {
    /// For t blocks of `n_records` records, k clusters in d columns, and centers of two blocks that may differ by `ratio` times the
    /// distance of centers.
    #[must_use]
    pub fn new(
        n_records: u64,
        n_blocks: u64,
        (n_clusters, dimension): (usize, usize),
        ratio: f64,
    ) -> Self {
        let n_blocks = n_blocks.max(1);
        let block_size = n_records / n_blocks;
        let k = n_clusters.max(1) as f64;
        let astray = ASTRAY / k;
        let least = if n_clusters < 2 {
            1.0
        } else {
            (libm::log(1.0 / astray) / -libm::log1p(-1.0 / k)).ceil()
        };
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "at least 1; `as` saturates"
        )]
        let needed_records = n_blocks.saturating_mul(least as u64);
        let separation = (n_records >= needed_records).then(|| {
            if n_clusters < 2 {
                return 0.0;
            }
            let length = libm::sqrt(dimension as f64 - 0.5)
                + quantile_above(astray) * core::f64::consts::FRAC_1_SQRT_2;
            libm::sqrt(2.0 * k / block_size.max(1) as f64) * length / ratio
        });
        Self {
            n_records,
            n_blocks,
            block_size,
            needed_records,
            separation,
        }
    }

    /// Whether there are enough records for any separation.
    #[must_use]
    pub const fn is_feasible(&self) -> bool {
        self.separation.is_some()
    }
}

impl fmt::Display for Prospect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            n_blocks,
            block_size,
            needed_records,
            ..
        } = self;
        match self.separation {
            None => write!(
                f,
                "not feasible: blocks of {block_size} records miss clusters too often; {n_blocks} blocks need n >= {needed_records}"
            ),
            Some(separation) => write!(
                f,
                "{n_blocks} blocks of about {block_size} records: clusters of equal size are agreed on if their centers are at least \
                 {separation:.0} standard deviations apart"
            ),
        }
    }
}

/// The z that a normal number exceeds with probability `p` ≤ ½, to 2^-30.
fn quantile_above(p: f64) -> f64 {
    let (mut low, mut high) = (0.0, 40.0);
    while high - low > 1e-9 {
        let middle = f64::midpoint(low, high);
        // P(Z > z) = Φ(−z), without loss of digits.
        if dp_core::normal::normal_cdf(-middle).high > p {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}
