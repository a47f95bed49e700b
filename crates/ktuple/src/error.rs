//! The crate's errors: about parameters and public facts, never about a record's value.

use dp_core::SpendError;
use dp_core::mechanism::MechanismError;
use dp_core::subsampling::SubsamplingError;
use metric_space::{LloydParamsError, SourceError};

/// A set of parameters was refused; nothing was spent.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ParamsError {
    /// At least one cluster is needed.
    #[error("n_clusters must be at least 1")]
    NoClusters,
    /// Every algorithm here needs δ.
    #[error("k-tuple clustering needs a delta above 0")]
    NoDelta,
    /// A theorem that is only stated for ε up to a bound.
    #[error("{algorithm} is proved for epsilon at most {most}, got {got}")]
    EpsilonTooLarge {
        /// Whose theorem it is.
        algorithm: &'static str,
        /// The largest ε for which it holds.
        most: f64,
        /// The refused ε.
        got: f64,
    },
    /// Too few tuples for the theorem, or for an answer worth having.
    #[error("{got} tuples are too few at this budget: at least {needed} are needed")]
    TooFewTuples {
        /// The public number of tuples.
        got: u64,
        /// The smallest number that would do.
        needed: u64,
    },
    /// No number of tuples that fits into memory would do.
    #[error("no feasible number of tuples would do at this budget; spend more")]
    Infeasible,
    /// Too few records for an assumed separation.
    #[error(
        "not feasible at this budget and separation: needs n >= {needed} (proved for clusters as assumed; half may do), n is {got}"
    )]
    NotFeasible {
        /// The public number of records.
        got: u64,
        /// The smallest number that would do.
        needed: u64,
    },
    /// A share or ratio out of range.
    #[error("{name} must lie in ({low}, {high}], got {got}")]
    Range {
        /// Which one.
        name: &'static str,
        /// It must be above this.
        low: f64,
        /// It may be at most this.
        high: f64,
        /// The refused value.
        got: f64,
    },
    /// A count must be positive.
    #[error("{name} must be at least {least}, got {got}")]
    Count {
        /// Which one.
        name: &'static str,
        /// The least allowed.
        least: u64,
        /// The refused value.
        got: u64,
    },
    /// Sampling with replacement speaks of a public number of records.
    #[error(
        "sampling with replacement is proved under replace-one; use disjoint blocks under add-remove"
    )]
    ReplacementNeedsReplaceOne,
    /// Sampling with replacement without a public number of records.
    #[error("sampling with replacement needs n_hint, a public number of at least {needed} records")]
    NoSize {
        /// How many there must be.
        needed: u64,
    },
    /// Sampling with replacement needs twice as many records as are drawn.
    #[error(
        "sampling with replacement needs n >= 2·blocks·block_size = {needed} records, n is {got}"
    )]
    TooFewRecords {
        /// The public number of records.
        got: u64,
        /// How many there must be.
        needed: u64,
    },
    /// No block size for sampling with replacement.
    #[error("sampling with replacement needs a block_size")]
    NoBlockSize,
    /// So many tuples of centers would not fit into memory.
    #[error(
        "{n_blocks} blocks with {n_clusters} centers each in {dimension} columns are too many to be held; ask for fewer clusters or blocks, or spend more"
    )]
    TooManyTuples {
        /// Number of blocks.
        n_blocks: u64,
        /// Number of centers in each.
        n_clusters: usize,
        /// Number of columns.
        dimension: usize,
    },
    /// The budget is too small to be divided.
    #[error("the budget is too small to be divided among the steps")]
    BudgetTooSmall,
    /// Noise that cannot be drawn.
    #[error(transparent)]
    Mechanism(#[from] MechanismError),
    /// A sub-sampling lemma that does not apply.
    #[error(transparent)]
    Subsampling(#[from] SubsamplingError),
    /// The solver of the blocks was refused.
    #[error(transparent)]
    Solver(#[from] LloydParamsError),
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
