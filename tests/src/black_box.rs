//! Black-box attacks on worst-case neighbors: every mechanism of `dp-core`, and every algorithm end to end.

use std::collections::BTreeMap;
use std::convert::Infallible;

use dp_audit::black_box::{BlackBox, Counts, Finding};
use dp_core::mechanism::{SelectionRule, ThresholdMechanism};
use dp_core::rng::InsecureSeededRng;
use dp_core::tape::{Output, Statistic};
use dp_core::{Confidential, Delta, NeighboringRelation, Session, conversion};
use ndarray::Array2;
use rayon::prelude::*;

use crate::door::{epsilon, gaussian, laplace, rich, selection};
use crate::laws::{self, Law};
use crate::parallel::spread;
use crate::subjects::Subject;

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
}

impl Verdict {
    /// Whether the promise is broken, at the joint level.
    #[must_use]
    pub fn convicts(&self) -> bool {
        self.found > self.promised
    }

    /// Whether the attack misses what the exact law says is there.
    #[must_use]
    pub fn is_blind(&self) -> bool {
        // Written as what must hold: a NaN is blind.
        self.own
            .is_some_and(|own| !(self.found >= SIGHT * own && own > 0.0))
    }

    /// The verdict in one line.
    #[must_use]
    pub fn line(&self) -> String {
        let own = self.own.map_or(String::new(), |own| {
            format!(", {:.0} % of {own:.3}", 100.0 * self.found / own)
        });
        format!(
            "{}: epsilon ≥ {:.3} of {:.3}{own} ({} runs)",
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
    }
}

/// Runs of one job: many jobs share the machine's cores.
const JOB: u64 = 10_000;

/// Numbers that the adversary looks at.
const SEEN: usize = 3;

/// What the adversary sees of one run: of each call the first number and the last, in the order of calls.
type Seen = [i32; SEEN];

/// Where nothing was released.
const NOTHING: i32 = i32::MIN;

/// Attacks an algorithm end to end: the adversary sees the first numbers that come through the door.
///
/// Add-remove: two records in a corner (or as many as the subject says), or one fewer. Replace-one: one of them is in the opposite corner.
/// Jobs have generators of their own, so that the result does not depend on the number of threads.
#[must_use]
pub fn algorithm(subject: &Subject, runs: u64, pairs: usize) -> Verdict {
    let runs = (runs / subject.cost as u64).max(1000);
    let promise = subject.promise;
    let corner = |n: usize| Array2::from_elem((n, subject.columns), 0.9);
    let crowd = subject.crowd;
    let (first, mut second) = (corner(crowd), corner(crowd));
    match promise.relation {
        NeighboringRelation::AddRemove => second = corner(crowd - 1),
        NeighboringRelation::ReplaceOne => second.row_mut(crowd - 1).fill(-0.9),
    }
    let run = |records: &Array2<f64>, rng: &mut InsecureSeededRng| -> Seen {
        let mut session = Session::new(promise.budget, promise.relation, rng).recorded();
        // A failure is an outcome too.
        match subject.run(records, &mut session) {
            Ok(()) => seen(session),
            Err(_) => [i32::MAX; SEEN],
        }
    };
    // The outcomes of one job of one half of the runs.
    let each = |half: u64, n: u64, job: u64, see: &mut dyn FnMut(Seen, Seen)| {
        let seed = 4 * job + 2 * half;
        let mut rngs = [seed, seed + 1].map(InsecureSeededRng::new);
        for _ in 0..JOB.min(n - job * JOB) {
            let [a, b] = &mut rngs;
            see(run(&first, a), run(&second, b));
        }
    };
    let audit = audit(runs, pairs, promise.budget.delta.get());
    let half = runs / 2;
    let count = |job| {
        let mut counts = Counts::default();
        each(0, half, job, &mut |a, b| counts.add(a, b));
        Ok::<_, Infallible>(counts)
    };
    let Ok(counts) = spread(half.div_ceil(JOB), count, Counts::merged);
    let chosen = audit.choose(&counts.unwrap_or_default(), half);
    let rest = runs - half;
    let hit = |job| {
        let mut hits = [0; 2];
        each(1, rest, job, &mut |a, b| {
            hits[0] += u64::from(chosen.event.contains(&a));
            hits[1] += u64::from(chosen.event.contains(&b));
        });
        Ok::<_, Infallible>(hits)
    };
    let Ok(hits) = spread(rest.div_ceil(JOB), hit, |a, b| [a[0] + b[0], a[1] + b[1]]);
    let hits = hits.unwrap_or_default();
    let finding = audit.bound(chosen, hits, rest);
    Verdict {
        name: subject.name(),
        runs,
        found: finding.epsilon,
        promised: promise.budget.epsilon.get(),
        own: None,
    }
}

/// Numbers that came through the door, in halves of a standard deviation where noise was added.
fn seen(session: Session<'_>) -> Seen {
    let tape = session.into_tape().unwrap_or_default();
    let mut seen = [NOTHING; SEEN];
    let numbers = tape.calls().iter().flat_map(|call| {
        let spread = match call
            .event
            .parameters
            .get("std_dev")
            .or(call.event.parameters.get("scale"))
        {
            Some(dp_core::Value::Real(spread)) => *spread,
            _ => 1.0,
        };
        #[expect(clippy::cast_possible_truncation, reason = "clamped")]
        let coarse = move |x: i128| (2.0 * x as f64 / spread).round().clamp(-1e9, 1e9) as i32;
        let numbers: Vec<i32> = match (&call.statistic, &call.output) {
            // A point of a grid: in which eighth it lies. Finer outcomes would be seen once each.
            (Statistic::Steps(steps), Output::Integers(values)) => {
                let length: u64 = steps.iter().map(|&(length, _)| length).sum();
                let eighth = |x: i128| i32::try_from(8 * x / i128::from(length.max(1)));
                values.iter().filter_map(|&x| eighth(x).ok()).collect()
            }
            // The records of the neighbors lie in opposite corners, at the two ends of a grid.
            (_, Output::Integers(values)) => {
                let last = values.last().filter(|_| values.len() > 1);
                values
                    .first()
                    .into_iter()
                    .chain(last)
                    .map(|&x| coarse(x))
                    .collect()
            }
            (_, Output::Keyed(values)) if values.is_empty() => vec![NOTHING],
            (_, Output::Keyed(values)) => values.values().take(SEEN).map(|&x| coarse(x)).collect(),
            (_, Output::Choice(choice)) => {
                vec![choice.map_or(NOTHING, |i| i32::try_from(i).unwrap_or(i32::MAX))]
            }
            // Coins stay private: they are not seen.
            (_, Output::Coins(_)) => Vec::new(),
        };
        numbers
    });
    for (place, number) in seen.iter_mut().zip(numbers) {
        *place = number;
    }
    seen
}
