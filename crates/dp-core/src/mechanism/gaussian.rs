//! The discrete Gaussian mechanism for vectors of integers.

use dashu_int::UBig;
use dashu_ratio::RBig;

use super::{MechanismError, NOISE_BITS, drawable, rational};
use crate::guarantee::Loss;
use crate::ledger::Event;
use crate::neighboring::NeighboringRelation;
use crate::sampler::{DiscreteGaussian, scale_up};
use crate::sensitivity::L2Sensitivity;
use crate::units::Rho;

/// Adds independent discrete Gaussian noise of variance Δ₂²/(2ρ) to every coordinate: ρ-zCDP.
///
/// # Privacy
///
/// The noise has mass proportional to exp(−x²/(2σ²)) on the integers. For a statistic whose L2
/// sensitivity is Δ₂ this is Δ₂²/(2σ²)-zCDP (Canonne, Kamath, Steinke 2020, Theorem 14 for vectors).
/// The variance is rounded up once to a short fraction, which can only lower the loss.
#[derive(Clone, Debug)]
pub struct GaussianMechanism {
    sensitivity: L2Sensitivity,
    rho: Rho,
    sampler: DiscreteGaussian,
}

impl GaussianMechanism {
    /// The least noise that keeps a statistic of this sensitivity ρ-zCDP.
    ///
    /// # Errors
    ///
    /// [`MechanismError::Scale`] if the variance is beyond what can be drawn.
    pub fn calibrate(sensitivity: L2Sensitivity, rho: Rho) -> Result<Self, MechanismError> {
        let squared = RBig::from(UBig::from(sensitivity.squared()));
        let exact = squared / (RBig::from(2_u8) * rational(rho.get()));
        let exact =
            crate::planted!("sigma-for-variance": rational(exact.to_f64().value().sqrt()); exact);
        let variance = scale_up(&exact, NOISE_BITS);
        drawable(variance.to_f64().value().sqrt())?;
        let refused = || MechanismError::Scale {
            scale: exact.to_f64().value().sqrt(),
        };
        Ok(Self {
            sensitivity,
            rho,
            sampler: DiscreteGaussian::new(variance).map_err(|_| refused())?,
        })
    }

    /// Standard deviation of the noise in lattice units (of the continuous law; the discrete one has
    /// no more).
    #[must_use]
    pub fn std_dev(&self) -> f64 {
        self.sampler.variance().to_f64().value().sqrt()
    }

    /// The loss of one run.
    #[must_use]
    pub const fn loss(&self) -> Loss {
        Loss::Zcdp(self.rho)
    }

    /// What the ledger will say of one run.
    #[must_use]
    pub fn event(&self, relation: NeighboringRelation, purpose: &str) -> Event {
        Event::new("discrete-gaussian", self.sensitivity, relation, self.loss())
            .purpose(purpose)
            .with("std_dev", self.std_dev())
    }

    pub(crate) const fn sampler(&self) -> &DiscreteGaussian {
        &self.sampler
    }
}
