//! The range of a coordinate over the blocks, by the exponential mechanism.

use dp_core::mechanism::{SelectionMechanism, SelectionRule};
use dp_core::sensitivity::ScoreWidth;
use dp_core::{Confidential, Epsilon, Session};

use crate::error::{FitError, ParamsError};

/// Ends of ranges are chosen among so many public values, evenly spread over [-1, 1].
pub const N_RANGE_CANDIDATES: usize = 1025;

/// Number of the last one.
pub(super) const LAST_CANDIDATE: i64 = 1024;

/// Changing one block moves the rank of a value by at most one, up or down: scores change within an interval of width 2.
pub(super) fn mechanism(epsilon: Epsilon) -> Result<SelectionMechanism, ParamsError> {
    let width = ScoreWidth::new(2).map_err(|_| ParamsError::BudgetTooSmall { steps: 1 })?;
    Ok(SelectionMechanism::calibrate(
        SelectionRule::Exponential,
        width,
        epsilon,
    ))
}

/// A candidate in lattice units.
const fn candidate(i: i64, one: i64) -> i64 {
    2 * one * i / LAST_CANDIDATE - one
}

/// A private quantile of one coordinate of the blocks' centers, in lattice units.
///
/// The score of a candidate x is −|#{values < x} − round(quantile·ℓ)|, an integer, and the same between two values.
pub(super) fn quantile(
    session: &mut Session<'_>,
    mechanism: &SelectionMechanism,
    sorted: &[i64],
    quantile: f64,
    one: i64,
) -> Result<i64, FitError> {
    let chosen = session.choose_on_grid(
        mechanism,
        "end of a range",
        &Confidential::new(steps(sorted, quantile, one)),
    )?;
    let chosen = i64::try_from(chosen).unwrap_or(LAST_CANDIDATE);
    Ok(candidate(chosen, one))
}

/// How many candidates have a score, and the score, in the order of the candidates.
///
/// ℓ + 1 entries, some of no length where values are equal or near: the time of the choice follows from the number of blocks.
fn steps(sorted: &[i64], quantile: f64, one: i64) -> Vec<(u64, i64)> {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "at most the number of blocks"
    )]
    let target = (quantile * sorted.len() as f64).round() as i64;
    let ends = sorted.iter().copied().chain([i64::MAX]);
    let mut next = 0;
    let step = |(rank, end): (i64, i64)| {
        // Those above the value before and up to this one have so many values below them.
        let from = next;
        while next <= LAST_CANDIDATE && candidate(next, one) <= end {
            next += 1;
        }
        ((next - from).unsigned_abs(), -(rank - target).abs())
    };
    (0..).zip(ends).map(step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ranks by definition, candidate by candidate.
    #[test]
    fn steps_are_the_scores_of_the_candidates() {
        let one = 1 << 12;
        let whole = |count: usize| i64::try_from(count).expect("few");
        for sorted in [
            vec![],
            vec![-one],
            vec![one],
            vec![-one, -7, -7, -1, 0, 0, 5, 8, 9, 4000, one],
            (-300_i64..300).map(|x| x * x * x.signum()).collect(),
        ] {
            for quarters in 0..=4 {
                let quantile = quarters as f64 / 4.0;
                // Halves are rounded up.
                let target = (2 * whole(sorted.len()) * quarters + 4) / 8;
                let by_definition = (0..=LAST_CANDIDATE).map(|i| {
                    let below = sorted.iter().filter(|&&value| value < candidate(i, one));
                    -(whole(below.count()) - target).abs()
                });
                let steps = steps(&sorted, quantile, one);
                assert_eq!(steps.len(), sorted.len() + 1);
                let expanded = steps
                    .iter()
                    .flat_map(|&(length, score)| (0..length).map(move |_| score));
                assert!(expanded.eq(by_definition));
            }
        }
    }
}
