//! Total variation between mixtures: by quadrature in one column, by Monte Carlo with a stated error else.

use rand::Rng;

use super::{GaussianMixture, log_sum_exp};

/// An estimate of a total variation distance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TotalVariation {
    /// The estimate, in [0, 1].
    pub value: f64,
    /// Its standard error; 0 where it was computed by quadrature.
    pub std_error: f64,
}

impl GaussianMixture {
    /// Total variation distance to another mixture over the same columns.
    ///
    /// One column: the trapezoidal rule on a grid over all components' ±12 standard deviations, 2^16 points. More columns: half of
    /// `n_draws` records from each mixture, TV = E|p − q|/(p + q) over their even mixture; each term lies in [0, 1].
    ///
    /// None if the mixtures have different numbers of columns.
    pub fn total_variation<R: Rng + ?Sized>(
        &self,
        other: &Self,
        n_draws: usize,
        rng: &mut R,
    ) -> Option<TotalVariation> {
        if self.dimension() != other.dimension() {
            return None;
        }
        Some(if self.dimension() == 1 {
            TotalVariation {
                value: quadrature(self, other),
                std_error: 0.0,
            }
        } else {
            monte_carlo(self, other, n_draws.max(2), rng)
        })
    }
}

fn quadrature(first: &GaussianMixture, second: &GaussianMixture) -> f64 {
    const POINTS: u32 = 1 << 16;
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for mixture in [first, second] {
        for component in 0..mixture.n_components() {
            let mean = mixture.means()[[component, 0]];
            let reach = 12.0 * mixture.covariances()[[component, 0, 0]].sqrt();
            low = if mean - reach < low {
                mean - reach
            } else {
                low
            };
            high = if mean + reach > high {
                mean + reach
            } else {
                high
            };
        }
    }
    let step = (high - low) / f64::from(POINTS);
    let gap = |i: u32| {
        let x = [low + f64::from(i) * step];
        (first.log_density(&x).exp() - second.log_density(&x).exp()).abs()
    };
    let inner: f64 = (1..POINTS).map(gap).sum();
    (0.5 * step * (inner + 0.5 * (gap(0) + gap(POINTS)))).clamp(0.0, 1.0)
}

fn monte_carlo<R: Rng + ?Sized>(
    first: &GaussianMixture,
    second: &GaussianMixture,
    n_draws: usize,
    rng: &mut R,
) -> TotalVariation {
    let (mut sum, mut squares, mut n) = (0.0, 0.0, 0.0);
    for mixture in [first, second] {
        let (records, _) = mixture.sample(n_draws.div_ceil(2), rng);
        for record in records.rows() {
            let record = record.to_vec();
            let (p, q) = (first.log_density(&record), second.log_density(&record));
            let both = log_sum_exp(&[p, q]);
            let term = ((p - both).exp() - (q - both).exp()).abs();
            sum += term;
            squares += term * term;
            n += 1.0;
        }
    }
    let mean: f64 = sum / n;
    let variance = (squares / n - mean * mean).clamp(0.0, 1.0);
    TotalVariation {
        value: mean.clamp(0.0, 1.0),
        std_error: (variance / n).sqrt(),
    }
}
