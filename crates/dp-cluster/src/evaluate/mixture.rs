//! Models that are mixtures: labels by largest responsibility, log-likelihoods, distance to another mixture.

use gmm::GaussianMixture;
use gmm::mixture::TotalVariation;
use metric_space::evaluation::{Assignment, Labeler, NearestScaled};
use ndarray::{Array1, Array3};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::LabelError;
use crate::model::{Model, ModelError};

/// Records drawn to estimate a distance between mixtures of several columns.
const DRAWS: usize = 200_000;

impl Model {
    /// The mixture, original units; none if the model is not one.
    ///
    /// # Errors
    ///
    /// [`ModelError`] if weights, centers and covariances do not make a mixture.
    pub fn mixture(&self) -> Result<Option<GaussianMixture>, ModelError> {
        let (Some(weights), Some(covariances)) = (&self.weights, &self.covariances) else {
            return Ok(None);
        };
        if self.centers.is_empty() {
            return Ok(None);
        }
        let d = self.dimension();
        let entries: Vec<f64> = covariances.iter().flatten().flatten().copied().collect();
        let covariances = Array3::from_shape_vec((covariances.len(), d, d), entries);
        let no_mixture = ModelError::Contradiction(
            "`weights`, `centers` and `covariances` are no mixture: each covariance must be positive definite",
        );
        let mixture = covariances.ok().and_then(|covariances| {
            let weights = Array1::from(weights.clone());
            GaussianMixture::new(weights, self.centers_array(), covariances).ok()
        });
        mixture.map(Some).ok_or(no_mixture)
    }
}

/// Total variation between two models that are mixtures over the same columns: by quadrature in one column, by Monte Carlo with a
/// stated error else; none if one is not a mixture or columns differ.
///
/// # Privacy
///
/// Post-processing of two models: as public as they are. The draws are public and always the same.
///
/// # Errors
///
/// [`LabelError`] if a model is not valid.
pub fn total_variation(
    first: &Model,
    second: &Model,
) -> Result<Option<TotalVariation>, LabelError> {
    first.check()?;
    second.check()?;
    if first.columns != second.columns {
        return Ok(None);
    }
    let (Some(first), Some(second)) = (first.mixture()?, second.mixture()?) else {
        return Ok(None);
    };
    let mut rng = ChaCha8Rng::seed_from_u64(0);
    Ok(first.total_variation(&second, DRAWS, &mut rng))
}

/// Costs as of the nearest center, labels and likelihood as of the mixture.
pub(super) struct MixtureLabeler {
    pub(super) mixture: GaussianMixture,
    pub(super) nearest: NearestScaled,
    /// The middle of the bounds: what a coordinate that is not finite counts as.
    pub(super) middle: Vec<f64>,
}

impl Labeler for MixtureLabeler {
    fn dimension(&self) -> usize {
        self.middle.len()
    }

    fn n_clusters(&self) -> usize {
        self.mixture.n_components()
    }

    fn assign(&self, record: &[f64]) -> Assignment {
        let finite: Vec<f64> = record
            .iter()
            .zip(&self.middle)
            .map(|(&x, &middle)| if x.is_finite() { x } else { middle })
            .collect();
        let (label, log_likelihood) = self.mixture.most_responsible(&finite);
        Assignment {
            label: u32::try_from(label).unwrap_or(u32::MAX),
            log_likelihood: Some(log_likelihood),
            ..self.nearest.assign(record)
        }
    }
}
