//! Exact laws of what the door draws, by enumeration or in closed form, in plain floats: for small parameters.
//!
//! Written from the definitions, not from the samplers.

use std::collections::BTreeMap;

/// A law on the integers as a finite table; what lies beyond has probability below 1e-18.
#[derive(Clone, Debug, Default)]
pub struct Law(BTreeMap<i128, f64>);

impl Law {
    /// Mass proportional to exp(−|x|/scale).
    #[must_use]
    pub fn laplace(scale: f64) -> Self {
        Self::proportional(scale * 45.0, |x| (-x.abs() / scale).exp())
    }

    /// Mass proportional to exp(−x²/(2σ²)).
    #[must_use]
    pub fn gaussian(variance: f64) -> Self {
        Self::proportional(variance.sqrt() * 10.0 + 2.0, |x| {
            (-x * x / (2.0 * variance)).exp()
        })
    }

    fn proportional(reach: f64, mass: impl Fn(f64) -> f64) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "a small reach")]
        let reach = reach.ceil() as i128;
        let masses: Vec<(i128, f64)> = (-reach..=reach).map(|x| (x, mass(x as f64))).collect();
        let total: f64 = masses.iter().map(|(_, mass)| mass).sum();
        Self(
            masses
                .into_iter()
                .map(|(x, mass)| (x, mass / total))
                .collect(),
        )
    }

    /// P(X = x).
    #[must_use]
    pub fn mass(&self, x: i128) -> f64 {
        self.0.get(&x).copied().unwrap_or(0.0)
    }

    /// P(X ≤ x).
    #[must_use]
    pub fn cdf(&self, x: i128) -> f64 {
        self.0.range(..=x).map(|(_, mass)| mass).sum()
    }

    /// P(X ≥ x).
    #[must_use]
    pub fn upper(&self, x: i128) -> f64 {
        self.0.range(x..).map(|(_, mass)| mass).sum()
    }

    /// All values with their masses.
    pub fn iter(&self) -> impl Iterator<Item = (i128, f64)> {
        self.0.iter().map(|(&x, &mass)| (x, mass))
    }

    /// P(X ≤ x) by lookup, for many x.
    #[must_use]
    pub fn sums(&self) -> Sums {
        let mut total = 0.0;
        Sums(
            self.0
                .iter()
                .map(|(&x, mass)| {
                    total += mass;
                    (x, total)
                })
                .collect(),
        )
    }
}

/// Cumulated masses.
#[derive(Clone, Debug)]
pub struct Sums(BTreeMap<i128, f64>);

impl Sums {
    /// P(X ≤ x).
    #[must_use]
    pub fn cdf(&self, x: i128) -> f64 {
        self.0.range(..=x).next_back().map_or(0.0, |(_, sum)| *sum)
    }
}

/// P(i) ∝ exp(η·score).
#[must_use]
pub fn exponential(scores: &[i64], eta: f64) -> Vec<f64> {
    let weights: Vec<f64> = scores.iter().map(|&s| (eta * s as f64).exp()).collect();
    let total: f64 = weights.iter().sum();
    weights.into_iter().map(|weight| weight / total).collect()
}

/// Candidates in random order, each accepted with probability exp(η·(score − best)): by recursion over sets.
#[must_use]
pub fn permute_and_flip(scores: &[i64], eta: f64) -> Vec<f64> {
    let best = scores.iter().copied().max().unwrap_or(0);
    let accept: Vec<f64> = scores
        .iter()
        .map(|&s| (eta * (s - best) as f64).exp())
        .collect();
    let mut law = vec![0.0; scores.len()];
    // Probability that exactly these candidates were refused so far.
    let mut reached = vec![0.0; 1 << scores.len()];
    reached[0] = 1.0;
    for refused in 0..reached.len() {
        let left: Vec<usize> = (0..scores.len())
            .filter(|i| refused >> i & 1 == 0)
            .collect();
        for &i in &left {
            let turn = reached[refused] / left.len() as f64;
            law[i] += turn * accept[i];
            reached[refused | 1 << i] += turn * (1.0 - accept[i]);
        }
    }
    law
}

/// The largest score after discrete Laplace noise of scale 1/η, ties to the lowest index.
#[must_use]
pub fn noisy_max(scores: &[i64], eta: f64) -> Vec<f64> {
    let law = Law::laplace(1.0 / eta);
    let sums = law.sums();
    let wins = |i: usize| {
        law.iter()
            .map(|(x, mass)| {
                let level = i128::from(scores[i]) + x;
                let others = scores.iter().enumerate().filter(|(j, _)| *j != i);
                let below = others.map(|(j, &score)| {
                    let most = level - i128::from(score) - i128::from(j < i);
                    sums.cdf(most)
                });
                mass * below.product::<f64>()
            })
            .sum()
    };
    (0..scores.len()).map(wins).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn laws_have_mass_one_and_known_values() {
        let laplace = Law::laplace(2.0);
        // (1 − q)/(1 + q)·q^|x| with q = e^(−1/2).
        let q = (-0.5_f64).exp();
        assert!((laplace.mass(3) - (1.0 - q) / (1.0 + q) * q.powi(3)).abs() < 1e-14);
        assert!((laplace.cdf(4) + laplace.upper(5) - 1.0).abs() < 1e-12);
        assert!((laplace.sums().cdf(4) - laplace.cdf(4)).abs() < 1e-12);
        for law in [
            exponential(&[3, 0, -1], 0.7),
            permute_and_flip(&[3, 0, -1], 0.7),
            noisy_max(&[3, 0, -1], 0.7),
        ] {
            assert!((law.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            assert!(law[0] > law[1] && law[1] > law[2]);
        }
        // Two equal scores: half each but for noisy max, where ties go to the first.
        assert!((permute_and_flip(&[5, 5], 1.0)[0] - 0.5).abs() < 1e-15);
        assert!(noisy_max(&[5, 5], 1.0)[0] > 0.5);
    }
}
