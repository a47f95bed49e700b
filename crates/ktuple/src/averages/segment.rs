//! Interior points and bounding segments on a public grid of a line.

use dp_core::mechanism::{SelectionMechanism, SelectionRule};
use dp_core::sensitivity::ScoreWidth;
use dp_core::session::Charge;
use dp_core::{Confidential, Epsilon, Session};

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
/// `zeros` more values are 0. It changes only where some left(x) or right(x) + 1 lies, so there are at most 2n + 1 steps.
pub(super) fn quality(values: &[i64], zeros: u64, range: Range) -> Vec<(u64, i64)> {
    let end = range.n_points();
    let mut lefts: Vec<u64> = values.iter().map(|&x| range.left(x)).collect();
    let mut rights: Vec<u64> = values.iter().map(|&x| range.right(x)).collect();
    lefts.sort_unstable();
    rights.sort_unstable();
    let mut cuts = lefts.clone();
    cuts.extend(rights.iter().map(|right| right + 1));
    let (left_zero, right_zero) = (range.left(0), range.right(0));
    cuts.extend([0, left_zero, right_zero + 1, end]);
    cuts.retain(|&cut| cut <= end);
    cuts.sort_unstable();
    cuts.dedup();
    let steps = cuts.windows(2).map(|cut| {
        let below = lefts.partition_point(|&left| left <= cut[0]) as u64
            + if left_zero <= cut[0] { zeros } else { 0 };
        let above = (rights.len() - rights.partition_point(|&right| right < cut[0])) as u64
            + if right_zero >= cut[0] { zeros } else { 0 };
        let quality = below.min(above);
        (cut[1] - cut[0], i64::try_from(quality).unwrap_or(i64::MAX))
    });
    steps.collect()
}

/// A grid point in [min − g, max + g] of the values and of `zeros` more that are 0, but for probability 2(Λ/g + 1)·e^(−εn/4).
///
/// # Privacy
///
/// ε for a **replaced** value: the quality of each grid point changes by at most 1, either way, so the scores' changes
/// have width 2 and the exponent is ε/2 (Proposition A.4). The weights are exp(εq/2) times the number of grid points, where
/// the text prints q times that number (point 1).
pub fn interior_point(
    values: &[i64],
    zeros: u64,
    range: Range,
    epsilon: Epsilon,
    purpose: &str,
    charge: &Charge,
    session: &mut Session<'_>,
) -> i64 {
    let steps = quality(values, zeros, range);
    let Ok(width) = ScoreWidth::new(2) else {
        return 0;
    };
    let mechanism = SelectionMechanism::calibrate(SelectionRule::Exponential, width, epsilon);
    let steps = Confidential::new(steps);
    let point = session.choose_on_grid_charged(charge, &mechanism, purpose, width, &steps);
    range.point(point.unwrap_or(0))
}

/// A segment [x, y] that holds all but 2(q − 1) values and is at most 4g longer than their own range, but for probability β.
///
/// # Privacy
///
/// ε when a value is added or removed, or replaced. One value can change both the q smallest and the q largest (where n is private this
/// happens for n < 2q), each by one replacement; missing ones are padded with zeros, so that the sets keep their size. So
/// the two interior points cost ε/2 each: the text charges ε for two calls at ε (point 2).
pub fn bounding_segment(
    sorted: &[i64],
    range: Range,
    epsilon: f64,
    failure_probability: f64,
    charge: &Charge,
    session: &mut Session<'_>,
) -> (i64, i64) {
    let q = needed_values(range, epsilon, failure_probability);
    let q = usize::try_from(q).unwrap_or(usize::MAX);
    let each = dp_core::planted!("ktuple-segment-whole": epsilon; epsilon / 2.0);
    let Ok(each) = Epsilon::new(each) else {
        return (0, 0);
    };
    let n = sorted.len();
    let taken = q.min(n);
    let missing = (q - taken) as u64;
    let (smallest, largest) = (&sorted[..taken], &sorted[n - taken..]);
    let low = interior_point(smallest, missing, range, each, "lower end", charge, session);
    let high = interior_point(largest, missing, range, each, "upper end", charge, session);
    let (low, high) = (low - range.step, high + range.step);
    (low, high.max(low))
}
