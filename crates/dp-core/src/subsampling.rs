//! Privacy amplification by running a mechanism on a random part of the records.
//!
//! Each form is tied to a way of sampling and a relation; the sample must stay secret. Losses are rounded
//! up, and the losses granted to the inner mechanism down.

use crate::composition::ApproxLoss;
use crate::rounding::{down, up};

/// A form of amplification does not apply.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SubsamplingError {
    /// The sample must have at least one record and at most all.
    #[error("sample_size must lie in 1..={population}, got {sample_size}")]
    SampleSize {
        /// The refused size of the sample.
        sample_size: u64,
        /// The public number of records.
        population: u64,
    },
    /// The lemma needs a population of at least twice the sample.
    #[error("population must be at least twice the sample of {sample_size}, got {population}")]
    Population {
        /// The size of the sample.
        sample_size: u64,
        /// The refused public number of records.
        population: u64,
    },
    /// A sampling probability must lie in (0, 1].
    #[error("sampling_probability must lie in (0, 1], got {got}")]
    Probability {
        /// The refused probability.
        got: f64,
    },
    /// The lemma holds for ε ≤ 1.
    #[error("the lemma needs epsilon at most 1, got {got}")]
    EpsilonAboveOne {
        /// The ε to which the lemma would apply.
        got: f64,
    },
    /// A loss was negative or not a number.
    #[error("a loss must not be negative or NaN, got epsilon {epsilon} and delta {delta}")]
    Loss {
        /// The given ε.
        epsilon: f64,
        /// The given δ.
        delta: f64,
    },
}

/// Checks m of n and returns the sampled share m/n.
fn share(sample_size: u64, population: u64) -> Result<f64, SubsamplingError> {
    if sample_size == 0 || sample_size > population {
        return Err(SubsamplingError::SampleSize {
            sample_size,
            population,
        });
    }
    Ok(sample_size as f64 / population as f64)
}

/// Checks that a loss is one.
fn checked(loss: ApproxLoss) -> Result<ApproxLoss, SubsamplingError> {
    if loss.epsilon >= 0.0 && loss.delta >= 0.0 {
        Ok(loss)
    } else {
        Err(SubsamplingError::Loss {
            epsilon: loss.epsilon,
            delta: loss.delta,
        })
    }
}

/// Checks a sampling probability.
fn probability(q: f64) -> Result<f64, SubsamplingError> {
    if q > 0.0 && q <= 1.0 {
        Ok(q)
    } else {
        Err(SubsamplingError::Probability { got: q })
    }
}

/// ln(1 + q·(e^ε − 1)) rounded up, also where e^ε overflows, and never above ε.
fn amplified(q: f64, epsilon: f64) -> f64 {
    let exact = if epsilon < 700.0 {
        libm::log1p(q * libm::expm1(epsilon))
    } else {
        // ln(q·e^ε + 1 − q) ≤ ε + ln q + (1 − q)·e^(−ε)/q, whose last term is below 1e-290.
        epsilon + libm::log(q) + 1e-290 / q
    };
    // The ratio e^ε·q/(1 + …) of the errors is at most ε + 1 units.
    let bound = up(exact, 16);
    if bound < epsilon { bound } else { epsilon }
}

/// ln(1 + (e^ε − 1)/q) rounded down, the inverse of [`amplified`].
fn granted(q: f64, epsilon: f64) -> f64 {
    let exact = if epsilon < 650.0 && q > 1e-15 {
        libm::log1p(libm::expm1(epsilon) / q)
    } else {
        // ln((e^ε − 1 + q)/q) ≥ ln((e^ε − 1)/q)
        epsilon + libm::log1p(-libm::exp(-epsilon)) - libm::log(q)
    };
    let mut inner = down(exact, 16);
    // Backward and forward must agree in floats.
    while inner > 0.0 && amplified(q, inner) > epsilon {
        inner = down(inner, 4);
    }
    if inner > 0.0 { inner } else { 0.0 }
}

/// m of n without replacement, tight: ε = ln(1 + (m/n)·(e^ε* − 1)), δ = (m/n)·δ*.
///
/// Privacy: both the inner guarantee and the result are for `ReplaceOne`.
///
/// Source: Balle, Barthe and Gaboardi 2018, Theorem 9.
///
/// # Errors
///
/// [`SubsamplingError::SampleSize`] unless 1 ≤ m ≤ n; [`SubsamplingError::Loss`].
pub fn without_replacement(
    sample_size: u64,
    population: u64,
    inner: ApproxLoss,
) -> Result<ApproxLoss, SubsamplingError> {
    let q = up(share(sample_size, population)?, 2);
    sampled(if q < 1.0 { q } else { 1.0 }, inner)
}

/// Poisson sampling with a public probability q: ε = ln(1 + q·(e^ε* − 1)), δ = q·δ*.
///
/// Privacy: both the inner guarantee and the result are for `AddRemove`.
///
/// Source: Balle, Barthe and Gaboardi 2018, Theorem 8.
///
/// # Errors
///
/// [`SubsamplingError::Probability`] unless 0 < q ≤ 1; [`SubsamplingError::Loss`].
///
/// ```
/// use dp_core::{composition::ApproxLoss, subsampling::poisson};
/// let outer = poisson(0.01, ApproxLoss { epsilon: 1.0, delta: 1e-6 })?;
/// assert!(outer.epsilon < 0.0171 && outer.delta < 1.01e-8);
/// # Ok::<(), dp_core::subsampling::SubsamplingError>(())
/// ```
pub fn poisson(
    sampling_probability: f64,
    inner: ApproxLoss,
) -> Result<ApproxLoss, SubsamplingError> {
    sampled(probability(sampling_probability)?, inner)
}

/// The form that both ways of sampling share.
fn sampled(q: f64, inner: ApproxLoss) -> Result<ApproxLoss, SubsamplingError> {
    let inner = checked(inner)?;
    let delta = if inner.delta > 0.0 {
        up(q * inner.delta, 1)
    } else {
        0.0
    };
    Ok(ApproxLoss::capped(amplified(q, inner.epsilon), delta))
}

/// The loss that the inner mechanism may have on m of n records for a target, by [`without_replacement`].
///
/// The result, put through the forward form, stays within the target in `f64`.
///
/// # Errors
///
/// As [`without_replacement`].
pub fn inner_without_replacement(
    sample_size: u64,
    population: u64,
    target: ApproxLoss,
) -> Result<ApproxLoss, SubsamplingError> {
    let q = up(share(sample_size, population)?, 2);
    inner_sampled(if q < 1.0 { q } else { 1.0 }, target)
}

/// The loss that the inner mechanism may have under Poisson sampling for a target, by [`poisson`].
///
/// # Errors
///
/// As [`poisson`].
pub fn inner_poisson(
    sampling_probability: f64,
    target: ApproxLoss,
) -> Result<ApproxLoss, SubsamplingError> {
    inner_sampled(probability(sampling_probability)?, target)
}

/// The inverse of [`sampled`].
fn inner_sampled(q: f64, target: ApproxLoss) -> Result<ApproxLoss, SubsamplingError> {
    let target = checked(target)?;
    let delta = if target.delta > 0.0 {
        down(target.delta / q, 4)
    } else {
        0.0
    };
    Ok(ApproxLoss::capped(granted(q, target.epsilon), delta))
}

/// Lemma 2.24 of paper 002, with its δ mended: ε = (m/n)·(3 + e^ε*), δ = (4m/n)·δ*.
///
/// The paper prints δ = (n/4m)·δ*, which is upside down: at m = n/4 a sample would then cost nothing, and
/// sampling less would cost more.
///
/// Privacy: for `ReplaceOne`.
///
/// # Errors
///
/// [`SubsamplingError::EpsilonAboveOne`] if the resulting ε exceeds 1; others as [`without_replacement`].
pub fn lemma_2_24(
    sample_size: u64,
    population: u64,
    inner: ApproxLoss,
) -> Result<ApproxLoss, SubsamplingError> {
    let q = share(sample_size, population)?;
    let epsilon = lemma_2_24_epsilon(q, checked(inner)?.epsilon)?;
    let delta = if inner.delta > 0.0 {
        up(4.0 * q * inner.delta, 2)
    } else {
        0.0
    };
    Ok(ApproxLoss::capped(epsilon, delta))
}

/// Lemma 2.24 as printed, δ = (n/4m)·δ*: for comparison, never for a claim.
///
/// # Errors
///
/// As [`lemma_2_24`].
pub fn lemma_2_24_as_printed(
    sample_size: u64,
    population: u64,
    inner: ApproxLoss,
) -> Result<ApproxLoss, SubsamplingError> {
    let q = share(sample_size, population)?;
    let epsilon = lemma_2_24_epsilon(q, checked(inner)?.epsilon)?;
    Ok(ApproxLoss::capped(epsilon, inner.delta / (4.0 * q)))
}

/// (m/n)·(3 + e^ε*), refused above 1.
fn lemma_2_24_epsilon(q: f64, inner: f64) -> Result<f64, SubsamplingError> {
    let epsilon = up(q * (3.0 + libm::exp(inner)), 8);
    if epsilon <= 1.0 {
        Ok(epsilon)
    } else {
        Err(SubsamplingError::EpsilonAboveOne { got: epsilon })
    }
}

/// m of n *with* replacement, Lemma 2.25 of paper 002: ε′ = 6εm/n, δ′ = e^ε′·(4m/n)·δ.
///
/// Privacy: for `ReplaceOne`.
///
/// Source: Bun, Nissim, Stemmer and Vadhan 2015.
///
/// # Errors
///
/// [`SubsamplingError::Population`] unless n ≥ 2m; [`SubsamplingError::EpsilonAboveOne`] if the inner ε
/// exceeds 1; [`SubsamplingError::SampleSize`]; [`SubsamplingError::Loss`].
pub fn with_replacement(
    sample_size: u64,
    population: u64,
    inner: ApproxLoss,
) -> Result<ApproxLoss, SubsamplingError> {
    let q = share(sample_size, population)?;
    if population / 2 < sample_size {
        return Err(SubsamplingError::Population {
            sample_size,
            population,
        });
    }
    let inner = checked(inner)?;
    if inner.epsilon > 1.0 {
        return Err(SubsamplingError::EpsilonAboveOne { got: inner.epsilon });
    }
    let epsilon = up(6.0 * inner.epsilon * q, 4);
    let delta = if inner.delta > 0.0 {
        up(libm::exp(epsilon) * 4.0 * q * inner.delta, 8)
    } else {
        0.0
    };
    Ok(ApproxLoss::capped(epsilon, delta))
}

#[cfg(test)]
mod tests;
