//! The private average of a friendly set of tuples.
//!
//! # Privacy
//!
//! For sets of tuples in which any two have a match in common, (ε₀, δ₀)-private when a tuple comes or goes
//! (`docs/proofs/friendly-core.md`, Lemma 3). With m = |C|:
//!
//! 1. n̂ = m + noise − margin, above m with probability at most `δ_c`;
//! 2. the mean over C of ln `D_i` moves by at most κ/n̂ (all k together √k·κ/n̂), is released with Gaussian noise and
//!    raised, so that it is an underestimate of no mean, of C and of its neighbors, with probability 1 − `δ_s`;
//! 3. then `R_i` = 2γ(1 + γ)·e^(κ²/8)·exp(that) bounds the distance of any point of cluster i to the mean of the others, and that mean
//!    moves by at most `R_i/n`̂.
//!
//! Means of integers are rounded down to a finer grid, which adds 1 per coordinate to what a tuple can move.

use dp_core::mechanism::{AdditiveMechanism, GaussianSpend};
use dp_core::sensitivity::{L2Sensitivity, Sensitivity};
use dp_core::session::Charge;
use dp_core::{Confidential, Session};
use rayon::prelude::*;

use super::matching::MatchRatio;
use super::plan::Plan;
use crate::error::ParamsError;
use crate::tuples::{Tuples, nearest, sq_gaps};

/// Units per one of logarithms of gaps.
const LN_UNITS: f64 = 1_048_576.0;

/// Bits that means of lattice coordinates have below the lattice's own.
pub(super) const MEAN_BITS: u32 = 12;

/// Sums over the kept tuples, cluster by cluster: private.
struct Sums {
    /// Σ of points (d) and Σ of logarithms of gaps, per cluster.
    clusters: Vec<(Vec<i64>, i64)>,
    count: i64,
}

/// k averages in scaled coordinates, or ⊥ if too few tuples were kept.
///
/// `kept` are private indices. Total: whatever the tuples are, nothing fails on them.
pub(super) fn tuple_averages(
    tuples: &Tuples,
    kept: &[usize],
    ratio: MatchRatio,
    plan: &Plan,
    charge: &Charge,
    session: &mut Session<'_>,
) -> Result<Option<Vec<Vec<f64>>>, ParamsError> {
    let shape = tuples.shape();
    let (k, d) = (shape.n_clusters, shape.dimension);
    let Some(count) = noisy_count(kept.len(), plan, charge, session) else {
        return Ok(None);
    };
    let sums = sums(tuples, kept);
    let scales = noisy_scales(&sums, ratio, plan, count, charge, session)?;
    let raise = scales.raise;
    // No two points of the domain are farther apart.
    let diameter = 2.0 * shape.lattice.units_per_one() as f64 * libm::sqrt(d as f64) + 1.0;
    let spend = plan.centers.split(&vec![1.0; k]);
    let spend = spend.map_err(|_| ParamsError::BudgetTooSmall)?[0];
    let spend = dp_core::planted!("friendly-centers-unsplit": plan.centers; spend);
    let mut centers = Vec::with_capacity(k);
    for (i, (sum, _)) in sums.clusters.iter().enumerate() {
        let radius = ratio.reach() * libm::exp((scales.means[i] + raise) / LN_UNITS);
        let radius = if radius < diameter { radius } else { diameter };
        let noise = MeanNoise {
            radius,
            count,
            spend,
        };
        let mean = noise.release(sum, sums.count, charge, session)?;
        let step = shape.lattice.step() / f64::from(1_u32 << MEAN_BITS);
        centers.push(mean.into_iter().map(|x| x as f64 * step).collect());
    }
    Ok(Some(centers))
}

/// n̂, or none where it is below what the plan asks for.
pub(super) fn noisy_count(
    kept: usize,
    plan: &Plan,
    charge: &Charge,
    session: &mut Session<'_>,
) -> Option<f64> {
    let exact = Confidential::new(vec![i64::try_from(kept).unwrap_or(i64::MAX)]);
    // A replaced tuple is one less and one more: the number moves by at most 1.
    let bound = Sensitivity::L1(1);
    let noisy = session.add_noise_charged(charge, &plan.count, "kept tuples", bound, &exact);
    let count = noisy
        .first()
        .map_or(0, |&noisy| noisy - i128::from(plan.margin));
    (count >= i128::from(plan.least)).then_some(count as f64)
}

/// Released means of the logarithms of gaps, and by how much they are to be raised.
struct Scales {
    means: Vec<f64>,
    raise: f64,
}

fn noisy_scales(
    sums: &Sums,
    ratio: MatchRatio,
    plan: &Plan,
    count: f64,
    charge: &Charge,
    session: &mut Session<'_>,
) -> Result<Scales, ParamsError> {
    let k = sums.clusters.len();
    let each = ln_moved(ratio, count);
    let squared = L2Sensitivity::from_squared(u128::from(each) * u128::from(each) * k as u128)
        .map_err(|_| ParamsError::BudgetTooSmall)?;
    let spend = plan.scales.ok_or(ParamsError::BudgetTooSmall)?;
    let noise = AdditiveMechanism::gaussian(squared, spend)?;
    let means = sums.clusters.iter();
    let means = means.map(|(_, ln)| ln.div_euclid(sums.count.max(1)));
    let noisy = session.add_noise_charged(
        charge,
        &noise,
        "logarithms of gaps",
        replaced(squared),
        &Confidential::new(means.collect()),
    );
    let noisy: Vec<i128> = dp_core::planted!(
        "friendly-scale-private": sums.clusters.iter().map(|(_, ln)| i128::from(ln / sums.count.max(1))).collect(); noisy
    );
    let raise = noise.std_dev() * plan.raise_factor(k) + raise_without_noise(ratio, count);
    let raise = dp_core::planted!("friendly-raise-left-out": 0.0; raise);
    Ok(Scales {
        means: noisy.into_iter().map(|x| x as f64).collect(),
        raise,
    })
}

/// By how many units a rounded mean of logarithms moves at most when a tuple comes or goes: two for the rounding and the error of both
/// logarithms, and one for the rounding of the mean.
fn ln_moved(ratio: MatchRatio, count: f64) -> u64 {
    integer_up((ratio.kappa() * LN_UNITS + 2.0) / count) + 1
}

/// What a rounded mean of logarithms has to be raised by, were there no noise, so that it is not below the exact mean of the set without the
/// tuple that came, or of the set itself: one unit for the rounding of each logarithm.
fn raise_without_noise(ratio: MatchRatio, count: f64) -> f64 {
    ln_moved(ratio, count) as f64 + 1.0
}

/// The Gaussian noise of one mean.
pub(super) struct MeanNoise {
    /// No point is farther from the mean of the others, in lattice units.
    pub(super) radius: f64,
    /// n̂.
    pub(super) count: f64,
    /// What the release may spend.
    pub(super) spend: GaussianSpend,
}

impl MeanNoise {
    /// The mean of `count` points with sum `sum`, with noise, in units of the lattice's step over 2^[`MEAN_BITS`].
    pub(super) fn release(
        &self,
        sum: &[i64],
        count: i64,
        charge: &Charge,
        session: &mut Session<'_>,
    ) -> Result<Vec<i128>, ParamsError> {
        let d = sum.len() as f64;
        let fine = f64::from(1_u32 << MEAN_BITS);
        let moved = self.radius * fine / self.count * (1.0 + 1e-9) + libm::sqrt(d);
        let squared = (moved * moved).ceil().clamp(1.0, 1e36);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between 1 and 10^36"
        )]
        let squared = L2Sensitivity::from_squared(squared as u128)
            .map_err(|_| ParamsError::BudgetTooSmall)?;
        let noise = AdditiveMechanism::gaussian(squared, self.spend)?;
        let means = sum.iter().map(|&sum| fine_mean(sum, count));
        Ok(session.add_noise_charged(
            charge,
            &noise,
            "mean of a cluster",
            replaced(squared),
            &Confidential::new(means.collect()),
        ))
    }
}

/// ⌊2^[`MEAN_BITS`]·sum/count⌋.
fn fine_mean(sum: i64, count: i64) -> i64 {
    let fine = i128::from(sum) << MEAN_BITS;
    i64::try_from(fine.div_euclid(i128::from(count.max(1)))).unwrap_or(0)
}

/// What a replaced tuple can move, if one that comes or goes moves `squared`: twice as far.
fn replaced(squared: L2Sensitivity) -> Sensitivity {
    Sensitivity::L2Squared(squared.squared().saturating_mul(4))
}

/// Sums the kept tuples, points sorted into clusters by the first of them.
///
/// In a friendly set any tuple sorts points alike. Clusters come in the order of their sums, which one
/// tuple more or less seldom changes.
fn sums(tuples: &Tuples, kept: &[usize]) -> Sums {
    let shape = tuples.shape();
    let (k, d) = (shape.n_clusters, shape.dimension);
    let zero = || vec![(vec![0_i64; d], 0_i64); k];
    let anchor = kept.first().map(|&t| tuples.tuple(t));
    let add = |mut total: Vec<(Vec<i64>, i64)>, t: &usize| {
        let tuple = tuples.tuple(*t);
        let gaps = sq_gaps(tuple, d);
        for (cluster, center) in total
            .iter_mut()
            .zip(anchor.unwrap_or(tuple).chunks_exact(d))
        {
            let at = nearest(tuple, center);
            for (sum, &x) in cluster.0.iter_mut().zip(tuples.point(*t, at)) {
                *sum += i64::from(x);
            }
            cluster.1 += ln_units(gaps.get(at).copied().unwrap_or(1));
        }
        total
    };
    let merge = |mut total: Vec<(Vec<i64>, i64)>, part: Vec<(Vec<i64>, i64)>| {
        for (total, part) in total.iter_mut().zip(part) {
            for (sum, x) in total.0.iter_mut().zip(part.0) {
                *sum += x;
            }
            total.1 += part.1;
        }
        total
    };
    let mut clusters = kept.par_iter().fold(zero, add).reduce(zero, merge);
    clusters.sort();
    Sums {
        clusters,
        count: i64::try_from(kept.len()).unwrap_or(i64::MAX),
    }
}

/// ½·ln of a squared gap in lattice units, rounded to 2^-20.
fn ln_units(sq_gap: u64) -> i64 {
    let ln = 0.5 * libm::log(sq_gap.max(1) as f64);
    #[expect(clippy::cast_possible_truncation, reason = "below 2^26")]
    let units = (ln * LN_UNITS).round() as i64;
    units
}

fn integer_up(x: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "positive; `as` saturates"
    )]
    let integer = x.ceil() as u64;
    integer
}

#[cfg(test)]
mod tests;
