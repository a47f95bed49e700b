//! Lower bounds of ε from runs alone, by an adversary who may choose any event.
//!
//! Half of the runs on two neighbors choose the event that tells them apart best; the other half, untouched so far, says how
//! often it happens. With P(E | D) ≥ p and P(E | D′) ≤ q, both by Clopper–Pearson, any (ε, δ)-private mechanism has
//! ε ≥ ln((p − δ)/q). A bound above the promise convicts; one below it convicts nobody, so the audit must show elsewhere that
//! it is not blind: on mechanisms whose loss is known it has to come close.

use std::collections::{BTreeMap, BTreeSet};

use crate::bounds::{clopper_pearson_lower, clopper_pearson_upper};

/// How hard to try.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlackBox {
    /// Runs on each of the two data sets.
    pub runs: u64,
    /// Probability that the bound is above the truth.
    pub false_positive_rate: f64,
    /// δ of the promise.
    pub delta: f64,
}

/// A set of outcomes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcomes<O> {
    /// This and all larger ones.
    AtLeast(O),
    /// This and all smaller ones.
    AtMost(O),
    /// These.
    OneOf(BTreeSet<O>),
}

impl<O: Ord> Outcomes<O> {
    /// Whether an outcome is in the set.
    #[must_use]
    pub fn contains(&self, outcome: &O) -> bool {
        match self {
            Self::AtLeast(least) => outcome >= least,
            Self::AtMost(most) => outcome <= most,
            Self::OneOf(set) => set.contains(outcome),
        }
    }
}

/// What an attack found.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding<O> {
    /// The event.
    pub event: Outcomes<O>,
    /// Whether the second data set is the one that makes it likely.
    pub swapped: bool,
    /// Lower bound of its probability where it is likely.
    pub likely: f64,
    /// Upper bound of its probability where it is not.
    pub unlikely: f64,
    /// Lower bound of ε, at the stated level; −∞ if nothing was found.
    pub epsilon: f64,
}

/// How often each outcome was seen on the first and on the second data set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counts<O>(BTreeMap<O, [u64; 2]>);

impl<O: Ord> Default for Counts<O> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<O: Ord> Counts<O> {
    /// Counts outcomes of one run on each data set.
    pub fn add(&mut self, first: O, second: O) {
        self.0.entry(first).or_default()[0] += 1;
        self.0.entry(second).or_default()[1] += 1;
    }

    /// Adds the counts of other runs.
    #[must_use]
    pub fn merged(mut self, other: Self) -> Self {
        let (mut into, from) = if self.0.len() < other.0.len() {
            (other.0, std::mem::take(&mut self.0))
        } else {
            (std::mem::take(&mut self.0), other.0)
        };
        for (outcome, counts) in from {
            let sum = into.entry(outcome).or_default();
            *sum = [sum[0] + counts[0], sum[1] + counts[1]];
        }
        Self(into)
    }
}

/// An event that was chosen by one half of the runs, to be tested on the other half.
#[derive(Clone, Debug, PartialEq)]
pub struct Chosen<O> {
    /// The event.
    pub event: Outcomes<O>,
    /// Whether the second data set is the one that makes it likely.
    pub swapped: bool,
}

impl BlackBox {
    /// Attacks two neighbors; each call runs the mechanism once and returns what can be seen of it.
    ///
    /// [`choose`](Self::choose) and [`bound`](Self::bound) are the two halves, for runs that are made in parallel.
    pub fn attack<O: Ord + Clone>(
        &self,
        mut first: impl FnMut() -> O,
        mut second: impl FnMut() -> O,
    ) -> Finding<O> {
        let half = self.runs / 2;
        let mut counts = Counts::default();
        for _ in 0..half {
            counts.add(first(), second());
        }
        let chosen = self.choose(&counts, half);
        let mut hits = [0_u64; 2];
        let n = self.runs - half;
        for _ in 0..n {
            hits[0] += u64::from(chosen.event.contains(&first()));
            hits[1] += u64::from(chosen.event.contains(&second()));
        }
        self.bound(chosen, hits, n)
    }

    /// The bound that an event gives which happened `hits` times (first data set, second data set) in `runs` runs on each. None of
    /// these runs may be among those that chose the event.
    #[must_use]
    pub fn bound<O>(&self, chosen: Chosen<O>, mut hits: [u64; 2], runs: u64) -> Finding<O> {
        if chosen.swapped {
            hits.swap(0, 1);
        }
        let each = self.false_positive_rate / 2.0;
        let likely = clopper_pearson_lower(hits[0], runs, each);
        let unlikely = clopper_pearson_upper(hits[1], runs, each);
        Finding {
            event: chosen.event,
            swapped: chosen.swapped,
            likely,
            unlikely,
            epsilon: ((likely - self.delta) / unlikely).ln(),
        }
    }

    /// The event with the best guess of a bound, by counts of outcomes in `runs` runs on each data set.
    #[must_use]
    pub fn choose<O: Ord + Clone>(&self, counts: &Counts<O>, runs: u64) -> Chosen<O> {
        let outcomes: Vec<(&O, [u64; 2])> =
            counts.0.iter().map(|(o, counts)| (o, *counts)).collect();
        let mut best = Best {
            guess: f64::NEG_INFINITY,
            event: Outcomes::OneOf(BTreeSet::new()),
            swapped: false,
        };
        let guess = |counts: [u64; 2]| self.guess(counts, runs);
        // Thresholds, from both ends.
        let mut sum = [0, 0];
        for (outcome, counts) in &outcomes {
            sum = [sum[0] + counts[0], sum[1] + counts[1]];
            best.offer(guess(sum), || Outcomes::AtMost((*outcome).clone()));
        }
        sum = [0, 0];
        for (outcome, counts) in outcomes.iter().rev() {
            sum = [sum[0] + counts[0], sum[1] + counts[1]];
            best.offer(guess(sum), || Outcomes::AtLeast((*outcome).clone()));
        }
        // Likelihood ratios: the outcomes that speak most for the first, then for the second. Of outcomes that were seen
        // once or never nothing is known.
        let mut by_ratio: Vec<&(&O, [u64; 2])> = outcomes
            .iter()
            .filter(|(_, counts)| counts[0] + counts[1] > 8)
            .collect();
        let ratio = |counts: [u64; 2]| (counts[0] as f64 + 0.5) / (counts[1] as f64 + 0.5);
        by_ratio.sort_by(|a, b| ratio(b.1).total_cmp(&ratio(a.1)));
        for back in [false, true] {
            let mut sum = [0, 0];
            let mut best_prefix = (f64::NEG_INFINITY, 0);
            for taken in 1..=by_ratio.len() {
                let at = if back {
                    by_ratio.len() - taken
                } else {
                    taken - 1
                };
                let counts = by_ratio[at].1;
                sum = [sum[0] + counts[0], sum[1] + counts[1]];
                let (value, _) = guess(sum);
                if value > best_prefix.0 {
                    best_prefix = (value, taken);
                }
            }
            let set = |taken: usize| -> BTreeSet<O> {
                let from = if back { by_ratio.len() - taken } else { 0 };
                by_ratio[from..from + taken]
                    .iter()
                    .map(|(outcome, _)| (*outcome).clone())
                    .collect()
            };
            best.offer((best_prefix.0, back), || {
                Outcomes::OneOf(set(best_prefix.1))
            });
        }
        Chosen {
            event: best.event,
            swapped: best.swapped,
        }
    }

    /// About the bound that these counts would give, and in which direction.
    fn guess(&self, counts: [u64; 2], runs: u64) -> (f64, bool) {
        let n = runs as f64;
        // Normal tails will do for a guess: the bound itself is exact, on other runs.
        let z = (-2.0 * self.false_positive_rate.ln()).sqrt();
        let one = |high: u64, low: u64| {
            let (p, q) = (high as f64 / n, low as f64 / n);
            let lower = p - z * (p * (1.0 - p) / n).sqrt();
            let upper = q + z * (q * (1.0 - q) / n).sqrt() + z * z / (2.0 * n);
            if lower > self.delta {
                ((lower - self.delta) / upper).ln()
            } else {
                f64::NEG_INFINITY
            }
        };
        let (ahead, back) = (one(counts[0], counts[1]), one(counts[1], counts[0]));
        if back > ahead {
            (back, true)
        } else {
            (ahead, false)
        }
    }
}

/// The best event so far.
struct Best<O> {
    guess: f64,
    event: Outcomes<O>,
    swapped: bool,
}

impl<O> Best<O> {
    fn offer(&mut self, (guess, swapped): (f64, bool), event: impl FnOnce() -> Outcomes<O>) {
        if guess > self.guess {
            *self = Self {
                guess,
                event: event(),
                swapped,
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// Randomized response: tells the truth with probability e^ε/(1 + e^ε), exactly ε-private.
    fn attack(epsilon: f64, seed: u64) -> Finding<bool> {
        let audit = BlackBox {
            runs: 40_000,
            false_positive_rate: 1e-6,
            delta: 0.0,
        };
        let truth = epsilon.exp() / (1.0 + epsilon.exp());
        let (mut a, mut b) = (
            ChaCha8Rng::seed_from_u64(seed),
            ChaCha8Rng::seed_from_u64(seed + 1),
        );
        audit.attack(|| a.random_bool(truth), || !b.random_bool(truth))
    }

    /// False-positive rate 1e-6 for the upper side; the lower side fails with probability below 1e-6 too (CP is tight).
    #[test]
    fn the_loss_of_randomized_response_is_found_and_not_exceeded() {
        let finding = attack(1.0, 1);
        assert!(
            finding.epsilon <= 1.0 && finding.epsilon > 0.85,
            "{finding:?}"
        );
    }

    /// The twin: a mechanism that promises 1.0 and keeps 1.2 is convicted.
    #[test]
    fn a_broken_promise_is_seen() {
        assert!(attack(1.2, 3).epsilon > 1.0);
    }

    #[test]
    fn counts_can_be_gathered_in_parts() {
        let mut whole = Counts::default();
        let mut parts = [Counts::default(), Counts::default(), Counts::default()];
        for i in 0..100_u32 {
            whole.add(i % 7, i % 5);
            parts[(i % 3) as usize].add(i % 7, i % 5);
        }
        let merged = parts.into_iter().reduce(Counts::merged);
        assert_eq!(merged, Some(whole));
    }

    #[test]
    fn equal_data_sets_cannot_be_told_apart() {
        let audit = BlackBox {
            runs: 2000,
            false_positive_rate: 1e-6,
            delta: 0.0,
        };
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let mut again = ChaCha8Rng::seed_from_u64(6);
        let finding = audit.attack(|| rng.random_range(0..50), || again.random_range(0..50));
        assert!(finding.epsilon <= 0.0);
    }

    #[test]
    fn sets_that_no_threshold_describes_are_found() {
        let audit = BlackBox {
            runs: 20_000,
            false_positive_rate: 1e-6,
            delta: 0.0,
        };
        let (mut a, mut b) = (ChaCha8Rng::seed_from_u64(7), ChaCha8Rng::seed_from_u64(8));
        // Even outcomes are twice as likely under one of the two.
        let mut draw = |odd: bool| {
            let rng = if odd { &mut a } else { &mut b };
            let x = 2 * rng.random_range(0..8_u8);
            x + u8::from(rng.random_bool(if odd { 2.0 / 3.0 } else { 1.0 / 3.0 }))
        };
        let mut other = ChaCha8Rng::seed_from_u64(9);
        let finding = audit.attack(
            || draw(true),
            || 2 * other.random_range(0..8_u8) + u8::from(other.random_bool(1.0 / 3.0)),
        );
        assert!(finding.epsilon > 0.5, "{finding:?}");
    }
}
