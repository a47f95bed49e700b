//! Distance thresholds t₁ < t₂ < … < t_r, from public facts alone.

use metric_space::Power;

#[cfg(test)]
mod tests;

/// Radii t_i = (1 + ε)^(i−1)·Δ/n^(1/p), up to the first that reaches the diameter Δ.
#[derive(Clone, Debug, PartialEq)]
pub struct Thresholds {
    radii: Vec<f64>,
    diameter: f64,
}

impl Thresholds {
    /// Thresholds for a diameter Δ, a public size n, the power p of the objective and a quality ε.
    ///
    /// Their number is r = ⌈log_{1+ε}(n)/p⌉ + 1; the last one covers everything by definition. A diameter of zero leaves
    /// that one alone.
    #[must_use]
    pub fn new(diameter: f64, n: f64, power: Power, quality: f64) -> Self {
        let p = power.get();
        let n = if n > 1.0 { n } else { 1.0 };
        let steps = libm::log(n) / libm::log1p(quality) / p;
        // A hair below a whole number is that number: ⌈log₂ 8⌉ is 3.
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the logarithm of a float over that of 1 + ε: not negative, and cut"
        )]
        let steps = (steps - 1e-9).ceil().clamp(0.0, 1e6) as usize;
        let first = diameter / libm::pow(n, 1.0 / p);
        let radius = |i: usize| first * libm::pow(1.0 + quality, i as f64);
        let mut radii: Vec<f64> = if diameter > 0.0 {
            (0..steps).map(radius).collect()
        } else {
            Vec::new()
        };
        radii.push(f64::INFINITY);
        Self { radii, diameter }
    }

    /// Number of thresholds r.
    #[must_use]
    pub fn len(&self) -> usize {
        self.radii.len()
    }

    /// Never: the last threshold is always there.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.radii.is_empty()
    }

    /// The radii in order; the last, which covers everything, is ∞.
    #[must_use]
    pub fn radii(&self) -> &[f64] {
        &self.radii
    }

    /// t₁, or Δ if there is one threshold only.
    #[must_use]
    pub fn first(&self) -> f64 {
        let first = self.radii.first().copied().unwrap_or(self.diameter);
        if first < self.diameter {
            first
        } else {
            self.diameter
        }
    }
}

/// Picks per threshold: ⌈2k·ln(1/ε)⌉ (one at the last, which any ball covers).
#[must_use]
pub fn picks_per_threshold(n_clusters: usize, quality: f64) -> usize {
    let picks = 2.0 * n_clusters as f64 * -libm::log(quality);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a cast saturates; the value is not negative"
    )]
    let picks = picks.ceil() as usize;
    picks.max(1)
}

/// The ε at which the bound's divisor 1 − ε(1 + ε)^p is zero: qualities must lie below.
#[must_use]
pub fn quality_limit(power: Power) -> f64 {
    let (mut low, mut high) = (0.0_f64, 1.0_f64);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if middle * libm::pow(1.0 + middle, power.get()) < 1.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}
