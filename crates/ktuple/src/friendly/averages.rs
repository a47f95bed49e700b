//! FriendlyCore for single points: an average whose noise fits the points' own spread.

use dp_core::mechanism::{SelectionMechanism, SelectionRule};
use dp_core::sensitivity::{ScoreWidth, Sensitivity};
use dp_core::session::Charge;
use dp_core::{Budget, Confidential, Epsilon, Event, NeighboringRelation, Session};
use rand::RngCore;
use rayon::prelude::*;

use super::average::{MEAN_BITS, MeanNoise, noisy_count};
use super::plan::{self, Goal, Plan};
use super::{Filter, filter, matching};
use crate::aggregator::{
    Aggregate, Refusal, TupleAggregator, TupleSpend, charge, in_canonical_order,
};
use crate::error::{FitError, ParamsError};
use crate::tuples::{TupleShape, Tuples, share, sq_distance};

/// Share of ε for the search of a radius.
const SEARCH_SHARE: f64 = 0.25;

/// Where the radius comes from within which points match.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RadiusSearch {
    /// A public radius, scaled coordinates.
    Public(f64),
    /// The best of `r_min·2^j`, j = 0, 1, …, up to the domain's diameter, by the exponential mechanism: the first within
    /// which nine tenths of all pairs lie, then doubled.
    Above(f64),
}

/// FriendlyCore for averages: points match if they are within a radius r.
///
/// # Privacy
///
/// For a replaced point, t public. Any two points of a friendly set have a common match, so they are within 2r and a mean of
/// m moves by at most 2r/m when a point comes or goes. The search scores radius j by −max(τ − `P_j`, P_(j−1) − τ), `P_j` the number of
/// pairs within `r_j` and τ nine tenths of all: a replaced point moves each `P_j` by at most t − 1, so the scores'
/// changes have width 2(t − 1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FriendlyAverages {
    search: RadiusSearch,
    filter: Filter,
}

impl FriendlyAverages {
    /// Averages points within a public or a searched radius (scaled coordinates).
    ///
    /// # Errors
    ///
    /// [`ParamsError::Range`] unless the radius is positive and at most 2^20.
    pub fn new(search: RadiusSearch, filter: Filter) -> Result<Self, ParamsError> {
        let (RadiusSearch::Public(radius) | RadiusSearch::Above(radius)) = search;
        if radius > 0.0 && radius <= 1_048_576.0 {
            Ok(Self { search, filter })
        } else {
            Err(ParamsError::Range {
                name: "radius",
                low: 0.0,
                high: 1_048_576.0,
                got: radius,
            })
        }
    }

    /// What the search and the rest may spend.
    fn budgets(&self, budget: Budget) -> Result<(Option<Epsilon>, Budget), ParamsError> {
        match self.search {
            RadiusSearch::Public(_) => Ok((None, budget)),
            RadiusSearch::Above(_) => {
                let (search, rest) = share(budget.epsilon.get(), SEARCH_SHARE);
                let too_small = |_| ParamsError::BudgetTooSmall;
                let search = Epsilon::new(search).map_err(too_small)?;
                let rest = Epsilon::new(rest).map_err(too_small)?;
                Ok((Some(search), Budget::approx(rest, budget.delta)))
            }
        }
    }

    fn solve(
        &self,
        shape: TupleShape,
        budget: Budget,
    ) -> Result<(Option<Epsilon>, Plan), ParamsError> {
        let (search, rest) = self.budgets(budget)?;
        Ok((search, plan::solve(Goal::Points, self.filter, shape, rest)?))
    }

    fn event(&self, shape: TupleShape, relation: NeighboringRelation, spend: TupleSpend) -> Event {
        let (name, RadiusSearch::Public(radius) | RadiusSearch::Above(radius)) = (
            match self.search {
                RadiusSearch::Public(_) => "radius",
                RadiusSearch::Above(_) => "least_radius",
            },
            self.search,
        );
        Event::new(
            "friendly-average",
            Sensitivity::ByTheorem,
            relation,
            spend.charged,
        )
        .purpose("average of points")
        .with("tuples", shape.n_tuples as u64)
        .with(name, radius)
        .with("filter", self.filter.name())
        .with("tuple_epsilon", spend.budget.epsilon.get())
        .with("tuple_delta", spend.budget.delta.get())
    }

    /// The radius in lattice units, at least 1.
    fn radius(
        &self,
        points: &Tuples,
        search: Option<Epsilon>,
        charge: &Charge,
        session: &mut Session<'_>,
    ) -> u64 {
        let shape = points.shape();
        let (RadiusSearch::Public(radius) | RadiusSearch::Above(radius)) = self.search;
        let least = lattice_radius(shape, radius);
        let Some(search) = search else { return least };
        let radii = radii(shape, least);
        let t = points.len() as u64;
        let Ok(width) = ScoreWidth::new(2 * t.saturating_sub(1)) else {
            return least;
        };
        let mechanism = SelectionMechanism::calibrate(SelectionRule::Exponential, width, search);
        let scores = Confidential::new(scores(points, &radii));
        let chosen = session.choose_charged(charge, &mechanism, "radius", width, &scores, None);
        radii[chosen.unwrap_or(0)].saturating_mul(2)
    }
}

fn lattice_radius(shape: TupleShape, radius: f64) -> u64 {
    let units = radius * shape.lattice.units_per_one() as f64;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "positive and below 2^43"
    )]
    let units = units.floor() as u64;
    units.max(1)
}

/// `r_min·2^j` up to the domain's diameter.
fn radii(shape: TupleShape, least: u64) -> Vec<u64> {
    let side = 2 * shape.lattice.units_per_one().unsigned_abs();
    let sq_diameter = u128::from(side) * u128::from(side) * shape.dimension as u128;
    let mut radii = vec![least];
    let mut radius = least;
    while u128::from(radius) * u128::from(radius) < sq_diameter {
        radius = radius.saturating_mul(2);
        radii.push(radius);
    }
    radii
}

/// −max(τ − `P_j`, P_(j−1) − τ) for each radius.
fn scores(points: &Tuples, radii: &[u64]) -> Vec<i64> {
    let t = points.len();
    let present = matching::not_void(points);
    let zero = || vec![0_i64; radii.len()];
    let squares: Vec<u128> = radii
        .iter()
        .map(|&r| u128::from(r) * u128::from(r))
        .collect();
    let add = |mut counts: Vec<i64>, a: usize| {
        for b in 0..a {
            let (a, b) = (points.tuple(present[a]), points.tuple(present[b]));
            let distance = u128::from(sq_distance(a, b));
            let first = squares.partition_point(|&square| square < distance);
            if let Some(count) = counts.get_mut(first) {
                *count += 1;
            }
        }
        counts
    };
    let merge = |mut total: Vec<i64>, part: Vec<i64>| {
        for (total, part) in total.iter_mut().zip(part) {
            *total += part;
        }
        total
    };
    let within = (0..present.len())
        .into_par_iter()
        .fold(zero, add)
        .reduce(zero, merge);
    let pairs = i64::try_from(t * t.saturating_sub(1) / 2).unwrap_or(i64::MAX);
    let target = pairs / 10 * 9;
    let mut before = 0;
    let mut scores = Vec::with_capacity(radii.len());
    for count in within {
        let here = before + count;
        scores.push(-(target - here).max(before - target));
        before = here;
    }
    scores
}

impl TupleAggregator for FriendlyAverages {
    fn name(&self) -> &'static str {
        "friendly-average"
    }

    fn tuples_needed(&self, shape: TupleShape, budget: Budget) -> Result<u64, ParamsError> {
        let (_, rest) = self.budgets(budget)?;
        plan::tuples_needed(Goal::Points, self.filter, shape, rest)
    }

    fn plan(
        &self,
        shape: TupleShape,
        relation: NeighboringRelation,
        spend: TupleSpend,
    ) -> Result<Vec<Event>, ParamsError> {
        self.solve(shape, spend.budget)?;
        Ok(vec![self.event(shape, relation, spend)])
    }

    /// Averages tuples of one point each.
    fn aggregate(
        &self,
        tuples: &Tuples,
        spend: TupleSpend,
        session: &mut Session<'_>,
        _public: &mut dyn RngCore,
    ) -> Result<Aggregate, FitError> {
        let shape = tuples.shape();
        if shape.n_clusters != 1 {
            return Err(ParamsError::Range {
                name: "n_clusters of an average",
                low: 0.0,
                high: 1.0,
                got: shape.n_clusters as f64,
            }
            .into());
        }
        let (search, plan) = self.solve(shape, spend.budget)?;
        let charge = charge(session, self.event(shape, session.relation(), spend))?;
        let radius = self.radius(tuples, search, &charge, session);
        let square = u128::from(radius) * u128::from(radius);
        let matches = matching::counts(tuples, |a, b| {
            u128::from(sq_distance(tuples.tuple(a), tuples.tuple(b))) <= square
        });
        let kept = filter::keep(matches, &plan, &charge, session);
        let Some(count) = noisy_count(kept.len(), &plan, &charge, session) else {
            let enough = self.tuples_needed(shape, spend.budget)?;
            return Ok(Aggregate::Refused(Refusal::new(
                self.name(),
                shape,
                enough,
                1.0,
            )));
        };
        let mut sum = vec![0_i64; shape.dimension];
        for &t in &kept {
            for (sum, &x) in sum.iter_mut().zip(tuples.tuple(t)) {
                *sum += i64::from(x);
            }
        }
        let noise = MeanNoise {
            radius: 2.0 * radius as f64,
            count,
            spend: plan.centers,
        };
        let kept = i64::try_from(kept.len()).unwrap_or(i64::MAX);
        let mean = noise.release(&sum, kept, &charge, session)?;
        let step = shape.lattice.step() / f64::from(1_u32 << MEAN_BITS);
        let center = mean.into_iter().map(|x| x as f64 * step).collect();
        Ok(Aggregate::Centers(in_canonical_order(vec![center])))
    }
}

#[cfg(test)]
mod tests {
    use metric_space::Lattice;
    use ndarray::Array2;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    /// By the formula, from all pairs: void points are near nothing and count among all pairs nevertheless, for t is public and their number
    /// is not.
    #[test]
    fn scores_are_those_of_all_pairs_with_void_points_among_them() {
        let mut rng = ChaCha8Rng::seed_from_u64(4);
        let mut points = Tuples::new(1, 2, Lattice::default());
        for _ in 0..120 {
            if rng.random_bool(0.3) {
                points.push_void();
            } else {
                let point = Array2::from_shape_fn((1, 2), |_| rng.random_range(-0.01..0.01));
                points.push(point.view());
            }
        }
        let radii = radii(points.shape(), 50);
        let t = points.len();
        let within = |radius: u64| {
            let near = |&(a, b): &(usize, usize)| {
                !points.is_void(a)
                    && !points.is_void(b)
                    && sq_distance(points.tuple(a), points.tuple(b)) <= radius * radius
            };
            let pairs = (0..t).flat_map(|a| (0..a).map(move |b| (a, b)));
            i64::try_from(pairs.filter(near).count()).expect("few")
        };
        let target = i64::try_from(t * (t - 1) / 2).expect("few") / 10 * 9;
        let counts: Vec<i64> = radii.iter().map(|&radius| within(radius)).collect();
        assert!(counts[0] == 0 && counts[radii.len() - 1] > 2_000);
        for (j, score) in scores(&points, &radii).into_iter().enumerate() {
            let before = if j == 0 { 0 } else { counts[j - 1] };
            assert_eq!(score, -(target - counts[j]).max(before - target), "{j}");
        }
    }
}
