//! Interior points and bounding segments on a public grid of a line.

use dp_core::mechanism::{SelectionMechanism, SelectionRule};
use dp_core::sensitivity::{ScoreWidth, Sensitivity};
use dp_core::session::Charge;
use dp_core::{Confidential, Epsilon, Session};

use super::Counted;

/// A public range [-Λ, Λ] of a line and the step of a grid on it, both in lattice units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// Λ, at least 1: values outside are moved inside.
    pub bound: i64,
    /// g, the distance of grid points, at least 1 and at most Λ.
    pub step: i64,
}

impl Range {
    /// Checks nothing, corrects instead: `bound` ≥ 1, 1 ≤ `step` ≤ `bound`.
    #[must_use]
    pub fn new(bound: i64, step: i64) -> Self {
        let bound = bound.clamp(1, 1 << 60);
        Self {
            bound,
            step: step.clamp(1, bound),
        }
    }

    /// Number of grid points -Λ, -Λ + g, … up to at least Λ.
    #[must_use]
    pub const fn n_points(self) -> u64 {
        (2 * self.bound)
            .unsigned_abs()
            .div_ceil(self.step.unsigned_abs())
            + 1
    }

    /// Index of the last grid point at or below a value of the range.
    fn left(self, x: i64) -> u64 {
        let offset = x.clamp(-self.bound, self.bound) + self.bound;
        (offset / self.step).unsigned_abs()
    }

    /// Index of the first grid point at or above a value of the range.
    fn right(self, x: i64) -> u64 {
        let offset = x.clamp(-self.bound, self.bound) + self.bound;
        offset.unsigned_abs().div_ceil(self.step.unsigned_abs())
    }

    /// The grid point with an index, in lattice units.
    fn point(self, index: u64) -> i64 {
        let index = i64::try_from(index).unwrap_or(i64::MAX);
        index.saturating_mul(self.step).saturating_sub(self.bound)
    }
}

/// q, the number of values at either end among which a bounding segment looks: ⌈(8/ε)·ln(4(Λ + g)/(gβ))⌉ + 1.
///
/// Twice the printed number, because each call has half of ε (point 2), and with Λ + g for the printed Λ, which counts the
/// grid's last point.
#[must_use]
pub fn needed_values(range: Range, epsilon: f64, failure_probability: f64) -> u64 {
    let points = 4.0 * (range.bound + range.step) as f64 / range.step as f64;
    let values = 8.0 / epsilon * libm::log(points / failure_probability);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "positive; `as` saturates"
    )]
    let values = values.ceil() as u64;
    values.saturating_add(1)
}

/// The quality min(#{left(x) ≤ y}, #{right(x) ≥ y}) of all grid points y, as steps: lengths and values.
///
/// It changes only where some left(x) or right(x) + 1 lies, so there are at most two steps per different grid point among the
/// values, and one.
pub(super) fn quality(values: &Counted, range: Range) -> Vec<(u64, i64)> {
    let end = range.n_points();
    // Grid points in order, with the number of values whose left (right) is there or before.
    let lefts = running(values.iter().map(|&(x, n)| (range.left(x), n)));
    let rights = running(values.iter().map(|&(x, n)| (range.right(x), n)));
    let up_to = |grid: &[(u64, u64)], y: u64| match grid.partition_point(|&(at, _)| at <= y) {
        0 => 0,
        found => grid[found - 1].1,
    };
    let mut cuts = vec![0, end];
    cuts.extend(lefts.iter().map(|&(left, _)| left));
    cuts.extend(rights.iter().map(|&(right, _)| right + 1));
    cuts.retain(|&cut| cut <= end);
    cuts.sort_unstable();
    cuts.dedup();
    let n = values.len();
    let steps = cuts.windows(2).map(|cut| {
        let before = match cut[0] {
            0 => 0,
            y => up_to(&rights, y - 1),
        };
        let quality = up_to(&lefts, cut[0]).min(n - before);
        (cut[1] - cut[0], i64::try_from(quality).unwrap_or(i64::MAX))
    });
    steps.collect()
}

/// Ascending grid points with the number of values up to each.
fn running(counts: impl Iterator<Item = (u64, u64)>) -> Vec<(u64, u64)> {
    let mut all: Vec<(u64, u64)> = Vec::new();
    let mut total = 0;
    for (at, n) in counts {
        total += n;
        match all.last_mut() {
            Some(last) if last.0 == at => last.1 = total,
            _ => all.push((at, total)),
        }
    }
    all
}

/// A grid point in [min − g, max + g] of the values, but for probability 2(Λ/g + 1)·e^(−εn/4).
///
/// # Privacy
///
/// ε for a **replaced** value: the quality of each grid point changes by at most 1, either way, so the scores' changes
/// have width 2 and the exponent is ε/2 (Proposition A.4). The weights are exp(εq/2) times the number of grid points, where
/// the text prints q times that number (point 1). For replays: the caller's theorem lets `n_changed` values differ.
pub fn interior_point(
    values: &Counted,
    range: Range,
    epsilon: Epsilon,
    (purpose, n_changed): (&str, u64),
    charge: &Charge,
    session: &mut Session<'_>,
) -> i64 {
    let steps = quality(values, range);
    let Ok(width) = ScoreWidth::new(2) else {
        return 0;
    };
    let mechanism = SelectionMechanism::calibrate(SelectionRule::Exponential, width, epsilon);
    // As printed: weights q·length, here by logarithms of q in units of 2^-20.
    let (mechanism, steps) = dp_core::planted!("ktuple-interior-weights": {
        let units = f64::from(1_u32 << 20);
        let Ok(fine) = Epsilon::new(2.0 / units) else { return 0 };
        #[expect(clippy::cast_possible_truncation, reason = "below 2^26")]
        let logarithm = |q: i64| if q > 0 { (libm::log(q as f64) * units).round() as i64 } else { i64::MIN >> 20 };
        let steps = steps.into_iter().map(|(length, q)| (length, logarithm(q)));
        (SelectionMechanism::calibrate(SelectionRule::Exponential, width, fine), steps.collect())
    }; (mechanism, steps));
    let steps = Confidential::new(steps);
    let moved = Sensitivity::Width(n_changed.saturating_mul(2));
    let point = session.choose_on_grid_charged(charge, &mechanism, purpose, moved, &steps);
    range.point(point.unwrap_or(0))
}

/// A segment [x, y] that holds all but 2(q − 1) values and is at most 4g longer than their own range, but for probability β.
///
/// # Privacy
///
/// ε when a value is added or removed, or replaced. One value can change both the q smallest and the q largest (where n is private this
/// happens for n < 2q), each by one replacement; missing ones are padded with −Λ and Λ in turn, so that the sets keep their size and
/// no grid point gains on another. So
/// the two interior points cost ε/2 each: the text charges ε for two calls at ε (point 2). For replays: the caller's theorem
/// lets `n_changed` values differ.
pub fn bounding_segment(
    values: &Counted,
    range: Range,
    epsilon: f64,
    failure_probability: f64,
    n_changed: u64,
    charge: &Charge,
    session: &mut Session<'_>,
) -> (i64, i64) {
    let q = needed_values(range, epsilon, failure_probability);
    let each = dp_core::planted!("ktuple-segment-whole": epsilon; epsilon / 2.0);
    let Ok(each) = Epsilon::new(each) else {
        return (0, 0);
    };
    let missing = q.saturating_sub(values.len());
    let mut end = |values: Counted, purpose| {
        let purpose = (purpose, n_changed);
        let padded = values.padded(range.bound, missing);
        interior_point(&padded, range, each, purpose, charge, session)
    };
    let low = end(values.smallest(q), "lower end");
    let high = end(values.largest(q), "upper end");
    let (low, high) = (low - range.step, high + range.step);
    (low, high.max(low))
}
