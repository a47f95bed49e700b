//! Vote and refine: candidates that records vote for give the start, Lloyd steps within a private radius the finish.
//!
//! # What is released
//!
//! 1. **Shape**: where the records lie: a histogram of distances, a mean, and the second moments around it, all clipped to a
//!    radius that the histogram before gave.
//! 2. **Votes**: candidates are drawn where the records lie; each record votes for its nearest candidate, and the votes are
//!    released. The candidates of the next round surround those that got votes.
//! 3. Weighted k-means on candidates and votes gives more centers than asked for. Post-processing.
//! 4. **Refinement**: per step a histogram of distances to the nearest center gives a radius, then counts and sums of
//!    differences clipped to that radius move the centers. Half way, centers that hardly anybody is near are dropped and the
//!    others are merged to k.
//!
//! # Why it is private
//!
//! In each of these a record touches one bin, one candidate, or one center's count and sum, and which one depends on the record
//! and on released values alone. So votes, histograms and counts have L1 and squared L2 sensitivity 1 under add-remove and 2 under
//! replace-one; sums of vectors no longer than R have L2 sensitivity R and 2R, and L1 sensitivity √d times as much; second
//! moments of vectors no longer than R have L2 sensitivity R² and √2·R². How many rounds and steps there are, and what each
//! spends, is fixed by public numbers. Proofs: `docs/proofs/vote-refine.md`.
//!
//! # Source
//!
//! Votes: Lin et al. 2024 ("Differentially Private Synthetic Data via Foundation Model APIs 1: Images"), whose evolution of candidates by private
//! votes is used here for centers. Steps within a radius: Diaa, Humphries, Kerschbaum 2025 ("`FastLloyd`"). The private
//! radius, the shape and the weighing of a step by its noise are this project's.

mod candidates;
mod fit;
mod mask;
mod moments;
mod params;
mod plan;
mod radius;
mod refine;
mod rules;
mod shape;
mod start;

pub use fit::{VoteRefine, VoteRefineFit};
pub use params::VoteRefineParams;
pub use rules::{Rules, Start};

#[cfg(test)]
mod tests;
