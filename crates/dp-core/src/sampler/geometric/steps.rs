//! The geometric law with P(v ≥ k) = exp(−k/16), by inversion of one lazily drawn uniform.

use std::sync::LazyLock;

use dashu_int::UBig;
use dashu_ratio::RBig;
use rand::RngCore;

use crate::sampler::bernoulli_exp::below_exp_exactly;
use crate::sampler::enclosure::exp_neg;
use crate::sampler::lazy::LazyUniform;

/// Steps to a factor of e.
pub(super) const PER_UNIT: u64 = 16;

/// The law of v.
#[derive(Clone, Debug)]
pub(super) struct Steps {
    table: &'static Table,
    /// Half-width of the undecided zone around the table's values: 0, since they are exact.
    zone: u64,
}

impl Steps {
    pub(super) fn new() -> Self {
        Self {
            table: &TABLE,
            zone: 0,
        }
    }

    #[cfg(test)]
    pub(super) fn undecided(mut self) -> Self {
        self.zone = u64::MAX;
        self
    }

    /// How many of the thresholds exp(−1/16), exp(−2/16), … a uniform lies below.
    #[inline]
    pub(super) fn draw<R: RngCore + ?Sized>(&self, rng: &mut R) -> u64 {
        self.invert(rng.next_u64(), rng)
    }

    /// [`draw`](Self::draw) for a uniform with these first 64 bits.
    #[inline]
    fn invert<R: RngCore + ?Sized>(&self, head: u64, rng: &mut R) -> u64 {
        let Table { thresholds, guide } = self.table;
        let start = guide[(head >> 56) as usize];
        for (steps, &threshold) in (u64::from(start)..).zip(&thresholds[usize::from(start)..]) {
            // Equal words leave the order open; that of unequal words is that of the numbers.
            if head.abs_diff(threshold) <= self.zone {
                return invert_exactly(head, steps, rng);
            }
            if head > threshold {
                return steps;
            }
        }
        invert_exactly(head, thresholds.len() as u64, rng)
    }
}

/// Goes on with the uniform that begins with `head` and is known to lie below exp(−`steps`/16).
#[cold]
fn invert_exactly<R: RngCore + ?Sized>(head: u64, mut steps: u64, rng: &mut R) -> u64 {
    let mut uniform = LazyUniform::new(head, 64);
    while below_exp_exactly(&mut uniform, &gamma(steps + 1), rng) {
        steps += 1;
    }
    steps
}

/// `steps`/16.
fn gamma(steps: u64) -> RBig {
    RBig::from_parts(steps.into(), PER_UNIT.into())
}

#[derive(Debug)]
struct Table {
    /// ⌊exp(−k/16)·2⁶⁴⌋ for k = 1, 2, … as long as it is above zero.
    thresholds: Vec<u64>,
    /// For each upper byte of a head, how many thresholds lie above all heads with that byte.
    guide: [u16; 256],
}

static TABLE: LazyLock<Table> = LazyLock::new(Table::new);

impl Table {
    fn new() -> Self {
        let thresholds: Vec<u64> = (1..=1024)
            .map(|k| floor_exp_neg(&gamma(k)))
            .take_while(|&threshold| threshold > 0)
            .collect();
        let mut guide = [0_u16; 256];
        for (byte, start) in (0_u64..).zip(&mut guide) {
            let last_head = byte << 56 | (u64::MAX >> 8);
            let above = thresholds.partition_point(|&threshold| threshold > last_head);
            // There are 709; a start that is too low only means more steps.
            *start = u16::try_from(above).unwrap_or(0);
        }
        Self { thresholds, guide }
    }
}

/// ⌊exp(−γ)·2⁶⁴⌋ for a γ > 0, of which exp is irrational: bounds that are tight enough agree on it.
fn floor_exp_neg(gamma: &RBig) -> u64 {
    let mut bits = 128;
    loop {
        let (lo, hi) = exp_neg(gamma, bits);
        let (lo, hi): (UBig, UBig) = (lo >> (bits - 64), hi >> (bits - 64));
        if lo == hi {
            return u64::try_from(lo).unwrap_or(u64::MAX);
        }
        bits *= 2;
    }
}

#[cfg(test)]
mod tests;
