//! The numbers of one call through the door: what the adversary of a black-box attack sees of them, and how far they move between neighbors.

use std::collections::{BTreeMap, BTreeSet};

use dp_core::Value;
use dp_core::sensitivity::Sensitivity;
use dp_core::tape::{Call, Output, Statistic};

/// Where nothing was released.
pub(super) const NOTHING: i32 = i32::MIN;

/// Where in the output of one call a number stands.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    /// A coordinate of a vector; 0 for a choice.
    At(usize),
    /// The count of a key.
    Key(Vec<i64>),
}

/// How far a number's statistic moves, in standard deviations of its noise (selections: by how much the logarithms of odds do).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Move {
    pub(super) size: f64,
    /// With its sign; zero for a selection, which has no direction.
    pub(super) signed: f64,
}

/// Whether a call's output may be released: coins stay private, and so does every draw whose bound is a theorem (secret samples, which tuples
/// pass a test).
///
/// The order in which an aggregator asks about its clusters is private, too, and seen here all the same: on the neighbors of the audit it does not
/// change. If a bound there were above the promise, this would be the first thing to look at.
fn is_released(call: &Call) -> bool {
    call.event.sensitivity != Sensitivity::ByTheorem && !matches!(call.output, Output::Coins(_))
}

/// The numbers of one call, and by how much their statistics differ.
pub(super) fn moved(call: &Call, other: &Statistic) -> Vec<(Place, Move)> {
    if !is_released(call) {
        return Vec::new();
    }
    let choice = |width: f64| {
        let moved = Move {
            size: eta(call) * width,
            signed: 0.0,
        };
        vec![(Place::At(0), moved)]
    };
    let unit = std_dev(call);
    let number = |change: i128| {
        let signed = change as f64 / unit;
        Move {
            size: signed.abs(),
            signed,
        }
    };
    match (&call.statistic, other, &call.output) {
        (Statistic::Steps(a), Statistic::Steps(b), _) => choice(step_width(a, b)),
        (Statistic::Integers(a), Statistic::Integers(b), Output::Choice(_)) => {
            let changes = a.iter().zip(b).map(|(a, b)| a.saturating_sub(*b));
            choice(width(changes))
        }
        (Statistic::Integers(a), Statistic::Integers(b), _) => {
            let pairs = a.iter().zip(b).enumerate();
            pairs
                .map(|(at, (a, b))| (Place::At(at), number(a.saturating_sub(*b))))
                .collect()
        }
        (Statistic::Keyed(a), Statistic::Keyed(b), _) => {
            let keys: BTreeSet<&Vec<i64>> = a.keys().chain(b.keys()).collect();
            let count = |map: &BTreeMap<Vec<i64>, i64>, key| {
                map.get(key).copied().map_or(0_i128, i128::from)
            };
            keys.into_iter()
                .map(|key| {
                    (
                        Place::Key(key.clone()),
                        number(count(a, key) - count(b, key)),
                    )
                })
                .collect()
        }
        _ => Vec::new(),
    }
}

/// One number as the adversary sees it.
pub(super) fn read(call: &Call, place: &Place) -> i32 {
    let number = match (&call.statistic, &call.output, place) {
        _ if !is_released(call) => None,
        // A point of a grid: in which eighth it lies. Finer outcomes would be seen once each.
        (Statistic::Steps(steps), Output::Integers(values), Place::At(at)) => {
            let length: u64 = steps.iter().map(|&(length, _)| length).sum();
            let eighth = |x: &i128| i32::try_from(8 * x / i128::from(length.max(1))).ok();
            values.get(*at).and_then(eighth)
        }
        (_, Output::Choice(choice), Place::At(_)) => {
            choice.map(|i| i32::try_from(i).unwrap_or(i32::MAX))
        }
        _ => value(call, place).map(|value| halves(value / spread(call).unwrap_or(1.0))),
    };
    number.unwrap_or(NOTHING)
}

/// A number with noise, if there is one here that is released.
pub(super) fn value(call: &Call, place: &Place) -> Option<f64> {
    let value = match (&call.output, place) {
        _ if !is_released(call) || matches!(call.statistic, Statistic::Steps(_)) => None,
        (Output::Integers(values), Place::At(at)) => values.get(*at),
        (Output::Keyed(values), Place::Key(key)) => values.get(key),
        _ => None,
    };
    value.map(|&value| value as f64)
}

/// The nearest half.
pub(super) fn halves(x: f64) -> i32 {
    #[expect(clippy::cast_possible_truncation, reason = "clamped")]
    let halves = (2.0 * x).round().clamp(-1e9, 1e9) as i32;
    halves
}

/// Standard deviation of the noise where an event says it, or scale.
fn spread(call: &Call) -> Option<f64> {
    real(call, "std_dev").or_else(|| real(call, "scale"))
}

/// About the standard deviation of the noise.
pub(super) fn std_dev(call: &Call) -> f64 {
    let of_scale = || real(call, "scale").map(|scale| scale * core::f64::consts::SQRT_2);
    real(call, "std_dev").or_else(of_scale).unwrap_or(1.0)
}

/// The factor on the scores of a selection.
fn eta(call: &Call) -> f64 {
    real(call, "eta").unwrap_or(1.0)
}

fn real(call: &Call, name: &str) -> Option<f64> {
    match call.event.parameters.get(name) {
        Some(Value::Real(value)) if *value > 0.0 => Some(*value),
        _ => None,
    }
}

/// Width of the interval that holds all changes: a shift that is common to all scores cancels.
fn width(changes: impl Iterator<Item = i128> + Clone) -> f64 {
    let (low, high) = (changes.clone().min(), changes.max());
    high.unwrap_or(0).abs_diff(low.unwrap_or(0)) as f64
}

/// The same for two step functions on one grid.
fn step_width(first: &[(u64, i64)], second: &[(u64, i64)]) -> f64 {
    let ends = |steps: &[(u64, i64)]| -> Vec<(u64, i64)> {
        let mut end = 0_u64;
        let mut ends = Vec::with_capacity(steps.len());
        for &(length, score) in steps.iter().filter(|(length, _)| *length > 0) {
            end = end.saturating_add(length);
            ends.push((end, score));
        }
        ends
    };
    let (first, second) = (ends(first), ends(second));
    // The functions are constant between any two ends: one point of each piece will do.
    let at = |steps: &[(u64, i64)], end: u64| {
        let step = steps.partition_point(|&(other, _)| other < end);
        steps.get(step).map(|&(_, score)| i128::from(score))
    };
    let both = first.iter().chain(&second).filter_map(|&(end, _)| {
        let (a, b) = (at(&first, end)?, at(&second, end)?);
        Some(a - b)
    });
    width(both)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn step_functions_are_compared_piece_by_piece() {
        // Differences −1, 4 and 1 on three pieces; a step without points has no value anywhere.
        let first = [(3, 0), (0, 99), (2, 5)];
        assert!((step_width(&first, &[(4, 1), (1, 4)]) - 5.0).abs() < 1e-12);
        assert!(step_width(&first, &[(3, 7), (2, 12)]).abs() < 1e-12);
    }
}
