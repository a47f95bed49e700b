//! Gaussian mixtures: the mixture itself, learning it without privacy, and learning it privately.
//!
//! | module | what is there |
//! |---|---|
//! | [`mixture`] | [`GaussianMixture`]: densities, responsibilities, sampling, distance to another mixture |
//! | [`private`] | `PrivatekGMM`: records in, a private mixture or ⊥ out |
//! | [`labelers`] | labels of the records of a block, means of labels: tuples |
//! | [`learner`] | private learners of single Gaussians: CoinPress, Karwa–Vadhan, clip and noise |
//! | [`planner`] | how many records Theorem 6.12 asks for |
//! | [`em`] | expectation maximization without privacy: baseline and black box |
//! | [`spd`] | symmetric positive definite matrices: projection with a public floor, Cholesky factors |
//!
//! Proofs are in `docs/proofs/gmm.md`.
#![forbid(unsafe_code)]
#![expect(
    clippy::needless_pass_by_value,
    reason = "array views are small and go by value, as ndarray has it"
)]

pub mod em;
mod error;
pub mod labelers;
pub mod learner;
pub mod mixture;
pub mod planner;
pub mod private;
pub mod spd;

pub use em::{Em, EmParams};
pub use error::{FitError, MixtureError, ParamsError};
pub use mixture::{CovarianceKind, GaussianMixture};
pub use private::{GmmOutcome, PrivateGmm, PrivateGmmParams, Split};
