//! Pairs of continuous laws with a monotone likelihood ratio, cut into cells of loss.

use super::distribution::{LossDistribution, cell_weight};
use super::grid::{CellMass, Cells};
use super::{Bound, Precision};
use crate::normal::{Enclosure, normal_cdf};
use crate::rounding::{at_least, at_most};

/// The noise of a unit-scale experiment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Noise {
    /// Standard normal.
    Normal,
    /// Laplace of scale 1.
    Laplace,
    /// A discrete Gaussian in units of its own σ, which is at least [`FINE_GAUSSIAN`]: cells are moved to
    /// the borders between integers.
    FineGaussian {
        /// σ in steps of the lattice.
        std_dev: f64,
    },
}

/// From this σ on, sums of the discrete Gaussian over cells are integrals up to a bounded error.
pub(super) const FINE_GAUSSIAN: f64 = 1024.0;

/// How far from a lattice point, in steps, the lowest loss may be and still count as on it.
const ON_LATTICE: f64 = 1e-7;

/// Noise against the same noise moved by `shift`, mixed with probability `sampled`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Experiment {
    pub(super) noise: Noise,
    pub(super) shift: f64,
    pub(super) sampled: f64,
    /// Whether the mixture is the first law (a record is removed) or the second (one is added).
    pub(super) removal: bool,
}

impl Noise {
    /// Mass of (a, b] under the noise at `center`.
    fn mass(self, center: f64, a: f64, b: f64) -> Enclosure {
        let (a, b) = (a - center, b - center);
        if b.is_nan() || a.is_nan() || b <= a {
            return Enclosure {
                low: 0.0,
                high: 0.0,
            };
        }
        // a − center is off by one rounding, which matters in proportion to the density's slope.
        let slip = 2.0 * f64::EPSILON * (finite(a) + center.abs() + finite(b));
        let body = match self {
            Self::Laplace => laplace_mass(a, b),
            Self::Normal | Self::FineGaussian { .. } => normal_mass(a, b),
        };
        let mut error = slip * self.density_bound(a, b);
        if let Self::FineGaussian { std_dev } = self {
            // The midpoint rule on unit cells: relative error (z² + 1)/(24σ²), with room.
            // Of an unbounded cell hardly anything lies further out than this.
            let z = 10.0
                + if finite(a) > finite(b) {
                    finite(a)
                } else {
                    finite(b)
                };
            error += body.high * (z * z + 1.0) / (20.0 * std_dev * std_dev);
        }
        Enclosure {
            low: positive(body.low - error),
            high: body.high + error,
        }
    }

    /// The largest density on [a, b].
    fn density_bound(self, a: f64, b: f64) -> f64 {
        let nearest = if a > 0.0 {
            a
        } else if b < 0.0 {
            b
        } else {
            0.0
        };
        match self {
            Self::Laplace => 0.5 * libm::exp(-nearest.abs()) * (1.0 + 1e-12),
            Self::Normal | Self::FineGaussian { .. } => {
                0.4 * libm::exp(-nearest * nearest / 2.0) * (1.0 + 1e-9)
            }
        }
    }

    /// A distance beyond which the noise has less mass than `tail`.
    fn reach(self, tail: f64) -> f64 {
        let ln = -libm::log(tail);
        match self {
            Self::Laplace => ln,
            Self::Normal | Self::FineGaussian { .. } => libm::sqrt(2.0 * ln),
        }
    }
}

/// A whole number below 2⁵³ as an index, at least 1.
#[expect(clippy::cast_possible_truncation, reason = "whole and below 2^53")]
fn to_index(x: f64) -> i64 {
    if x > 1.0 { x as i64 } else { 1 }
}

/// |x|, or 0 for an infinity, which is exact.
fn finite(x: f64) -> f64 {
    if x.is_finite() { x.abs() } else { 0.0 }
}

fn positive(x: f64) -> f64 {
    if x > 0.0 { x } else { 0.0 }
}

/// Mass of (a, b] under the standard normal, from the side on which less is lost.
fn normal_mass(a: f64, b: f64) -> Enclosure {
    let (left, right) = if a >= 0.0 {
        (normal_cdf(-b), normal_cdf(-a))
    } else if b <= 0.0 {
        (normal_cdf(a), normal_cdf(b))
    } else {
        let (below, above) = (normal_cdf(a), normal_cdf(-b));
        return Enclosure {
            low: positive((1.0 - below.high - above.high) * (1.0 - 4.0 * f64::EPSILON)),
            high: (1.0 - below.low - above.low) * (1.0 + 4.0 * f64::EPSILON),
        };
    };
    Enclosure {
        low: positive((right.low - left.high).next_down()),
        high: (right.high - left.low).next_up(),
    }
}

/// Mass of (a, b] under the Laplace law of scale 1.
fn laplace_mass(a: f64, b: f64) -> Enclosure {
    let side = |near: f64, far: f64| 0.5 * libm::exp(-near) * -libm::expm1(near - far);
    let value = if a >= 0.0 {
        side(a, b)
    } else if b <= 0.0 {
        side(-b, -a)
    } else {
        side(0.0, b) + side(0.0, -a)
    };
    Enclosure {
        low: value * (1.0 - 16.0 * f64::EPSILON),
        high: value * (1.0 + 16.0 * f64::EPSILON),
    }
}

impl Experiment {
    /// ln(1 − q + q·e^r) for the log likelihood ratio r.
    fn mixed(self, ratio: f64) -> f64 {
        let q = self.sampled;
        if q >= 1.0 {
            ratio
        } else if ratio < 30.0 {
            libm::log1p(q * libm::expm1(ratio))
        } else {
            ratio + libm::log(q) + libm::log1p((1.0 - q) / q * libm::exp(-ratio))
        }
    }

    /// The log likelihood ratio r at which [`mixed`](Self::mixed) is `loss`; −∞ below its range.
    fn unmixed(self, loss: f64) -> f64 {
        let q = self.sampled;
        if q >= 1.0 {
            loss
        } else if loss < 30.0 {
            let scaled = libm::expm1(loss) / q;
            if scaled <= -1.0 {
                f64::NEG_INFINITY
            } else {
                libm::log1p(scaled)
            }
        } else {
            loss - libm::log(q) + libm::log1p(-(1.0 - q) * libm::exp(-loss))
        }
    }

    /// The log likelihood ratio of the moved noise at x.
    fn ratio(self, x: f64) -> f64 {
        match self.noise {
            Noise::Laplace => x.abs() - (x - self.shift).abs(),
            Noise::Normal | Noise::FineGaussian { .. } => self.shift * (x - self.shift / 2.0),
        }
    }

    /// Where the noise has the log likelihood ratio r.
    fn place(self, ratio: f64) -> f64 {
        match self.noise {
            Noise::Laplace if ratio >= self.shift => f64::INFINITY,
            Noise::Laplace if ratio < -self.shift => f64::NEG_INFINITY,
            Noise::Laplace => f64::midpoint(ratio, self.shift),
            Noise::Normal => ratio / self.shift + self.shift / 2.0,
            Noise::FineGaussian { std_dev } => {
                let x = ratio / self.shift + self.shift / 2.0;
                // Integers up to x are those up to the border above ⌊x⌋.
                (libm::floor(x * std_dev) + 0.5) / std_dev
            }
        }
    }

    /// Bounds of the two laws' masses of the cell (a, b] of the noise.
    fn masses(self, a: f64, b: f64) -> (Enclosure, Enclosure) {
        let rest = self.noise.mass(0.0, a, b);
        let moved = self.noise.mass(self.shift, a, b);
        let q = self.sampled;
        let mixed = if q >= 1.0 {
            moved
        } else {
            Enclosure {
                low: ((1.0 - q) * rest.low + q * moved.low) * (1.0 - 4.0 * f64::EPSILON),
                high: ((1.0 - q) * rest.high + q * moved.high) * (1.0 + 4.0 * f64::EPSILON),
            }
        };
        if self.removal {
            (mixed, rest)
        } else {
            (rest, mixed)
        }
    }

    /// The loss at a place of the noise.
    fn loss(self, x: f64) -> f64 {
        let loss = self.mixed(self.ratio(x));
        if self.removal { loss } else { -loss }
    }

    /// What is cut into cells, and what lies outside.
    fn frame(self, unit: f64, precision: Precision) -> Frame {
        let reach = self.noise.reach(precision.tail);
        let (left, right) = match self.noise {
            // Outside [0, shift] the ratio does not change.
            Noise::Laplace => (0.0, self.shift),
            Noise::Normal => (-reach, self.shift + reach),
            Noise::FineGaussian { .. } => (
                self.place(self.ratio(-reach)),
                self.place(self.ratio(self.shift + reach)),
            ),
        };
        let (left_tail, right_tail) = (
            self.masses(f64::NEG_INFINITY, left),
            self.masses(right, f64::INFINITY),
        );
        let (start, end, above, below) = if self.removal {
            (right, left, right_tail, left_tail)
        } else {
            (left, right, left_tail, right_tail)
        };
        let (highest, lowest) = (self.loss(start), self.loss(end));
        // No cell is narrower than a 2²⁴th of the span.
        let exponent = libm::ilogb((highest - lowest) / unit) - 24;
        let step = libm::ldexp(unit, exponent);
        let bounded = self.noise == Noise::Laplace;
        let mut largest = highest.abs() + lowest.abs() + self.shift * (reach + self.shift);
        if self.sampled < 1.0 {
            largest += 1.0;
        }
        let beside = if bounded {
            4.0 * ON_LATTICE * step
        } else {
            0.0
        };
        Frame {
            highest,
            lowest,
            start,
            end,
            above,
            below,
            exponent,
            step,
            bounded,
            slip: 64.0 * f64::EPSILON * largest + beside + f64::MIN_POSITIVE,
        }
    }

    /// The loss distribution on a lattice of `unit · 2^…`, anchored at the highest loss kept.
    pub(super) fn distribution(
        self,
        bound: Bound,
        unit: f64,
        precision: Precision,
    ) -> LossDistribution {
        let frame = self.frame(unit, precision);
        let mut cells = self.cells(&frame, precision);
        let mut infinity = 0.0;
        match (bound, frame.bounded) {
            (Bound::Upper, true) => cells.own[0] = frame.above.0.high,
            (Bound::Upper, false) => infinity = frame.above.0.high,
            // A tail is at least as lossy as the highest loss kept.
            (Bound::Lower, _) => cells.own[0] = frame.above.0.low,
        }
        let law = LossDistribution {
            bound,
            offset: match bound {
                Bound::Upper => frame.highest + frame.slip,
                Bound::Lower => frame.highest - frame.slip,
            },
            unit,
            exponent: frame.exponent,
            atoms: cells.settle(frame.step, bound),
            infinity,
        };
        law.on_its_own_lattice()
    }

    /// Cells from the highest loss down, each as wide as its mass allows (see
    /// [`cell_weight`]).
    fn cells(self, frame: &Frame, precision: Precision) -> Cells {
        let step = frame.step;
        let loss_at = |index: i64| frame.highest + index as f64 * step;
        let points = (frame.highest - frame.lowest) / step;
        let aligned = (points - libm::round(points)).abs() < ON_LATTICE;
        let mut cells = Cells {
            points: vec![0],
            own: vec![0.0],
            between: Vec::new(),
        };
        // The first cell tries some thousandths of the span.
        let (mut index, mut width, mut cursor) = (0_i64, 1_i64 << 12, frame.start);
        let (p, q) = frame.above;
        // δ at the current loss, and Q of the losses above it relative to that loss.
        let mut profile = positive(p.high - q.low * libm::exp(frame.highest));
        let mut second = p.high - profile;
        let mut last = (frame.highest, step);
        while loss_at(index) + ON_LATTICE * step > frame.lowest {
            let left_over = (loss_at(index) - frame.lowest) / step;
            if aligned && left_over < width as f64 {
                // The lattice has the lowest loss too: end there.
                width = to_index(libm::ceil(left_over - ON_LATTICE));
            }
            loop {
                let far = self.place_of(loss_at(index - width), frame);
                let (p, q) = if self.removal {
                    self.masses(far, cursor)
                } else {
                    self.masses(cursor, far)
                };
                let g = width as f64 * step;
                let at_lower = profile + (second + p.high) * -libm::expm1(-g);
                let lower = libm::exp(loss_at(index - width));
                let weight = precision.tolerance * cell_weight(at_lower, 1.0, lower);
                if width > 1 && (p.high * g > 4.0 * weight || g > 0.5) {
                    width /= 2;
                    continue;
                }
                last = (loss_at(index), g);
                cells.between.push(cell_mass(p, q, last.0, g, frame.slip));
                profile = at_lower;
                second = (second + p.high) * libm::exp(-g);
                cursor = far;
                index -= width;
                if p.high * g <= weight {
                    width *= 2;
                }
                break;
            }
            cells.points.push(index);
            cells.own.push(0.0);
        }
        if let Some(cell) = cells.between.last_mut() {
            // An atom at the lowest loss lies within the last cell; a tail is lifted to its upper end.
            let (p, q) = frame.below;
            if frame.bounded {
                cell.add(cell_mass(p, q, last.0, last.1, frame.slip));
            } else {
                cell.mass_high += p.high;
            }
        }
        cells
    }

    /// Where in the noise a loss lies, within the frame.
    fn place_of(self, loss: f64, frame: &Frame) -> f64 {
        if self.removal {
            at_least(self.place(self.unmixed(loss)), frame.end)
        } else {
            at_most(self.place(self.unmixed(-loss)), frame.end)
        }
    }
}

/// What of an experiment is cut into cells, and what lies outside.
#[derive(Clone, Copy, Debug)]
struct Frame {
    /// The highest and the lowest loss that are cut.
    highest: f64,
    lowest: f64,
    /// Where in the noise they lie.
    start: f64,
    end: f64,
    /// Masses under both laws above the highest and below the lowest loss: atoms there for Laplace noise,
    /// tails for normal noise.
    above: (Enclosure, Enclosure),
    below: (Enclosure, Enclosure),
    /// The lattice.
    exponent: i32,
    step: f64,
    /// Whether no loss lies outside.
    bounded: bool,
    /// How far a loss may be from where its cell is thought to lie.
    slip: f64,
}

/// Bounds of Σ p and of Σ p·(e^d − 1) from bounds of both masses of a cell that ends at `upper`.
fn cell_mass(p: Enclosure, q: Enclosure, upper: f64, width: f64, slip: f64) -> CellMass {
    let most = libm::expm1(width) * p.high * (1.0 + 8.0 * f64::EPSILON);
    let (mut low, mut high) = (0.0, most);
    if upper < 600.0 && q.low > 1e-280 {
        let growth = libm::exp(upper);
        let error = 4.0 * slip + 8.0 * f64::EPSILON * (1.0 + upper.abs());
        low = positive(q.low * growth * (1.0 - error) - p.high);
        let above = q.high * growth * (1.0 + error) - p.low;
        high = if above < most { positive(above) } else { most };
        if low > high {
            low = high;
        }
    }
    CellMass {
        mass_low: p.low,
        mass_high: p.high,
        moment_low: low,
        moment_high: high,
    }
}
