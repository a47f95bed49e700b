//! Mechanisms: a calibrated way to release a statistic, with the loss it costs.
//!
//! | mechanism | statistic | loss | sensitivity |
//! |---|---|---|---|
//! | [`LaplaceMechanism`] | vector of integers | pure ε | L1 |
//! | [`GaussianMechanism`] | vector of integers | ρ (zCDP) | L2 |
//! | [`SelectionMechanism`] | integer scores | pure ε | width of the scores' changes |
//! | [`ThresholdMechanism`] | counts by key | (ε, δ) | one key per unit |
//!
//! A mechanism is a value that states its loss and nothing else: it is run by a
//! [`Session`](crate::Session), which charges the loss first and holds the only door to noise.

use dashu_ratio::RBig;

mod additive;
mod gaussian;
mod laplace;
mod selection;
mod threshold;

pub use additive::AdditiveMechanism;
pub use gaussian::{GaussianMechanism, GaussianSpend};
pub use laplace::LaplaceMechanism;
pub use selection::{SelectionMechanism, SelectionRule};
pub use threshold::ThresholdMechanism;

/// Significant bits of a noise scale: rounding it up to so many costs less than 2^-40 of it.
const NOISE_BITS: u32 = 40;

/// Largest scale of noise: its variance, and the odds of a threshold, are still numbers.
const LARGEST_SCALE: f64 = 3.3e150;

/// The rational that a checked unit is.
fn rational(unit: f64) -> RBig {
    RBig::try_from(unit).expect("units are finite, and every finite float is a rational")
}

/// Refuses a scale whose variance is no number.
fn drawable(scale: f64) -> Result<(), MechanismError> {
    if scale <= LARGEST_SCALE {
        Ok(())
    } else {
        Err(MechanismError::Scale { scale })
    }
}

/// A mechanism could not be calibrated.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MechanismError {
    /// The noise that the loss asks for is too large to be drawn.
    #[error(
        "noise of scale {scale} lattice units is too large to be drawn; spend more or coarsen the lattice"
    )]
    Scale {
        /// The scale that the loss asks for.
        scale: f64,
    },
    /// A threshold needs δ above zero.
    #[error("a threshold mechanism needs delta above 0")]
    NoDelta,
}

#[cfg(test)]
mod tests;
