//! `PrivGene` for k-means: a genetic search whose survivors are chosen by the exponential mechanism.
//!
//! # What is released, and why it is private
//!
//! A candidate is a set of k centers. In each round the cost of every candidate is an exact integer: per record its squared distance to
//! the nearest center, rounded down to a public step, a number in [0, w] that depends on the record and the candidate alone; w
//! is the largest possible one over the candidates in play, public. Under add-remove one record moves all scores −cost the same
//! way by numbers in [0, w], an interval of width w, so the exponential mechanism with η = ε/w is ε-private; under
//! replace-one the width is 2w. Rounds 1..R−1 pick m′ survivors at ε/(R·m′) each, the last one picks one at ε/R: ε in all. Breeding reads
//! nothing but survivors. Details in `docs/proofs/privgene.md`.
//!
//! # Source
//!
//! Zhang, Xiao, Yang, Zhang, Winslett, "PrivGene: differentially private model fitting using genetic algorithms", SIGMOD 2013; the
//! width argument is ours.

mod breed;
mod cost;
mod fit;
mod params;

pub use fit::{PrivGene, PrivGeneFit, search_not_private};
pub use params::PrivGeneParams;

#[cfg(test)]
mod tests;
