//! Grid synopses: noisy counts of the cells of a public grid, and k-means on them.
//!
//! # What is released, and why it is private
//!
//! The scaled domain is cut into m^d equal cells. A record lies in one cell, which depends on the record alone, so the
//! vector of all counts has L1 sensitivity 1 under add-remove and 2 under replace-one, and discrete Laplace noise of
//! scale 1/ε (2/ε) on **every** cell, empty ones included, makes it ε-private. m depends on public numbers and at most on a
//! noisy count that is paid for. Everything after that is post-processing: a [`GridSynopsis`] can be clustered as often as
//! one likes, for any number of clusters, at no cost.
//!
//! [`Layout::Sparse`] keeps occupied cells alone and releases those whose noisy count reaches a threshold, at a loss
//! (ε, δ): the way to grids that would not fit in memory.
//!
//! # Source
//!
//! Qardaji, Yang, Li 2013 (`UGkM`'s number of cells, d = 2); Su, Cao, Li, Bertino, Jin 2016 (arXiv 1504.05998), Section 4
//! (`EUGkM`); the proofs are in `docs/proofs/grid.md`.

mod count;
mod fit;
mod params;
mod rule;
mod solve;
mod synopsis;

pub use fit::{Grid, GridFit};
pub use params::{GridParams, Layout};
pub use rule::{CellRule, MAX_CELLS_PER_AXIS};
pub use solve::{Starts, SynopsisSolver, SynopsisSolverParams};
pub use synopsis::{CellCounts, GridSynopsis, SynopsisError};

#[cfg(test)]
mod tests;
