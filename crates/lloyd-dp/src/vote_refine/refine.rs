//! Steps within a private radius, and the merge between them.

use dp_core::{Confidential, Session};
use metric_space::solver::LloydParams;
use metric_space::{Frame, LatticeSource};
use ndarray::{Array2, ArrayView1};
use rand::RngCore;

use super::params::VoteRefineParams;
use super::plan::StepSpends;
use super::radius::Distances;
use super::shape::Shape;
use crate::dplloyd::step::{LatticeCenters, Term, cluster_statistics};
use crate::error::{FitError, ParamsError};

/// Centers with what is known of them; all of it released.
#[derive(Clone, Debug)]
pub(super) struct Centers {
    /// Shape (number of centers, d), scaled.
    pub(super) rows: Array2<f64>,
    /// Noisy counts of the last step (votes before the first).
    pub(super) counts: Vec<f64>,
    /// Expected squared distance of each center from where the next step would bring it without noise; none before the first step.
    variance: Option<Vec<f64>>,
    /// Standard deviation of a count.
    count_std_dev: f64,
}

impl Centers {
    /// Centers that were not refined yet.
    pub(super) fn new(rows: Array2<f64>) -> Self {
        let k = rows.nrows();
        Self {
            rows,
            counts: vec![0.0; k],
            variance: None,
            count_std_dev: 0.0,
        }
    }

    /// Centers whose expected squared errors are known.
    pub(super) fn with_variance(rows: Array2<f64>, variance: Vec<f64>) -> Self {
        Self {
            variance: Some(variance),
            ..Self::new(rows)
        }
    }

    /// One step: a radius, counts and sums, and a move of each center.
    ///
    /// A step measures where each center's mean lies, with a known noise, and so does each step before it: the move is
    /// shortened by P/(P + V), P the variance of the current center and V that of the measurement, as a Kalman filter does. Hence
    /// the last steps average their noise, and a center with few records hardly moves.
    pub(super) fn step<S: LatticeSource>(
        &mut self,
        params: &VoteRefineParams,
        source: &S,
        session: &mut Session<'_>,
        spends: &StepSpends,
    ) -> Result<(), FitError> {
        let frame = source.frame();
        let relation = session.relation();
        let d = frame.dimension();
        let step = frame.lattice().step();
        let lattice = LatticeCenters::new(frame, &self.rows).ok_or(ParamsError::NoClusters)?;
        let radius = Distances::release(
            source,
            session,
            &lattice,
            spends.radius,
            "distances to the nearest center",
        )?
        .quantile(params.quantile);
        let count_noise = spends.counts.counts(relation)?;
        let sum_noise = spends.sums.sums(relation, radius, d)?;
        let exact = cluster_statistics(source, &lattice, Term::Clipped(radius))?;
        let counts = session.add_noise(&count_noise, "counts", &Confidential::new(exact.counts))?;
        let sums = session.add_noise(&sum_noise, "sums", &Confidential::new(exact.sums))?;

        self.count_std_dev = count_noise.std_dev();
        self.counts = counts.into_iter().map(|count| count as f64).collect();
        let reach = radius as f64 * step;
        let mut variance = self
            .variance
            .take()
            .unwrap_or_else(|| vec![reach * reach; self.counts.len()]);
        let noise = sum_noise.std_dev() * step;
        for (j, variance) in variance.iter_mut().enumerate() {
            let count = self.counts[j];
            let from = lattice.units[j]
                .iter()
                .map(|&units| f64::from(units) * step);
            let mut center: Vec<f64> = from.collect();
            if count > self.count_std_dev && count >= 1.0 {
                let sums = &sums[j * d..(j + 1) * d];
                let mut to: Vec<f64> = sums.iter().map(|&sum| sum as f64 * step / count).collect();
                shorten(&mut to, reach);
                let moved = to.iter().map(|x| x * x).sum::<f64>();
                let measured = (d as f64 * noise * noise
                    + moved * self.count_std_dev * self.count_std_dev)
                    / (count * count);
                let gain = gain(*variance, measured);
                for (x, to) in center.iter_mut().zip(&to) {
                    *x += gain * to;
                }
                // Records change their center as it moves, so the mean it looks for moves too.
                *variance = gain * measured + params.drift * gain * gain * moved;
            }
            frame.domain().clip_scaled(&mut center);
            self.rows.row_mut(j).assign(&ArrayView1::from(&center));
        }
        self.variance = Some(variance);
        Ok(())
    }

    /// Drops centers that hardly any record is near, and merges the others to k by weighted k-means. Post-processing.
    pub(super) fn merge(
        self,
        k: usize,
        frame: &Frame,
        shape: &Shape,
        public: &mut dyn RngCore,
    ) -> Self {
        let least = 2.0 * self.count_std_dev;
        let weights: Vec<f64> = self
            .counts
            .iter()
            .map(|&count| if count > least { count } else { 0.0 })
            .collect();
        let variance = self.variance.unwrap_or_else(|| vec![1.0; weights.len()]);
        let rows = cluster(&self.rows, &weights, (k, k), frame, shape, public);
        // A merged center is as good as the best that it was made of.
        let merged = rows.outer_iter().map(|row| {
            let near = self.rows.outer_iter().zip(&variance).map(|(other, v)| {
                let away: f64 = row.iter().zip(other).map(|(a, b)| (a - b) * (a - b)).sum();
                away + v
            });
            near.fold(f64::INFINITY, |least, v| if v < least { v } else { least })
        });
        let merged = merged.collect();
        Self {
            counts: vec![0.0; k],
            rows,
            variance: Some(merged),
            count_std_dev: self.count_std_dev,
        }
    }
}

/// The share of a measured step that is taken: what is known of the center against what the measurement is worth.
///
/// Where there is hardly any noise both may be nothing: then the measurement is taken as it is.
fn gain(variance: f64, measured: f64) -> f64 {
    if measured > 0.0 && variance.is_finite() {
        variance / (variance + measured)
    } else {
        1.0
    }
}

/// k-means on released points with released weights, to the most centers that are wanted. Where fewer points have weight, these are
/// the centers; where even the least number of centers cannot be had, the rest is drawn like the records.
///
/// Not from the whole domain: where bounds are loose, a far center that noise gives some weight would outweigh clusters that are near each
/// other in the next merge.
pub(super) fn cluster(
    points: &Array2<f64>,
    weights: &[f64],
    (least, most): (usize, usize),
    frame: &Frame,
    shape: &Shape,
    public: &mut dyn RngCore,
) -> Array2<f64> {
    let standing: Vec<usize> = (0..weights.len()).filter(|&i| weights[i] > 0.0).collect();
    let points = points.select(ndarray::Axis(0), &standing);
    if standing.len() > most {
        let weights: Vec<f64> = standing.iter().map(|&i| weights[i]).collect();
        let solver = LloydParams::new(most).n_restarts(10).check();
        let solution = solver.ok().and_then(|solver| {
            solver
                .fit(points.view(), Some(&weights), &mut &mut *public)
                .ok()
        });
        if let Some(solution) = solution {
            return solution.centers;
        }
    }
    let mut rows = Array2::zeros((standing.len().clamp(least, most), frame.dimension()));
    for (i, mut row) in rows.outer_iter_mut().enumerate() {
        let mut point = match points.outer_iter().nth(i) {
            Some(point) => point.to_vec(),
            None => shape.draw(shape.mean(), 1.0, public),
        };
        frame.domain().clip_scaled(&mut point);
        row.assign(&ArrayView1::from(&point));
    }
    rows
}

/// Shortens a released move to the length that the mean of clipped differences can have.
fn shorten(moves: &mut [f64], radius: f64) {
    let length = moves.iter().map(|x| x * x).sum::<f64>().sqrt();
    if length > radius {
        for x in moves {
            *x *= radius / length;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{frame, public};

    /// Where bounds are a hundred times too wide, a center from anywhere in the domain would be far from all records.
    #[test]
    fn centers_that_are_missing_are_drawn_like_the_records_or_not_at_all() {
        let frame = frame(3);
        let shape = Shape::round(vec![0.5; 3], 0.01);
        let points = Array2::from_shape_fn((5, 3), |(i, _)| 0.5 + 0.002 * i as f64);
        let weights = [3.0, 0.0, 2.0, 1.0, 0.0];
        // As many as have weight, where that is enough.
        let rows = cluster(&points, &weights, (2, 10), &frame, &shape, &mut public());
        assert_eq!(rows, points.select(ndarray::Axis(0), &[0, 2, 3]));
        // Three more than have weight: within eight standard deviations, which none of nine normal numbers exceeds but once in 10^14.
        let rows = cluster(&points, &weights, (6, 10), &frame, &shape, &mut public());
        assert_eq!(rows.dim(), (6, 3));
        assert!(rows.iter().all(|x| (x - 0.5).abs() < 0.08), "{rows}");
        // More than are wanted are merged.
        let rows = cluster(&points, &[1.0; 5], (2, 2), &frame, &shape, &mut public());
        assert_eq!(rows.dim(), (2, 3));
    }
}
