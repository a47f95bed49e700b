//! Exact sampling on integers: every draw has the stated law, not an approximation of it.
//!
//! Parameters are rationals. The fast paths work in machine integers and decide comparisons of a lazily
//! revealed uniform against a real number by an `f64` enclosure with a proven error; what the enclosure
//! leaves undecided goes on *with the same uniform* in big integers until it is decided. The law is
//! therefore exact on both paths, and no logarithm of a uniform occurs anywhere (Mironov, "On significance
//! of the least significant bits for differential privacy", CCS 2012).
//!
//! | law | type or function |
//! |---|---|
//! | uniform below a bound, Bernoulli(p/q) | [`uniform`] |
//! | Bernoulli(exp(−γ)) | [`bernoulli_exp()`] |
//! | geometric, P(X ≥ m) = exp(−mγ) | [`Geometric`] |
//! | discrete Laplace, mass ∝ exp(−\|x\|/scale) | [`DiscreteLaplace`] |
//! | discrete Gaussian, mass ∝ exp(−x²/(2σ²)) | [`DiscreteGaussian`] |
//! | exponential mechanism, P(i) ∝ wᵢ·exp(η·sᵢ) | [`exponential::select`], [`exponential::Selector`] |
//! | permute-and-flip | [`permute_and_flip::select`] |
//! | report noisy max | [`noisy_max::select`] |
//!
//! Samplers know nothing of privacy: the callers are the mechanisms, which know sensitivity and loss.
//! Time depends on the values drawn and on the scores; nothing here hides it.
//!
//! Source of the rational constructions: Canonne, Kamath, Steinke, "The discrete Gaussian for differential
//! privacy", NeurIPS 2020.

pub mod bernoulli_exp;
pub mod discrete_gaussian;
pub mod discrete_laplace;
mod enclosure;
pub mod exponential;
pub mod geometric;
mod lazy;
pub mod noisy_max;
pub mod permute_and_flip;
pub mod scale;
pub mod uniform;

pub use bernoulli_exp::bernoulli_exp;
pub use discrete_gaussian::DiscreteGaussian;
pub use discrete_laplace::DiscreteLaplace;
pub use geometric::Geometric;
pub use scale::{SCALE_BITS, scale_up, scale_up_f64};

use dashu_ratio::RBig;

/// A parameter of a sampler was outside its range. Parameters are public.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SamplerError {
    /// A scale must be above zero.
    #[error("scale must be above 0, got {got}")]
    Scale {
        /// The refused scale.
        got: RBig,
    },
    /// A variance parameter σ² must be above zero.
    #[error("variance must be above 0, got {got}")]
    Variance {
        /// The refused variance.
        got: RBig,
    },
    /// The rate γ of a geometric law must be above zero.
    #[error("rate must be above 0, got {got}")]
    Rate {
        /// The refused rate.
        got: RBig,
    },
}

#[cfg(test)]
mod tests;
