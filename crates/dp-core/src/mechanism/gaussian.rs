//! The discrete Gaussian mechanism for vectors of integers.

use dashu_int::UBig;
use dashu_ratio::RBig;

use super::{MechanismError, NOISE_BITS, drawable, rational};
use crate::conversion::GAUSSIAN_SURPLUS;
use crate::guarantee::Loss;
use crate::ledger::{Composition, Event};
use crate::neighboring::NeighboringRelation;
use crate::rounding::split;
use crate::sampler::{DiscreteGaussian, scale_up};
use crate::sensitivity::L2Sensitivity;
use crate::units::{Rho, UnitError};

/// What a Gaussian release may spend: ρ, and how it is added up.
///
/// [`Budget::gaussian`](crate::Budget::gaussian) says what a whole run may spend; a plain [`Rho`] becomes a
/// spend by `From`, added up as any concentrated loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GaussianSpend {
    rho: Rho,
    composition: Composition,
}

impl From<Rho> for GaussianSpend {
    fn from(rho: Rho) -> Self {
        Self::new(rho, Composition::Zcdp)
    }
}

impl GaussianSpend {
    pub(crate) const fn new(rho: Rho, composition: Composition) -> Self {
        Self { rho, composition }
    }

    /// ρ = μ²/2, μ the sensitivity in standard deviations of the noise.
    #[must_use]
    pub const fn rho(self) -> Rho {
        self.rho
    }

    /// How it enters the total.
    #[must_use]
    pub const fn composition(self) -> Composition {
        self.composition
    }

    /// Another ρ, added up in the same way.
    #[must_use]
    pub const fn with(self, rho: Rho) -> Self {
        Self { rho, ..self }
    }

    /// Divides it by shares, as [`split`] does.
    ///
    /// # Errors
    ///
    /// [`UnitError::Rho`] if a part is nothing.
    pub fn split(self, shares: &[f64]) -> Result<Vec<Self>, UnitError> {
        let parts = split(self.rho.get(), shares).into_iter();
        parts.map(|part| Ok(self.with(Rho::new(part)?))).collect()
    }

    /// Variance that the noise has above Δ₂²/(2ρ), in squared lattice units.
    fn surplus(self) -> u8 {
        match self.composition {
            Composition::Gaussian => GAUSSIAN_SURPLUS,
            Composition::Basic | Composition::Zcdp => 0,
        }
    }
}

/// Adds independent discrete Gaussian noise of variance Δ₂²/(2ρ) to every coordinate: ρ-zCDP. Where it is added up as Gaussian the
/// variance is larger by 4 squared lattice units, and the loss is that of a continuous Gaussian with μ = √(2ρ).
///
/// # Privacy
///
/// The noise has mass proportional to exp(−x²/(2σ²)) on the integers. For a statistic whose L2
/// sensitivity is Δ₂ this is Δ₂²/(2σ²)-zCDP (Canonne, Kamath, Steinke 2020, Theorem 14 for vectors), and up to a factor of 1 ± 3e-34
/// for each coordinate what continuous noise of variance σ² − 4 becomes by rounding (`docs/proofs/gaussian.md`).
/// The variance is rounded up once to a short fraction, which can only lower the loss.
#[derive(Clone, Debug)]
pub struct GaussianMechanism {
    sensitivity: L2Sensitivity,
    spend: GaussianSpend,
    sampler: DiscreteGaussian,
}

impl GaussianMechanism {
    /// The least noise with which a release of a statistic of this sensitivity costs no more than `spend`.
    ///
    /// # Errors
    ///
    /// [`MechanismError::Scale`] if the variance is beyond what can be drawn.
    pub fn calibrate(
        sensitivity: L2Sensitivity,
        spend: impl Into<GaussianSpend>,
    ) -> Result<Self, MechanismError> {
        let spend = spend.into();
        let squared = RBig::from(UBig::from(sensitivity.squared()));
        let exact = squared / (RBig::from(2_u8) * rational(spend.rho.get()))
            + RBig::from(crate::planted!("gaussian-surplus-left-out": 0; spend.surplus()));
        let exact =
            crate::planted!("sigma-for-variance": rational(exact.to_f64().value().sqrt()); exact);
        let variance = scale_up(&exact, NOISE_BITS);
        drawable(variance.to_f64().value().sqrt())?;
        let refused = || MechanismError::Scale {
            scale: exact.to_f64().value().sqrt(),
        };
        Ok(Self {
            sensitivity,
            spend,
            sampler: DiscreteGaussian::new(variance).map_err(|_| refused())?,
        })
    }

    /// Standard deviation of the noise in lattice units (of the continuous law; the discrete one has
    /// no more).
    #[must_use]
    pub fn std_dev(&self) -> f64 {
        self.variance().sqrt()
    }

    /// Its square. The variance has few bits, so this is exact.
    pub(crate) fn variance(&self) -> f64 {
        self.sampler.variance().to_f64().value()
    }

    /// How the loss enters a total.
    pub(crate) const fn composition(&self) -> Composition {
        self.spend.composition
    }

    /// The loss of one run.
    #[must_use]
    pub const fn loss(&self) -> Loss {
        Loss::Zcdp(self.spend.rho)
    }

    /// What the ledger will say of one run.
    #[must_use]
    pub fn event(&self, relation: NeighboringRelation, purpose: &str) -> Event {
        Event::new("discrete-gaussian", self.sensitivity, relation, self.loss())
            .composed(self.spend.composition)
            .purpose(purpose)
            .with("std_dev", self.std_dev())
    }

    pub(crate) const fn sampler(&self) -> &DiscreteGaussian {
        &self.sampler
    }
}
