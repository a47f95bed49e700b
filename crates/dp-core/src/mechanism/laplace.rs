//! The discrete Laplace mechanism for vectors of integers.

use dashu_ratio::RBig;

use super::{MechanismError, NOISE_BITS, drawable, rational};
use crate::guarantee::Loss;
use crate::ledger::Event;
use crate::neighboring::NeighboringRelation;
use crate::sampler::{DiscreteLaplace, scale_up};
use crate::sensitivity::L1Sensitivity;
use crate::units::Epsilon;

/// Adds independent discrete Laplace noise of scale Δ₁/ε to every coordinate: pure ε.
///
/// # Privacy
///
/// The noise has mass proportional to exp(−|x|·ε/Δ₁) on the integers, so moving the statistic by a
/// vector of L1 length at most Δ₁ changes the probability of any output by a factor of at most e^ε
/// (Ghosh, Roughgarden, Sundararajan 2009). Under which relation depends on the sensitivity alone.
/// The scale is rounded up once to a short fraction, which can only lower the loss.
///
/// ```
/// use dp_core::{Epsilon, mechanism::LaplaceMechanism, sensitivity::L1Sensitivity};
/// let counts = LaplaceMechanism::calibrate(L1Sensitivity::new(1)?, Epsilon::new(0.5)?)?;
/// assert!((counts.scale() - 2.0).abs() < 1e-6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct LaplaceMechanism {
    sensitivity: L1Sensitivity,
    epsilon: Epsilon,
    sampler: DiscreteLaplace,
}

impl LaplaceMechanism {
    /// The least noise that keeps a statistic of this sensitivity ε-private.
    ///
    /// # Errors
    ///
    /// [`MechanismError::Scale`] if Δ₁/ε is beyond what can be drawn.
    pub fn calibrate(sensitivity: L1Sensitivity, epsilon: Epsilon) -> Result<Self, MechanismError> {
        let exact = RBig::from(sensitivity.get()) / rational(epsilon.get());
        let exact = crate::planted!("noise-scale-0.9": exact * rational(0.9); exact);
        let scale = scale_up(&exact, NOISE_BITS);
        drawable(scale.to_f64().value())?;
        let refused = || MechanismError::Scale {
            scale: exact.to_f64().value(),
        };
        Ok(Self {
            sensitivity,
            epsilon,
            sampler: DiscreteLaplace::new(scale).map_err(|_| refused())?,
        })
    }

    /// Scale b of the noise in lattice units.
    #[must_use]
    pub fn scale(&self) -> f64 {
        self.sampler.scale().to_f64().value()
    }

    /// Variance of the noise on one coordinate, about 2b².
    #[must_use]
    pub fn variance(&self) -> f64 {
        let ratio = libm::exp(-1.0 / self.scale());
        if ratio < 1.0 {
            2.0 * ratio / ((1.0 - ratio) * (1.0 - ratio))
        } else {
            2.0 * self.scale() * self.scale()
        }
    }

    /// The loss of one run.
    #[must_use]
    pub const fn loss(&self) -> Loss {
        Loss::Pure(self.epsilon)
    }

    /// What the ledger will say of one run.
    #[must_use]
    pub fn event(&self, relation: NeighboringRelation, purpose: &str) -> Event {
        Event::new("discrete-laplace", self.sensitivity, relation, self.loss())
            .purpose(purpose)
            .with("scale", self.scale())
    }

    pub(crate) const fn sampler(&self) -> &DiscreteLaplace {
        &self.sampler
    }
}
