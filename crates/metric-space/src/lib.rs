//! Geometry for clustering, without privacy: this crate knows no budget and draws no noise.
#![deny(unsafe_code)]
#![warn(missing_docs)]

pub mod domain;
pub mod error;
pub mod fold;
pub mod frame;
pub mod lattice;
pub mod records;
pub mod source;

pub use domain::{BallDomain, BoxDomain, Domain, DomainError};
pub use error::ShapeError;
pub use fold::{BLOCK_ROWS, FramedSource, LatticeBlock, LatticeRecords, LatticeSource, fold};
pub use frame::Frame;
pub use lattice::{DEFAULT_BITS, Lattice, LatticeError, MAX_BITS};
pub use records::Records;
pub use source::{ChunkedRecords, RecordSource, SourceError};
