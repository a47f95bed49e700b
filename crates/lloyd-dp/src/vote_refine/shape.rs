//! Where the records lie: their mean, their spread along its axes.

use dp_core::{Confidential, Session};
use metric_space::LatticeSource;
use ndarray::Array2;
use ndarray::ArrayView1;
use rand::{Rng, RngCore};

use super::moments;
use super::plan::ShapeSpends;
use super::radius::Distances;
use crate::dplloyd::step::{LatticeCenters, Term, cluster_statistics};
use crate::error::{FitError, ParamsError};

/// Variance of a coordinate of the mean over data sets that one may meet: half of that of a uniform coordinate.
const MEAN_PRIOR: f64 = 1.0 / 6.0;

/// Variance of a uniform coordinate.
const VARIANCE_PRIOR: f64 = 1.0 / 3.0;

/// Share of the records that the two radii hold: some outliers may fall out.
const HELD: f64 = 0.98;

/// A normal law that the records roughly follow; released.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    mean: Vec<f64>,
    /// Standard deviation along each of d orthonormal axes.
    axes: Vec<(f64, Vec<f64>)>,
}

impl Shape {
    /// Releases the shape: four passes.
    pub(super) fn release<S: LatticeSource>(
        source: &S,
        session: &mut Session<'_>,
        spends: &ShapeSpends,
        n: f64,
    ) -> Result<Self, FitError> {
        let frame = source.frame();
        let relation = session.relation();
        let d = frame.dimension();
        let step = frame.lattice().step();
        let one_center = |center: &Array2<f64>| {
            LatticeCenters::new(frame, center).ok_or(ParamsError::NoClusters)
        };
        let mut center = Array2::zeros((1, d));
        let middle = one_center(&center)?;
        let reach = Distances::release(
            source,
            session,
            &middle,
            spends.reach,
            "distances to the middle",
        )?
        .quantile(HELD);
        let mechanism = spends.mean.sums(relation, reach, d)?;
        let exact = cluster_statistics(source, &middle, Term::Clipped(reach))?.sums;
        let noisy = session.add_noise(&mechanism, "mean", &Confidential::new(exact))?;
        let mut mean: Vec<f64> = noisy.iter().map(|&sum| sum as f64 * step / n).collect();
        let noise = mechanism.std_dev() * step / n;
        let trust = MEAN_PRIOR / (MEAN_PRIOR + noise * noise);
        for x in &mut mean {
            *x *= trust;
        }
        frame.domain().clip_scaled(&mut mean);
        center.row_mut(0).assign(&ArrayView1::from(&mean));

        let middle = one_center(&center)?;
        let radius = Distances::release(
            source,
            session,
            &middle,
            spends.radius,
            "distances to the mean",
        )?
        .quantile(HELD);
        let shift = moments::shift(radius);
        let coarse = moments::coarse_radius(radius, shift);
        let mechanism = spends.moments.moments(relation, coarse, d)?;
        let axes = if d <= moments::MAX_COLUMNS {
            let exact = moments::second_moments(source, &middle.units[0], radius)?;
            let noisy =
                session.add_noise(&mechanism, "second moments", &Confidential::new(exact))?;
            let unit = step * f64::from(1_u32 << shift);
            let scale = unit * unit / n;
            let moments: Vec<f64> = noisy.iter().map(|&x| x as f64 * scale).collect();
            let noise = mechanism.std_dev() * scale;
            pooled(moments::axes(&moments, d), noise)
        } else {
            // Too many moments: their sum alone, the mean squared distance, from the radius.
            let spread = radius as f64 * step / (d as f64).sqrt();
            (0..d).map(|j| (spread, unit_vector(d, j))).collect()
        };
        Ok(Self {
            mean: middle.units[0]
                .iter()
                .map(|&units| f64::from(units) * step)
                .collect(),
            axes,
        })
    }

    /// Equally wide in all directions.
    #[cfg(test)]
    pub(super) fn round(mean: Vec<f64>, std_dev: f64) -> Self {
        let d = mean.len();
        let axes = (0..d).map(|j| (std_dev, unit_vector(d, j))).collect();
        Self { mean, axes }
    }

    /// The number of axes that matter: (Σλ)²/Σλ², between 1 and d.
    pub(super) fn effective_dimension(&self) -> f64 {
        let (mut sum, mut squares) = (0.0, 0.0);
        for (std_dev, _) in &self.axes {
            let variance = std_dev * std_dev;
            sum += variance;
            squares += variance * variance;
        }
        if squares > 0.0 {
            sum * sum / squares
        } else {
            1.0
        }
    }

    /// A normal draw around a point, `factor` times as wide as the records lie.
    pub(super) fn draw(&self, around: &[f64], factor: f64, public: &mut dyn RngCore) -> Vec<f64> {
        let mut point = around.to_vec();
        for (std_dev, axis) in &self.axes {
            let along = factor * std_dev * normal(public);
            for (x, a) in point.iter_mut().zip(axis) {
                *x += along * a;
            }
        }
        point
    }

    /// The mean.
    pub(super) fn mean(&self) -> &[f64] {
        &self.mean
    }
}

/// Standard deviations along the axes. Variances that do not stand out of the noise of a moment matrix, whose largest eigenvalue
/// is about 2√d standard deviations of an entry, tell nothing one by one, but their mean does: they share it. The mean itself is drawn to the variance
/// of the uniform law in proportion to its own noise.
fn pooled(axes: Vec<(f64, Vec<f64>)>, noise: f64) -> Vec<(f64, Vec<f64>)> {
    let edge = 2.0 * noise * (axes.len() as f64).sqrt();
    let drowned: Vec<f64> = axes
        .iter()
        .map(|(v, _)| *v)
        .filter(|&v| v <= edge)
        .collect();
    let many = drowned.len().max(1) as f64;
    let noise_of_mean = noise * noise / many;
    let trust = VARIANCE_PRIOR * VARIANCE_PRIOR / (VARIANCE_PRIOR * VARIANCE_PRIOR + noise_of_mean);
    let shared = drowned.iter().sum::<f64>() / many;
    // Below one standard deviation of its noise the mean may be anything down to 0.
    let shared =
        (trust * shared + (1.0 - trust) * VARIANCE_PRIOR).clamp(trust * noise_of_mean.sqrt(), 4.0);
    axes.into_iter()
        .map(|(variance, axis)| {
            let variance = if variance > edge { variance } else { shared };
            (variance.clamp(0.0, 4.0).sqrt(), axis)
        })
        .collect()
}

fn unit_vector(d: usize, j: usize) -> Vec<f64> {
    let mut vector = vec![0.0; d];
    vector[j] = 1.0;
    vector
}

/// A standard normal number, by Marsaglia's polar method; public randomness, so floats will do.
fn normal(public: &mut dyn RngCore) -> f64 {
    loop {
        let (x, y) = (
            public.random_range(-1.0..1.0_f64),
            public.random_range(-1.0..1.0_f64),
        );
        let s = x * x + y * y;
        if s > 0.0 && s < 1.0 {
            return x * (-2.0 * s.ln() / s).sqrt();
        }
    }
}
