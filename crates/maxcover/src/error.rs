//! The crate's errors: about parameters and public facts, never about a record's value.

use dp_core::SpendError;
use dp_core::mechanism::MechanismError;
use dp_core::session::SelectionError;
use metric_space::SourceError;

/// A set of parameters was refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ParamsError {
    /// At least one cluster is needed.
    #[error("n_clusters must be at least 1")]
    NoClusters,
    /// More centers than public sites were asked for.
    #[error("n_clusters must be at most the number of sites, {sites}, got {got}")]
    TooManyClusters {
        /// Number of public sites.
        sites: usize,
        /// The refused number of clusters.
        got: usize,
    },
    /// Maximum coverage has no pure form.
    #[error("maximum coverage needs a delta above 0")]
    NoDelta,
    /// A share of the budget must lie strictly between 0 and 1.
    #[error("{name} must lie strictly between 0 and 1, got {got}")]
    Share {
        /// Which share.
        name: &'static str,
        /// The refused value.
        got: f64,
    },
    /// The quality ε is out of range for this power.
    #[error("quality must lie in [0.001, {limit}) for this power, got {got}")]
    Quality {
        /// Where the bound on the cost breaks down.
        limit: f64,
        /// The refused value.
        got: f64,
    },
    /// A public number is out of range.
    #[error("{name} must lie in {least}..={most}, got {got}")]
    Count {
        /// Which one.
        name: &'static str,
        /// Least value.
        least: u64,
        /// Largest value.
        most: u64,
        /// The refused value.
        got: u64,
    },
    /// The budget is too small for the loop to have a rate, or to be divided.
    #[error("the budget is too small: no positive part of it is left for {purpose}")]
    BudgetTooSmall {
        /// What it was for.
        purpose: &'static str,
    },
    /// There are no sites.
    #[error("at least 1 site is needed")]
    NoSites,
    /// Sites, domain and metric have different numbers of columns.
    #[error("the {what} must have {expected} columns, got {got}")]
    Columns {
        /// What is wrong.
        what: &'static str,
        /// Columns that fit.
        expected: usize,
        /// Columns that were given.
        got: usize,
    },
    /// A public site must be made of finite numbers.
    #[error("sites must be finite numbers: row {row} is not")]
    SiteNotFinite {
        /// 0-based row.
        row: usize,
    },
    /// Distances must be bounded: the bounds or the sites are too far apart.
    #[error("the largest distance must be a finite number")]
    Unbounded,
    /// The noise cannot be drawn.
    #[error(transparent)]
    Mechanism(#[from] MechanismError),
}

/// A fit was refused or could not read its records.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FitError {
    /// The parameters do not fit each other, the sites or the domain.
    #[error(transparent)]
    Params(#[from] ParamsError),
    /// The session's budget does not cover the plan; nothing was read.
    #[error(transparent)]
    Spend(#[from] SpendError),
    /// A selection was refused, for lack of budget.
    #[error(transparent)]
    Selection(#[from] SelectionError),
    /// The records could not be read.
    #[error(transparent)]
    Source(#[from] SourceError),
}
