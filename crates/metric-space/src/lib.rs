//! Geometry for clustering, without privacy: this crate knows no budget and draws no noise.
//!
//! # Conventions
//! - Rows are records: arrays have shape (n, d), centers (k, d).
//! - Algorithms work in *scaled* coordinates: a public [`Domain`] maps to `[-1, 1]^d` or to the
//!   unit ball.
//! - No value of a record is refused. Errors are about shapes and parameters, which are public.
//! - What is computed from a record alone (its clipped, rounded form; its label) is the same bits
//!   wherever the record stands, on any number of threads.
//! - Randomness is handed in as a generator.
//!
//! # Reading order
//! | module | what it is |
//! |---|---|
//! | [`domain`] | boxes and balls known before looking; scaling and clipping |
//! | [`lattice`] | the public integer lattice: sums become exact |
//! | [`frame`] | both in one object: raw records in, lattice records out |
//! | [`records`], [`source`] | views of arrays; chunks that can be read again, for data larger than memory |
//! | [`mod@fold`] | the parallel pass that every private algorithm uses |
//! | [`nearest`] | nearest centers: the hot kernel, and the only unsafe code |
//! | [`distance`], [`cost`] | Euclidean distance and its square; what a clustering costs |
//! | [`packing`], [`projection`] | first centers and projections from public randomness |
//! | [`solver`] | Lloyd's iterations without privacy, for weights of any sign |
//! | [`error`] | the errors, gathered |
//!
//! # Examples
//! Exact sums of records that were clipped into public bounds:
//! ```
//! use metric_space::{BoxDomain, Frame, FramedSource, Lattice, LatticeSource};
//! use ndarray::array;
//!
//! let bounds = BoxDomain::new(vec![0.0, 0.0], vec![100.0, 10.0])?;
//! let frame = Frame::new(bounds, Lattice::default());
//! let records = array![[50.0, 5.0], [75.0, 99.0]];
//! let sums = FramedSource::new(&records, &frame).fold(
//!     || [0_i64; 2],
//!     |sums, block| {
//!         for i in 0..block.len() {
//!             for (j, sum) in sums.iter_mut().enumerate() {
//!                 *sum += i64::from(block.units(i, j));
//!             }
//!         }
//!     },
//!     |sums, part| {
//!         for (sum, more) in sums.iter_mut().zip(part) {
//!             *sum += more;
//!         }
//!     },
//! )?;
//! let one = frame.lattice().units_per_one();
//! assert_eq!(sums, [one / 2, one]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
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
pub mod evaluation;
pub mod fold;
pub mod frame;
pub mod lattice;
pub mod metric;
pub mod nearest;
pub mod packing;
pub mod projection;
pub mod records;
pub mod solver;
pub mod source;

pub use cost::{CostError, k_means_cost, k_median_cost, mean_cost, power_cost};
pub use distance::{euclidean, squared_euclidean};
pub use domain::{BallDomain, BoxDomain, Domain, DomainError};
pub use error::ShapeError;
pub use fold::{BLOCK_ROWS, FramedSource, LatticeBlock, LatticeRecords, LatticeSource, fold};
pub use frame::Frame;
pub use lattice::{DEFAULT_BITS, Lattice, LatticeError, MAX_BITS};
pub use metric::{
    Angular, BallIndex, Chebyshev, ClosureMetric, Euclidean, Haversine, Manhattan, MatrixMetric,
    Metric, MetricError, Minkowski, Power,
};
pub use packing::{sphere_packing, uniform_centers};
pub use projection::{GaussianProjection, projected_dimension};
pub use records::Records;
pub use solver::{Init, Lloyd, LloydParams, LloydParamsError, Solution};
pub use source::{ChunkedRecords, RecordSource, SourceError};
