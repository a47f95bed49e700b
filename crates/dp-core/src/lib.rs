//! Differential privacy without geometry: exact mechanisms on integers, composition, and a ledger.
//!
//! # Reading order
//!
//! 1. [`units`], [`neighboring`], [`sensitivity`]: the words in which a guarantee is stated.
//! 2. [`mechanism`]: how a statistic is released and what it costs.
//! 3. [`session`]: the one door. A [`Session`] holds a budget, charges each mechanism before it runs,
//!    draws the noise, and keeps the ledger.
//! 4. [`guarantee`], [`ledger`], [`accountant`]: what was promised and how it adds up, in rationals.
//! 5. [`conversion`], [`composition`], [`subsampling`], [`group`], [`gaussian_calibration`]: the theorems;
//!    [`rdp`], [`pld`], [`fdp`]: numerical accounting of whole plans.
//! 6. [`sampler`]: exact sampling on the integers. [`rng`]: where randomness may come from.
//! 7. [`tape`]: recording a run and replaying it on a neighbor.
//!
//! # The guarantee
//!
//! Statistics are vectors of integers, so their sensitivities are exact; noise is discrete and drawn by
//! exact sampling, so the law on paper is the law in the machine; every spend is in the ledger, and the
//! ledger adds up without rounding. What is released afterwards is post-processing.
//!
//! # Example
//!
//! ```
//! use dp_core::{
//!     Budget, Confidential, Epsilon, NeighboringRelation, Session, mechanism::LaplaceMechanism,
//!     rng::SecureRng, sensitivity::L1Sensitivity,
//! };
//!
//! let mut rng = SecureRng::from_os()?;
//! let budget = Budget::pure(Epsilon::new(1.0)?);
//! let mut session = Session::new(budget, NeighboringRelation::AddRemove, &mut rng);
//!
//! let counts = Confidential::new(vec![120, 30, 0]); // one record is in one cell
//! let laplace = LaplaceMechanism::calibrate(L1Sensitivity::new(1)?, Epsilon::new(0.7)?)?;
//! let noisy = session.laplace(&laplace, "counts per cell", &counts)?;
//!
//! let release = session.release(noisy);
//! assert_eq!(release.guarantee.epsilon, 0.7);
//! assert!(session.laplace(&laplace, "again", &counts).is_err()); // 1.4 does not fit
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

pub mod accountant;
pub mod budget;
pub mod composition;
pub mod conversion;
pub mod faults;
pub mod fdp;
pub mod gaussian_calibration;
pub mod group;
pub mod guarantee;
pub mod ledger;
pub mod mechanism;
pub mod neighboring;
pub mod normal;
pub mod padding;
pub mod pld;
pub mod rdp;
pub mod release;
pub mod rng;
pub mod rounding;
pub mod sampler;
pub mod sensitivity;
pub mod session;
pub mod subsampling;
pub mod tape;
pub mod units;

pub use accountant::{Accountant, SpendError};
pub use budget::Budget;
pub use guarantee::{Guarantee, Loss};
pub use ledger::{Composition, Event, Ledger, Value};
pub use neighboring::NeighboringRelation;
pub use release::{Confidential, Release};
pub use session::Session;
pub use units::{Delta, Epsilon, Rho, UnitError};
