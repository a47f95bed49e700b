//! Private radii: a noisy histogram of distances to the nearest center.
//!
//! A distance is an exact integer: its square is a sum of squares of lattice units. A bin is named by the leading three bits of
//! that integer, so that bin edges are integers too, four bins to an octave: within a bin distances differ by at most 12 %.

use dp_core::{Confidential, Session};
use metric_space::{Frame, LatticeSource};

use super::plan::Spend;
use crate::dplloyd::step::LatticeCenters;
use crate::error::FitError;

/// Bits below the leading one that tell bins apart.
const FINE: u32 = 2;

/// The bin of a squared distance: which power of two it lies above, and its next two bits.
fn bin(squared: u64) -> usize {
    // One more, so that every number has a leading bit. Only in hundreds of thousands of columns are sums of squares cut off.
    let number = squared.saturating_add(1);
    let octave = number.ilog2();
    let below = ((u128::from(number) << FINE) >> octave) & ((1 << FINE) - 1);
    ((octave as usize) << FINE) | below as usize
}

/// The largest squared distance of a bin.
fn upper_edge(bin: usize) -> u64 {
    let octave = bin >> FINE;
    let next = (1_u128 << FINE) + (bin as u128 & ((1 << FINE) - 1)) + 1;
    let number = ((next << octave) - 1) >> FINE;
    u64::try_from(number).unwrap_or(u64::MAX).saturating_sub(1)
}

/// The domain's diameter in lattice units, rounded up: no distance is longer.
pub(super) fn largest(frame: &Frame) -> u64 {
    let units = frame.domain().diameter_scaled() * frame.lattice().units_per_one() as f64;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a positive number of at most a few thousand million"
    )]
    let units = units.ceil() as u64;
    units.max(1)
}

/// Released distances to the nearest of some centers.
#[derive(Clone, Debug)]
pub(super) struct Distances {
    /// Noisy counts by bin; noise below three standard deviations is 0.
    bins: Vec<f64>,
    largest: u64,
}

impl Distances {
    /// Releases the histogram: one pass.
    pub(super) fn release<S: LatticeSource>(
        source: &S,
        session: &mut Session<'_>,
        centers: &LatticeCenters,
        spend: Spend,
        purpose: &str,
    ) -> Result<Self, FitError> {
        let mechanism = spend.counts(session.relation())?;
        let largest = largest(source.frame());
        let n_bins = bin(largest.saturating_mul(largest)) + 1;
        let exact = histogram(source, centers, n_bins)?;
        let noisy = session.add_noise(&mechanism, purpose, &Confidential::new(exact))?;
        let least = 3.0 * mechanism.std_dev();
        let bins = noisy
            .into_iter()
            .map(|count| count as f64)
            .map(|count| if count > least { count } else { 0.0 })
            .collect();
        Ok(Self { bins, largest })
    }

    /// The radius within which a share of the records lies, in lattice units: the upper edge of a bin. The whole domain if
    /// no bin stands out of the noise.
    pub(super) fn quantile(&self, share: f64) -> u64 {
        let total: f64 = self.bins.iter().sum();
        if total <= 0.0 {
            return self.largest;
        }
        let mut below = 0.0;
        let at = self.bins.iter().position(|count| {
            below += count;
            below >= share * total
        });
        let squared = upper_edge(at.unwrap_or(self.bins.len() - 1));
        let root = squared.isqrt();
        (root + u64::from(root.saturating_mul(root) < squared)).clamp(1, self.largest)
    }
}

fn histogram<S: LatticeSource>(
    source: &S,
    centers: &LatticeCenters,
    n_bins: usize,
) -> Result<Vec<i64>, FitError> {
    let (bins, _) = source.fold(
        || (vec![0_i64; n_bins], Vec::new()),
        |(bins, labels), block| {
            labels.clear();
            labels.resize(block.len(), 0);
            centers.assign(block.rows, labels);
            for (i, &label) in labels.iter().enumerate() {
                let center = &centers.units[label as usize];
                let squared = (0..block.dimension).fold(0_u64, |sum, j| {
                    let x = u64::from((block.units(i, j) - center[j]).unsigned_abs());
                    sum.saturating_add(x * x)
                });
                bins[bin(squared).min(n_bins - 1)] += 1;
            }
        },
        |total, part| {
            for (total, part) in total.0.iter_mut().zip(part.0) {
                *total += part;
            }
        },
    )?;
    Ok(bins)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_are_intervals_that_follow_each_other() {
        let mut last = 0;
        for squared in
            (0..5_000_u64).chain((20..60).flat_map(|b| [(1 << b) - 1, 1 << b, (1 << b) + 1]))
        {
            let here = bin(squared);
            assert!(here >= last, "{squared}");
            assert!(squared <= upper_edge(here), "{squared} in bin {here}");
            assert!(
                here == 0 || squared > upper_edge(here - 1),
                "{squared} in bin {here}"
            );
            last = here;
        }
    }

    #[test]
    fn distances_within_a_bin_differ_by_an_eighth_at_most() {
        for b in 10..50 {
            for quarter in 0..4_u64 {
                let low = (4 + quarter) << b;
                assert_eq!(bin(low), bin(upper_edge(bin(low))));
                assert!((upper_edge(bin(low)) as f64 / low as f64).sqrt() < 1.125);
            }
        }
    }

    #[test]
    fn a_quantile_of_nothing_is_the_whole_domain() {
        let none = Distances {
            bins: vec![0.0; 9],
            largest: 77,
        };
        assert_eq!(none.quantile(0.5), 77);
    }
}
