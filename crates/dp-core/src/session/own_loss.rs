//! What a draw under a charge loses by itself.
//!
//! The ledger has the loss of a theorem as a whole, so nothing in it shows with which noise the theorem's steps were drawn. Each draw says
//! that itself, as a public parameter of its event on a tape: the loss of the noise *as it is drawn*, from the sampler's scale and
//! not from what the mechanism was asked for, when the statistic moves as far as was declared. Audits add these up as the theorem does.

use crate::conversion::GAUSSIAN_SURPLUS;
use crate::ledger::{Composition, Event, Value};
use crate::mechanism::AdditiveMechanism;
use crate::sensitivity::Sensitivity;

#[cfg(test)]
mod tests;

const EPSILON: &str = "own_epsilon";
const RHO: &str = "own_rho";
const GAUSSIAN_RHO: &str = "own_gaussian_rho";

/// The loss of one draw under a [`Charge`](super::Charge) at its declared sensitivity: public.
///
/// For audits, to the last bits of a float and not beyond: budgets are kept by the charge. A draw whose statistic is bounded
/// [by the theorem alone](Sensitivity::ByTheorem) has none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OwnLoss {
    /// ε of discrete Laplace noise or of a selection.
    Pure(f64),
    /// ρ of discrete Gaussian noise, Δ²/(2σ²).
    Zcdp(f64),
    /// ρ = μ²/2 of noise that is counted as continuous: the same without the surplus of variance which that takes.
    Gaussian(f64),
}

impl OwnLoss {
    /// What the event of a draw says.
    #[must_use]
    pub fn of(event: &Event) -> Option<Self> {
        let real = |name: &str| match event.parameters.get(name) {
            Some(Value::Real(loss)) => Some(*loss),
            _ => None,
        };
        real(EPSILON)
            .map(Self::Pure)
            .or_else(|| real(RHO).map(Self::Zcdp))
            .or_else(|| real(GAUSSIAN_RHO).map(Self::Gaussian))
    }

    fn of_noise(
        mechanism: &AdditiveMechanism,
        sensitivity: Sensitivity,
        coordinates: usize,
    ) -> Option<Self> {
        match mechanism {
            AdditiveMechanism::Laplace(laplace) => {
                let moved = sensitivity.l1(coordinates)?;
                Some(Self::Pure(moved / laplace.scale()))
            }
            AdditiveMechanism::Gaussian(gaussian) => {
                let squared = sensitivity.l2_squared(coordinates)?;
                let variance = gaussian.variance();
                Some(match gaussian.composition() {
                    Composition::Gaussian => {
                        let counted = variance - f64::from(GAUSSIAN_SURPLUS);
                        // Noise without the surplus is no continuous noise of any width.
                        Self::Gaussian(if counted > 0.0 {
                            squared / (2.0 * counted)
                        } else {
                            f64::INFINITY
                        })
                    }
                    Composition::Basic | Composition::Zcdp => {
                        Self::Zcdp(squared / (2.0 * variance))
                    }
                })
            }
        }
    }

    fn written(self, event: Event) -> Event {
        match self {
            Self::Pure(epsilon) => event.with(EPSILON, epsilon),
            Self::Zcdp(rho) => event.with(RHO, rho),
            Self::Gaussian(rho) => event.with(GAUSSIAN_RHO, rho),
        }
    }
}

/// Adds the law of the noise on so many coordinates to the event of a draw, and its loss if the declared sensitivity bounds it.
pub(super) fn of_noise(event: Event, mechanism: &AdditiveMechanism, coordinates: usize) -> Event {
    let event = event.with("std_dev", mechanism.std_dev());
    let event = match mechanism {
        AdditiveMechanism::Laplace(laplace) => event.with("scale", laplace.scale()),
        AdditiveMechanism::Gaussian(_) => event,
    };
    match OwnLoss::of_noise(mechanism, event.sensitivity, coordinates) {
        Some(loss) => loss.written(event),
        None => event,
    }
}

/// Adds the rate of a selection to the event of a draw, and its loss η·width if a width was declared.
pub(super) fn of_selection(event: Event, eta: f64) -> Event {
    let event = event.with("eta", eta);
    match event.sensitivity {
        Sensitivity::Width(width) => OwnLoss::Pure(eta * width as f64).written(event),
        _ => event,
    }
}
