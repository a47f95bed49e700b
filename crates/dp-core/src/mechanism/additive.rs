//! Either of the additive mechanisms, for algorithms that leave the choice to their caller.

use super::{GaussianMechanism, GaussianSpend, LaplaceMechanism, MechanismError};
use crate::guarantee::Loss;
use crate::ledger::Event;
use crate::neighboring::NeighboringRelation;
use crate::sensitivity::{L1Sensitivity, L2Sensitivity};
use crate::units::Epsilon;

/// Discrete Laplace or discrete Gaussian noise on a vector of integers.
///
/// Run by [`Session::add_noise`](crate::Session::add_noise).
#[derive(Clone, Debug)]
pub enum AdditiveMechanism {
    /// Pure ε, by L1 sensitivity.
    Laplace(LaplaceMechanism),
    /// ρ, by L2 sensitivity.
    Gaussian(GaussianMechanism),
}

impl AdditiveMechanism {
    /// Discrete Laplace noise at loss ε.
    ///
    /// # Errors
    ///
    /// [`MechanismError::Scale`] if the noise is beyond what can be drawn.
    pub fn laplace(sensitivity: L1Sensitivity, epsilon: Epsilon) -> Result<Self, MechanismError> {
        LaplaceMechanism::calibrate(sensitivity, epsilon).map(Self::Laplace)
    }

    /// Discrete Gaussian noise at loss ρ, added up as the spend says.
    ///
    /// # Errors
    ///
    /// [`MechanismError::Scale`] if the noise is beyond what can be drawn.
    pub fn gaussian(
        sensitivity: L2Sensitivity,
        spend: impl Into<GaussianSpend>,
    ) -> Result<Self, MechanismError> {
        GaussianMechanism::calibrate(sensitivity, spend).map(Self::Gaussian)
    }

    /// Standard deviation of the noise on one coordinate, in lattice units.
    #[must_use]
    pub fn std_dev(&self) -> f64 {
        match self {
            Self::Laplace(mechanism) => mechanism.variance().sqrt(),
            Self::Gaussian(mechanism) => mechanism.std_dev(),
        }
    }

    /// The loss of one run.
    #[must_use]
    pub const fn loss(&self) -> Loss {
        match self {
            Self::Laplace(mechanism) => mechanism.loss(),
            Self::Gaussian(mechanism) => mechanism.loss(),
        }
    }

    /// What the ledger will say of one run.
    #[must_use]
    pub fn event(&self, relation: NeighboringRelation, purpose: &str) -> Event {
        match self {
            Self::Laplace(mechanism) => mechanism.event(relation, purpose),
            Self::Gaussian(mechanism) => mechanism.event(relation, purpose),
        }
    }
}
