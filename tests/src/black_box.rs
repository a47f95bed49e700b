//! Black-box attacks on worst-case neighbors: every mechanism of `dp-core`, and every algorithm end to end.

use std::collections::BTreeMap;

use dp_audit::black_box::{BlackBox, Finding};
use dp_core::mechanism::{SelectionRule, ThresholdMechanism};
use dp_core::rng::InsecureSeededRng;
use dp_core::{Confidential, Delta, conversion};
use rayon::prelude::*;

use crate::door::{epsilon, gaussian, laplace, rich, selection};
use crate::laws::{self, Law};

mod end_to_end;
mod numbers;
mod view;
pub use end_to_end::{algorithm, moves};
pub use view::Moves;

/// Probability that any bound of one audit is above the truth.
pub(crate) const JOINT_RATE: f64 = 1e-3;

/// The least part of the loss of the tested event that the audit must find.
const SIGHT: f64 = 0.8;

/// What an attack on one pair of neighbors gave.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// What was attacked.
    pub name: String,
    /// Runs on each of the two data sets.
    pub runs: u64,
    /// Lower bound of ε at the stated δ.
    pub found: f64,
    /// What is promised.
    pub promised: f64,
    /// What the exact law gives to the tested event, where it is known.
    pub own: Option<f64>,
    /// How far the statistics move of which the adversary sees noisy values, where it chose them.
    pub moves: Option<Moves>,
    /// Why none of them need move.
    pub unseen: Option<&'static str>,
}

impl Verdict {
    /// Whether the promise is broken, at the joint level.
    #[must_use]
    pub fn convicts(&self) -> bool {
        self.found > self.promised
    }

    /// Whether the attack misses what the exact law says is there, or looks at nothing that could tell the data sets apart.
    ///
    /// A pair with a reason for that must not move at all: else the reason is out of date.
    #[must_use]
    pub fn is_blind(&self) -> bool {
        // Written as what must hold: a bound that is no number, as where the likelier event is rarer than δ, is blind.
        let misses = |own: f64| !(self.found >= SIGHT * own && own > 0.0);
        let looks_away = |moves: Moves| (moves.all > 0.0) == self.unseen.is_some();
        self.own.is_some_and(misses) || self.moves.is_some_and(looks_away)
    }

    /// The verdict in one line.
    #[must_use]
    pub fn line(&self) -> String {
        let own = self.own.map_or(String::new(), |own| {
            format!(", {:.0} % of {own:.3}", 100.0 * self.found / own)
        });
        let moves = match (self.moves, self.unseen) {
            (None, _) => String::new(),
            (Some(moves), None) => {
                format!(
                    ", moves {:.2}, three numbers {:.2}",
                    moves.all, moves.single
                )
            }
            (Some(moves), Some(reason)) => format!(", moves {:.2}: {reason}", moves.all),
        };
        format!(
            "{}: epsilon ≥ {:.3} of {:.3}{own}{moves} ({} runs)",
            self.name, self.found, self.promised, self.runs
        )
    }
}

/// How a bound is made when `pairs` pairs are tested together.
fn audit(runs: u64, pairs: usize, delta: f64) -> BlackBox {
    BlackBox {
        runs,
        false_positive_rate: JOINT_RATE / pairs as f64,
        delta,
    }
}

/// Number of pairs in [`mechanisms`].
pub const MECHANISMS: usize = 7;

/// Attacks every mechanism; `pairs` more are tested elsewhere at the same joint level.
#[must_use]
pub fn mechanisms(runs: u64, pairs: usize) -> Vec<Verdict> {
    let pairs = pairs + MECHANISMS;
    let attacks: [fn(u64, usize) -> Verdict; MECHANISMS] = [
        |runs, pairs| {
            let law = Law::laplace(2.0);
            additive(
                "discrete-laplace",
                &laplace(1, 0.5),
                &law,
                1,
                (runs, pairs),
                (0.5, 0.0),
            )
        },
        |runs, pairs| {
            let law = Law::laplace(2.0);
            additive(
                "discrete-laplace, Δ = 4",
                &laplace(4, 2.0),
                &law,
                4,
                (runs, pairs),
                (2.0, 0.0),
            )
        },
        |runs, pairs| {
            // At δ = 1e-6 no number of runs shows anything; at 0.05 they do.
            let delta = 0.05;
            let promised = conversion::epsilon_of_rho(0.5, delta);
            let law = Law::gaussian(4.0);
            additive(
                "discrete-gaussian",
                &gaussian(4, 0.5),
                &law,
                2,
                (runs, pairs),
                (promised, delta),
            )
        },
        |runs, pairs| select(SelectionRule::Exponential, runs, pairs),
        |runs, pairs| select(SelectionRule::PermuteAndFlip, runs, pairs),
        |runs, pairs| select(SelectionRule::NoisyMax, runs, pairs),
        threshold,
    ];
    attacks
        .into_par_iter()
        .map(|attack| attack(runs, pairs))
        .collect()
}

fn additive(
    name: &str,
    mechanism: &dp_core::mechanism::AdditiveMechanism,
    law: &Law,
    moved: i64,
    (runs, pairs): (u64, usize),
    (promised, delta): (f64, f64),
) -> Verdict {
    let draw = |value: i64, seed| {
        let statistic = Confidential::new(vec![value]);
        let mut rng = InsecureSeededRng::new(seed);
        move || {
            let noisy = rich(&mut rng).add_noise(mechanism, "audit", &statistic);
            noisy.map_or(i128::MAX, |noisy| noisy[0])
        }
    };
    let finding = audit(runs, pairs, delta).attack(draw(moved, 21), draw(0, 22));
    let probability = |shift: i64| {
        let inside = law
            .iter()
            .filter(|(x, _)| finding.event.contains(&(x + i128::from(shift))));
        inside.map(|(_, mass)| mass).sum()
    };
    verdict(
        name,
        runs,
        &finding,
        promised,
        delta,
        [probability(moved), probability(0)],
    )
}

fn select(rule: SelectionRule, runs: u64, pairs: usize) -> Verdict {
    // One of ten candidates gains 1: the worst case of width 1.
    let mut scores = vec![0_i64; 10];
    let before = law_of(rule, &scores);
    let draw = |scores: &[i64], seed| {
        let mechanism = selection(rule, 1, 1.0);
        let scores = Confidential::new(scores.to_vec());
        let mut rng = InsecureSeededRng::new(seed);
        move || {
            let chosen = rich(&mut rng).select(&mechanism, "audit", &scores, None);
            chosen.unwrap_or(usize::MAX)
        }
    };
    let second = draw(&scores, 24);
    scores[3] = 1;
    let after = law_of(rule, &scores);
    let finding = audit(runs, pairs, 0.0).attack(draw(&scores, 23), second);
    let probability = |law: &[f64]| {
        let inside = law
            .iter()
            .enumerate()
            .filter(|(i, _)| finding.event.contains(i));
        inside.map(|(_, mass)| mass).sum()
    };
    let own = [probability(&after), probability(&before)];
    verdict(&format!("{rule:?}"), runs, &finding, 1.0, 0.0, own)
}

fn law_of(rule: SelectionRule, scores: &[i64]) -> Vec<f64> {
    match rule {
        SelectionRule::Exponential => laws::exponential(scores, 1.0),
        SelectionRule::PermuteAndFlip => laws::permute_and_flip(scores, 1.0),
        SelectionRule::NoisyMax => laws::noisy_max(scores, 1.0),
    }
}

fn threshold(runs: u64, pairs: usize) -> Verdict {
    let delta = 0.01;
    let mechanism = ThresholdMechanism::calibrate(epsilon(1.0), Delta::new(delta).expect("valid"))
        .expect("a drawable scale");
    let least = mechanism.threshold();
    let draw = |count: i64, seed| {
        let mechanism = mechanism.clone();
        let counts = Confidential::new(BTreeMap::from([(vec![1], count)]));
        let mut rng = InsecureSeededRng::new(seed);
        move || {
            let released = rich(&mut rng).threshold(&mechanism, "audit", &counts);
            released
                .ok()
                .and_then(|released| released.values().next().copied())
        }
    };
    // One record more of a key that stands at the threshold.
    let finding = audit(runs, pairs, delta).attack(draw(least, 25), draw(least - 1, 26));
    let law = Law::laplace(1.0);
    let probability = |count: i64| {
        let inside = law.iter().filter(|(x, _)| {
            let noisy = x + i128::from(count);
            let seen = (noisy >= i128::from(least)).then_some(noisy);
            finding.event.contains(&seen)
        });
        inside.map(|(_, mass)| mass).sum()
    };
    let own = [probability(least), probability(least - 1)];
    verdict("stability-threshold", runs, &finding, 1.0, delta, own)
}

fn verdict<O>(
    name: &str,
    runs: u64,
    finding: &Finding<O>,
    promised: f64,
    delta: f64,
    mut own: [f64; 2],
) -> Verdict {
    if finding.swapped {
        own.swap(0, 1);
    }
    Verdict {
        name: name.to_owned(),
        runs,
        found: finding.epsilon,
        promised,
        own: Some(((own[0] - delta) / own[1]).ln()),
        moves: None,
        unseen: None,
    }
}
