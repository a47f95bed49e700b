//! How good a model is on records, and the labels that it gives them: for the data holder alone.

use metric_space::evaluation::{self, Assignment, Evaluation, Labeler, NearestScaled};
use metric_space::{Domain, RecordSource, SourceError};

use crate::model::{Model, ModelOutcome};
use crate::request::box_domain;

mod metric;
mod mixture;

pub use mixture::total_variation;

/// Labels cannot be given.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LabelError {
    /// The mechanism answered ⊥: there are no centers.
    #[error("the model has no centers: its outcome is `refused`")]
    NoCenters,
    /// The model is not valid.
    #[error(transparent)]
    Model(#[from] crate::model::ModelError),
    /// The records could not be read.
    #[error(transparent)]
    Source(#[from] SourceError),
}

impl Model {
    /// The rule by which the model labels records.
    ///
    /// # Errors
    ///
    /// [`LabelError`] if the model has no centers or is not valid.
    pub fn labeler(&self) -> Result<Box<dyn Labeler>, LabelError> {
        self.check()?;
        if self.outcome == ModelOutcome::Refused {
            return Err(LabelError::NoCenters);
        }
        if let Some(name) = &self.metric {
            return Ok(metric::labeler(self, name)?);
        }
        let domain =
            box_domain(&self.columns, &self.bounds).map_err(crate::model::ModelError::Columns)?;
        let centers = self.centers.iter().map(Vec::as_slice);
        let nearest = NearestScaled::new(Domain::from(domain), centers).map_err(|_| {
            crate::model::ModelError::Contradiction("centers have another number of columns")
        })?;
        Ok(match self.mixture()? {
            Some(mixture) => {
                let middle = |&[lo, hi]: &[f64; 2]| lo / 2.0 + hi / 2.0;
                Box::new(mixture::MixtureLabeler {
                    mixture,
                    nearest,
                    middle: self.bounds.iter().map(middle).collect(),
                })
            }
            None => Box::new(nearest),
        })
    }
}

/// Mean costs of a model on records; `visit` sees the labels, chunk by chunk.
///
/// # Privacy
///
/// **Not private**: for the data holder's eyes.
///
/// # Errors
///
/// [`LabelError`] if the model has no centers or the records cannot be read.
pub fn evaluate(
    model: &Model,
    source: &dyn RecordSource,
    visit: impl FnMut(&[Assignment]),
) -> Result<Evaluation, LabelError> {
    let labeler = model.labeler()?;
    Ok(evaluation::evaluate(source, labeler.as_ref(), visit)?)
}

/// Shows the label of each record to `visit`, in order, chunk by chunk.
///
/// # Privacy
///
/// Labels of private records are private. The label of a record depends on it and the model alone.
///
/// # Errors
///
/// [`LabelError`] if the model has no centers or the records cannot be read.
pub fn predict(
    model: &Model,
    source: &dyn RecordSource,
    visit: &mut dyn FnMut(&[Assignment]) -> Result<(), SourceError>,
) -> Result<(), LabelError> {
    let labeler = model.labeler()?;
    Ok(evaluation::assign_all(source, labeler.as_ref(), visit)?)
}
