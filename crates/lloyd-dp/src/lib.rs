//! Differentially private k-means by noisy Lloyd iterations.
//!
//! | module | what is there |
//! |---|---|
//! | [`dplloyd`] | `DPLloyd` as published and its better variants |
//! | [`grid`] | noisy counts of a grid's cells, and k-means on them |
//! | [`hybrid`] | a grid with half of ε, one `DPLloyd` iteration with the other half |
//! | [`sample_aggregate`] | k-means in blocks, averaged (`GkM`) |
//! | [`privgene`] | a genetic search with private selection (`PGkM`) |
//! | [`vote_refine`] | votes for the start, steps within a private radius for the finish |
//! | [`schedule`] | how a budget is spread over iterations |
//! | [`init`] | first centers that cost no privacy |
//! | [`error_model`] | predicted error, from public facts |
//!
//! Every algorithm has unchecked parameters, a `check` that refuses bad ones, a `plan` that lists what
//! would be spent, and a `fit` that takes records, a [`Session`](dp_core::Session) (budget, ledger, the only
//! door to noise) and a generator for public randomness. Records are seen through a
//! [`Frame`](metric_space::Frame): public bounds and an integer lattice. Centers come back in the scaled
//! domain [-1, 1]^d; the frame's domain converts them.
//!
//! # Example
//!
//! ```
//! use dp_core::{Budget, Delta, Epsilon, NeighboringRelation, Session, rng::InsecureSeededRng};
//! use lloyd_dp::dplloyd::DpLloydParams;
//! use metric_space::{BoxDomain, Frame, FramedSource, Lattice};
//! use ndarray::Array2;
//!
//! // Two groups of 500 people, at 2 and at 8 of a public range [0, 10].
//! let records = Array2::from_shape_fn((1000, 1), |(i, _)| if i % 2 == 0 { 2.0 } else { 8.0 });
//! let frame = Frame::new(BoxDomain::new(vec![0.0], vec![10.0])?, Lattice::new(20)?);
//!
//! let budget = Budget::approx(Epsilon::new(1.0)?, Delta::new(1e-6)?);
//! let mut noise = InsecureSeededRng::new(1); // SecureRng::from_os()? for a real release
//! let mut session = Session::new(budget, NeighboringRelation::AddRemove, &mut noise);
//! let mut public = rand_chacha::ChaCha8Rng::seed_from_u64(1);
//!
//! # use rand::SeedableRng;
//! let lloyd = DpLloydParams::new(2, budget).check()?;
//! let fitted = lloyd.fit(&FramedSource::new(&records, &frame), &mut session, &mut public)?;
//! let release = session.release(fitted);
//! let mut centers: Vec<f64> = release
//!     .value
//!     .centers
//!     .rows()
//!     .into_iter()
//!     .map(|center| frame.domain().to_original(center.as_slice().unwrap())[0])
//!     .collect();
//! centers.sort_by(f64::total_cmp);
//! assert!((centers[0] - 2.0).abs() < 0.5 && (centers[1] - 8.0).abs() < 0.5);
//! assert!(release.guarantee.epsilon <= 1.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod clustering;
pub mod dplloyd;
mod error;
pub mod error_model;
pub mod grid;
pub mod hybrid;
pub mod init;
mod memory;
pub mod privgene;
pub mod sample_aggregate;
pub mod schedule;
mod size;
#[cfg(test)]
mod testing;
pub mod vote_refine;

pub use clustering::Clustering;
pub use error::{FitError, ParamsError};
