//! Averages of points in one or many dimensions.

#[cfg(test)]
use dp_core::composition::ApproxLoss;
use dp_core::composition::advanced_for;
use dp_core::mechanism::AdditiveMechanism;
use dp_core::rounding::down;
use dp_core::sensitivity::{L1Sensitivity, L2Sensitivity, Sensitivity};
use dp_core::session::Charge;
use dp_core::{Budget, Confidential, Delta, Epsilon, Session};
use rand::{Rng, RngCore};
use rayon::prelude::*;

use super::Counted;
use super::segment::{Range, bounding_segment, needed_values};
use crate::error::ParamsError;
use crate::tuples::share;

/// Along which axes segments are sought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Axes {
    /// The coordinates: Proposition A.7. The noise is about √d times the cluster's width per coordinate.
    #[default]
    Own,
    /// A public random rotation of them, in which a cluster of diameter r is only about r·√(ln/d) wide along each axis: saves √d where d is
    /// large (Nissim, Stemmer, Vadhan 2016; Section 4.3.2).
    Rotated,
}

/// The axes of one or several averages: public.
///
/// Averages whose order depends on private data must share them, as those of the clusters of `PrivatekAverages` do: else it would show which
/// cluster was averaged along which axes, and with that the order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Directions(Option<Vec<Vec<f64>>>);

impl Directions {
    /// The coordinates, or a rotation of them drawn from public randomness.
    pub fn draw(axes: Axes, dimension: usize, public: &mut dyn RngCore) -> Self {
        Self(match axes {
            Axes::Own => None,
            Axes::Rotated => Some(rotation(dimension, public)),
        })
    }
}

/// What one point may cost: (ε, δ) for its addition or removal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PointLoss {
    /// ε.
    pub epsilon: f64,
    /// δ.
    pub delta: f64,
}

/// Points column by column, lattice units: axes are worked on one by one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Columns(Vec<Vec<i32>>);

impl Columns {
    /// From columns of equal length; what a longer one has beyond the shortest is cut off.
    #[must_use]
    pub fn new(mut columns: Vec<Vec<i32>>) -> Self {
        let n = columns.iter().map(Vec::len).min().unwrap_or(0);
        for column in &mut columns {
            column.truncate(n);
        }
        Self(columns)
    }

    fn dimension(&self) -> usize {
        self.0.len()
    }

    fn n_points(&self) -> usize {
        self.0.first().map_or(0, Vec::len)
    }
}

/// A private average of points in a public ball or box of radius Λ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoundedAverage {
    /// Λ and the least width `r_min`, lattice units.
    pub range: Range,
    /// β, with which a segment may miss.
    pub failure_probability: f64,
}

/// ε and δ of the steps for one axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct AxisLoss {
    /// Of the segment.
    pub(super) segment: f64,
    /// Of the noisy count.
    pub(super) count: f64,
    /// Of the noisy sum, with `delta`.
    pub(super) sum: f64,
    pub(super) delta: f64,
}

/// ε̃ and δ̃ of each of d axes: the better of basic composition (ε/d, δ/d) and advanced composition with slack δ/2, in which
/// δ̃ = δ/(2d); the text spends δ on the axes and δ/2 on the slack, 1.5δ in all (point 4).
pub(super) fn per_axis(loss: PointLoss, dimension: usize) -> PointLoss {
    let d = dimension as f64;
    let basic = PointLoss {
        epsilon: down(loss.epsilon / d, 2),
        delta: down(loss.delta / d, 2),
    };
    let advanced = advanced_for(dimension as u64, loss.epsilon, loss.delta / 2.0);
    match advanced {
        Some(epsilon) if epsilon > basic.epsilon => PointLoss {
            epsilon,
            delta: down(loss.delta / (2.0 * d), 2),
        },
        _ => basic,
    }
}

/// The whole loss of d axes again: for the accounting test.
#[cfg(test)]
pub(super) fn total(each: PointLoss, dimension: usize, slack: f64) -> ApproxLoss {
    let each = ApproxLoss {
        epsilon: each.epsilon,
        delta: each.delta,
    };
    dp_core::composition::best_of(dimension as u64, each, slack)
}

impl AxisLoss {
    /// Half for the segment, an eighth for the count, the rest for the sum.
    pub(super) fn new(loss: PointLoss) -> Self {
        let (segment, rest) = share(loss.epsilon, 0.5);
        let (count, sum) = share(rest, 0.25);
        Self {
            segment,
            count,
            sum,
            delta: loss.delta,
        }
    }
}

impl BoundedAverage {
    /// The number of points from which on the segments are likely to hold nearly all of them: 2q per axis.
    #[must_use]
    pub fn needed_points(&self, dimension: usize, loss: PointLoss) -> u64 {
        let loss = AxisLoss::new(per_axis(loss, dimension));
        let beta = self.failure_probability / dimension as f64;
        needed_values(self.range, loss.segment, beta).saturating_mul(2)
    }

    /// The average of points along public directions (of their dimension), in lattice units; total: no points give the middle.
    ///
    /// # Privacy
    ///
    /// (ε, δ) = `loss` when a point is added or removed. Per axis: a bounding segment [x, y] (ε/2), a noisy count (ε/8), and the sum of
    /// the differences to the segment's middle, each *moved into* the segment, with Gaussian noise for half its length. The text
    /// drops the points outside and scales the noise by the number of the others, which is private (point 3). For replays:
    /// the caller's theorem lets `n_changed` points differ.
    ///
    /// # Errors
    ///
    /// [`ParamsError`] if the budget is too small for noise to be drawn: public numbers alone decide.
    pub fn release(
        &self,
        points: &Columns,
        directions: &Directions,
        loss: PointLoss,
        n_changed: u64,
        charge: &Charge,
        session: &mut Session<'_>,
    ) -> Result<Vec<f64>, ParamsError> {
        let dimension = points.dimension();
        let line = Line {
            loss: AxisLoss::new(per_axis(loss, dimension)),
            failure_probability: self.failure_probability / dimension as f64,
            n_changed,
        };
        let rotation = directions.0.as_ref().filter(|rows| rows.len() == dimension);
        let range = match rotation {
            None => self.range,
            Some(_) => {
                let root = libm::sqrt(dimension as f64);
                Range::new(integer(self.range.bound as f64 * root) + 1, self.range.step)
            }
        };
        let inside = |x: i64| x.clamp(-range.bound, range.bound);
        let count = |axis: usize| match rotation {
            None => Counted::new(points.0[axis].iter().map(|&x| inside(i64::from(x)))),
            Some(rotation) => {
                let project = |i: usize| {
                    let terms = points.0.iter().zip(&rotation[axis]);
                    inside(integer(
                        terms.map(|(column, r)| f64::from(column[i]) * r).sum(),
                    ))
                };
                Counted::new((0..points.n_points()).map(project))
            }
        };
        let counted: Vec<Counted> = (0..dimension).into_par_iter().map(count).collect();
        let along: Result<Vec<f64>, ParamsError> = counted
            .into_iter()
            .map(|values| line.average(&values, range, charge, session))
            .collect();
        let along = along?;
        Ok(match rotation {
            None => along,
            Some(rotation) => (0..dimension)
                .map(|j| along.iter().zip(rotation).map(|(a, row)| a * row[j]).sum())
                .collect(),
        })
    }
}

/// What an average along one axis may cost, and how likely its segment misses.
struct Line {
    loss: AxisLoss,
    failure_probability: f64,
    n_changed: u64,
}

impl Line {
    fn average(
        &self,
        values: &Counted,
        range: Range,
        charge: &Charge,
        session: &mut Session<'_>,
    ) -> Result<f64, ParamsError> {
        let too_small = |_| ParamsError::BudgetTooSmall;
        let one = |_: dp_core::sensitivity::SensitivityError| ParamsError::BudgetTooSmall;
        let loss = self.loss;
        let (low, high) = bounding_segment(
            values,
            range,
            loss.segment,
            self.failure_probability,
            self.n_changed,
            charge,
            session,
        );
        let count = AdditiveMechanism::laplace(
            L1Sensitivity::new(1).map_err(one)?,
            Epsilon::new(loss.count).map_err(too_small)?,
        )?;
        let n = Confidential::new(vec![i64::try_from(values.len()).unwrap_or(i64::MAX)]);
        let moved = Sensitivity::L1(self.n_changed);
        let n = session.add_noise_charged(charge, &count, "points", moved, &n);
        let middle = low + (high - low) / 2;
        let half = (high - middle).max(middle - low).max(1).unsigned_abs();
        let sum = values.iter().fold(0_i64, |sum, &(x, n)| {
            let n = i64::try_from(n).unwrap_or(i64::MAX);
            sum.saturating_add((x.clamp(low, high) - middle).saturating_mul(n))
        });
        // As printed: points outside are dropped, and the mean of the others stands for all.
        let sum = dp_core::planted!("ktuple-average-filtered": {
            let within = values.iter().filter(|(x, _)| (low..=high).contains(x));
            let (count, sum) = within.fold((0_i64, 0_i64), |(count, sum), &(x, n)| {
                let n = i64::try_from(n).unwrap_or(i64::MAX);
                (count + n, sum.saturating_add((x - middle).saturating_mul(n)))
            });
            let all = i64::try_from(values.len()).unwrap_or(i64::MAX);
            sum.saturating_mul(all) / count.max(1)
        }; sum);
        // As printed: noise for the length of the segment over |S'|, a private number.
        let half = dp_core::planted!("ktuple-average-by-private-count": {
            let within = values.iter().filter(|(x, _)| (low..=high).contains(x));
            let within: u64 = within.map(|&(_, n)| n).sum();
            half.saturating_mul(values.len().max(1)) / within.max(1)
        }; half);
        let budget = Budget::approx(
            Epsilon::new(loss.sum).map_err(too_small)?,
            Delta::new(loss.delta).map_err(too_small)?,
        );
        let spend = budget.gaussian().ok_or(ParamsError::BudgetTooSmall)?;
        let squared =
            L2Sensitivity::from_squared(u128::from(half) * u128::from(half)).map_err(one)?;
        let noise = AdditiveMechanism::gaussian(squared, spend)?;
        let moved = Sensitivity::L1(half.saturating_mul(self.n_changed));
        let sum = Confidential::new(vec![sum]);
        let sum = session.add_noise_charged(charge, &noise, "sum in a segment", moved, &sum);
        let n = n.first().map_or(0.0, |&n| n as f64);
        let mean = match sum.first() {
            Some(&sum) if n >= 1.0 => (sum as f64 / n).clamp(-(half as f64), half as f64),
            _ => 0.0,
        };
        Ok(middle as f64 + mean)
    }
}

fn integer(x: f64) -> i64 {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "coordinates times at most √d"
    )]
    let integer = x.round() as i64;
    integer
}

/// A random orthogonal matrix, rows of unit length: Gaussian rows, orthogonalized one after the other.
fn rotation(dimension: usize, public: &mut dyn RngCore) -> Vec<Vec<f64>> {
    let mut rows: Vec<Vec<f64>> = Vec::with_capacity(dimension);
    while rows.len() < dimension {
        let mut row: Vec<f64> = (0..dimension).map(|_| normal(public)).collect();
        // Twice, against rounding.
        for other in rows.iter().chain(rows.iter()) {
            let along: f64 = row.iter().zip(other).map(|(a, b)| a * b).sum();
            for (x, o) in row.iter_mut().zip(other) {
                *x -= along * o;
            }
        }
        let length = libm::sqrt(row.iter().map(|x| x * x).sum());
        if length > 1e-6 {
            rows.push(row.into_iter().map(|x| x / length).collect());
        }
    }
    rows
}

/// A normal number of public randomness.
fn normal(public: &mut dyn RngCore) -> f64 {
    let radius = libm::sqrt(-2.0 * libm::log(1.0 - public.random::<f64>()));
    radius * libm::cos(core::f64::consts::TAU * public.random::<f64>())
}
