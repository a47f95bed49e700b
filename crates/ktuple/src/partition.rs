//! The published test whether nearly all tuples are partitioned by the same balls: `PrivateTestCloseTuples` and
//! `PrivateTestPartition`.
//!
//! For a tuple X with gaps `D_i` its balls are `B(x_i`, `D_i/Δ`), Δ > 6. They partition a tuple Y if each ball holds exactly one point
//! of Y; a void X partitions nothing (point 10 of `docs/proofs/ktuple.md`). The test draws m tuples X in secret, counts for each the
//! tuples that its balls do not partition, with noise, and succeeds if nearly all counts are small. The status is ε-private; the balls of the
//! first X that passed are private, and are handed to an algorithm whose proof covers them (Claim 4.12).
//!
//! # Source
//!
//! Cohen, Kaplan, Mansour, Stemmer, Tsfadia, "Differentially-Private Clustering of Easy Instances", ICML 2021, Sections 4.1 and 4.2.

mod plan;
mod test;
#[cfg(test)]
mod tests;

pub use plan::{Formulas, LeastTuples, Subsampling, TestCall, TestPlan, Union};
pub(crate) use test::{Separation, Tested, test_partition};
