//! How many records Theorem 6.12 asks for: what would be enough for a mixture that is as separated as the theorem assumes.
//!
//! With n records for either stage (all of them take part in both here), t blocks of s, and h = 2√(2 ln(8n/β)):
//!
//! * s ≥ (8/w)·ln(8kt/β) and (4/w)·Δ²(d + 2 ln(16kt/β))/((1+γ)²h²): every component shows in every block, and its mean lies within the ball that
//!   the clustering of tuples wants, Δ = 8 + 12/γ;
//! * n ≥ s·t, (2υ + 2 ln(16k/β))/w for a learner that needs υ records, (2k²/η²)·ln(32k/β) for the sampling error of the weights and
//!   (4k/ε)(1 + 2k/η)·ln(8k/β) for their noise.
//!
//! h grows with n: what is returned is the least n that is enough for its own h. The printed sizes are too small in four places: `docs/proofs/gmm.md`.
//!
//! # Source
//!
//! Cohen, Kaplan, Mansour, Stemmer, Tsfadia 2021, Theorem 6.12 and Appendix B.3, mended.

use crate::error::ParamsError;
use crate::learner::normal_length;

/// What is assumed of the mixture and asked of the answer; all of it public.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Assumption {
    /// k.
    pub n_clusters: usize,
    /// d.
    pub dimension: usize,
    /// R: means are no further from the origin, in the units of the standard deviations.
    pub radius: f64,
    /// Least standard deviation of a component in any direction.
    pub sigma_min: f64,
    /// Largest standard deviation of a component in any direction.
    pub sigma_max: f64,
    /// Least weight.
    pub least_weight: f64,
    /// γ: means are (1 + γ)·h·σ apart, σ the larger of two components.
    pub gamma: f64,
    /// η: total variation distance that is asked for.
    pub distance: f64,
    /// β.
    pub failure_probability: f64,
}

/// What would be enough.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sizes {
    /// s, records per block.
    pub block_size: u64,
    /// t, blocks.
    pub n_blocks: u64,
    /// n, records for either stage.
    pub n_records: u64,
    /// h: separation in standard deviations, without the factor 1 + γ.
    pub separation: f64,
    /// Δ = 8 + 12/γ: how much farther apart than their radius the balls of tuples are.
    pub ratio: f64,
    /// r_min: least radius of a ball, in the units of the assumption.
    pub least_radius: f64,
    /// Λ: every point of a tuple is within it of the origin.
    pub bound: f64,
    /// What n is due to.
    pub limiting: Limit,
}

/// The term of the bound on n that is largest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Blocks: s·t.
    Blocks,
    /// Records of the smallest component for the learner.
    Learner,
    /// The sampling error of weights.
    WeightSampling,
    /// The noise of weights.
    WeightNoise,
}

/// The sizes of Theorem 6.12 for `n_blocks` tuples, a learner that needs `learner_records` in a cluster and counts released at `epsilon`.
///
/// # Errors
///
/// [`ParamsError`] for an assumption out of range, or if no number of records below 2^53 is enough.
pub fn sizes(
    assumption: Assumption,
    n_blocks: u64,
    learner_records: u64,
    epsilon: f64,
) -> Result<Sizes, ParamsError> {
    check(assumption, n_blocks, epsilon)?;
    // A larger n makes h larger and everything else that is asked for smaller: the least n that is enough for its own h.
    let enough = |n: u64| -> Result<bool, ParamsError> {
        let asked = round(assumption, n_blocks, learner_records, epsilon, n)?;
        Ok(asked.n_records <= n)
    };
    let (mut low, mut high) = (0, 1_u64);
    while !enough(high)? {
        (low, high) = (high, high.saturating_mul(2));
        if high > 1 << 53 {
            return Err(ParamsError::Infeasible);
        }
    }
    while high - low > 1 {
        let middle = low.midpoint(high);
        if enough(middle)? {
            high = middle;
        } else {
            low = middle;
        }
    }
    let sizes = round(assumption, n_blocks, learner_records, epsilon, high)?;
    Ok(Sizes {
        n_records: high,
        ..sizes
    })
}

/// The sizes with h for this n.
fn round(
    a: Assumption,
    n_blocks: u64,
    learner_records: u64,
    epsilon: f64,
    n: u64,
) -> Result<Sizes, ParamsError> {
    let (k, d, t) = (a.n_clusters as f64, a.dimension as f64, n_blocks as f64);
    let (w, beta, eta) = (a.least_weight, a.failure_probability, a.distance);
    let h = 2.0 * libm::sqrt(2.0 * libm::log(8.0 * n as f64 / beta));
    let ratio = 8.0 + 12.0 / a.gamma;
    let apart = (1.0 + a.gamma) * h;
    let present = 8.0 / w * libm::log(8.0 * k * t / beta);
    let spread = d + 2.0 * libm::log(16.0 * k * t / beta);
    let near = 4.0 / w * ratio * ratio * spread / (apart * apart);
    let block_size = whole(larger(present, near))?;
    let terms = [
        (block_size as f64 * t, Limit::Blocks),
        (
            (2.0 * learner_records as f64 + 2.0 * libm::log(16.0 * k / beta)) / w,
            Limit::Learner,
        ),
        (
            2.0 * k * k / (eta * eta) * libm::log(32.0 * k / beta),
            Limit::WeightSampling,
        ),
        (
            4.0 * k / epsilon * (1.0 + 2.0 * k / eta) * libm::log(8.0 * k / beta),
            Limit::WeightNoise,
        ),
    ];
    let mut most = terms[0];
    for term in terms {
        if term.0 > most.0 {
            most = term;
        }
    }
    Ok(Sizes {
        block_size,
        n_blocks,
        n_records: whole(most.0)?,
        separation: h,
        ratio,
        least_radius: apart / ratio * a.sigma_min,
        bound: a.radius + apart / ratio * a.sigma_max,
        limiting: most.1,
    })
}

/// Records with which [`CoinPress`](crate::learner::CoinPress)'s last round learns a Gaussian to within `distance`, but for probability
/// `failure_probability`, at ρ for that round: an estimate, once the clip fits.
///
/// By Pinsker's inequality the distance is at most ½√(‖δ‖² + ½‖E‖²), δ and E the whitened errors of mean and covariance. Sampling makes d/n and d(d + 1)/n of
/// the squares, noise d·g²/(2ρₛn²) and d²·g⁴/(2ρₚn²); a tail bound for χ² of as many degrees of freedom as there are parameters covers the chance.
///
/// # Errors
///
/// [`ParamsError`] for numbers out of range.
pub fn learner_records(
    dimension: usize,
    rho: f64,
    distance: f64,
    failure_probability: f64,
) -> Result<u64, ParamsError> {
    positive("rho", rho)?;
    range("distance", distance)?;
    range("failure_probability", failure_probability)?;
    let d = dimension as f64;
    let clip = normal_length(dimension, 0.1);
    let shares = crate::learner::round_shares(dimension);
    let parameters = d + d * (d + 1.0) / 2.0;
    let log = -libm::log(failure_probability) / parameters;
    let tail = 1.0 + 2.0 * libm::sqrt(log) + 2.0 * log;
    let error = |n: f64| {
        let noise = clip * clip / (2.0 * rho * n * n);
        let mean = d / n + d * noise / shares.0;
        let covariance = d * (d + 1.0) / n + d * d * noise * clip * clip / shares.1;
        0.5 * libm::sqrt((mean + 0.5 * covariance) * tail)
    };
    let mut n = 1.0;
    while error(n) > distance {
        n *= 2.0;
        if n > 2_f64.powi(52) {
            return Err(ParamsError::Infeasible);
        }
    }
    let (mut low, mut high) = (n / 2.0, n);
    while high - low > 1.0 {
        let middle = f64::midpoint(low, high);
        if error(middle) > distance {
            low = middle;
        } else {
            high = middle;
        }
    }
    whole(high)
}

fn check(a: Assumption, n_blocks: u64, epsilon: f64) -> Result<(), ParamsError> {
    for (name, got) in [
        ("n_clusters", a.n_clusters as u64),
        ("dimension", a.dimension as u64),
        ("n_blocks", n_blocks),
    ] {
        if got == 0 {
            return Err(ParamsError::Zero { name });
        }
    }
    positive("radius", a.radius)?;
    positive("sigma_min", a.sigma_min)?;
    positive("sigma_max", a.sigma_max)?;
    positive("gamma", a.gamma)?;
    positive("epsilon", epsilon)?;
    if a.sigma_min > a.sigma_max {
        return Err(ParamsError::Sigmas {
            least: a.sigma_min,
            most: a.sigma_max,
        });
    }
    range("least_weight", a.least_weight)?;
    range("distance", a.distance)?;
    range("failure_probability", a.failure_probability)
}

fn positive(name: &'static str, got: f64) -> Result<(), ParamsError> {
    if got > 0.0 && got.is_finite() {
        Ok(())
    } else {
        Err(ParamsError::NotPositive { name, got })
    }
}

fn range(name: &'static str, got: f64) -> Result<(), ParamsError> {
    let (low, high) = (0.0, 1.0);
    if got > low && got <= high {
        Ok(())
    } else {
        Err(ParamsError::Range {
            name,
            low,
            high,
            got,
        })
    }
}

fn larger(a: f64, b: f64) -> f64 {
    if b > a { b } else { a }
}

/// Rounds a size up.
fn whole(size: f64) -> Result<u64, ParamsError> {
    if !(0.0..2_f64.powi(53)).contains(&size) {
        return Err(ParamsError::Infeasible);
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "checked to be in range"
    )]
    let size = size.ceil() as u64;
    Ok(size)
}

#[cfg(test)]
mod tests;
