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

/// The candidates in lattice units.
fn candidates(one: i64) -> impl Iterator<Item = i64> {
    let last = LAST_CANDIDATE;
    (0..=last).map(move |i| 2 * one * i / last - one)
}

/// A private quantile of one coordinate of the blocks' centers, in lattice units.
///
/// The score of a candidate x is −|#{values < x} − round(quantile·ℓ)|, an integer.
pub(super) fn quantile(
    session: &mut Session<'_>,
    mechanism: &SelectionMechanism,
    sorted: &[i64],
    quantile: f64,
    one: i64,
) -> Result<i64, FitError> {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "at most the number of blocks"
    )]
    let target = (quantile * sorted.len() as f64).round() as i64;
    let scores: Vec<i64> = candidates(one)
        .map(|x| {
            let rank = sorted.partition_point(|&value| value < x);
            let rank = i64::try_from(rank).unwrap_or(i64::MAX);
            -(rank - target).abs()
        })
        .collect();
    let chosen = session.select(
        mechanism,
        "end of a range",
        &Confidential::new(scores),
        None,
    )?;
    Ok(candidates(one).nth(chosen).unwrap_or(one))
}
