//! What a mechanism promises ([`Loss`]) and what a release promises ([`Guarantee`]).

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::neighboring::NeighboringRelation;
use crate::units::{Delta, Epsilon, Rho};

/// The privacy loss of one mechanism, in the form in which its theorem states it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "LossRecord", try_from = "LossRecord")]
pub enum Loss {
    /// ε-differential privacy.
    Pure(Epsilon),
    /// (ε, δ)-differential privacy.
    Approx(Epsilon, Delta),
    /// ρ-zero-concentrated differential privacy (Bun and Steinke 2016).
    Zcdp(Rho),
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pure(epsilon) => write!(f, "{epsilon}"),
            Self::Approx(epsilon, delta) => write!(f, "({epsilon}, {delta})"),
            Self::Zcdp(rho) => write!(f, "{rho}"),
        }
    }
}

/// The form of a [`Loss`] in files: the numbers that do not apply are null.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct LossRecord {
    epsilon: Option<f64>,
    delta: Option<f64>,
    rho: Option<f64>,
}

impl From<Loss> for LossRecord {
    fn from(loss: Loss) -> Self {
        let (epsilon, delta, rho) = match loss {
            Loss::Pure(epsilon) => (Some(epsilon.get()), Some(0.0), None),
            Loss::Approx(epsilon, delta) => (Some(epsilon.get()), Some(delta.get()), None),
            Loss::Zcdp(rho) => (None, None, Some(rho.get())),
        };
        Self {
            epsilon,
            delta,
            rho,
        }
    }
}

impl TryFrom<LossRecord> for Loss {
    type Error = String;

    fn try_from(record: LossRecord) -> Result<Self, String> {
        let text = |error: crate::units::UnitError| error.to_string();
        match (record.epsilon, record.delta, record.rho) {
            (Some(epsilon), delta, None) => {
                let epsilon = Epsilon::new(epsilon).map_err(text)?;
                let delta = Delta::new(delta.unwrap_or(0.0)).map_err(text)?;
                Ok(if delta.is_zero() {
                    Self::Pure(epsilon)
                } else {
                    Self::Approx(epsilon, delta)
                })
            }
            (None, None, Some(rho)) => Ok(Self::Zcdp(Rho::new(rho).map_err(text)?)),
            _ => Err("a loss has either epsilon and delta, or rho".to_owned()),
        }
    }
}

/// What a release as a whole promises: the sum of its ledger.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Guarantee {
    /// Which pairs of data sets the guarantee is about.
    pub relation: NeighboringRelation,
    /// What one unit of privacy is; `row` unless contributions were bounded per person.
    pub unit: String,
    /// ε that was spent, rounded up; at most what was asked.
    pub epsilon: f64,
    /// δ that was spent; at most what was asked.
    pub delta: f64,
    /// ρ that was spent under zero-concentrated accounting, where it was used.
    pub rho: Option<f64>,
}

impl fmt::Display for Guarantee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "({}, {})-differential privacy per {} under {}",
            self.epsilon, self.delta, self.unit, self.relation
        )
    }
}
