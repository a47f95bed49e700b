//! Private averages of bounded points whose own spread sets the noise: Section 2.2.6 and Appendix A.1 of the paper, mended.
//!
//! | function | what |
//! |---|---|
//! | [`interior_point`] | a grid point among the values, by the exponential mechanism |
//! | [`bounding_segment`] | a segment that holds nearly all values |
//! | [`Counted`], [`Columns`] | values and points as they are handed in |
//! | [`BoundedAverage`], [`Directions`] | averages in one or many dimensions |
//!
//! All are private when a point is **added or removed** (their use inside a cluster needs that), and draw under a charge of their
//! caller. What was wrong in the text, and is proved in `docs/proofs/ktuple.md`: the weights of the exponential mechanism
//! (point 1), the loss of two calls on overlapping values (2), noise scaled by a private count (3), a δ spent twice (4).
//!
//! # Source
//!
//! Cohen, Kaplan, Mansour, Stemmer, Tsfadia, "Differentially-Private Clustering of Easy Instances", ICML 2021, Propositions A.4 to A.7;
//! Nissim, Stemmer, Vadhan, "Locating a Small Cluster Privately", PODS 2016, for the rotated form.

mod average;
mod counted;
mod segment;
#[cfg(test)]
mod tests;

pub use average::{Axes, BoundedAverage, Columns, Directions, PointLoss};
pub use counted::Counted;
pub use segment::{Range, bounding_segment, interior_point, needed_values};
