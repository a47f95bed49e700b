//! `PrivatekAverages`: test, sort the points by the balls' centers, average each cluster.

use dp_core::rounding::down;
use dp_core::{Budget, Event, NeighboringRelation, Session};
use rand::RngCore;

use super::{event, least_tuples, probability, refusal, tested};
use crate::aggregator::{Aggregate, TupleAggregator, TupleSpend, charge, in_canonical_order};
use crate::averages::{Axes, BoundedAverage, PointLoss, Range};
use crate::error::{FitError, ParamsError};
use crate::partition::{Separation, TestPlan, Tested, test_partition};
use crate::tuples::{TupleShape, Tuples, nearest};

/// Δ of the test.
const SEPARATION: f64 = 7.0;

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
            axes: self.axes,
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
        let (k, d) = (shape.n_clusters, shape.dimension);
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
            return Ok(refusal(self.name(), shape, enough, 2.0 * SEPARATION + 2.0));
        };
        let anchor = tuples.tuple(anchor);
        let mut clusters: Vec<Vec<&[i32]>> = vec![Vec::new(); k];
        for t in 0..tuples.len() {
            for point in tuples.tuple(t).chunks_exact(d) {
                clusters[nearest(anchor, point)].push(point);
            }
        }
        // An order that a replaced tuple seldom changes, so that replays compare like with like.
        clusters.sort_by_cached_key(|points| {
            let count = i64::try_from(points.len().max(1)).unwrap_or(i64::MAX);
            let sums = (0..d).map(|j| points.iter().map(|point| i64::from(point[j])).sum::<i64>());
            sums.map(|sum| sum / count).collect::<Vec<_>>()
        });
        let average = self.average(shape);
        let loss = Self::point_loss(spend.budget, k, &plan);
        let mut centers = Vec::with_capacity(k);
        for points in clusters {
            let center = average.release(&points, d, loss, &charge, session, public)?;
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
