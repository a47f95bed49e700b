//! Private aggregation of k-tuples: from many guesses of the same k centers to k private centers.
//!
//! Where clusters are well separated, k-means on any large enough block of the records finds about the same centers. This
//! crate cuts the records into secret blocks, solves each without privacy, and lets a private k-tuple clustering find
//! what the solutions agree on. On easy data the answer is almost as good as without privacy; on data that is not
//! easy it is ⊥, not garbage.
//!
//! | module | what is there |
//! |---|---|
//! | [`means`] | `PrivatekMeans`: records in, centers or ⊥ out |
//! | [`blocks`] | records into secret blocks, blocks into tuples |
//! | [`aggregator`] | the trait of all private k-tuple clusterings |
//! | [`friendly`] | FriendlyCore, for tuples and for points: the default |
//! | [`partition`] | the published test whether tuples are partitioned alike |
//! | [`paper`] | the published clusterings on top of that test, mended |
//! | [`averages`] | private averages of bounded points |
//! | [`planner`] | how many records and blocks an assumed separation needs |
//! | [`tuples`] | tuples on the lattice, and their public shape |
//!
//! Relation: the replacement of one tuple, their number t public. Proofs are in `docs/proofs/ktuple.md` and
//! `docs/proofs/friendly-core.md`, with the errors of the published text and what was done about each.
#![forbid(unsafe_code)]
#![expect(
    clippy::needless_pass_by_value,
    reason = "array views are small and go by value, as ndarray has it"
)]

pub mod aggregator;
pub mod averages;
pub mod blocks;
mod error;
pub mod friendly;
pub mod means;
pub mod paper;
pub mod partition;
pub mod planner;
pub mod tuples;

pub use aggregator::{Aggregate, Refusal, TupleAggregator, TupleSpend};
pub use error::{FitError, ParamsError};
pub use tuples::{TupleShape, Tuples};
