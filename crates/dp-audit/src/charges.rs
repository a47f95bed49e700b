//! Draws under a charge, against what the charge paid for.
//!
//! A [`Charge`](dp_core::session::Charge) pays for a whole theorem, and no sum over a ledger sees with which noise the theorem's steps are
//! drawn: forget to divide by the number of steps, and the ledger is as it was. On a tape each draw says what it loses by itself
//! ([`OwnLoss`]); here they are picked by purpose, their number is checked, and they are added up. How a theorem composes them is
//! the theorem's own rule: that is for the audit of the algorithm to write down once more. [`within`] compares.

use dp_core::Value;
use dp_core::conversion;
use dp_core::session::OwnLoss;
use dp_core::tape::{Call, Output, Tape};

#[cfg(test)]
mod tests;

/// Relative error that sums of a few floats may have; no overspend is that small.
pub const ROUNDING: f64 = 1e-9;

/// The draws under a charge lose more than was paid, or much less, or are not those of the theorem.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ChargeError {
    /// The draws lose more than was paid for.
    #[error("{what}: the draws lose {used}, but {granted} was paid for")]
    Over {
        /// Which theorem.
        what: String,
        /// What the draws lose together.
        used: f64,
        /// What was paid for.
        granted: f64,
    },
    /// They lose less than the wanted share: noise for nothing.
    #[error("{what}: the draws lose {used} of the {granted} that was paid for")]
    Under {
        /// Which theorem.
        what: String,
        /// What the draws lose together.
        used: f64,
        /// What was paid for.
        granted: f64,
    },
    /// A loss of this kind does not follow from a draw's noise and sensitivity.
    #[error("`{0}` has no such loss of its own")]
    NoLoss(String),
    /// There are more or fewer draws than the theorem has.
    #[error("{found} draws of `{purpose}` where the theorem has {expected}")]
    Number {
        /// Their purpose.
        purpose: String,
        /// What the theorem has.
        expected: usize,
        /// What was made.
        found: usize,
    },
    /// A draw is none of the theorem's.
    #[error("`{0}` is drawn under a charge that does not know of it")]
    Unknown(String),
}

/// Draws under the charges of one mechanism, in order.
#[derive(Clone, Debug)]
pub struct Draws<'t>(Vec<&'t Call>);

impl<'t> Draws<'t> {
    /// All draws of a recorded run under charges whose event names this mechanism.
    #[must_use]
    pub fn under(tape: &'t Tape, mechanism: &str) -> Self {
        let calls = tape.calls().iter();
        Self(
            calls
                .filter(|call| {
                    call.event.mechanism == mechanism && call.event.parameters.contains_key("draw")
                })
                .collect(),
        )
    }

    /// The calls.
    #[must_use]
    pub fn calls(&self) -> &[&'t Call] {
        &self.0
    }

    /// The draws for a purpose, of which the theorem has so many.
    ///
    /// # Errors
    ///
    /// [`ChargeError::Number`].
    pub fn of(&self, purpose: &str, expected: usize) -> Result<Self, ChargeError> {
        let calls = self.0.iter().copied();
        let found: Vec<_> = calls
            .filter(|call| self::purpose(call) == purpose)
            .collect();
        if found.len() == expected {
            Ok(Self(found))
        } else {
            Err(ChargeError::Number {
                purpose: purpose.to_owned(),
                expected,
                found: found.len(),
            })
        }
    }

    /// Refuses releases for purposes that are not listed. Secret samples and coins are no releases.
    ///
    /// # Errors
    ///
    /// [`ChargeError::Unknown`].
    pub fn only(&self, purposes: &[&str]) -> Result<(), ChargeError> {
        let unknown = self.0.iter().find(|call| {
            !matches!(call.output, Output::Coins(_)) && !purposes.contains(&purpose(call))
        });
        match unknown {
            None => Ok(()),
            Some(call) => Err(ChargeError::Unknown(purpose(call).to_owned())),
        }
    }

    /// The pure loss of each.
    ///
    /// # Errors
    ///
    /// [`ChargeError::NoLoss`] if one has another, or none.
    pub fn epsilons(&self) -> Result<Vec<f64>, ChargeError> {
        let each = self.0.iter().map(|call| match OwnLoss::of(&call.event) {
            Some(OwnLoss::Pure(epsilon)) => Ok(epsilon),
            _ => Err(ChargeError::NoLoss(purpose(call).to_owned())),
        });
        each.collect()
    }

    /// The concentrated loss of each.
    ///
    /// # Errors
    ///
    /// [`ChargeError::NoLoss`] if one has another, or none.
    pub fn rhos(&self) -> Result<Vec<Concentrated>, ChargeError> {
        let each = self.0.iter().map(|call| match OwnLoss::of(&call.event) {
            Some(OwnLoss::Zcdp(rho)) => Ok(Concentrated {
                rho,
                gaussian: false,
            }),
            Some(OwnLoss::Gaussian(rho)) => Ok(Concentrated {
                rho,
                gaussian: true,
            }),
            _ => Err(ChargeError::NoLoss(purpose(call).to_owned())),
        });
        each.collect()
    }

    /// A public number that each draw must have, for losses that a theorem alone bounds: `scale` or `std_dev` of noise, `eta` of a choice.
    ///
    /// # Errors
    ///
    /// [`ChargeError::NoLoss`] if one has none.
    pub fn parameter(&self, name: &str) -> Result<Vec<f64>, ChargeError> {
        let each = self
            .0
            .iter()
            .map(|call| match call.event.parameters.get(name) {
                Some(Value::Real(value)) => Ok(*value),
                _ => Err(ChargeError::NoLoss(purpose(call).to_owned())),
            });
        each.collect()
    }

    /// How many values each draw gave.
    #[must_use]
    pub fn lengths(&self) -> Vec<usize> {
        let each = self.0.iter().map(|call| match &call.output {
            Output::Integers(values) => values.len(),
            Output::Keyed(values) => values.len(),
            Output::Coins(coins) => coins.len(),
            Output::Choice(chosen) => usize::from(chosen.is_some()),
        });
        each.collect()
    }
}

fn purpose(call: &Call) -> &str {
    match call.event.parameters.get("purpose") {
        Some(Value::Text(purpose)) => purpose,
        _ => "",
    }
}

/// ρ of one or several draws, and whether all of them are noise that may be counted as one continuous Gaussian.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Concentrated {
    /// ρ.
    pub rho: f64,
    /// Whether it is that of continuous noise.
    pub gaussian: bool,
}

impl Concentrated {
    /// Draws one after another.
    #[must_use]
    pub fn sum(each: &[Self]) -> Self {
        Self {
            rho: each.iter().map(|draw| draw.rho).sum(),
            gaussian: each.iter().all(|draw| draw.gaussian),
        }
    }

    /// The dearest of draws of which a theorem lets a neighbor move one.
    #[must_use]
    pub fn most(each: &[Self]) -> Self {
        Self {
            rho: greatest(each.iter().map(|draw| draw.rho)),
            gaussian: each.iter().all(|draw| draw.gaussian),
        }
    }

    /// The loss when statistics move `steps` times as far as was declared.
    #[must_use]
    pub fn moved(self, steps: f64) -> Self {
        Self {
            rho: self.rho * steps * steps,
            ..self
        }
    }

    /// The ε of it at δ, converted once.
    #[must_use]
    pub fn epsilon(self, delta: f64) -> f64 {
        if self.gaussian {
            conversion::epsilon_of_gaussians(self.rho, delta)
        } else {
            conversion::epsilon_of_rho(self.rho, delta)
        }
    }
}

/// The greatest of some losses; 0 of none, NaN if one is.
#[must_use]
pub fn greatest(losses: impl IntoIterator<Item = f64>) -> f64 {
    losses.into_iter().fold(0.0, |most, loss| {
        if loss > most || loss.is_nan() {
            loss
        } else {
            most
        }
    })
}

/// Compares what the draws of a theorem lose together with what was paid: no more, up to [`ROUNDING`], and no less than the share
/// `least` of it. Returns the share.
///
/// # Errors
///
/// [`ChargeError::Over`] (also for a loss that is no number), [`ChargeError::Under`].
pub fn within(what: &str, used: f64, granted: f64, least: f64) -> Result<f64, ChargeError> {
    let what = what.to_owned();
    // Written as what must hold, so that NaN does not pass.
    let fits = used <= granted * (1.0 + ROUNDING);
    if !fits {
        return Err(ChargeError::Over {
            what,
            used,
            granted,
        });
    }
    if used < granted * least {
        return Err(ChargeError::Under {
            what,
            used,
            granted,
        });
    }
    Ok(used / granted)
}
