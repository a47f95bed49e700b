//! Blocks, ranges, noisy averages.

use dp_core::mechanism::LaplaceMechanism;
use dp_core::rounding::split;
use dp_core::sensitivity::L1Sensitivity;
use dp_core::session::SecretLabels;
use dp_core::{Confidential, Epsilon, Event, NeighboringRelation, Session};
use metric_space::{Frame, LatticeSource, sphere_packing};
use ndarray::Array2;
use rand::RngCore;

use super::blocks::{Task, block_centers};
use super::order::CenterOrder;
use super::params::{BlockRule, SampleAggregateParams, most_blocks};
use super::ranges::{self, LAST_CANDIDATE};
use crate::clustering::Clustering;
use crate::error::{FitError, ParamsError};
use crate::size::{SizedBudget, count_records};

/// Checked sample and aggregate.
#[derive(Clone, Debug, PartialEq)]
pub struct SampleAggregate {
    pub(super) params: SampleAggregateParams,
}

/// What each draw spends.
struct Shares {
    sized: SizedBudget,
    /// One of the 2kd ends of ranges.
    range: Epsilon,
    /// One of the kd averages.
    average: Epsilon,
}

/// The averages, and over how many blocks.
#[derive(Clone, Debug, PartialEq)]
pub struct SampleAggregateFit {
    /// Averages of the blocks' centers.
    pub clustering: Clustering,
    /// Blocks: by a rule from a public size, or a noisy one that was paid for.
    pub n_blocks: u64,
}

impl SampleAggregate {
    /// The parameters it was checked with.
    pub const fn params(&self) -> &SampleAggregateParams {
        &self.params
    }

    fn shares(&self, relation: NeighboringRelation, d: usize) -> Result<Shares, ParamsError> {
        let params = &self.params;
        let sized = SizedBudget::new(params.budget.epsilon, params.n_hint, relation)?;
        let kd = params.n_clusters * d;
        let too_small = |_| ParamsError::BudgetTooSmall { steps: 3 * kd };
        let halves = split(sized.epsilon.get(), &[1.0, 1.0]);
        // Equal shares: `split` rounds each down, so that their exact sum stays within the half.
        let range = split(halves[0], &vec![1.0; 2 * kd])[0];
        let range = dp_core::planted!("gkm-range-at-twice": 2.0 * range; range);
        let average = split(halves[1], &vec![1.0; kd])[0];
        Ok(Shares {
            range: Epsilon::new(range).map_err(too_small)?,
            average: Epsilon::new(average).map_err(too_small)?,
            sized,
        })
    }

    /// What a fit would spend, from public facts alone. The noise of the averages depends on the ranges, which are
    /// released first; it is shown for the widest ranges. The losses do not depend on them.
    ///
    /// # Errors
    ///
    /// [`ParamsError`] if the budget is too small to be divided.
    pub fn plan(
        &self,
        frame: &Frame,
        relation: NeighboringRelation,
    ) -> Result<Vec<Event>, ParamsError> {
        let d = frame.dimension();
        self.params.most_blocks(d)?;
        let kd = (self.params.n_clusters * d) as u64;
        let shares = self.shares(relation, d)?;
        let mut events = Vec::new();
        if let Some(size) = &shares.sized.size {
            events.push(size.event(relation, "number of records"));
        }
        let range = ranges::mechanism(shares.range)?;
        events.push(range.event(relation, "end of a range").times(2 * kd));
        let widest = (2 * frame.lattice().units_per_one()).unsigned_abs();
        let average = average_mechanism(widest, shares.average)?;
        events.push(average.event(relation, "average of a coordinate").times(kd));
        Ok(events)
    }

    /// Runs k-means in the blocks and releases noisy averages.
    ///
    /// # Privacy
    ///
    /// See the [module](crate::sample_aggregate). Total: no record makes it fail, whatever its values are.
    ///
    /// # Errors
    ///
    /// [`FitError`] if the plan is refused, before a record is read; or if the source cannot be read.
    ///
    /// # Complexity
    ///
    /// One pass that keeps the rounded records (4nd bytes), then O(n·k·d) per step of the blocks' k-means.
    pub fn fit<S: LatticeSource>(
        &self,
        source: &S,
        session: &mut Session<'_>,
        public: &mut dyn RngCore,
    ) -> Result<SampleAggregateFit, FitError> {
        let params = &self.params;
        let frame = source.frame();
        let (k, d) = (params.n_clusters, frame.dimension());
        let relation = session.relation();
        session.admit(&self.plan(frame, relation)?)?;
        let shares = self.shares(relation, d)?;
        let task = task(frame, k, &params.order, public)?;
        let n = shares.sized.size(params.n_hint, source, session)?;
        let n_blocks = params.blocks.blocks(n, k).min(params.most_blocks(d)?);
        let labels = session.secret_labels("blocks", n_blocks);
        let blocks = block_centers(source, &labels, &task)?;

        let range = ranges::mechanism(shares.range)?;
        let one = frame.lattice().units_per_one();
        let mut centers = Array2::zeros((k, d));
        for j in 0..k {
            for i in 0..d {
                let mut values: Vec<i64> = blocks
                    .chunks_exact(k * d)
                    .map(|centers| i64::from(centers[j * d + i]))
                    .collect();
                values.sort_unstable();
                let mut ends = [0; 2];
                for (end, &quantile) in ends.iter_mut().zip(&params.quantiles) {
                    *end = ranges::quantile(session, &range, &values, quantile, one)?;
                }
                let [low, high] = ordered(ends, one);
                let average = average_mechanism(low.abs_diff(high), shares.average)?;
                // Relative to the low end: the sum moves by at most the width, and no sum is large.
                let sum: i64 = values
                    .iter()
                    .map(|value| (*value).clamp(low, high) - low)
                    .sum();
                let noisy = session.laplace(
                    &average,
                    "average of a coordinate",
                    &Confidential::new(vec![sum]),
                )?;
                let mean = low as f64 + noisy[0] as f64 / n_blocks as f64;
                centers[[j, i]] = (mean * frame.lattice().step()).clamp(-1.0, 1.0);
            }
        }
        let mut row = vec![0.0; d];
        for mut center in centers.rows_mut() {
            row.iter_mut().zip(&center).for_each(|(x, c)| *x = *c);
            frame.domain().clip_scaled(&mut row);
            center.assign(&ndarray::ArrayView1::from(&row));
        }
        Ok(SampleAggregateFit {
            clustering: Clustering {
                centers,
                noisy_counts: None,
            },
            n_blocks,
        })
    }
}

/// The average's sum over blocks moves by at most the width of the range, in lattice units.
fn average_mechanism(width: u64, epsilon: Epsilon) -> Result<LaplaceMechanism, ParamsError> {
    let width = dp_core::planted!("gkm-half-range": width.div_ceil(2); width);
    let sensitivity =
        L1Sensitivity::new(width).map_err(|_| ParamsError::BudgetTooSmall { steps: 1 })?;
    Ok(LaplaceMechanism::calibrate(sensitivity, epsilon)?)
}

/// Ends in order and at least one candidate's distance apart.
fn ordered(ends: [i64; 2], one: i64) -> [i64; 2] {
    let gap = (2 * one / LAST_CANDIDATE).max(1);
    let low = ends[0].min(ends[1]).min(one - gap);
    let high = ends[0].max(ends[1]).max(low + gap);
    [low, high]
}

/// What is done in each block, with public fallback centers.
fn task<'a>(
    frame: &'a Frame,
    k: usize,
    order: &'a CenterOrder,
    public: &mut dyn RngCore,
) -> Result<Task<'a>, ParamsError> {
    let d = frame.dimension();
    let quantized = |centers: &Array2<f64>| -> Vec<Vec<i32>> {
        let rows = centers.rows().into_iter();
        rows.map(|center| frame.quantize_center(&center.to_vec()))
            .collect()
    };
    let fallback = quantized(&sphere_packing(k, d, public));
    let reference = match order {
        CenterOrder::FirstCoordinate => Vec::new(),
        CenterOrder::Spread => fallback.clone(),
        CenterOrder::Reference(centers) if centers.ncols() == d => quantized(centers),
        CenterOrder::Reference(_) => return Err(ParamsError::Reference { expected: k }),
    };
    Ok(Task {
        frame,
        n_clusters: k,
        order,
        reference,
        fallback,
    })
}

/// `SAG`: the average of the blocks' centers, **without noise**: not private, for studies of the error.
///
/// # Privacy
///
/// None.
///
/// # Errors
///
/// [`FitError`] for a reference of another shape or a source that cannot be read.
pub fn aggregate_not_private<S: LatticeSource>(
    source: &S,
    n_clusters: usize,
    rule: BlockRule,
    order: &CenterOrder,
    labels: impl FnOnce(u64) -> SecretLabels,
    public: &mut dyn RngCore,
) -> Result<Array2<f64>, FitError> {
    let frame = source.frame();
    let d = frame.dimension();
    if n_clusters == 0 {
        return Err(ParamsError::NoClusters.into());
    }
    let task = task(frame, n_clusters, order, public)?;
    let n_blocks = rule.blocks(count_records(source)? as f64, n_clusters);
    let n_blocks = n_blocks.min(most_blocks(n_clusters, d)?);
    let blocks = block_centers(source, &labels(n_blocks), &task)?;
    Ok(Array2::from_shape_fn((n_clusters, d), |(j, i)| {
        let of_blocks = blocks.chunks_exact(n_clusters * d);
        let sum: i64 = of_blocks.map(|centers| i64::from(centers[j * d + i])).sum();
        sum as f64 / n_blocks as f64 * frame.lattice().step()
    }))
}
