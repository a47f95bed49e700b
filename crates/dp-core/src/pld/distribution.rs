//! One privacy-loss distribution on a sparse grid, and its convolution.

use super::grid::{CellMass, Cells};
use super::{Bound, Precision};
use crate::rounding::{at_most, smallest_holding};

/// Longest dense array: 8 MiB. Wider distributions get a coarser lattice, at a cost in tightness.
const MAX_DENSE: i64 = 1 << 20;

/// Losses beyond this, in nats, are as good as infinite.
const EXTREME: f64 = 2000.0;

/// Widest cell that may hold mass, in nats.
const WIDEST: f64 = 0.5;

/// The law of the loss ln(P/Q) under P, as atoms at `offset + index · step`, and mass at infinity.
///
/// With [`Bound::Upper`] the atoms dominate the true law, with [`Bound::Lower`] they are dominated by it;
/// the masses need not add up to one.
#[derive(Clone, Debug)]
pub(super) struct LossDistribution {
    pub(super) bound: Bound,
    pub(super) offset: f64,
    /// The step is `unit · 2^exponent`; all distributions of a plan share the unit.
    pub(super) unit: f64,
    pub(super) exponent: i32,
    /// Ascending indices, positive masses.
    pub(super) atoms: Vec<(i64, f64)>,
    pub(super) infinity: f64,
}

impl LossDistribution {
    /// No loss at all: what composing nothing gives.
    pub(super) fn identity(bound: Bound, unit: f64) -> Self {
        Self {
            bound,
            offset: 0.0,
            unit,
            exponent: 0,
            atoms: vec![(0, 1.0)],
            infinity: 0.0,
        }
    }

    pub(super) fn step(&self) -> f64 {
        libm::ldexp(self.unit, self.exponent)
    }

    /// The loss at an index, rounded away from the truth in the direction of the bound.
    fn loss(&self, index: i64) -> f64 {
        let shift = index as f64 * self.step();
        let loss = self.offset + shift;
        let error = 2.0 * f64::EPSILON * (loss.abs() + shift.abs() + self.offset.abs());
        match self.bound {
            Bound::Upper => loss + error,
            Bound::Lower => loss - error,
        }
    }

    /// How many atoms there are.
    pub(super) fn len(&self) -> usize {
        self.atoms.len()
    }

    /// The lowest and the highest index.
    pub(super) fn ends(&self) -> (i64, i64) {
        let first = self.atoms.first().map_or(0, |atom| atom.0);
        (first, self.atoms.last().map_or(first, |atom| atom.0))
    }

    /// δ(ε), rounded in the direction of the bound.
    pub(super) fn delta(&self, epsilon: f64) -> f64 {
        let mut sum = self.infinity;
        let mut terms = 2.0;
        for &(index, mass) in self.atoms.iter().rev() {
            let excess = self.loss(index) - epsilon;
            if excess <= 0.0 {
                break;
            }
            sum += mass * -libm::expm1(-excess);
            terms += 1.0;
        }
        let error = (terms + 16.0) * f64::EPSILON;
        match self.bound {
            Bound::Upper if sum > 0.0 => at_most(sum * (1.0 + error), 1.0),
            Bound::Upper => 0.0,
            Bound::Lower => at_most(sum * (1.0 - error), 1.0),
        }
    }

    /// The smallest ε ≥ 0 with δ(ε) at most `delta`; infinite if there is none.
    pub(super) fn epsilon(&self, delta: f64) -> f64 {
        if self.delta(0.0) <= delta {
            return 0.0;
        }
        let highest = self.loss(self.ends().1).next_up();
        if highest <= 0.0 || self.delta(highest) > delta {
            return f64::INFINITY;
        }
        smallest_holding(f64::MIN_POSITIVE, highest, |epsilon| {
            self.delta(epsilon) <= delta
        })
        .unwrap_or(f64::INFINITY)
    }

    /// The law of the sum of two independent losses.
    pub(super) fn compose(&self, other: &Self, precision: Precision) -> Self {
        let exponent = common_exponent(self, other);
        let (a, b) = (
            self.at_exponent(exponent, precision),
            other.at_exponent(exponent, precision),
        );
        let ((a0, a1), (b0, b1)) = (a.ends(), b.ends());
        let length = usize::try_from(a1 - a0 + b1 - b0 + 1).unwrap_or(1);
        let mut dense = vec![0.0; length];
        let offsets: Vec<(usize, f64)> = b
            .atoms
            .iter()
            .map(|&(index, mass)| (usize::try_from(index - b0).unwrap_or(0), mass))
            .collect();
        for &(index, mass) in &a.atoms {
            let row = &mut dense[usize::try_from(index - a0).unwrap_or(0)..];
            for &(at, other_mass) in &offsets {
                row[at] += mass * other_mass;
            }
        }
        let few = if a.atoms.len() < b.atoms.len() {
            a.atoms.len()
        } else {
            b.atoms.len()
        };
        let error = (few as f64 + 4.0) * f64::EPSILON;
        let (factor, infinity) = match self.bound {
            Bound::Upper => {
                // The loss is infinite if either is.
                let infinity = a.infinity + b.infinity;
                (1.0 + error, infinity * (1.0 + f64::EPSILON))
            }
            Bound::Lower => {
                let infinity = a.infinity + b.infinity - a.infinity * b.infinity;
                (1.0 - error, infinity * (1.0 - 4.0 * f64::EPSILON))
            }
        };
        for mass in &mut dense {
            *mass *= factor;
        }
        let offset = a.offset + b.offset;
        let slip = f64::EPSILON * offset.abs();
        let sum = Self {
            offset: match self.bound {
                Bound::Upper => offset + slip,
                Bound::Lower => offset - slip,
            },
            infinity: at_most(infinity, 1.0),
            atoms: Vec::new(),
            ..a
        };
        sum.gathered(dense, a0 + b0, 1, precision)
    }

    /// The law of the sum of `times` independent losses, by doubling.
    pub(super) fn self_compose(&self, times: u64, precision: Precision) -> Self {
        let mut result: Option<Self> = None;
        let mut power = self.clone();
        let mut left = times;
        loop {
            if left & 1 == 1 {
                result = Some(match result {
                    Some(so_far) => so_far.compose(&power, precision),
                    None => power.clone(),
                });
            }
            left >>= 1;
            if left == 0 {
                break;
            }
            power = power.compose(&power, precision);
        }
        result.unwrap_or_else(|| Self::identity(self.bound, self.unit))
    }

    /// The same law on the lattice of another exponent: exactly if that is finer.
    fn at_exponent(&self, exponent: i32, precision: Precision) -> Self {
        let mut law = self.clone();
        while law.exponent < exponent {
            law = law.coarser(precision);
        }
        let shift = law.exponent - exponent;
        law.exponent = exponent;
        for atom in &mut law.atoms {
            atom.0 <<= shift;
        }
        law
    }

    /// The same law on the coarsest lattice that has all its atoms.
    pub(super) fn on_its_own_lattice(mut self) -> Self {
        let zeros = self
            .atoms
            .iter()
            .filter(|atom| atom.0 != 0)
            .map(|atom| atom.0.trailing_zeros())
            .min()
            .unwrap_or(0);
        for atom in &mut self.atoms {
            atom.0 >>= zeros;
        }
        self.exponent += i32::try_from(zeros).unwrap_or(0);
        self
    }

    /// The law on a lattice of twice the step, anchored at its highest loss.
    fn coarser(&self, precision: Precision) -> Self {
        let (first, last) = self.ends();
        if last == first {
            // One atom: any lattice will do.
            let mut coarse = self.clone();
            coarse.offset = self.loss(last);
            coarse.exponent += 1;
            coarse.atoms = vec![(0, self.atoms.first().map_or(0.0, |atom| atom.1))];
            return coarse;
        }
        let mut dense = vec![0.0; usize::try_from(last - first + 1).unwrap_or(1)];
        for &(index, mass) in &self.atoms {
            dense[usize::try_from(index - first).unwrap_or(0)] = mass;
        }
        let frame = Self {
            atoms: Vec::new(),
            ..*self
        };
        frame.gathered(dense, first, 2, precision)
    }

    /// Gathers dense masses, the first at `first`, on a sparse grid whose distances from the top are
    /// multiples of `stride`.
    fn gathered(self, mut dense: Vec<f64>, first: i64, stride: i64, precision: Precision) -> Self {
        let mut sum = self;
        sum.cut_extremes(&mut dense, first);
        sum.cut_tails(&mut dense, precision);
        let Some(top) = dense.iter().rposition(|&mass| mass > 0.0) else {
            sum.atoms = Vec::new();
            return sum;
        };
        let mut cells = sum.cells(&dense, top, stride, precision);
        let mut stride = stride;
        if stride == 1 && top > 1 << 16 {
            // A grid that nowhere uses its lattice may have a coarser one.
            let mut gaps: Vec<i64> = cells.points.windows(2).map(|w| w[0] - w[1]).collect();
            gaps.sort_unstable();
            let small = gaps.get(gaps.len() / 20).copied().unwrap_or(1);
            while stride * 8 <= small {
                stride *= 2;
            }
            if stride > 1 {
                cells = sum.cells(&dense, top, stride, precision);
            }
        }
        let mut atoms = cells.settle(sum.step(), sum.bound);
        // From indices of `dense` to indices below the top, in strides.
        let top_index = first + i64::try_from(top).unwrap_or(0);
        if stride > 1 {
            sum.offset = sum.loss(top_index);
            sum.exponent += i32::try_from(stride.trailing_zeros()).unwrap_or(0);
            let anchor = i64::try_from(top).unwrap_or(0);
            for atom in &mut atoms {
                atom.0 = (atom.0 - anchor) / stride;
            }
        } else {
            for atom in &mut atoms {
                atom.0 += first;
            }
        }
        sum.atoms = atoms;
        sum
    }

    /// Keeps losses within ±[`EXTREME`], where no ε is asked for: higher ones are infinite from above and
    /// that high from below, lower ones that low or nothing.
    fn cut_extremes(&mut self, dense: &mut [f64], first: i64) {
        let step = self.step();
        let place = |loss: f64| libm::floor((loss - self.offset) / step) - first as f64;
        let (low, high) = (place(-EXTREME), place(EXTREME));
        let (mut above, mut below) = (0.0, 0.0);
        for (i, entry) in dense.iter_mut().enumerate() {
            if i as f64 > high {
                above += std::mem::take(entry);
            } else if (i as f64) < low {
                below += std::mem::take(entry);
            }
        }
        let last_within = dense.iter().rposition(|&mass| mass > 0.0).unwrap_or(0);
        let first_within = dense.iter().position(|&mass| mass > 0.0);
        match self.bound {
            Bound::Upper => {
                self.infinity = at_most(self.infinity + above * (1.0 + 1e-9), 1.0);
                // Nothing within: all of it is as good as the first place there.
                if let Some(entry) = first_within.and_then(|i| dense.get_mut(i)) {
                    *entry += below * (1.0 + 1e-9);
                } else {
                    self.infinity = at_most(self.infinity + below, 1.0);
                }
            }
            Bound::Lower => {
                if first_within.is_some() {
                    dense[last_within] += above * (1.0 - 1e-9);
                }
            }
        }
    }

    /// Takes away tails of at most the tolerated mass each: up to more loss, or down to none.
    fn cut_tails(&mut self, dense: &mut [f64], precision: Precision) {
        let mut mass = 0.0;
        for entry in dense.iter_mut().rev() {
            if mass + *entry > precision.tail {
                break;
            }
            mass += *entry;
            *entry = 0.0;
        }
        if self.bound == Bound::Upper {
            self.infinity = at_most(self.infinity + mass * (1.0 + 1e-9), 1.0);
        }
        mass = 0.0;
        for entry in dense.iter_mut() {
            if mass + *entry > precision.tail {
                if self.bound == Bound::Upper {
                    *entry += mass * (1.0 + 1e-9);
                }
                break;
            }
            mass += *entry;
            *entry = 0.0;
        }
    }

    /// Chooses grid points from the top down: a cell may be as wide as its chord's height, relative to
    /// the profile there, stays within the tolerance.
    fn cells(&self, dense: &[f64], top: usize, stride: i64, precision: Precision) -> Cells {
        let step = self.step();
        let (decay, lost) = (libm::exp(-step), -libm::expm1(-step));
        let bottom = dense.iter().position(|&mass| mass > 0.0).unwrap_or(top);
        let mut cells = Cells {
            points: vec![i64::try_from(top).unwrap_or(0)],
            own: vec![dense[top]],
            between: Vec::new(),
        };
        let mut inside = Interior::default();
        let total: f64 = self.infinity + dense.iter().sum::<f64>();
        // Q of everything relative to the current loss; infinite for enormous ranges, where only the
        // upper side counts then.
        let growth = libm::exp(step);
        let mut whole = dense[..=top]
            .iter()
            .fold(0.0, |sum, mass| sum * growth + mass);
        // δ at the current loss, and Q of the losses above it relative to that loss.
        let (mut profile, mut second) = (self.infinity, 0.0);
        let mut upper = top;
        let mut at = top;
        while at > bottom || upper > at {
            if at == 0 {
                // A stride that overshoots the bottom: close below it.
                let below = i64::try_from(upper).unwrap_or(0);
                let over = (below + stride - 1) / stride * stride;
                if inside.mass > 0.0 || at < upper {
                    cells.points.push(below - over);
                    cells.own.push(0.0);
                    cells.between.push(inside.cell(step, over as f64));
                }
                break;
            }
            let mass_above = dense[at];
            at -= 1;
            profile += (second + mass_above) * lost;
            second = (second + mass_above) * decay;
            whole *= decay;
            let weight = cell_weight(profile, total, whole);
            let gap = upper - at;
            let mass = inside.mass + dense[at];
            let on_grid = i64::try_from(gap).unwrap_or(1) % stride == 0;
            let next = (gap + usize::try_from(stride).unwrap_or(1)) as f64 * step;
            let too_wide =
                mass > 0.0 && (next > WIDEST || mass * next > 4.0 * precision.tolerance * weight);
            if on_grid && (too_wide || at <= bottom) {
                cells.points.push(i64::try_from(at).unwrap_or(0));
                cells.own.push(dense[at]);
                cells.between.push(inside.cell(step, gap as f64));
                inside = Interior::default();
                upper = at;
                if at <= bottom {
                    break;
                }
            } else {
                inside.add(dense[at], gap as f64);
            }
        }
        cells
    }
}

/// Against what the height of a chord is measured at a loss ℓ: the smaller of the profile δ(ℓ) and, by
/// parity, that of the swapped laws, δ(ℓ) − P + e^ℓ·Q.
///
/// Far on the left δ(ℓ) is nearly 1 − e^ℓ whatever the mechanism: wide cells would do no harm to one use,
/// but each use would add to the spread of the sum. A hundredth of δ is left, or the far left would cost
/// as many atoms as the right, for nothing.
pub(super) fn cell_weight(profile: f64, total: f64, whole: f64) -> f64 {
    let swapped = profile - total + whole;
    let swapped = 0.01 * profile + if swapped > 0.0 { swapped } else { 0.0 };
    if swapped < profile { swapped } else { profile }
}

/// The finest exponent of the two at which their sum fits a dense array.
fn common_exponent(a: &LossDistribution, b: &LossDistribution) -> i32 {
    let mut exponent = if a.exponent < b.exponent {
        a.exponent
    } else {
        b.exponent
    };
    let length = |law: &LossDistribution, exponent: i32| {
        let (first, last) = law.ends();
        libm::ldexp((last - first) as f64, law.exponent - exponent)
    };
    while length(a, exponent) + length(b, exponent) > MAX_DENSE as f64 {
        exponent += 1;
    }
    exponent
}

/// Moments of what lies inside a cell, by the distance to its upper end in steps.
#[derive(Clone, Copy, Debug, Default)]
struct Interior {
    mass: f64,
    first: f64,
    second: f64,
    third: f64,
    count: f64,
}

impl Interior {
    fn add(&mut self, mass: f64, distance: f64) {
        self.mass += mass;
        let first = mass * distance;
        self.first += first;
        self.second += first * distance;
        self.third += first * distance * distance;
        self.count += 1.0;
    }

    /// Bounds by e^x − 1 = x + x²/2 + x³/6·e^y for some y between 0 and x.
    fn cell(&self, step: f64, width: f64) -> CellMass {
        let error = (self.count + 8.0) * f64::EPSILON;
        let square = step * step;
        let second_order = step * self.first + square / 2.0 * self.second;
        let third = square * step / 6.0 * self.third;
        CellMass {
            mass_low: self.mass * (1.0 - error),
            mass_high: self.mass * (1.0 + error),
            moment_low: (second_order + third) * (1.0 - error),
            moment_high: (second_order + third * libm::exp(step * width)) * (1.0 + error),
        }
    }
}
