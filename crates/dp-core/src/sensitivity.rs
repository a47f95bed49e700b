//! How far one unit can move a statistic: integer sensitivities in lattice units.
//!
//! Statistics are vectors of integers, so a sensitivity is an integer and a claim about it can be
//! checked exactly: [`Sensitivity::covers`] is what replays and property tests use.

use serde::{Deserialize, Serialize};

/// Largest change of a vector statistic in the sum of absolute values, in lattice units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct L1Sensitivity(u64);

/// Largest change of a vector statistic in Euclidean length, kept as its exact square.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct L2Sensitivity {
    squared: u128,
}

/// Largest change of any one coordinate, in lattice units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LInfSensitivity(u64);

/// Width of an interval that holds the changes of all scores of a selection.
///
/// A shift common to all scores cancels. Scores that all move one way by at most `s`, as counts and
/// costs do under add-remove, have width `s`; changes of either sign by at most `s` have `2s`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ScoreWidth(u64);

/// A sensitivity of zero was given: a statistic that nothing moves needs no mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a sensitivity must be at least 1 lattice unit")]
pub struct SensitivityError;

macro_rules! positive_integer {
    ($name:ident) => {
        impl $name {
            /// Checks that the bound is at least one unit.
            ///
            /// # Errors
            ///
            /// [`SensitivityError`] if `units` is zero.
            pub const fn new(units: u64) -> Result<Self, SensitivityError> {
                if units > 0 {
                    Ok(Self(units))
                } else {
                    Err(SensitivityError)
                }
            }

            /// The bound in lattice units.
            #[must_use]
            pub const fn get(self) -> u64 {
                self.0
            }
        }
    };
}

positive_integer!(L1Sensitivity);
positive_integer!(LInfSensitivity);
positive_integer!(ScoreWidth);

impl L2Sensitivity {
    /// Checks that the squared bound is at least one.
    ///
    /// # Errors
    ///
    /// [`SensitivityError`] if `squared` is zero.
    pub const fn from_squared(squared: u128) -> Result<Self, SensitivityError> {
        if squared > 0 {
            Ok(Self { squared })
        } else {
            Err(SensitivityError)
        }
    }

    /// The exact square of the bound.
    #[must_use]
    pub const fn squared(self) -> u128 {
        self.squared
    }

    /// The bound itself, rounded to the nearest float: for reports only.
    #[must_use]
    pub fn get(self) -> f64 {
        (self.squared as f64).sqrt()
    }
}

/// Any of the sensitivities, as data for the ledger and for replays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "SensitivityRecord", try_from = "SensitivityRecord")]
pub enum Sensitivity {
    /// See [`L1Sensitivity`].
    L1(u64),
    /// See [`L2Sensitivity`]: the square.
    L2Squared(u128),
    /// See [`LInfSensitivity`].
    LInf(u64),
    /// See [`ScoreWidth`].
    Width(u64),
    /// The proof is not by a sensitivity: the mechanism's own theorem bounds the loss.
    ByTheorem,
}

impl From<L1Sensitivity> for Sensitivity {
    fn from(bound: L1Sensitivity) -> Self {
        Self::L1(bound.get())
    }
}

impl From<L2Sensitivity> for Sensitivity {
    fn from(bound: L2Sensitivity) -> Self {
        Self::L2Squared(bound.squared())
    }
}

impl From<LInfSensitivity> for Sensitivity {
    fn from(bound: LInfSensitivity) -> Self {
        Self::LInf(bound.get())
    }
}

impl From<ScoreWidth> for Sensitivity {
    fn from(width: ScoreWidth) -> Self {
        Self::Width(width.get())
    }
}

impl Sensitivity {
    /// The largest change of a vector of so many coordinates in the sum of absolute values; none where this bounds no change.
    #[must_use]
    pub fn l1(self, coordinates: usize) -> Option<f64> {
        match self {
            Self::L1(bound) => Some(bound as f64),
            // Cauchy and Schwarz.
            Self::L2Squared(squared) => Some(libm::sqrt(squared as f64 * coordinates as f64)),
            Self::LInf(bound) => Some(bound as f64 * coordinates as f64),
            Self::Width(_) | Self::ByTheorem => None,
        }
    }

    /// The square of the largest change of a vector of so many coordinates in Euclidean length; none where this bounds no change.
    #[must_use]
    pub fn l2_squared(self, coordinates: usize) -> Option<f64> {
        match self {
            Self::L1(bound) => Some(bound as f64 * bound as f64),
            Self::L2Squared(squared) => Some(squared as f64),
            Self::LInf(bound) => Some(bound as f64 * bound as f64 * coordinates as f64),
            Self::Width(_) | Self::ByTheorem => None,
        }
    }

    /// Whether two statistics of equal length are within this bound of each other, exactly.
    ///
    /// [`ByTheorem`](Self::ByTheorem) covers everything: there is nothing to measure.
    #[must_use]
    pub fn covers(self, first: &[i128], second: &[i128]) -> bool {
        let changes = || first.iter().zip(second).map(|(a, b)| a.saturating_sub(*b));
        first.len() == second.len()
            && match self {
                Self::L1(bound) => {
                    let sum = changes().fold(0_u128, |sum, x| sum.saturating_add(x.unsigned_abs()));
                    sum <= u128::from(bound)
                }
                Self::L2Squared(bound) => {
                    let sum = changes().fold(0_u128, |sum, x| {
                        let x = x.unsigned_abs();
                        sum.saturating_add(x.saturating_mul(x))
                    });
                    sum <= bound
                }
                Self::LInf(bound) => changes().all(|x| x.unsigned_abs() <= u128::from(bound)),
                Self::Width(bound) => {
                    let high = changes().max().unwrap_or(0);
                    let low = changes().min().unwrap_or(0);
                    high.abs_diff(low) <= u128::from(bound)
                }
                Self::ByTheorem => true,
            }
    }
}

/// The form of a [`Sensitivity`] in files.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct SensitivityRecord {
    /// `l1`, `l2-squared`, `l-infinity`, `score-width` or `by-theorem`.
    norm: String,
    /// In lattice units (squared for `l2-squared`); 0 for `by-theorem`.
    value: u128,
}

impl From<Sensitivity> for SensitivityRecord {
    fn from(sensitivity: Sensitivity) -> Self {
        let (norm, value) = match sensitivity {
            Sensitivity::L1(bound) => ("l1", bound.into()),
            Sensitivity::L2Squared(bound) => ("l2-squared", bound),
            Sensitivity::LInf(bound) => ("l-infinity", bound.into()),
            Sensitivity::Width(bound) => ("score-width", bound.into()),
            Sensitivity::ByTheorem => ("by-theorem", 0),
        };
        Self {
            norm: norm.to_owned(),
            value,
        }
    }
}

impl TryFrom<SensitivityRecord> for Sensitivity {
    type Error = String;

    fn try_from(record: SensitivityRecord) -> Result<Self, String> {
        let small = || u64::try_from(record.value).map_err(|_| "a sensitivity is too large");
        Ok(match record.norm.as_str() {
            "l1" => Self::L1(small()?),
            "l2-squared" => Self::L2Squared(record.value),
            "l-infinity" => Self::LInf(small()?),
            "score-width" => Self::Width(small()?),
            "by-theorem" => Self::ByTheorem,
            other => return Err(format!("`{other}` is no norm of a sensitivity")),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_norm_is_measured_exactly() {
        let (first, second) = ([3, -1, 0], [0, 1, 0]);
        assert!(Sensitivity::L1(5).covers(&first, &second));
        assert!(!Sensitivity::L1(4).covers(&first, &second));
        assert!(Sensitivity::L2Squared(13).covers(&first, &second));
        assert!(!Sensitivity::L2Squared(12).covers(&first, &second));
        assert!(Sensitivity::LInf(3).covers(&first, &second));
        assert!(!Sensitivity::LInf(2).covers(&first, &second));
        assert!(Sensitivity::Width(5).covers(&first, &second));
        assert!(!Sensitivity::Width(4).covers(&first, &second));
    }

    #[test]
    fn a_common_shift_of_scores_has_no_width() {
        assert!(Sensitivity::Width(1).covers(&[10, 11, 12], &[0, 1, 2]));
    }

    #[test]
    fn other_lengths_and_extremes_are_never_covered() {
        assert!(!Sensitivity::L1(9).covers(&[1], &[1, 0]));
        assert!(!Sensitivity::L2Squared(u128::MAX - 1).covers(&[i128::MAX], &[i128::MIN]));
    }

    #[test]
    fn zero_is_refused() {
        assert!(L1Sensitivity::new(0).is_err());
        assert!(L2Sensitivity::from_squared(0).is_err());
        assert!(ScoreWidth::new(0).is_err());
    }
}
