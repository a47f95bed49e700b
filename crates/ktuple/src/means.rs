//! `PrivatekMeans`: centers of blocks, agreed on privately, then refined on all records.
//!
//! # What is released, and why it is private
//!
//! 1. Records go into t secret blocks ([`blocks`](crate::blocks)); t is public. Each block is solved without privacy: t tuples.
//! 2. A private k-tuple clustering ([`aggregator`](crate::aggregator)) turns them into k rough centers or ⊥. One record touches one tuple,
//!    so its loss is the clustering's (`ε_B`, `δ_B`) under either relation.
//! 3. All records go to the nearest rough center, a function of the record and released centers. [`Refine`] replaces each
//!    center by a private average of its cluster, in a fixed number of rounds. One record is in one cluster; a replaced one may
//!    move, so the averages are proved under add-remove (a cluster's size is private) and converted.
//!
//! The losses add up in the ledger. ⊥ ends the run; it was paid for. With one cluster there is nothing to agree on: step 3 starts from
//! the middle of the domain and has the whole budget.
//!
//! # Source
//!
//! Cohen, Kaplan, Mansour, Stemmer, Tsfadia, "Differentially-Private Clustering of Easy Instances", ICML 2021, Algorithm 5.5 and Theorem 5.6.
//! Different here: disjoint blocks (no loss by sampling), `FriendlyCore` as the default clustering, averages whose noise fits each
//! cluster's released radius. The printed budgets are [`Sampling::WithReplacement`](crate::blocks::Sampling::WithReplacement).

mod fit;
mod params;
mod refine;
#[cfg(test)]
mod tests;

pub use fit::{KMeansOutcome, PrivateKMeans};
pub use params::{Aggregator, PrivateKMeansParams};
pub use refine::{Refine, RefineSpend, Refined};
