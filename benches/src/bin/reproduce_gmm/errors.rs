//! Errors of a mixture's parameters and of its labels, beside the truth.

use gmm::GaussianMixture;
use gmm::spd::Factor;
use metric_space::evaluation::Contingency;
use ndarray::{Array2, Axis};

use crate::truth::mean;

/// The worst component's errors, and how well labels agree.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Errors {
    /// Mahalanobis distance of a mean to the true one.
    mean: f64,
    /// Frobenius norm of a covariance, whitened by the true one, less the identity.
    covariance: f64,
    /// Difference of a weight to the true one.
    weight: f64,
    /// Adjusted Rand index of the labels by responsibility and of the components that records came from.
    rand_index: f64,
}

impl Errors {
    /// Of `found`, each true component beside the one with the nearest mean; `labels` are those that the records were drawn with.
    pub(crate) fn new(
        truth: &GaussianMixture,
        found: &GaussianMixture,
        records: &Array2<f64>,
        labels: &[usize],
    ) -> Self {
        let mut contingency = Contingency::new(found.n_components());
        for (&class, label) in labels.iter().zip(found.predict(records.view())) {
            contingency.add(class, u32::try_from(label).unwrap_or(u32::MAX));
        }
        let mut errors = Self {
            mean: 0.0,
            covariance: 0.0,
            weight: 0.0,
            rand_index: contingency.adjusted_rand_index().unwrap_or(0.0),
        };
        for (i, center) in truth.means().outer_iter().enumerate() {
            let Some(factor) = Factor::new(truth.covariances().index_axis(Axis(0), i)) else {
                continue;
            };
            let whitening = factor.inverse_lower();
            let far = |j: usize| {
                let difference = whitening.dot(&(&found.means().row(j) - &center));
                difference.dot(&difference).sqrt()
            };
            let j = (0..found.n_components())
                .min_by(|&a, &b| far(a).total_cmp(&far(b)))
                .unwrap_or(0);
            let covariance = found.covariances().index_axis(Axis(0), j);
            let whitened = whitening.dot(&covariance).dot(&whitening.t());
            let rest = whitened - Array2::<f64>::eye(truth.dimension());
            raise(&mut errors.mean, far(j));
            raise(&mut errors.covariance, rest.mapv(|x| x * x).sum().sqrt());
            raise(
                &mut errors.weight,
                (found.weights()[j] - truth.weights()[i]).abs(),
            );
        }
        errors
    }

    /// Means over the runs that answered, as cells of a table.
    pub(crate) fn cells(runs: &[Self]) -> String {
        if runs.is_empty() {
            return "⊥ | ⊥ | ⊥ | ⊥".into();
        }
        let of = |figure: fn(&Self) -> f64| mean(&runs.iter().map(figure).collect::<Vec<f64>>()).0;
        format!(
            "{:.4} | {:.4} | {:.5} | {:.5}",
            of(|errors| errors.mean),
            of(|errors| errors.covariance),
            of(|errors| errors.weight),
            of(|errors| errors.rand_index)
        )
    }
}

fn raise(most: &mut f64, value: f64) {
    if value > *most {
        *most = value;
    }
}
