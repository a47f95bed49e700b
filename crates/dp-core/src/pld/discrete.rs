//! Loss distributions of discrete mechanisms, atom by atom.

use std::collections::BTreeMap;

use super::distribution::LossDistribution;
use super::grid::{CellMass, Cells};
use super::{Bound, Precision};

/// Most atoms that are listed one by one; more are taken in blocks.
const MOST_ATOMS: u64 = 1 << 14;

/// Atoms of loss under the first law: loss, and a mass that is right up to a relative error.
#[derive(Debug)]
pub(super) struct Atoms {
    list: Vec<(f64, f64)>,
    infinity: f64,
    /// Relative error of each mass.
    error: f64,
}

impl Atoms {
    /// Randomized response: the pair that dominates every (ε, δ) mechanism.
    ///
    /// Source: Kairouz, Oh and Viswanath 2015, Theorem 3.3.
    pub(super) fn approximate(epsilon: f64, delta: f64) -> Self {
        let low = 1.0 / (1.0 + libm::exp(epsilon));
        let high = 1.0 / (1.0 + libm::exp(-epsilon));
        Self {
            list: vec![
                (epsilon, (1.0 - delta) * high),
                (-epsilon, (1.0 - delta) * low),
            ],
            infinity: delta,
            error: 32.0 * f64::EPSILON * (1.0 + epsilon),
        }
    }

    /// Discrete Laplace noise with P(x) ∝ e^(−a·|x|) on a count that moves by `sensitivity`.
    pub(super) fn discrete_laplace(a: f64, sensitivity: u64, bound: Bound) -> Self {
        let s = sensitivity as f64;
        let whole = 1.0 + libm::exp(-a);
        let mut list = vec![(a * s, 1.0 / whole)];
        let block = sensitivity.div_ceil(MOST_ATOMS);
        let mut x = 1;
        while x < sensitivity {
            let size = if x.saturating_add(block) < sensitivity {
                block
            } else {
                sensitivity - x
            };
            // The integers x to x + size − 1, of which the first has the highest loss.
            let mass = libm::exp(-a * x as f64) * -libm::expm1(-a * size as f64) / whole;
            let at = match bound {
                Bound::Upper => x,
                Bound::Lower => x + size - 1,
            };
            list.push((a * (s - 2.0 * at as f64), mass));
            x += size;
        }
        list.push((-a * s, libm::exp(-a * s) / whole));
        Self {
            list,
            infinity: 0.0,
            error: 32.0 * f64::EPSILON * (1.0 + a * s),
        }
    }

    /// Discrete Gaussian noise of scale σ on a count that moves by `sensitivity`.
    pub(super) fn discrete_gaussian(
        std_dev: f64,
        sensitivity: u64,
        bound: Bound,
        precision: Precision,
    ) -> Self {
        let s = sensitivity as f64;
        let variance = std_dev * std_dev;
        let reach = libm::ceil(std_dev * libm::sqrt(-2.0 * libm::log(precision.tail))) + 1.0;
        let weight = |x: f64| libm::exp(-x * x / (2.0 * variance));
        let mut norm = 1.0;
        let mut x = 1.0;
        while x <= reach {
            norm += 2.0 * weight(x);
            x += 1.0;
        }
        let tail = weight(reach) / libm::expm1(reach / variance) / norm * (1.0 + 1e-9);
        let mut list = Vec::new();
        // The sensitivity may exceed the reach: the noise itself never goes further.
        let mut x = -reach;
        while x <= reach {
            list.push(((s * s - 2.0 * x * s) / (2.0 * variance), weight(x) / norm));
            x += 1.0;
        }
        let mut infinity = tail;
        match bound {
            // The other tail has losses below the last atom's.
            Bound::Upper => {
                if let Some(last) = list.last_mut() {
                    last.1 += tail;
                }
            }
            Bound::Lower => infinity = 0.0,
        }
        Self {
            list,
            infinity,
            error: (2.0 * reach + 32.0 + reach * reach / variance) * f64::EPSILON,
        }
    }

    /// The distribution on a lattice of `unit · 2^…`, anchored at the highest loss.
    ///
    /// If the atoms lie on such a lattice of at most 2¹⁰ points to the unit they stay where they are.
    pub(super) fn distribution(
        &self,
        bound: Bound,
        unit: f64,
        precision: Precision,
    ) -> LossDistribution {
        let (mut top, mut bottom) = (f64::NEG_INFINITY, f64::INFINITY);
        for &(loss, _) in &self.list {
            if loss > top {
                top = loss;
            }
            if loss < bottom {
                bottom = loss;
            }
        }
        let exponent = self.exponent(top, bottom, unit, precision);
        let step = libm::ldexp(unit, exponent);
        // The farthest that an atom taken for a lattice point lies beside it, in steps.
        let mut beside = 0.0;
        let mut own: BTreeMap<i64, f64> = BTreeMap::new();
        let mut cells: BTreeMap<i64, CellMass> = BTreeMap::new();
        for &(loss, mass) in &self.list {
            let distance = (top - loss) / step;
            let (low, high) = (mass * (1.0 - self.error), mass * (1.0 + self.error));
            let index = libm::floor(distance + OFF_LATTICE);
            let within = distance - index;
            #[expect(
                clippy::cast_possible_truncation,
                reason = "the exponent keeps it below 2^40"
            )]
            let index = -(index as i64);
            if within <= OFF_LATTICE {
                if within.abs() > beside {
                    beside = within.abs();
                }
                *own.entry(index).or_default() += match bound {
                    Bound::Upper => high,
                    Bound::Lower => low,
                };
            } else {
                let growth = libm::expm1(within * step);
                let cell = cells.entry(index).or_default();
                cell.add(CellMass {
                    mass_low: low,
                    mass_high: high,
                    moment_low: low * growth * (1.0 - 16.0 * f64::EPSILON),
                    moment_high: high * growth * (1.0 + 16.0 * f64::EPSILON),
                });
                own.entry(index).or_default();
                own.entry(index - 1).or_default();
            }
        }
        let points: Vec<i64> = own.keys().rev().copied().collect();
        let between = points
            .iter()
            .take(points.len().saturating_sub(1))
            .map(|point| cells.get(point).copied().unwrap_or_default())
            .collect();
        let cells = Cells {
            own: own.values().rev().copied().collect(),
            points,
            between,
        };
        let slip = 2.0 * beside * step + 8.0 * f64::EPSILON * (top.abs() + bottom.abs());
        let law = LossDistribution {
            bound,
            offset: match bound {
                Bound::Upper => top + slip,
                Bound::Lower => top - slip,
            },
            unit,
            exponent,
            atoms: cells.settle(step, bound),
            infinity: match bound {
                Bound::Upper => self.infinity,
                Bound::Lower => self.infinity * (1.0 - f64::EPSILON),
            },
        };
        law.on_its_own_lattice()
    }

    /// The coarsest exponent whose lattice has all atoms, or one that is fine against their spread.
    fn exponent(&self, top: f64, bottom: f64, unit: f64, precision: Precision) -> i32 {
        for exponent in (-10..=0).rev() {
            let step = libm::ldexp(unit, exponent);
            let fits = self.list.iter().all(|&(loss, _)| {
                let distance = (top - loss) / step;
                (distance - libm::round(distance)).abs() <= OFF_LATTICE && distance < 1e9
            });
            if fits {
                return exponent;
            }
        }
        let mass: f64 = self.list.iter().map(|atom| atom.1).sum();
        let mean = self.list.iter().map(|atom| atom.0 * atom.1).sum::<f64>() / mass;
        let variance = self
            .list
            .iter()
            .map(|&(loss, p)| p * (loss - mean) * (loss - mean))
            .sum::<f64>()
            / mass;
        let fine = libm::sqrt(variance * precision.tolerance);
        let fine = if fine > (top - bottom) * 1e-9 {
            fine
        } else {
            (top - bottom) * 1e-9
        };
        libm::ilogb(fine / unit)
    }
}

/// How far from a lattice point, in steps, an atom still counts as on it.
const OFF_LATTICE: f64 = 1e-10;
