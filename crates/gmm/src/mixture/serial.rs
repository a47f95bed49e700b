//! A mixture as nested lists, the form in which it is serialized.

use ndarray::{Array1, Array2, Array3};
use serde::{Deserialize, Serialize};

use super::GaussianMixture;
use crate::error::MixtureError;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Lists {
    weights: Vec<f64>,
    means: Vec<Vec<f64>>,
    covariances: Vec<Vec<Vec<f64>>>,
}

impl From<GaussianMixture> for Lists {
    fn from(mixture: GaussianMixture) -> Self {
        let rows = |matrix: ndarray::ArrayView2<'_, f64>| -> Vec<Vec<f64>> {
            matrix.outer_iter().map(|row| row.to_vec()).collect()
        };
        Self {
            weights: mixture.weights.to_vec(),
            means: rows(mixture.means.view()),
            covariances: mixture.covariances.outer_iter().map(rows).collect(),
        }
    }
}

impl TryFrom<Lists> for GaussianMixture {
    type Error = MixtureError;

    fn try_from(lists: Lists) -> Result<Self, MixtureError> {
        let (k, d) = (lists.means.len(), lists.means.first().map_or(0, Vec::len));
        let ragged = |what, expected| MixtureError::Shape {
            what,
            expected,
            got: "lists of other lengths".into(),
        };
        // Each list on its own: rows that are too short and too long must not make up for each other.
        if lists.means.iter().any(|mean| mean.len() != d) {
            return Err(ragged("means", format!("({k}, {d})")));
        }
        let square =
            |matrix: &Vec<Vec<f64>>| matrix.len() == d && matrix.iter().all(|row| row.len() == d);
        if lists.covariances.len() != k || !lists.covariances.iter().all(square) {
            return Err(ragged("covariances", format!("({k}, {d}, {d})")));
        }
        let means = Array2::from_shape_fn((k, d), |(c, j)| lists.means[c][j]);
        let covariances = Array3::from_shape_fn((k, d, d), |(c, i, j)| lists.covariances[c][i][j]);
        Self::new(Array1::from(lists.weights), means, covariances)
    }
}
