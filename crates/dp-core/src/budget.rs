//! What may be spent.

use serde::{Deserialize, Serialize};

use crate::conversion;
use crate::ledger::Composition;
use crate::mechanism::GaussianSpend;
use crate::neighboring::NeighboringRelation;
use crate::units::{Delta, Epsilon, Rho};

/// The most that a run may spend: (ε, δ), with δ = 0 for pure differential privacy.
///
/// Zero-concentrated accounting takes its ρ from the same pair: [`rho`](Self::rho).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Budget {
    /// Bound on the privacy loss.
    pub epsilon: Epsilon,
    /// Slack; zero for pure differential privacy.
    pub delta: Delta,
}

impl Budget {
    /// A pure budget.
    #[must_use]
    pub const fn pure(epsilon: Epsilon) -> Self {
        Self {
            epsilon,
            delta: Delta::ZERO,
        }
    }

    /// A budget with slack.
    #[must_use]
    pub const fn approx(epsilon: Epsilon, delta: Delta) -> Self {
        Self { epsilon, delta }
    }

    /// The largest ρ whose conversion stays inside the budget; none without δ.
    ///
    /// Rounded down: converting it back never exceeds ε.
    #[must_use]
    pub fn rho(&self) -> Option<Rho> {
        conversion::rho_for(self.epsilon, self.delta)
    }

    /// What a run may spend whose concentrated releases are all Gaussian; none without δ.
    ///
    /// Counted as Gaussian up to ρ = 1 (ε = 7.3 at δ = 1e-6). Beyond, the surplus of variance which that takes would be felt in
    /// counts, and the gain falls: plain ρ.
    #[must_use]
    pub fn gaussian(&self) -> Option<GaussianSpend> {
        let rho = conversion::rho_for_gaussians(self.epsilon, self.delta)?;
        if rho.get() > 1.0 {
            return self.rho().map(GaussianSpend::from);
        }
        Some(GaussianSpend::new(rho, Composition::Gaussian))
    }

    /// The budget with which a mechanism proved under `proof` must run to keep this budget under
    /// `promise`; none where the proof does not carry over.
    ///
    /// A replacement is a removal and an addition: (ε, δ) under add-remove gives (2ε, (1 + e^ε)δ)
    /// under replace-one, so the budget becomes (ε/2, δ/(1 + e^(ε/2))). The other way nothing
    /// follows: replace-one says nothing about data sets of different size.
    #[must_use]
    pub fn converted(
        &self,
        promise: NeighboringRelation,
        proof: NeighboringRelation,
    ) -> Option<Self> {
        use NeighboringRelation::{AddRemove, ReplaceOne};
        match (promise, proof) {
            (AddRemove, AddRemove) | (ReplaceOne, ReplaceOne) => Some(*self),
            (ReplaceOne, AddRemove) => {
                let epsilon = Epsilon::new(self.epsilon.get() / 2.0).ok()?;
                // Shaved by 2^-44, so that the round trip cannot exceed δ in the last bit.
                let delta =
                    self.delta.get() / (1.0 + libm::exp(epsilon.get())) * (1.0 - 2_f64.powi(-44));
                Some(Self {
                    epsilon,
                    delta: Delta::new(delta).ok()?,
                })
            }
            (AddRemove, ReplaceOne) => None,
        }
    }
}
