//! A Gaussian mixture and what one asks of it.

use ndarray::{Array1, Array2, Array3, ArrayView1, ArrayView2, Axis};
use rand::Rng;
use rand::distr::Distribution;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::error::MixtureError;
use crate::spd::Factor;

mod distance;
mod serial;
pub use distance::TotalVariation;

/// What covariances may look like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CovarianceKind {
    /// One variance per component; a private mixture has it in original units.
    Spherical,
    /// One variance per component and column.
    Diagonal,
    /// One matrix for all components.
    Tied,
    /// One matrix per component.
    #[default]
    Full,
}

impl CovarianceKind {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Spherical, Self::Diagonal, Self::Tied, Self::Full];

    /// The name in flags and files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Spherical => "spherical",
            Self::Diagonal => "diagonal",
            Self::Tied => "tied",
            Self::Full => "full",
        }
    }

    /// The kind of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Free parameters of a mixture of `k` components in `d` columns: what AIC and BIC count.
    #[must_use]
    pub const fn n_parameters(self, k: usize, d: usize) -> usize {
        let covariances = match self {
            Self::Spherical => k,
            Self::Diagonal => k * d,
            Self::Tied => d * (d + 1) / 2,
            Self::Full => k * d * (d + 1) / 2,
        };
        covariances + k * d + k - 1
    }
}

/// A mixture of Gaussians: weights `(k,)`, means `(k, d)`, covariances `(k, d, d)`, the latter always symmetric
/// positive definite.
///
/// ```
/// use gmm::GaussianMixture;
/// use ndarray::array;
///
/// let mixture = GaussianMixture::new(
///     array![0.5, 0.5],
///     array![[-2.0], [2.0]],
///     array![[[1.0]], [[1.0]]],
/// )?;
/// assert_eq!(mixture.predict(array![[-3.0], [1.0]].view()), [0, 1]);
/// # Ok::<(), gmm::MixtureError>(())
/// ```
///
/// Serialized it has the keys of a model file, `weights`, `means` and `covariances`, as nested lists; what is read back is checked like [`new`](Self::new) checks it, and is the
/// same to the last bit.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(into = "serial::Lists", try_from = "serial::Lists")]
pub struct GaussianMixture {
    weights: Array1<f64>,
    means: Array2<f64>,
    covariances: Array3<f64>,
    components: Vec<Component>,
}

/// What the density of one component needs.
#[derive(Clone, Debug)]
struct Component {
    /// ln of weight and normalizer.
    log_constant: f64,
    /// L of the covariance, for sampling.
    lower: Array2<f64>,
    /// L⁻¹, row by row, and L⁻¹·mean: a whitened difference is L⁻¹x − that.
    whitening: Vec<f64>,
    shift: Vec<f64>,
}

impl GaussianMixture {
    /// Checks shapes and numbers; weights are divided by their sum, unless it is 1 but for rounding.
    ///
    /// # Errors
    ///
    /// [`MixtureError`] for what does not make a mixture.
    pub fn new(
        weights: Array1<f64>,
        means: Array2<f64>,
        covariances: Array3<f64>,
    ) -> Result<Self, MixtureError> {
        let (k, d) = means.dim();
        if k == 0 || d == 0 {
            return Err(MixtureError::Empty);
        }
        if weights.len() != k {
            return Err(MixtureError::Shape {
                what: "weights",
                expected: format!("({k},)"),
                got: format!("({},)", weights.len()),
            });
        }
        if covariances.dim() != (k, d, d) {
            return Err(MixtureError::Shape {
                what: "covariances",
                expected: format!("({k}, {d}, {d})"),
                got: format!("{:?}", covariances.dim()),
            });
        }
        let sum = weights.sum();
        if !(weights.iter().all(|&weight| weight >= 0.0) && sum > 0.0 && sum.is_finite()) {
            return Err(MixtureError::Weights);
        }
        // Weights that were divided before stay as they are, to the last bit.
        let divided = (sum - 1.0).abs() <= f64::EPSILON * k as f64;
        let weights = if divided { weights } else { weights / sum };
        let mut components = Vec::with_capacity(k);
        for component in 0..k {
            let mean = means.row(component);
            if !mean.iter().all(|x| x.is_finite()) {
                return Err(MixtureError::Mean { component });
            }
            let covariance = covariances.index_axis(Axis(0), component);
            let is_symmetric = covariance.indexed_iter().all(|((i, j), &x)| {
                (x - covariance[[j, i]]).abs() <= 1e-9 * (x.abs() + f64::MIN_POSITIVE)
            });
            let factor = Factor::new(covariance).filter(|_| is_symmetric);
            let factor = factor.ok_or(MixtureError::Covariance { component })?;
            components.push(Component::new(weights[component], mean, &factor));
        }
        Ok(Self {
            weights,
            means,
            covariances,
            components,
        })
    }

    /// Number of components k.
    #[must_use]
    pub fn n_components(&self) -> usize {
        self.means.nrows()
    }

    /// Number of columns d.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.means.ncols()
    }

    /// Mixture weights, shape `(k,)`, with sum 1.
    #[must_use]
    pub const fn weights(&self) -> &Array1<f64> {
        &self.weights
    }

    /// Means, shape `(k, d)`.
    #[must_use]
    pub const fn means(&self) -> &Array2<f64> {
        &self.means
    }

    /// Covariances, shape `(k, d, d)`.
    #[must_use]
    pub const fn covariances(&self) -> &Array3<f64> {
        &self.covariances
    }

    /// ln(weight·density) of each component at `record`, into `out` (`k` numbers).
    ///
    /// # Panics
    ///
    /// If `record` has not `d` or `out` not `k` numbers.
    pub fn log_joint(&self, record: &[f64], out: &mut [f64]) {
        assert_eq!(record.len(), self.dimension(), "one number per column");
        assert_eq!(out.len(), self.n_components(), "one number per component");
        for (component, out) in self.components.iter().zip(out) {
            *out = component.log_joint(record);
        }
    }

    /// ln of the density at a record.
    #[must_use]
    pub fn log_density(&self, record: &[f64]) -> f64 {
        let mut joint = vec![0.0; self.n_components()];
        self.log_joint(record, &mut joint);
        log_sum_exp(&joint)
    }

    /// Index of the component with the largest responsibility (ties to the lowest), and ln of the density, at a record.
    #[must_use]
    pub fn most_responsible(&self, record: &[f64]) -> (usize, f64) {
        let mut joint = vec![0.0; self.n_components()];
        self.log_joint(record, &mut joint);
        (argmax(&joint), log_sum_exp(&joint))
    }

    /// Index of the component with the largest responsibility, ties to the lowest index, per row.
    #[must_use]
    pub fn predict(&self, records: ArrayView2<'_, f64>) -> Vec<usize> {
        self.per_record(records, argmax)
    }

    /// Responsibilities: shape `(n, k)`, rows with sum 1. Those of private records are private.
    #[must_use]
    pub fn predict_proba(&self, records: ArrayView2<'_, f64>) -> Array2<f64> {
        let rows = self.per_record(records, |joint| {
            let total = log_sum_exp(joint);
            joint
                .iter()
                .map(|x| (x - total).exp())
                .collect::<Vec<f64>>()
        });
        let shape = (records.nrows(), self.n_components());
        Array2::from_shape_vec(shape, rows.concat()).unwrap_or_else(|_| Array2::zeros(shape))
    }

    /// Mean log-likelihood of records; 0 for none. Of private records it is private.
    #[must_use]
    pub fn score(&self, records: ArrayView2<'_, f64>) -> f64 {
        let n = records.nrows();
        if n == 0 {
            return 0.0;
        }
        // Summed in order: the number of threads does not change the last bit.
        self.per_record(records, log_sum_exp).iter().sum::<f64>() / n as f64
    }

    /// Akaike's criterion from a mean log-likelihood that may be shown (a private or a public score).
    #[must_use]
    pub fn aic(&self, mean_log_likelihood: f64, n: f64, kind: CovarianceKind) -> f64 {
        let parameters = kind.n_parameters(self.n_components(), self.dimension()) as f64;
        2.0 * parameters - 2.0 * n * mean_log_likelihood
    }

    /// The Bayesian criterion from a mean log-likelihood that may be shown (a private or a public score).
    #[must_use]
    pub fn bic(&self, mean_log_likelihood: f64, n: f64, kind: CovarianceKind) -> f64 {
        let parameters = kind.n_parameters(self.n_components(), self.dimension()) as f64;
        parameters * n.ln() - 2.0 * n * mean_log_likelihood
    }

    /// `n` records of the mixture and the components they came from.
    pub fn sample<R: Rng + ?Sized>(&self, n: usize, rng: &mut R) -> (Array2<f64>, Vec<usize>) {
        let d = self.dimension();
        let mut records = Array2::zeros((n, d));
        let mut labels = Vec::with_capacity(n);
        let mut normal = vec![0.0; d];
        for mut record in records.rows_mut() {
            let label = self.draw_component(rng);
            labels.push(label);
            for x in &mut normal {
                *x = ndarray_rand::rand_distr::StandardNormal.sample(rng);
            }
            let lower = &self.components[label].lower;
            for i in 0..d {
                let offset: f64 = (0..=i).map(|j| lower[[i, j]] * normal[j]).sum();
                record[i] = self.means[[label, i]] + offset;
            }
        }
        (records, labels)
    }

    /// L⁻¹ of each covariance.
    pub(crate) fn whitening(&self) -> Vec<Array2<f64>> {
        let d = self.dimension();
        let square = |component: &Component| {
            Array2::from_shape_vec((d, d), component.whitening.clone())
                .unwrap_or_else(|_| Array2::zeros((d, d)))
        };
        self.components.iter().map(square).collect()
    }

    /// L⁻¹·mean of each component.
    pub(crate) fn shifts(&self) -> Vec<Array1<f64>> {
        let shift = |component: &Component| Array1::from(component.shift.clone());
        self.components.iter().map(shift).collect()
    }

    /// ln of weight and normalizer of a component.
    pub(crate) fn log_constant(&self, component: usize) -> f64 {
        self.components[component].log_constant
    }

    fn draw_component<R: Rng + ?Sized>(&self, rng: &mut R) -> usize {
        let mut left: f64 = rng.random();
        for (index, weight) in self.weights.iter().enumerate() {
            left -= weight;
            if left < 0.0 {
                return index;
            }
        }
        // Rounding left nothing: the last component that has any weight.
        self.weights
            .iter()
            .rposition(|&weight| weight > 0.0)
            .unwrap_or(0)
    }

    /// A function of each record's joint log densities, in parallel, results in order.
    fn per_record<T: Send>(
        &self,
        records: ArrayView2<'_, f64>,
        reduce: impl Fn(&[f64]) -> T + Sync,
    ) -> Vec<T> {
        records
            .axis_iter(Axis(0))
            .into_par_iter()
            .map_init(
                || (vec![0.0; self.dimension()], vec![0.0; self.n_components()]),
                |(row, joint), record| {
                    row.iter_mut()
                        .zip(record)
                        .for_each(|(to, from)| *to = *from);
                    self.log_joint(row, joint);
                    reduce(joint)
                },
            )
            .collect()
    }
}

impl Component {
    fn new(weight: f64, mean: ArrayView1<'_, f64>, factor: &Factor) -> Self {
        let d = mean.len();
        let inverse = factor.inverse_lower();
        let shift = inverse.dot(&mean).to_vec();
        let ln_2_pi = (2.0 * std::f64::consts::PI).ln();
        Self {
            log_constant: weight.ln() - 0.5 * (d as f64 * ln_2_pi + factor.log_determinant()),
            lower: factor.lower().clone(),
            whitening: inverse.iter().copied().collect(),
            shift,
        }
    }

    fn log_joint(&self, record: &[f64]) -> f64 {
        let d = record.len();
        let mut squared = 0.0;
        for (i, shift) in self.shift.iter().enumerate() {
            let row = &self.whitening[i * d..=i * d + i];
            let dot: f64 = row.iter().zip(record).map(|(a, b)| a * b).sum();
            squared += (dot - shift) * (dot - shift);
        }
        self.log_constant - 0.5 * squared
    }
}

/// Index of the largest number, ties to the lowest.
fn argmax(values: &[f64]) -> usize {
    let mut best = 0;
    for (index, value) in values.iter().enumerate() {
        if *value > values[best] {
            best = index;
        }
    }
    best
}

/// ln Σ exp(x), without overflow; −∞ for nothing.
pub(crate) fn log_sum_exp(values: &[f64]) -> f64 {
    let most = values
        .iter()
        .copied()
        .fold(f64::NEG_INFINITY, |a, b| if b > a { b } else { a });
    if most.is_finite() {
        most + values.iter().map(|x| (x - most).exp()).sum::<f64>().ln()
    } else {
        most
    }
}

#[cfg(test)]
mod tests;
