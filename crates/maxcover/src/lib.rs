//! Differentially private facility location: k-medians in any metric, Σ d^p, and Euclidean k-means over private candidates, by
//! maximum coverage.
//!
//! | module | what is there |
//! |---|---|
//! | [`rate`] | three values of the rate ε′ at which sets are picked |
//! | [`greedy`] | Algorithm 1: private maximum coverage over any family of sets |
//! | [`thresholds`] | the radii of Algorithm 2 |
//! | [`fit`] | Algorithm 2: candidates, noisy histogram, black box |
//! | [`candidates`] | candidate centers where there are no public sites |
//! | [`gupta`] | the baseline: private local search |
//! | [`guarantee`] | what the theorems promise about the cost |
//! | [`black_box`] | solvers without privacy: seeding, swaps, local search, exact, Lloyd |
//!
//! Sites are public; demand is private. Distances are in original units: nothing is scaled per column.
//!
//! # Example
//!
//! Ten clinics among public sites, for private homes on the globe.
//!
//! ```
//! use dp_core::{Budget, Delta, Epsilon, NeighboringRelation, Session, rng::InsecureSeededRng};
//! use maxcover::black_box::FasterPam;
//! use maxcover::{MaxCoverParams, Space};
//! use metric_space::{BoxDomain, Domain, Haversine, Power};
//! use ndarray::Array2;
//! use rand::SeedableRng;
//!
//! let sites = Array2::from_shape_fn((400, 2), |(i, j)| {
//!     if j == 0 { 48.0 + (i / 20) as f64 * 0.01 } else { 11.0 + (i % 20) as f64 * 0.01 }
//! });
//! let homes = Array2::from_shape_fn((5000, 2), |(i, j)| {
//!     if j == 0 { 48.0 + (i % 7) as f64 * 0.03 } else { 11.0 + (i % 5) as f64 * 0.04 }
//! });
//! let domain = Domain::from(BoxDomain::new(vec![48.0, 11.0], vec![48.2, 11.2])?);
//! let space = Space::new(&Haversine, &domain, sites.view())?;
//!
//! let budget = Budget::approx(Epsilon::new(1.0)?, Delta::new(1e-6)?);
//! let mut noise = InsecureSeededRng::new(1); // SecureRng::from_os()? for a real release
//! let mut session = Session::new(budget, NeighboringRelation::AddRemove, &mut noise);
//! let mut public = rand_chacha::ChaCha8Rng::seed_from_u64(1);
//!
//! let maxcover = MaxCoverParams::new(10, budget, Power::MEDIANS).check()?;
//! let clinics = maxcover.fit(&space, &homes, &FasterPam::default(), &mut session, &mut public)?;
//! assert_eq!(clinics.site_rows.unwrap().len(), 10);
//! assert!(session.guarantee().epsilon <= 1.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Source
//!
//! Jones, Nguyen, Nguyen, "Differentially Private Clustering via Maximum Coverage", 2020.
#![forbid(unsafe_code)]
#![expect(
    clippy::needless_pass_by_value,
    reason = "array views are small and go by value, as ndarray has it"
)]

pub mod black_box;
pub mod candidates;
mod coverage;
mod error;
pub mod fit;
pub mod greedy;
pub mod guarantee;
pub mod gupta;
mod params;
pub mod rate;
mod space;
pub mod thresholds;
mod through;

pub use error::{FitError, ParamsError};
pub use fit::{Facilities, MaxCover, cost};
pub use params::MaxCoverParams;
pub use rate::Rate;
pub use space::Space;
pub use through::{CANDIDATE_SHARE, ThroughCandidates};
