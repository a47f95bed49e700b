//! Report noisy max with discrete Laplace noise.

use dashu_base::Inverse;
use dashu_ratio::RBig;
use rand::RngCore;

use super::DiscreteLaplace;
use super::uniform::below_u64;
use crate::rng::NoiseRng;

/// The item with the largest sᵢ + Zᵢ, where the Zᵢ are independent discrete Laplace noise of scale 1/η.
///
/// Ties go to the lowest index; without items there is no choice. An η at or below zero means noise without
/// bound, hence a uniform choice. Exact up to the saturation of sums at `i128`.
///
/// Source: Dwork, Roth, "The algorithmic foundations of differential privacy", 2014, section 3.3 (the noise
/// here is discrete).
#[must_use]
pub fn select<R: NoiseRng + ?Sized>(scores: &[i64], eta: &RBig, rng: &mut R) -> Option<usize> {
    draw(scores, eta, rng)
}

fn draw<R: RngCore + ?Sized>(scores: &[i64], eta: &RBig, rng: &mut R) -> Option<usize> {
    if scores.is_empty() {
        return None;
    }
    if *eta <= RBig::ZERO {
        return usize::try_from(below_u64(scores.len() as u64, rng)).ok();
    }
    let noise = DiscreteLaplace::new(eta.clone().inv()).ok()?;
    let mut best: Option<(i128, usize)> = None;
    for (item, &score) in scores.iter().enumerate() {
        let noisy = i128::from(score).saturating_add(noise.draw(rng));
        if best.is_none_or(|(largest, _)| noisy > largest) {
            best = Some((noisy, item));
        }
    }
    best.map(|(_, item)| item)
}

#[cfg(test)]
mod tests;
