//! `PrivatekAverages`: test, sort the points by the balls' centers, average each cluster.

use dp_core::rounding::down;
use dp_core::{Budget, Event, NeighboringRelation, Session};
use rand::RngCore;
use rayon::prelude::*;

use super::{event, least_tuples, probability, refusal, tested};
use crate::aggregator::{Aggregate, TupleAggregator, TupleSpend, charge, in_canonical_order};
use crate::averages::{Axes, BoundedAverage, Columns, Directions, PointLoss, Range};
use crate::error::{FitError, ParamsError};
use crate::partition::{Separation, TestPlan, Tested, test_partition};
use crate::tuples::{TupleShape, Tuples, nearest_from, sq_gaps};

/// Δ of the test.
pub(super) const SEPARATION: f64 = 7.0;

/// `PrivatekAverages`.
///
/// # Privacy
///
/// (ε, δ) for a replaced tuple, ε ≤ 1. The test costs (ε/2, …) with its balls covered by Claim 4.12; given balls that leave out at most ℓ
/// tuples each, two neighbors' clusters differ in at most 2k(ℓ + 1) points in all, and the averages have
/// (ε/(4k(ℓ + 1)), δ/(8k·e^(ε/2)·(ℓ + 1))) per point, under add-remove (points 3 and 11). Needs t ≥ 2ℓ + 2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PrivateKAverages {
    least_radius: f64,
    failure_probability: f64,
    axes: Axes,
}

impl PrivateKAverages {
    /// `r_min` (scaled coordinates, in (0, 1]) and β (in (0, 1]).
    ///
    /// # Errors
    ///
    /// [`ParamsError::Range`].
    pub fn new(
        least_radius: f64,
        failure_probability: f64,
        axes: Axes,
    ) -> Result<Self, ParamsError> {
        if !(least_radius > 0.0 && least_radius <= 1.0) {
            return Err(ParamsError::Range {
                name: "scale_min",
                low: 0.0,
                high: 1.0,
                got: least_radius,
            });
        }
        Ok(Self {
            least_radius,
            failure_probability: probability(failure_probability)?,
            axes,
        })
    }

    /// What one point of a cluster may cost.
    fn point_loss(budget: Budget, k: usize, plan: &TestPlan) -> PointLoss {
        let (epsilon, delta) = (budget.epsilon.get(), budget.delta.get());
        let points = k as f64 * (plan.n_outside + 1.0);
        PointLoss {
            epsilon: down(epsilon / (4.0 * points), 4),
            delta: down(delta / (8.0 * libm::exp(epsilon / 2.0) * points), 16),
        }
    }

    /// The average of each cluster.
    fn average(&self, shape: TupleShape) -> BoundedAverage {
        let one = shape.lattice.units_per_one();
        #[expect(
            clippy::cast_possible_truncation,
            reason = "at most one in lattice units"
        )]
        let step = (self.least_radius * one as f64) as i64;
        BoundedAverage {
            range: Range::new(one, step),
            failure_probability: self.failure_probability / (2.0 * shape.n_clusters as f64),
        }
    }

    fn tested(&self, shape: TupleShape, budget: Budget) -> Result<TestPlan, ParamsError> {
        tested(self.name(), shape, budget, self.failure_probability)
    }
}

impl TupleAggregator for PrivateKAverages {
    fn name(&self) -> &'static str {
        "averages"
    }

    /// What the test needs, or what the averages need to be of use: nearly always the latter.
    fn tuples_needed(&self, shape: TupleShape, budget: Budget) -> Result<u64, ParamsError> {
        let tested = least_tuples(budget, self.failure_probability)?;
        let n_tuples = usize::try_from(tested).map_err(|_| ParamsError::Infeasible)?;
        let plan = self.tested(TupleShape { n_tuples, ..shape }, budget)?;
        let loss = Self::point_loss(budget, shape.n_clusters, &plan);
        let useful = self.average(shape).needed_points(shape.dimension, loss);
        Ok(tested.max(useful))
    }

    /// With fewer, interior points are mostly padding, and clusters are merged or lost.
    fn check_enough(&self, shape: TupleShape, budget: Budget) -> Result<(), ParamsError> {
        let (got, needed) = (shape.n_tuples as u64, self.tuples_needed(shape, budget)?);
        if got < needed {
            return Err(ParamsError::TooFewTuples { got, needed });
        }
        Ok(())
    }

    fn largest_epsilon(&self) -> f64 {
        super::LARGEST_EPSILON
    }

    fn plan(
        &self,
        shape: TupleShape,
        relation: NeighboringRelation,
        spend: TupleSpend,
    ) -> Result<Vec<Event>, ParamsError> {
        let plan = self.tested(shape, spend.budget)?;
        Ok(vec![event(
            "private-k-averages",
            shape,
            relation,
            spend,
            &plan,
        )])
    }

    fn aggregate(
        &self,
        tuples: &Tuples,
        spend: TupleSpend,
        session: &mut Session<'_>,
        public: &mut dyn RngCore,
    ) -> Result<Aggregate, FitError> {
        let shape = tuples.shape();
        let k = shape.n_clusters;
        let plan = self.tested(shape, spend.budget)?;
        let event = event(
            "private-k-averages",
            shape,
            session.relation(),
            spend,
            &plan,
        );
        let charge = charge(session, event)?;
        let separation = Separation::new(SEPARATION)?;
        let Tested::Success(anchor) = test_partition(tuples, separation, &plan, &charge, session)?
        else {
            let enough = self.tuples_needed(shape, spend.budget)?;
            return Ok(refusal(self.name(), shape, enough, SEPARATION));
        };
        let clusters = Clusters::new(tuples, anchor);
        let average = self.average(shape);
        let loss = Self::point_loss(spend.budget, k, &plan);
        let n_changed = plan.points_changed(k);
        // One for all clusters: their order is private.
        let directions = Directions::draw(self.axes, shape.dimension, public);
        let mut centers = Vec::with_capacity(k);
        for cluster in clusters.order() {
            let points = clusters.points(tuples, cluster);
            let center =
                average.release(&points, &directions, loss, n_changed, &charge, session)?;
            centers.push(
                center
                    .into_iter()
                    .map(|x| x * shape.lattice.step())
                    .collect(),
            );
        }
        Ok(Aggregate::Centers(in_canonical_order(centers)))
    }
}

/// All points of all tuples, sorted by the nearest point of one of them: private.
struct Clusters {
    /// Of each point, tuple after tuple.
    labels: Vec<u32>,
    /// Per cluster: number of points and sum of each coordinate.
    sums: Vec<(i64, Vec<i64>)>,
}

impl Clusters {
    fn new(tuples: &Tuples, anchor: usize) -> Self {
        let shape = tuples.shape();
        let (k, d) = (shape.n_clusters, shape.dimension);
        let anchor = tuples.tuple(anchor);
        let gaps = sq_gaps(anchor, d);
        let labels: Vec<u32> = (0..tuples.len() * k)
            .into_par_iter()
            .map(|at| {
                let label = nearest_from(anchor, &gaps, tuples.point(at / k, at % k), at % k);
                u32::try_from(label).unwrap_or(0)
            })
            .collect();
        let zero = || vec![(0_i64, vec![0_i64; d]); k];
        let add = |mut sums: Vec<(i64, Vec<i64>)>, t: usize| {
            for i in 0..k {
                let (count, sum) = &mut sums[labels[t * k + i] as usize];
                *count += 1;
                for (sum, &x) in sum.iter_mut().zip(tuples.point(t, i)) {
                    *sum += i64::from(x);
                }
            }
            sums
        };
        let merge = |mut total: Vec<(i64, Vec<i64>)>, part: Vec<(i64, Vec<i64>)>| {
            for (total, part) in total.iter_mut().zip(part) {
                total.0 += part.0;
                for (sum, x) in total.1.iter_mut().zip(part.1) {
                    *sum += x;
                }
            }
            total
        };
        let sums = (0..tuples.len())
            .into_par_iter()
            .fold(zero, add)
            .reduce(zero, merge);
        Self { labels, sums }
    }

    /// The clusters by their means: an order that a replaced tuple seldom changes, so that replays compare like with like. What is
    /// released is an unordered set.
    fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.sums.len()).collect();
        order.sort_by_cached_key(|&cluster| {
            let (count, sums) = &self.sums[cluster];
            let means = sums.iter().map(|sum| sum / (*count).max(1));
            means.collect::<Vec<_>>()
        });
        order
    }

    fn points(&self, tuples: &Tuples, cluster: usize) -> Columns {
        let shape = tuples.shape();
        let k = shape.n_clusters;
        let label = u32::try_from(cluster).unwrap_or(u32::MAX);
        let column = |axis: usize| {
            let all = self.labels.iter().enumerate();
            let own = all.filter(|&(_, &of)| of == label);
            own.map(|(at, _)| tuples.point(at / k, at % k)[axis])
                .collect()
        };
        Columns::new((0..shape.dimension).into_par_iter().map(column).collect())
    }
}
