//! Sums of records inside cells, as integers relative to a public anchor.

use std::collections::BTreeMap;

use crate::coverage::Demand;

/// Half a cell's width in integer units: what a coordinate of an offset is at most.
pub(super) const HALF_CELL: i64 = 1 << 15;

/// A coordinate's offset from the anchor in units, for a cell of half width `half`.
pub(super) fn units(x: f64, anchor: f64, half: f64) -> i64 {
    let scaled = (x - anchor) / half * HALF_CELL as f64;
    let clipped = if scaled.is_nan() {
        0.0
    } else {
        scaled.clamp(-(HALF_CELL as f64), HALF_CELL as f64)
    };
    #[expect(clippy::cast_possible_truncation, reason = "clipped to ±2^15")]
    let units = clipped.round() as i64;
    units
}

/// Back to original units.
pub(super) fn original(units: f64, anchor: f64, half: f64) -> f64 {
    anchor + units / HALF_CELL as f64 * half
}

/// Adds the records with these indices to the sums of their cells; `place` says a record's slot, anchor and half width.
pub(super) fn sums<'a>(
    demand: &Demand,
    members: impl IntoIterator<Item = u32>,
    slots: usize,
    place: impl Fn(u32) -> Option<(usize, &'a [f64], &'a [f64])>,
) -> Vec<i64> {
    let d = demand.columns();
    let mut sums = vec![0_i64; slots * d];
    for i in members {
        let Some((slot, anchor, half)) = place(i) else {
            continue;
        };
        let times = demand.times(i);
        let row = sums.iter_mut().skip(slot * d);
        for (((sum, &x), &a), &h) in row.zip(demand.point(i)).zip(anchor).zip(half) {
            *sum += times * units(x, a, h);
        }
    }
    sums
}

/// Counts by key.
pub(super) fn counts(
    demand: &Demand,
    members: &[u32],
    key: impl Fn(u32) -> Vec<i64>,
) -> BTreeMap<Vec<i64>, i64> {
    let mut counts = BTreeMap::new();
    for &i in members {
        *counts.entry(key(i)).or_insert(0) += demand.times(i);
    }
    counts
}
