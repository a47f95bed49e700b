//! Laws of the mechanisms as they come out of the door, against laws enumerated from the definitions.
//!
//! The samplers have tests of their own in `dp-core`; these start from (sensitivity, ε) and end at the released value, so they see
//! a wrong calibration too. Every check has a false-positive rate of at most 1e-9 per seed; the zoo shows that each can fail.

use std::collections::BTreeMap;

use dp_core::mechanism::{
    AdditiveMechanism, SelectionMechanism, SelectionRule, ThresholdMechanism,
};
use dp_core::rng::InsecureSeededRng;
use dp_core::sensitivity::{L1Sensitivity, L2Sensitivity, ScoreWidth};
use dp_core::{Confidential, Delta, Epsilon, NeighboringRelation, Rho, Session};
use testkit::rates::{
    allowed_gap, binomial_lower_tail, binomial_upper_tail, implausible_cell, largest_gap,
};

use crate::laws::{self, Law};
use crate::subjects::budget;

const RATE: f64 = 1e-9;
const ADD: NeighboringRelation = NeighboringRelation::AddRemove;

/// ε, known to be valid.
pub(crate) fn epsilon(nats: f64) -> Epsilon {
    Epsilon::new(nats).expect("a positive constant")
}

/// A session that may spend anything, for draws by the thousand.
pub(crate) fn rich(rng: &mut InsecureSeededRng) -> Session<'_> {
    Session::new(budget(1e9, 0.5), ADD, rng)
}

/// Δ₁ = 3 at ε = 0.5: scale 6.
pub(crate) fn laplace(sensitivity: u64, nats: f64) -> AdditiveMechanism {
    let bound = L1Sensitivity::new(sensitivity).expect("at least one");
    AdditiveMechanism::laplace(bound, epsilon(nats)).expect("a drawable scale")
}

pub(crate) fn gaussian(squared: u128, rho: f64) -> AdditiveMechanism {
    let bound = L2Sensitivity::from_squared(squared).expect("at least one");
    let rho = Rho::new(rho).expect("a positive constant");
    AdditiveMechanism::gaussian(bound, rho).expect("a drawable scale")
}

pub(crate) fn selection(rule: SelectionRule, width: u64, nats: f64) -> SelectionMechanism {
    let width = ScoreWidth::new(width).expect("at least one");
    SelectionMechanism::calibrate(rule, width, epsilon(nats))
}

/// Releases zeros: pure noise, in vectors of 100.
fn noise(mechanism: &AdditiveMechanism, count: usize, seed: u64) -> Result<Vec<i128>, String> {
    let zeros = Confidential::new(vec![0; 100]);
    let mut all = Vec::with_capacity(count);
    let mut rng = InsecureSeededRng::new(seed);
    while all.len() < count {
        let mut session = rich(&mut rng);
        let drawn = session.add_noise(mechanism, "audit", &zeros);
        all.extend(drawn.map_err(|error| error.to_string())?);
    }
    Ok(all)
}

/// Discrete Laplace noise has scale Δ₁/ε (DKW).
///
/// # Errors
///
/// The gap, if it is too large.
pub fn laplace_law(draws: usize) -> Result<(), String> {
    laplace_gap(draws, 1.0)
}

/// [`laplace_law`] against a scale that is wrong by a factor.
///
/// # Errors
///
/// The gap, if it is too large.
pub fn laplace_gap(draws: usize, factor: f64) -> Result<(), String> {
    let law = Law::laplace(factor * 3.0 / 0.5).sums();
    gap(
        noise(&laplace(3, 0.5), draws, 11)?,
        |x| law.cdf(x),
        "scale 6",
    )
}

/// Discrete Gaussian noise has variance Δ₂²/(2ρ) (DKW).
///
/// # Errors
///
/// The gap, if it is too large.
pub fn gaussian_law(draws: usize) -> Result<(), String> {
    gaussian_gap(draws, 1.0)
}

/// [`gaussian_law`] against a standard deviation that is wrong by a factor.
///
/// # Errors
///
/// The gap, if it is too large.
pub fn gaussian_gap(draws: usize, factor: f64) -> Result<(), String> {
    let law = Law::gaussian(factor * factor * 50.0 / (2.0 * 0.5)).sums();
    gap(
        noise(&gaussian(50, 0.5), draws, 12)?,
        |x| law.cdf(x),
        "variance 50",
    )
}

fn gap(draws: Vec<i128>, cdf: impl Fn(i128) -> f64, law: &str) -> Result<(), String> {
    let allowed = allowed_gap(draws.len(), RATE);
    let gap = largest_gap(draws, cdf);
    if gap <= allowed {
        Ok(())
    } else {
        Err(format!(
            "gap {gap:.5} to the law of {law}, allowed {allowed:.5}"
        ))
    }
}

/// Coordinates of a vector, and calls one after another, have noise of their own: equal as often as independent ones (exact
/// binomial).
///
/// # Errors
///
/// How often they were equal.
pub fn independent_noise(vectors: usize) -> Result<(), String> {
    let mechanism = laplace(1, 0.5);
    let law = Law::laplace(2.0);
    let equal: f64 = law.iter().map(|(_, mass)| mass * mass).sum();
    let pair = Confidential::new(vec![0, 0]);
    let mut rng = InsecureSeededRng::new(13);
    let (mut inside, mut across) = (0_u64, 0_u64);
    for _ in 0..vectors {
        let mut session = rich(&mut rng);
        let mut release = || {
            let noisy = session.add_noise(&mechanism, "audit", &pair);
            noisy.map_err(|error| error.to_string())
        };
        let (first, second) = (release()?, release()?);
        inside += u64::from(first[0] == first[1]);
        across += u64::from(first[0] == second[0]);
    }
    for (count, what) in [(inside, "coordinates"), (across, "calls")] {
        let n = vectors as u64;
        let tail = binomial_upper_tail(count, n, equal) < RATE / 4.0
            || binomial_lower_tail(count, n, equal) < RATE / 4.0;
        if tail {
            return Err(format!(
                "{what} have equal noise {count} of {n} times, expected {:.0}",
                equal * n as f64
            ));
        }
    }
    Ok(())
}

/// Each selection rule follows its law at η = ε/w (exact binomial per cell).
///
/// # Errors
///
/// The rule and the candidate.
pub fn selection_laws(draws: usize) -> Result<(), String> {
    let scores = [0_i64, 2, 1, 4];
    let eta = 1.0 / 2.0;
    let rules = [
        (SelectionRule::Exponential, laws::exponential(&scores, eta)),
        (
            SelectionRule::PermuteAndFlip,
            laws::permute_and_flip(&scores, eta),
        ),
        (SelectionRule::NoisyMax, laws::noisy_max(&scores, eta)),
    ];
    let confidential = Confidential::new(scores.to_vec());
    for (rule, law) in rules {
        let mechanism = selection(rule, 2, 1.0);
        let mut rng = InsecureSeededRng::new(14);
        let mut counts = [0_u64; 4];
        for _ in 0..draws {
            let mut session = rich(&mut rng);
            let chosen = session.select(&mechanism, "audit", &confidential, None);
            counts[chosen.map_err(|error| error.to_string())?] += 1;
        }
        if let Some(cell) = implausible_cell(&counts, &law, RATE / 3.0) {
            return Err(format!(
                "{rule:?} chose candidate {cell} {counts:?}, law {law:.4?}"
            ));
        }
    }
    Ok(())
}

/// A key that occurs once is released with probability at most δ, one that does not occur never (exact binomial).
///
/// # Errors
///
/// How often it was released.
pub fn threshold_law(draws: usize) -> Result<(), String> {
    let delta = 0.01;
    let mechanism = ThresholdMechanism::calibrate(epsilon(1.0), Delta::new(delta).expect("valid"))
        .map_err(|error| error.to_string())?;
    let counts = Confidential::new(BTreeMap::from([(vec![1], 1), (vec![2], 0), (vec![3], 40)]));
    let mut rng = InsecureSeededRng::new(15);
    let mut once = 0_u64;
    for _ in 0..draws {
        let mut session = rich(&mut rng);
        let released = session
            .threshold(&mechanism, "audit", &counts)
            .map_err(|error| error.to_string())?;
        once += u64::from(released.contains_key([1].as_slice()));
        if released.contains_key([2].as_slice()) || !released.contains_key([3].as_slice()) {
            return Err("a key that does not occur, or not one that occurs often".to_owned());
        }
    }
    if binomial_upper_tail(once, draws as u64, delta) < RATE {
        return Err(format!("a single key was released {once} of {draws} times"));
    }
    Ok(())
}

/// The first values of fixed seeds, so that a change of the samplers' use of randomness is seen.
///
/// # Errors
///
/// The values that came out.
pub fn stable_values() -> Result<(), String> {
    let laplace = noise(&laplace(3, 0.5), 100, 1)?;
    let gaussian = noise(&gaussian(50, 0.5), 100, 1)?;
    let found = (&laplace[..8], &gaussian[..8]);
    let expected: (&[i128], &[i128]) = (&LAPLACE, &GAUSSIAN);
    if found == expected {
        Ok(())
    } else {
        Err(format!("seed 1 gives {found:?}"))
    }
}

const LAPLACE: [i128; 8] = [3, 5, 5, 2, -8, -8, -5, -2];
const GAUSSIAN: [i128; 8] = [4, -3, -10, -11, 1, 0, 10, -3];
