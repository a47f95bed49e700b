//! Differential privacy without geometry: exact mechanisms on integers, composition, and a ledger.
#![forbid(unsafe_code)]

pub mod conversion;
pub mod neighboring;
pub mod rng;
pub mod rounding;
pub mod sampler;
pub mod units;

pub use neighboring::NeighboringRelation;
pub use units::{Delta, Epsilon, Rho, UnitError};
