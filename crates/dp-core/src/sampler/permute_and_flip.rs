//! The permute-and-flip choice.

use dashu_int::UBig;
use dashu_ratio::RBig;
use rand::RngCore;

use super::bernoulli_exp::{ZONE, below_exp};
use super::uniform::below_u64;
use crate::rng::NoiseRng;

/// Visits the items in random order and takes the first whose coin, Bernoulli(exp(η·(sᵢ − max))), shows
/// heads.
///
/// Exact, for integer scores and a rational η ≥ 0 (a negative one counts as 0); `None` without items. The
/// best item's coin always shows heads. At most n coins, O(n) memory.
///
/// Source: McKenna, Sheldon, "Permute-and-flip: a new mechanism for differentially private selection",
/// NeurIPS 2020, Algorithm 1.
#[must_use]
pub fn select<R: NoiseRng + ?Sized>(scores: &[i64], eta: &RBig, rng: &mut R) -> Option<usize> {
    flip_in_order(scores, eta, ZONE, rng)
}

fn flip_in_order<R: RngCore + ?Sized>(
    scores: &[i64],
    eta: &RBig,
    zone: u64,
    rng: &mut R,
) -> Option<usize> {
    let best = *scores.iter().max()?;
    let rate = eta.to_f64().value();
    let mut waiting: Vec<usize> = (0..scores.len()).collect();
    while !waiting.is_empty() {
        let place = below_u64(waiting.len() as u64, rng);
        let item = waiting.swap_remove(usize::try_from(place).unwrap_or(0));
        let distance = best.abs_diff(scores[item]);
        if distance == 0 || *eta <= RBig::ZERO {
            return Some(item);
        }
        // Three roundings of 2^-53 each: exp(-γ) moves by at most 3.01·γ·exp(-γ)·2^-53 < 2^-52. Both factors
        // are positive, so no NaN; infinity means exp(-γ) = 0 to 64 bits.
        let approx = rate * distance as f64;
        let gamma = || eta * RBig::from(UBig::from(distance));
        let head = rng.next_u64();
        if below_exp(head, approx, zone, gamma, rng) {
            return Some(item);
        }
    }
    None
}

#[cfg(test)]
mod tests;
