//! `PrivatekGMM`: a private mixture of separated Gaussians.
//!
//! # What is released, and why it is private
//!
//! 1. Records go into t secret blocks; a labeler runs in each without privacy, and the labels' means are a tuple ([`labelers`](crate::labelers)).
//!    A private k-tuple clustering turns t tuples into k rough centers or ⊥. One record touches one tuple, so its loss is the
//!    clustering's under either relation.
//! 2. All records go to the nearest center, a function of the record and of released values. A [learner](crate::learner) releases noisy
//!    moments of all clusters together. Means, covariances and weights follow by post-processing.
//!
//! The losses add up in the ledger; or, with [`Split::Halves`], a record takes part in one of the stages by a secret coin, and each has the whole budget. ⊥ ends the
//! run and was paid for. With one cluster there is nothing to agree on: the learner starts from
//! the middle of the domain with the whole budget.
//!
//! # Source
//!
//! Cohen, Kaplan, Mansour, Stemmer, Tsfadia, "Differentially-Private Clustering of Easy Instances", ICML 2021, Algorithm 6.10 and
//! Theorem 6.11. Different here: all records take part in both stages and the budget is divided instead of the records, which is an option, by coins instead of places (`docs/proofs/gmm.md` shows that this is at
//! least as good as disjoint halves), blocks are drawn by secret labels, FriendlyCore is the default clustering, and counts are released with the moments.

mod division;
mod fit;
mod params;
#[cfg(test)]
mod tests;

pub use division::Split;
pub use fit::{GmmOutcome, PrivateGmm};
pub use params::{LearnerChoice, PrivateGmmParams, default_aggregator};
