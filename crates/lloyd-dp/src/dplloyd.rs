//! `DPLloyd`: a fixed number of Lloyd iterations whose counts and sums are released with noise.
//!
//! # What is released, and why it is private
//!
//! In iteration t every record goes to the nearest of the current centers, which are public: its label
//! depends on the record alone. Per cluster a count and a vector sum are released through the session;
//! the next centers are computed from these noisy numbers only. Per record one cluster is touched, so as a vector
//! over all clusters
//!
//! * the counts have L1 and squared L2 sensitivity 1 under add-remove, 2 under replace-one;
//! * the sums move by one vector under add-remove, by two under replace-one. With every coordinate bounded by r_i
//!   that is Σr_i (L1) and Σr_i² (squared L2); with differences clipped to length R it is √d·R and R². Under
//!   replace-one the L1 bounds double and the squared L2 bounds are four times as large (the same cluster, opposite ends).
//!
//! The number of iterations, the schedule and the radii are public and fixed in advance: nothing stops early.
//! The losses add up by basic composition (Laplace) or as one Gaussian (Gaussian).
//!
//! # Source
//!
//! Su, Cao, Li, Bertino, Jin, "Differentially Private k-Means Clustering", CODASPY 2016 (arXiv 1504.05998),
//! Section 3.1, and their 2017 journal version for separate budgets. Different here: sums are integers on a
//! public lattice, noise is discrete, and the variants of [`Sums`] and [`Split`].

mod fit;
mod params;
mod plan;
pub(crate) mod step;

pub use fit::DpLloyd;
pub use params::{DpLloydParams, Noise, RadiusSchedule, Split, Sums};

#[cfg(test)]
mod tests;
