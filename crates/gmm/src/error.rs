//! The crate's errors: about parameters and public facts, never about a record's value.

use dp_core::SpendError;
use dp_core::mechanism::MechanismError;
use metric_space::SourceError;

/// A mixture could not be made of these numbers.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MixtureError {
    /// A mixture has at least one component and one column.
    #[error("a mixture needs at least one component and one column")]
    Empty,
    /// Shapes disagree.
    #[error("{what} must have shape {expected}, got {got}")]
    Shape {
        /// Which array.
        what: &'static str,
        /// The shape that the means ask for.
        expected: String,
        /// The shape that was given.
        got: String,
    },
    /// Weights must be numbers of at least 0 with a positive sum.
    #[error("weights must be finite, at least 0, and not all 0")]
    Weights,
    /// A mean is no finite number.
    #[error("the mean of component {component} is not finite")]
    Mean {
        /// The component.
        component: usize,
    },
    /// A covariance is not symmetric positive definite.
    #[error("the covariance of component {component} is not symmetric positive definite")]
    Covariance {
        /// The component.
        component: usize,
    },
}

/// A set of parameters was refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ParamsError {
    /// At least one component is needed.
    #[error("n_clusters must be at least 1")]
    NoClusters,
    /// A number must be positive.
    #[error("{name} must be finite and above 0, got {got}")]
    NotPositive {
        /// Which parameter.
        name: &'static str,
        /// The refused value.
        got: f64,
    },
    /// A count must be at least one.
    #[error("{name} must be at least 1")]
    Zero {
        /// Which parameter.
        name: &'static str,
    },
    /// A number lies outside its range.
    #[error("{name} must lie in ({low}, {high}], got {got}")]
    Range {
        /// Which parameter.
        name: &'static str,
        /// It must be above this.
        low: f64,
        /// It may be at most this.
        high: f64,
        /// The refused value.
        got: f64,
    },
    /// The share of the tuples must leave something for either stage.
    #[error("tuple_share must lie above 0 and below 1, got {got}")]
    Share {
        /// The refused value.
        got: f64,
    },
    /// A list has not one entry per column.
    #[error("{name} must have one entry per column: {expected}, got {got}")]
    Columns {
        /// Which parameter.
        name: &'static str,
        /// Number of columns.
        expected: usize,
        /// Number of entries.
        got: usize,
    },
    /// The least standard deviation lies above the largest.
    #[error("sigma_min must be below sigma_max in every column, got {least} and {most}")]
    Sigmas {
        /// The refused least standard deviation.
        least: f64,
        /// The refused largest standard deviation.
        most: f64,
    },
    /// A learner for one column was asked for more.
    #[error("{learner} learns from one column, there are {got}")]
    OneColumn {
        /// Which learner.
        learner: &'static str,
        /// Number of columns.
        got: usize,
    },
    /// Private mixtures need δ.
    #[error("a private mixture needs a delta above 0")]
    NoDelta,
    /// The budget is too small to be divided.
    #[error("the budget is too small to be divided among the steps")]
    BudgetTooSmall,
    /// No size that fits into memory would do.
    #[error("no feasible number of records would do; ask for less or spend more")]
    Infeasible,
    /// Noise that cannot be drawn.
    #[error(transparent)]
    Mechanism(#[from] MechanismError),
    /// The private clustering of block solutions was refused.
    #[error(transparent)]
    Tuples(#[from] ktuple::ParamsError),
}

/// A run failed before it spent anything, or its records could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FitError {
    /// The parameters do not fit.
    #[error(transparent)]
    Params(#[from] ParamsError),
    /// The session's budget does not cover the plan.
    #[error(transparent)]
    Spend(#[from] SpendError),
    /// The records could not be read.
    #[error(transparent)]
    Source(#[from] SourceError),
}

impl From<ktuple::FitError> for FitError {
    fn from(error: ktuple::FitError) -> Self {
        match error {
            ktuple::FitError::Spend(error) => Self::Spend(error),
            ktuple::FitError::Source(error) => Self::Source(error),
            ktuple::FitError::Params(error) => Self::Params(ParamsError::Tuples(error)),
            _ => Self::Params(ParamsError::BudgetTooSmall),
        }
    }
}
