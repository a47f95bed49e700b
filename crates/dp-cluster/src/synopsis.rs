//! A released grid synopsis as a file of its own: centers for any number of clusters come out of it at no cost.

use std::collections::BTreeMap;

use dp_core::{Guarantee, Ledger, Value, accountant};
use lloyd_dp::grid::{GridSynopsis, Starts, SynopsisSolverParams};
use metric_space::Domain;
use rand::RngCore;
use serde::{Deserialize, Serialize};

use crate::model::{FORMAT_VERSION, Model, ModelError, ModelOutcome};
use crate::request::{RequestError, box_domain};

#[cfg(test)]
mod tests;

/// A grid synopsis with its guarantee and the ledger that proves it.
///
/// # Privacy
///
/// Everything in it was released by the mechanisms of its ledger or is public: it may be published, and anything may be
/// computed from it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Synopsis {
    /// Format of the file.
    pub format_version: u32,
    /// The algorithm that released it.
    pub algorithm: String,
    /// Whether its randomness came from a chosen number: no guarantee against who knows it.
    pub seeded: bool,
    /// Names of the columns, in order.
    pub columns: Vec<String>,
    /// `[lo, hi]` per column.
    pub bounds: Vec<[f64; 2]>,
    /// Cells and their noisy counts.
    pub grid: GridSynopsis,
    /// What was spent.
    pub guarantee: Guarantee,
    /// How it was spent.
    pub ledger: Ledger,
    /// Every public parameter that was used.
    pub parameters: BTreeMap<String, Value>,
}

impl Synopsis {
    /// The synopsis that a fit released beside its model.
    pub(crate) fn of(model: &Model, grid: GridSynopsis) -> Option<Self> {
        Some(Self {
            format_version: FORMAT_VERSION,
            algorithm: model.algorithm.clone(),
            seeded: model.seeded,
            columns: model.columns.clone(),
            bounds: model.bounds.clone(),
            grid,
            guarantee: model.guarantee.clone()?,
            ledger: model.ledger.clone(),
            parameters: model.parameters.clone(),
        })
    }

    /// Checks columns, bounds and that the ledger adds up to at most the guarantee; the grid was checked when it was read.
    ///
    /// # Errors
    ///
    /// [`ModelError`] for the first thing that is wrong.
    pub fn check(&self) -> Result<(), ModelError> {
        if self.format_version != FORMAT_VERSION {
            return Err(ModelError::Version {
                got: self.format_version,
            });
        }
        box_domain(&self.columns, &self.bounds)?;
        if self.grid.dimension() != self.columns.len() {
            return Err(ModelError::Contradiction(
                "the grid has another number of columns than the file",
            ));
        }
        let stated = &self.guarantee;
        let added = accountant::total(&self.ledger, stated.relation, stated.delta)
            .map_err(|_| ModelError::Ledger)?;
        if added.epsilon <= stated.epsilon && added.delta <= stated.delta {
            Ok(())
        } else {
            Err(ModelError::Ledger)
        }
    }
}

/// k-means on a synopsis, as a model under the synopsis' guarantee.
///
/// # Privacy
///
/// Post-processing of a release: costs nothing more, however often it is done. The ledger of the model is that of the
/// synopsis; models of one synopsis do not add up.
///
/// # Errors
///
/// [`RequestError`] if there is no cluster or the synopsis is not valid.
pub fn recluster(
    synopsis: &Synopsis,
    n_clusters: usize,
    starts: Starts,
    public: &mut dyn RngCore,
) -> Result<Model, RequestError> {
    let refused = |reason: String| RequestError::Parameter {
        parameter: "recluster",
        reason,
    };
    synopsis
        .check()
        .map_err(|error| refused(error.to_string()))?;
    let most = crate::request::MAX_CENTER_VALUES / synopsis.columns.len();
    if n_clusters == 0 || n_clusters > most {
        return Err(RequestError::Clusters {
            got: n_clusters,
            most,
        });
    }
    let solver = SynopsisSolverParams::new(n_clusters)
        .starts(starts)
        .check()
        .map_err(|error| refused(error.to_string()))?;
    let domain = Domain::from(box_domain(&synopsis.columns, &synopsis.bounds)?);
    let clustering = solver.cluster(&synopsis.grid, public);
    let centers = clustering.centers.rows().into_iter();
    let centers = centers
        .map(|center| domain.to_original(&center.to_vec()))
        .collect();
    let mut parameters = synopsis.parameters.clone();
    parameters.insert("clusters".to_owned(), n_clusters.into());
    parameters.insert("starts".to_owned(), starts.name().into());
    parameters.insert("from_synopsis".to_owned(), true.into());
    Ok(Model {
        format_version: FORMAT_VERSION,
        algorithm: synopsis.algorithm.clone(),
        chosen: None,
        outcome: ModelOutcome::Released,
        private: true,
        seeded: synopsis.seeded,
        columns: synopsis.columns.clone(),
        bounds: synopsis.bounds.clone(),
        centers,
        noisy_counts: clustering.noisy_counts,
        weights: None,
        covariances: None,
        metric: None,
        power: None,
        site_rows: None,
        guarantee: Some(synopsis.guarantee.clone()),
        ledger: synopsis.ledger.clone(),
        parameters,
    })
}
