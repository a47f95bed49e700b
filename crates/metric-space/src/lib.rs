//! Geometry for clustering, without privacy: this crate knows no budget and draws no noise.
#![deny(unsafe_code)]
#![warn(missing_docs)]
#![expect(
    clippy::needless_pass_by_value,
    reason = "array views are small and go by value, as ndarray has it"
)]

pub mod cost;
pub mod distance;
pub mod domain;
pub mod error;
pub mod fold;
pub mod frame;
pub mod lattice;
pub mod nearest;
pub mod packing;
pub mod projection;
pub mod records;
pub mod source;

pub use cost::{CostError, k_means_cost, k_median_cost, mean_cost, power_cost};
pub use distance::{euclidean, squared_euclidean};
pub use domain::{BallDomain, BoxDomain, Domain, DomainError};
pub use error::ShapeError;
pub use fold::{BLOCK_ROWS, FramedSource, LatticeBlock, LatticeRecords, LatticeSource, fold};
pub use frame::Frame;
pub use lattice::{DEFAULT_BITS, Lattice, LatticeError, MAX_BITS};
pub use packing::{sphere_packing, uniform_centers};
pub use projection::{GaussianProjection, projected_dimension};
pub use records::Records;
pub use source::{ChunkedRecords, RecordSource, SourceError};
