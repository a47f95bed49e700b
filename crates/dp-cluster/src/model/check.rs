//! What makes a model valid, whoever wrote the file.

use dp_core::accountant;

use super::{FORMAT_VERSION, Model, ModelOutcome};
use crate::request::{RequestError, box_domain};

/// A model does not hold together.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// Written by a version that this one does not know.
    #[error("format version {got} is not known; this version reads {FORMAT_VERSION}")]
    Version {
        /// The version of the file.
        got: u32,
    },
    /// Columns or bounds are refused.
    #[error("columns and bounds: {0}")]
    Columns(#[from] RequestError),
    /// A list has another length than the rest demands.
    #[error("`{key}` must have {expected} entries, it has {got}")]
    Length {
        /// The key.
        key: &'static str,
        /// The length that fits.
        expected: usize,
        /// The length found.
        got: usize,
    },
    /// A number is not finite or out of range.
    #[error("`{key}` holds a number that is not finite or out of its range")]
    Number {
        /// The key.
        key: &'static str,
    },
    /// A center lies outside the bounds.
    #[error("center {row} lies outside the bounds")]
    Outside {
        /// 0-based row of `centers`.
        row: usize,
    },
    /// Two keys contradict each other.
    #[error("{0}")]
    Contradiction(&'static str),
    /// The ledger adds up to more than the guarantee says, or not at all.
    #[error("the ledger does not add up to the stated guarantee")]
    Ledger,
}

fn length(key: &'static str, expected: usize, got: usize) -> Result<(), ModelError> {
    if expected == got {
        Ok(())
    } else {
        Err(ModelError::Length { key, expected, got })
    }
}

fn all(key: &'static str, holds: bool) -> Result<(), ModelError> {
    if holds {
        Ok(())
    } else {
        Err(ModelError::Number { key })
    }
}

impl Model {
    /// Checks shapes, numbers, bounds, and that the ledger adds up to at most the guarantee.
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
        let mut names: Vec<&String> = self.columns.iter().collect();
        names.sort();
        if names.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(ModelError::Contradiction("a column is named twice"));
        }
        self.check_centers()?;
        self.check_own_keys()?;
        self.check_guarantee()
    }

    fn check_centers(&self) -> Result<(), ModelError> {
        let domain = metric_space::Domain::from(box_domain(&self.columns, &self.bounds)?);
        let d = self.dimension();
        match self.outcome {
            ModelOutcome::Refused if !self.centers.is_empty() => {
                return Err(ModelError::Contradiction("a refused model has centers"));
            }
            ModelOutcome::Released if self.centers.is_empty() => {
                return Err(ModelError::Contradiction("a released model has no centers"));
            }
            _ => {}
        }
        for (row, center) in self.centers.iter().enumerate() {
            length("centers", d, center.len())?;
            all("centers", center.iter().all(|x| x.is_finite()))?;
            // Public sites are taken as they are, wherever they lie.
            if self.site_rows.is_none() && !domain.contains(center) {
                return Err(ModelError::Outside { row });
            }
        }
        if let Some(counts) = &self.noisy_counts {
            length("noisy_counts", self.n_clusters(), counts.len())?;
            all("noisy_counts", counts.iter().all(|x| x.is_finite()))?;
        }
        Ok(())
    }

    fn check_own_keys(&self) -> Result<(), ModelError> {
        let (k, d) = (self.n_clusters(), self.dimension());
        if let Some(weights) = &self.weights {
            length("weights", k, weights.len())?;
            all("weights", weights.iter().all(|w| (0.0..=1.0).contains(w)))?;
        }
        if self.weights.is_some() != self.covariances.is_some() {
            return Err(ModelError::Contradiction(
                "`weights` and `covariances` go together",
            ));
        }
        for covariance in self.covariances.iter().flatten() {
            length("covariances", d, covariance.len())?;
            for row in covariance {
                length("covariances", d, row.len())?;
            }
            let is_symmetric = (0..d).all(|i| {
                covariance[i][i] > 0.0
                    && (0..d).all(|j| {
                        covariance[i][j].is_finite()
                            && covariance[i][j].total_cmp(&covariance[j][i]).is_eq()
                    })
            });
            all("covariances", is_symmetric)?;
        }
        if let Some(covariances) = &self.covariances {
            length("covariances", k, covariances.len())?;
        }
        self.mixture()?;
        if let Some(power) = self.power {
            all("power", power > 0.0 && power.is_finite())?;
        }
        if let Some(rows) = &self.site_rows {
            length("site_rows", k, rows.len())?;
        }
        Ok(())
    }

    fn check_guarantee(&self) -> Result<(), ModelError> {
        let Some(stated) = &self.guarantee else {
            return if self.private {
                Err(ModelError::Contradiction(
                    "a private model has no guarantee",
                ))
            } else {
                Ok(())
            };
        };
        if !self.private {
            return Err(ModelError::Contradiction(
                "a model that is not private has a guarantee",
            ));
        }
        all(
            "guarantee",
            stated.epsilon >= 0.0 && stated.epsilon.is_finite(),
        )?;
        all("guarantee", (0.0..1.0).contains(&stated.delta))?;
        let added = accountant::total(&self.ledger, stated.relation, stated.delta)
            .map_err(|_| ModelError::Ledger)?;
        let rho_holds = match (added.rho, stated.rho) {
            (None, _) => true,
            (Some(added), Some(stated)) => added <= stated,
            (Some(_), None) => false,
        };
        if added.epsilon <= stated.epsilon && added.delta <= stated.delta && rho_holds {
            Ok(())
        } else {
            Err(ModelError::Ledger)
        }
    }
}
