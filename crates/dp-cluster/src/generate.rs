//! Public synthetic data from a seed: no secret, no privacy, the same numbers on every machine.

use ndarray::{Array2, Axis};
use ndarray_rand::rand_distr::{Distribution, StandardNormal, Uniform};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

#[cfg(test)]
mod tests;

/// Draws of one center before the layout counts as stuck.
const TRIES: usize = 1000;
/// Layouts that are begun before the spacing counts as too wide.
const LAYOUTS: usize = 20;

/// A law that records are drawn from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Centers uniform in [-0.7, 0.7]^d at least 1 apart, σ = 0.05; bounds [-1, 1].
    Mixture,
    /// Centers uniform in [-10, 10]^d, σ = 1, clusters of equal size.
    Blobs,
    /// Centers uniform in a ball of radius 100 at least 10 apart, σ = 1.
    GaussBall,
}

impl Kind {
    /// All laws.
    pub const ALL: [Self; 3] = [Self::Mixture, Self::Blobs, Self::GaussBall];

    /// The name in flags.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mixture => "mixture",
            Self::Blobs => "blobs",
            Self::GaussBall => "gauss-ball",
        }
    }

    const fn std_dev(self) -> f64 {
        match self {
            Self::Mixture => 0.05,
            Self::Blobs | Self::GaussBall => 1.0,
        }
    }

    /// The distance that centers keep where there is room for it.
    #[must_use]
    pub const fn spacing(self) -> f64 {
        match self {
            Self::Mixture => 1.0,
            Self::Blobs => 0.0,
            Self::GaussBall => 10.0,
        }
    }

    fn center(self, dimension: usize, rng: &mut ChaCha8Rng) -> Vec<f64> {
        let in_cube = |half: f64, rng: &mut ChaCha8Rng| {
            (0..dimension)
                .map(|_| half * rng.random_range(-1.0..=1.0))
                .collect()
        };
        match self {
            Self::Mixture => in_cube(0.7, rng),
            Self::Blobs => in_cube(10.0, rng),
            Self::GaussBall => {
                // A direction, and a radius whose d-th power is uniform.
                let mut x: Vec<f64> = (0..dimension).map(|_| StandardNormal.sample(rng)).collect();
                let length = x.iter().map(|x| x * x).sum::<f64>().sqrt();
                let radius = 100.0 * rng.random::<f64>().powf(1.0 / dimension as f64);
                if length > 0.0 {
                    for x in &mut x {
                        *x *= radius / length;
                    }
                }
                x
            }
        }
    }
}

/// A generator was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GenerateError {
    /// Number of clusters or columns.
    #[error("{parameter} must be at least 1")]
    Zero {
        /// Which one.
        parameter: &'static str,
    },
    /// The centers would fill the memory.
    #[error("{n_clusters} centers in {dimension} columns are too many")]
    TooMany {
        /// k.
        n_clusters: usize,
        /// d.
        dimension: usize,
    },
}

/// A stream of labeled synthetic records.
#[derive(Clone, Debug)]
pub struct Generator {
    kind: Kind,
    centers: Array2<f64>,
    spacing: f64,
    rng: ChaCha8Rng,
    drawn: u64,
}

impl Generator {
    /// Draws the centers.
    ///
    /// Where they cannot be placed as far apart as [`Kind::spacing`] says, the distance is halved until they
    /// can: [`spacing`](Self::spacing) tells which one it became.
    ///
    /// # Errors
    ///
    /// [`GenerateError`] for a zero or for too many centers.
    pub fn new(
        kind: Kind,
        n_clusters: usize,
        dimension: usize,
        seed: u64,
    ) -> Result<Self, GenerateError> {
        for (parameter, value) in [("clusters", n_clusters), ("dimension", dimension)] {
            if value == 0 {
                return Err(GenerateError::Zero { parameter });
            }
        }
        let too_many = GenerateError::TooMany {
            n_clusters,
            dimension,
        };
        match n_clusters.checked_mul(dimension) {
            Some(values) if values <= crate::request::MAX_CENTER_VALUES => {}
            _ => return Err(too_many),
        }
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let (rows, spacing) = place(kind, n_clusters, dimension, &mut rng);
        let centers =
            Array2::from_shape_vec((n_clusters, dimension), rows.concat()).map_err(|_| too_many)?;
        Ok(Self {
            kind,
            centers,
            spacing,
            rng,
            drawn: 0,
        })
    }

    /// The true centers, shape (k, d).
    #[must_use]
    pub const fn centers(&self) -> &Array2<f64> {
        &self.centers
    }

    /// The distance that the centers keep.
    #[must_use]
    pub const fn spacing(&self) -> f64 {
        self.spacing
    }

    /// The next `rows` records, shape (rows, d), and their labels. What is drawn does not depend on how
    /// the stream is cut.
    pub fn next_records(&mut self, rows: usize) -> (Array2<f64>, Vec<usize>) {
        let (k, d) = self.centers.dim();
        let mut records = Array2::zeros((rows, d));
        let mut labels = Vec::with_capacity(rows);
        let any_cluster = Uniform::new(0, k).ok();
        for mut record in records.axis_iter_mut(Axis(0)) {
            let label = match (self.kind, &any_cluster) {
                // Equal sizes, as in make_blobs; the order of records tells a clustering nothing.
                (Kind::Blobs, _) | (_, None) => usize::try_from(self.drawn % k as u64).unwrap_or(0),
                (_, Some(law)) => law.sample(&mut self.rng),
            };
            for (x, center) in record.iter_mut().zip(self.centers.row(label)) {
                let step: f64 = StandardNormal.sample(&mut self.rng);
                *x = center + self.kind.std_dev() * step;
            }
            labels.push(label);
            self.drawn += 1;
        }
        (records, labels)
    }
}

/// Places centers one after another; halves the distance when that does not succeed.
fn place(
    kind: Kind,
    n_clusters: usize,
    dimension: usize,
    rng: &mut ChaCha8Rng,
) -> (Vec<Vec<f64>>, f64) {
    let mut spacing = kind.spacing();
    loop {
        for _ in 0..LAYOUTS {
            if let Some(rows) = layout(kind, n_clusters, dimension, spacing, rng) {
                return (rows, spacing);
            }
        }
        // In the end any two different points are far enough apart.
        spacing = if spacing > 1e-9 { spacing / 2.0 } else { 0.0 };
    }
}

fn layout(
    kind: Kind,
    n_clusters: usize,
    dimension: usize,
    spacing: f64,
    rng: &mut ChaCha8Rng,
) -> Option<Vec<Vec<f64>>> {
    let mut rows: Vec<Vec<f64>> = Vec::with_capacity(n_clusters);
    for _ in 0..n_clusters {
        let free = (0..TRIES).find_map(|_| {
            let center = kind.center(dimension, rng);
            let is_far = |other: &Vec<f64>| {
                metric_space::squared_euclidean(other, &center) >= spacing * spacing
            };
            (spacing <= 0.0 || rows.iter().all(is_far)).then_some(center)
        })?;
        rows.push(free);
    }
    Some(rows)
}
