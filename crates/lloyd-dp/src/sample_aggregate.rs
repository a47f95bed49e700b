//! Sample and aggregate: k-means in many small blocks of records, the blocks' centers averaged.
//!
//! # What is released, and why it is private
//!
//! Every record draws its block on its own, from a secret key and its index, so one record touches one block whatever the
//! number of records is; what happens in a block depends on its records and its number alone. Changing one block moves each of
//! the k·d averaged coordinates by at most the width of that coordinate's range over the number of blocks. Half of ε finds the ranges
//! (two quantiles per coordinate by the exponential mechanism on the blocks' centers), half pays for Laplace noise on
//! the averages. One block changes under either relation: a replaced record stays in its block. Details in
//! `docs/proofs/sample-aggregate.md`.
//!
//! [`aggregate_not_private`] is the same without ranges and noise, for studies of the error.
//!
//! # Source
//!
//! Mohan, Thakurta, Shi, Song, Culler, "GUPT", SIGMOD 2012; Su, Cao, Li, Bertino, Jin 2016 (arXiv 1504.05998), Section 5 (`GkM`,
//! `GkM-3K`, `SAG`).

mod blocks;
mod fit;
mod order;
mod params;
mod ranges;

pub use fit::{SampleAggregate, SampleAggregateFit, aggregate_not_private};
pub use order::CenterOrder;
pub use params::{BlockRule, MAX_BLOCKS, SampleAggregateParams};
pub use ranges::N_RANGE_CANDIDATES;

#[cfg(test)]
mod tests;
