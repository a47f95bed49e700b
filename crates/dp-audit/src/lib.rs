//! Evidence that a private algorithm keeps its promise, on any algorithm that draws its noise through a
//! [`Session`](dp_core::Session).
//!
//! | module | question | kind of answer |
//! |---|---|---|
//! | [`replay()`](mod@replay) | do neighbors make the same calls, with statistics within the declared sensitivities? | exact, on generated pairs |
//! | [`pairs`] | which neighbors? | duplicates, borders, ties, extremes, NaN, … |
//! | [`ledger_law`] | do the spends add up to the promise, and to no less? | exact, in rationals |
//! | [`charges`] | do the draws under a charge lose what it paid for, and no more? | exact but for the rounding of floats |
//! | [`black_box`] | can an adversary tell worst-case neighbors apart better than promised? | a lower bound of ε at a stated level |
//! | [`bounds`] | how sure is that? | Clopper–Pearson |
//!
//! A replay proves nothing about pairs that were not generated, and a lower bound below ε does not prove ε: the
//! proofs are on paper. An audit is worth what it would have found, so ours is run against planted faults
//! (`cargo xtask audit --zoo`).
//!
//! # Example
//!
//! A mechanism of your own: a noisy sum of values in [0, 10].
//!
//! ```
//! use dp_audit::pairs::{TablePairs, Table};
//! use dp_audit::replay::{Promise, replay};
//! use dp_core::{Budget, Confidential, Epsilon, NeighboringRelation, Session};
//! use dp_core::{mechanism::LaplaceMechanism, sensitivity::L1Sensitivity};
//!
//! let laplace = LaplaceMechanism::calibrate(L1Sensitivity::new(10)?, Epsilon::new(1.0)?)?;
//! let sum = |table: &Table, session: &mut Session<'_>| -> Result<(), Box<dyn std::error::Error>> {
//!     // A NaN becomes 0 by `as`, here as everywhere: a record's value depends on the record alone.
//!     let sum = table.rows().map(|row| row[0].clamp(0.0, 10.0) as i64).sum();
//!     session.laplace(&laplace, "sum", &Confidential::new(vec![sum]))?;
//!     Ok(())
//! };
//! let promise = Promise {
//!     budget: Budget::pure(Epsilon::new(1.0)?),
//!     relation: NeighboringRelation::AddRemove,
//! };
//! for group in TablePairs::new(1, -5.0, 15.0, promise.relation, 7).take(50) {
//!     replay(promise, &group, sum)?;
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

pub mod black_box;
pub mod bounds;
pub mod charges;
pub mod ledger_law;
pub mod pairs;
pub mod replay;
