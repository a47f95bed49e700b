//! Privacy parameters as checked types: [`Epsilon`], [`Delta`], [`Rho`].
//!
//! Each wraps an `f64`, which is a rational number: sums of spends are taken exactly (see
//! [`rounding`](crate::rounding)), so no rounding is hidden in the units themselves.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A privacy parameter was outside its range.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum UnitError {
    /// ε must be finite and above zero.
    #[error("epsilon must be finite and above 0, got {got}")]
    Epsilon {
        /// The refused value, in nats.
        got: f64,
    },
    /// δ must lie in [0, 1).
    #[error("delta must lie in [0, 1), got {got}")]
    Delta {
        /// The refused value, a probability.
        got: f64,
    },
    /// ρ must be finite and above zero.
    #[error("rho must be finite and above 0, got {got}")]
    Rho {
        /// The refused value.
        got: f64,
    },
}

/// Upper bound ε on the privacy loss, in nats: finite and above zero.
///
/// ```
/// use dp_core::Epsilon;
/// assert!(Epsilon::new(0.5).is_ok());
/// assert!(Epsilon::new(f64::NAN).is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Epsilon(f64);

impl Epsilon {
    /// Checks `nats` and wraps it.
    ///
    /// # Errors
    ///
    /// [`UnitError::Epsilon`] if `nats` is NaN, infinite, zero or negative.
    pub const fn new(nats: f64) -> Result<Self, UnitError> {
        // Written as what must hold: NaN fails both comparisons.
        if nats > 0.0 && nats < f64::INFINITY {
            Ok(Self(nats))
        } else {
            Err(UnitError::Epsilon { got: nats })
        }
    }

    /// The bound in nats.
    #[must_use]
    pub const fn get(self) -> f64 {
        self.0
    }
}

/// Additive slack δ of approximate differential privacy: a probability in [0, 1).
///
/// Zero is allowed and means pure differential privacy.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Delta(f64);

impl Delta {
    /// No slack at all: pure differential privacy.
    pub const ZERO: Self = Self(0.0);

    /// Checks `probability` and wraps it.
    ///
    /// # Errors
    ///
    /// [`UnitError::Delta`] if `probability` is NaN or outside [0, 1).
    pub const fn new(probability: f64) -> Result<Self, UnitError> {
        if probability >= 0.0 && probability < 1.0 {
            Ok(Self(probability))
        } else {
            Err(UnitError::Delta { got: probability })
        }
    }

    /// The probability.
    #[must_use]
    pub const fn get(self) -> f64 {
        self.0
    }

    /// Whether this is pure differential privacy.
    #[must_use]
    pub const fn is_zero(self) -> bool {
        self.0 <= 0.0
    }
}

/// Bound ρ of zero-concentrated differential privacy (Bun and Steinke 2016): finite and above zero.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Rho(f64);

impl Rho {
    /// Checks `rho` and wraps it.
    ///
    /// # Errors
    ///
    /// [`UnitError::Rho`] if `rho` is NaN, infinite, zero or negative.
    pub const fn new(rho: f64) -> Result<Self, UnitError> {
        if rho > 0.0 && rho < f64::INFINITY {
            Ok(Self(rho))
        } else {
            Err(UnitError::Rho { got: rho })
        }
    }

    /// The bound.
    #[must_use]
    pub const fn get(self) -> f64 {
        self.0
    }
}

macro_rules! convert_and_display {
    ($unit:ident, $symbol:literal) => {
        impl TryFrom<f64> for $unit {
            type Error = UnitError;

            fn try_from(value: f64) -> Result<Self, UnitError> {
                Self::new(value)
            }
        }

        impl From<$unit> for f64 {
            fn from(unit: $unit) -> Self {
                unit.0
            }
        }

        impl fmt::Display for $unit {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($symbol, " = {}"), self.0)
            }
        }
    };
}

convert_and_display!(Epsilon, "ε");
convert_and_display!(Delta, "δ");
convert_and_display!(Rho, "ρ");

#[cfg(test)]
mod tests;
