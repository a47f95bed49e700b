//! The crate's errors: about parameters and public facts, never about a record's value.

use dp_core::SpendError;
use dp_core::mechanism::MechanismError;
use dp_core::session::SelectionError;
use metric_space::SourceError;

/// Most iterations that a run may have: the budget is split over them.
pub(crate) const MAX_ITERATIONS: usize = 1000;

/// A set of parameters was refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ParamsError {
    /// At least one cluster is needed.
    #[error("n_clusters must be at least 1")]
    NoClusters,
    /// The number of iterations is out of range.
    #[error("n_iterations must lie in 1..={MAX_ITERATIONS}, got {got}")]
    Iterations {
        /// The refused number.
        got: usize,
    },
    /// Gaussian noise needs δ.
    #[error("gaussian noise needs a delta above 0; give one, or use laplace noise")]
    NoDelta,
    /// A share of the budget must lie strictly between 0 and 1.
    #[error("{name} must lie strictly between 0 and 1, got {got}")]
    Share {
        /// Which share.
        name: &'static str,
        /// The refused value.
        got: f64,
    },
    /// A radius must be positive.
    #[error("{name} must be finite and above 0, got {got}")]
    Radius {
        /// Which radius.
        name: &'static str,
        /// The refused value, in the scaled domain.
        got: f64,
    },
    /// A public size must be positive.
    #[error("n_hint must be at least 1")]
    SizeHint,
    /// Public first centers of the wrong shape.
    #[error(
        "the first centers must be {expected_rows} × {expected_columns}, got {rows} × {columns}"
    )]
    InitShape {
        /// Clusters.
        expected_rows: usize,
        /// Columns of the domain.
        expected_columns: usize,
        /// Rows that were given.
        rows: usize,
        /// Columns that were given.
        columns: usize,
    },
    /// Public first centers must be numbers.
    #[error("the first centers must be finite numbers")]
    InitNotFinite,
    /// The budget is too small to be divided among the steps.
    #[error("the budget is too small to be divided among {steps} steps")]
    BudgetTooSmall {
        /// Steps among which it was to be divided.
        steps: usize,
    },
    /// At least one start is needed.
    #[error("n_starts must be at least 1")]
    NoStarts,
    /// The threshold of first centers is a number of standard deviations.
    #[error("seed_threshold must be finite and at least 0, got {got}")]
    SeedThreshold {
        /// The refused threshold.
        got: f64,
    },
    /// The factor in a rule for the number of cells must be positive.
    #[error("the factor of a rule for the number of cells must be finite and above 0, got {got}")]
    CellFactor {
        /// The refused factor.
        got: f64,
    },
    /// A number of cells per axis that is out of range.
    #[error(
        "cells per axis must lie in 1..={}, got {got}",
        crate::grid::MAX_CELLS_PER_AXIS
    )]
    CellsPerAxis {
        /// The refused number.
        got: u64,
    },
    /// A grid that would not fit in memory.
    #[error(
        "a grid of {cells} cells is more than the {most} that are allowed; `grid-sparse` keeps occupied cells alone"
    )]
    TooManyCells {
        /// What the rule asks for.
        cells: f64,
        /// What is allowed.
        most: usize,
    },
    /// A number of candidates that is out of range.
    #[error("n_candidates must lie in 1..=1048576, got {got}")]
    Candidates {
        /// The refused number.
        got: usize,
    },
    /// A factor is out of range.
    #[error("{name} must lie between {least} and a million, got {got}")]
    Factor {
        /// Which factor.
        name: &'static str,
        /// The refused value.
        got: f64,
        /// The least that is allowed.
        least: f64,
    },
    /// A threshold needs δ.
    #[error("a sparse grid needs a delta above 0")]
    NoThresholdDelta,
    /// A rule for the number of blocks is out of range.
    #[error(
        "the number of blocks: a power must lie in (0, 1], a factor above 0, a number in 1..=1048576, got {got}"
    )]
    Blocks {
        /// The refused value.
        got: f64,
    },
    /// Centers that would not fit in memory; where blocks have centers of their own, those of one block.
    #[error("the centers would be {numbers} numbers, more than the {most} that are allowed")]
    CenterMemory {
        /// k·d.
        numbers: u64,
        /// What is allowed.
        most: u64,
    },
    /// Reference centers of another shape, or that are no numbers.
    #[error("the reference centers must be {expected} finite rows with the domain's columns")]
    Reference {
        /// Clusters.
        expected: usize,
    },
    /// Quantiles out of order.
    #[error("quantiles must satisfy 0 <= low < high <= 1, got {low} and {high}")]
    Quantiles {
        /// The lower one.
        low: f64,
        /// The upper one.
        high: f64,
    },
    /// Settings of the genetic search are out of range.
    #[error("{name} is out of range: {got}")]
    Population {
        /// Which one.
        name: &'static str,
        /// The refused number.
        got: usize,
    },
    /// The noise cannot be drawn.
    #[error(transparent)]
    Mechanism(#[from] MechanismError),
}

/// A fit was refused or could not read its records.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FitError {
    /// The parameters do not fit the records' domain.
    #[error(transparent)]
    Params(#[from] ParamsError),
    /// The session's budget does not cover the plan; nothing was read.
    #[error(transparent)]
    Spend(#[from] SpendError),
    /// A selection was refused.
    #[error(transparent)]
    Selection(#[from] SelectionError),
    /// The records could not be read.
    #[error(transparent)]
    Source(#[from] SourceError),
}
