//! Moving probability onto a sparse grid of losses, in the direction of more loss or of less.
//!
//! A cell between two neighboring grid points holds mass P under the first law and Q under the second.
//! *More loss*: split P between the two points so that both P and Q are kept ("connecting the dots" of the
//! privacy profile, Doroshenko et al. 2022). The profile of the result is the chord of the true one, so it
//! lies above it and touches it at the grid points; the error is of second order in the width.
//! *Less loss*: lower the profile at each point by the largest height of the chords beside it above the
//! true profile; the chords of the lowered points lie below it.

use super::Bound;

/// What lies strictly inside one cell, with bounds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CellMass {
    /// Bounds of the mass P.
    pub(super) mass_low: f64,
    pub(super) mass_high: f64,
    /// Bounds of Q·e^(upper end) − P, which is Σ p·(e^d − 1) over the distances d to the upper end.
    pub(super) moment_low: f64,
    pub(super) moment_high: f64,
}

impl CellMass {
    /// Adds what another law has inside the same cell.
    pub(super) fn add(&mut self, other: Self) {
        self.mass_low += other.mass_low;
        self.mass_high += other.mass_high;
        self.moment_low += other.moment_low;
        self.moment_high += other.moment_high;
    }
}

/// Grid points in descending order, what lies on them, and the cell below each.
#[derive(Debug, Default)]
pub(super) struct Cells {
    /// Indices, descending.
    pub(super) points: Vec<i64>,
    /// Mass exactly on each point.
    pub(super) own: Vec<f64>,
    /// The cell between point i and point i + 1: one fewer than points.
    pub(super) between: Vec<CellMass>,
}

/// One part in 2⁴⁹: covers the handful of operations on positive numbers that a mass goes through here.
const SLACK: f64 = 8.0 * f64::EPSILON;

/// How often negative masses are spread before what is left of them is paid.
const SWEEPS: usize = 64;

impl Cells {
    /// Settles every cell on its ends; atoms in ascending order.
    pub(super) fn settle(&self, step: f64, bound: Bound) -> Vec<(i64, f64)> {
        let masses = match bound {
            Bound::Upper => self.settle_up(step),
            Bound::Lower => self.settle_down(step),
        };
        let mut atoms: Vec<(i64, f64)> = self.points.iter().copied().zip(masses).collect();
        atoms.retain(|&(_, mass)| mass > 0.0);
        atoms.reverse();
        atoms
    }

    /// Width of the cell below point `i`.
    fn width(&self, i: usize, step: f64) -> f64 {
        (self.points[i] - self.points[i + 1]) as f64 * step
    }

    fn settle_up(&self, step: f64) -> Vec<f64> {
        let mut masses = self.own.clone();
        for (i, cell) in self.between.iter().enumerate() {
            if cell.mass_high <= 0.0 {
                continue;
            }
            let growth = libm::expm1(self.width(i, step));
            let lower = clamp(cell.moment_low / growth * (1.0 - SLACK), cell.mass_high);
            masses[i] = (masses[i] + (cell.mass_high - lower)) * (1.0 + SLACK);
            masses[i + 1] = (masses[i + 1] + lower) * (1.0 + SLACK);
        }
        masses
    }

    /// As few cells as do are rounded down at the top, where the lowered profile must join the true one.
    fn settle_down(&self, step: f64) -> Vec<f64> {
        let mut rounded = 2;
        loop {
            let mut masses = self.lowered(step, rounded);
            for _ in 0..SWEEPS {
                if !self.spread_negative(&mut masses, step) {
                    break;
                }
            }
            if cancel_negative(&mut masses) || rounded >= self.between.len() {
                return masses;
            }
            rounded *= 4;
        }
    }

    /// Moves each negative mass to its two neighbors, keeping both of its masses: where the profile has a
    /// dent this draws the chord across it, which lies lower. False if there was none to move.
    fn spread_negative(&self, masses: &mut [f64], step: f64) -> bool {
        let mut moved = false;
        for i in 1..masses.len().saturating_sub(1) {
            let mass = masses[i];
            if mass < 0.0 {
                let (above, below) = (self.width(i - 1, step), self.width(i, step));
                let lost = -libm::expm1(-above);
                let share = lost / (libm::expm1(below) + lost);
                masses[i] = 0.0;
                masses[i - 1] += mass * (1.0 - share) * (1.0 + SLACK);
                masses[i + 1] += mass * share * (1.0 + SLACK);
                moved = true;
            }
        }
        moved
    }

    /// Masses of the lowered profile, some perhaps negative, with the top cells rounded down.
    fn lowered(&self, step: f64, rounded: usize) -> Vec<f64> {
        let n = self.points.len();
        let mut masses = self.own.clone();
        // Height of each cell's chord above the true profile, from above.
        let mut heights = vec![0.0; n];
        for (i, cell) in self.between.iter().enumerate() {
            if cell.mass_high <= 0.0 {
                continue;
            }
            if i < rounded {
                masses[i + 1] = (masses[i + 1] + cell.mass_low) * (1.0 - SLACK);
                continue;
            }
            let growth = libm::expm1(self.width(i, step));
            let lower = clamp(cell.moment_high / growth * (1.0 + SLACK), cell.mass_low);
            masses[i] = (masses[i] + (cell.mass_low - lower)) * (1.0 - SLACK);
            masses[i + 1] = (masses[i + 1] + lower) * (1.0 - SLACK);
            // The profile of a cell is at least that of its mass gathered in one place; against that,
            // the chord is highest at that place, by u·v·(e^g − 1)/(u·e^g + v).
            let u = clamp(cell.moment_high / growth, cell.mass_high) * (1.0 + SLACK);
            let v = (cell.mass_high - cell.moment_low / growth * (1.0 - SLACK)) * (1.0 + SLACK);
            if u > 0.0 && v > 0.0 {
                heights[i] = u * v * growth / (u * (1.0 + growth) + v) * (1.0 + SLACK);
            }
        }
        // Point i has cell i below it and cell i − 1 above.
        let drops: Vec<f64> = (0..n)
            .map(|i| {
                let above = if i > 0 { heights[i - 1] } else { 0.0 };
                if above > heights[i] {
                    above
                } else {
                    heights[i]
                }
            })
            .collect();
        for i in 0..n {
            let (mut change, mut size) = (0.0, 0.0);
            if i > 0 {
                let slope = 1.0 / libm::expm1(self.width(i - 1, step));
                change -= (drops[i - 1] - drops[i]) * slope;
                size += (drops[i - 1] + drops[i]) * slope;
            }
            if i + 1 < n {
                let slope = -1.0 / libm::expm1(-self.width(i, step));
                change += (drops[i] - drops[i + 1]) * slope;
                size += (drops[i] + drops[i + 1]) * slope;
            }
            masses[i] = masses[i] + change - (masses[i] + size) * SLACK;
        }
        masses
    }
}

/// Pays each negative mass with positive mass at higher losses; false if those do not suffice.
///
/// A kink −m at one loss and +m at a higher one add up to a profile that is nowhere below zero, so taking
/// both away lowers the profile.
fn cancel_negative(masses: &mut [f64]) -> bool {
    // Descending losses: what is before an entry lies higher.
    for i in 0..masses.len() {
        if masses[i] >= 0.0 {
            continue;
        }
        let mut owed = -masses[i];
        masses[i] = 0.0;
        for j in (0..i).rev() {
            let paid = if masses[j] < owed { masses[j] } else { owed };
            masses[j] -= paid;
            owed -= paid;
            if owed <= 0.0 {
                break;
            }
        }
        if owed > 0.0 {
            return false;
        }
    }
    true
}

/// `value` within [0, `high`]; NaN becomes 0.
fn clamp(value: f64, high: f64) -> f64 {
    if value > 0.0 {
        if value < high { value } else { high }
    } else {
        0.0
    }
}
