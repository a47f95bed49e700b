//! Tests 1 to 3 of Section 7, in the paper's form: how many tuples and samples each algorithm needs for 90 % success.

use std::error::Error;
use std::time::Instant;

use ktuple::TupleAggregator;
use ktuple::friendly::{Filter, FriendlyCore};
use ktuple::partition::{Formulas, Subsampling, TestCall, Union};

use crate::section7::{
    Cell, FAILURE_PROBABILITY, Found, Source, Trial, algorithm_of, first_good, verdict,
};
use workspace_benches::program::{option, say};

/// Samples per tuple and cluster for `PrivatekAverages`, as in the paper.
const AVERAGES_SAMPLES: usize = 15;

pub(crate) fn sizes() -> Result<(), Box<dyn Error>> {
    let call = TestCall::of_algorithm(1.0, (-28.0_f64).exp(), FAILURE_PROBABILITY);
    say("| sub-sampling | l | smallest n | m | epsilon_1 | l at n | eta bound / delta |");
    say("|---|---|---|---|---|---|---|");
    for (subsampling, union) in [
        (Subsampling::Printed, Union::Printed),
        (Subsampling::Printed, Union::Joint),
        (Subsampling::Tight, Union::Printed),
        (Subsampling::Tight, Union::Joint),
        (Subsampling::Experiments, Union::Experiments),
    ] {
        let least = Formulas { subsampling, union }.least_tuples(call)?;
        say(&format!(
            "| {subsampling:?} | {union:?} | {} | {} | {:.4} | {:.2} | {:.2} |",
            least.n_tuples,
            least.plan.n_drawn,
            least.plan.epsilon_drawn,
            least.plan.n_outside,
            least.plan.total_delta(0.5) / (-28.0_f64).exp(),
        ));
    }
    say("");
    say("Tuples that FriendlyCore needs, by its match ratio:");
    say("");
    say("| k | d | 1/32 | 1/24 | 1/16 | 1/12 | 1/10 | 1/8 |");
    say("|---|---|---|---|---|---|---|---|");
    for (k, d) in [(2, 1), (2, 4), (2, 16), (8, 4), (8, 32)] {
        let cell = Cell { k, d, radius: 1.0 };
        let needed = [32.0, 24.0, 16.0, 12.0, 10.0, 8.0].map(|divisor: f64| {
            let core = FriendlyCore::new(1.0 / divisor, Filter::Proportional);
            let needed = core.map_err(Into::into).and_then(|core| cell.needed(&core));
            needed.map_or_else(|_: Box<dyn Error>| "none".to_owned(), |t| t.to_string())
        });
        say(&format!("| {k} | {d} | {} |", needed.join(" | ")));
    }
    Ok(())
}

/// The cells of Tests 1 to 3.
fn tests() -> Vec<(usize, Cell)> {
    let first = (5..=9).map(|log| Cell {
        k: 2,
        d: 1,
        radius: f64::from(1 << log),
    });
    let second = [2, 4, 6, 8].map(|k| Cell {
        k,
        d: 4,
        radius: 512.0 * k as f64,
    });
    let third = [4, 8, 12, 16].map(|d| Cell {
        k: 2,
        d,
        radius: 256.0 * (d as f64).sqrt(),
    });
    let first = first.map(|cell| (1, cell));
    let second = second.into_iter().map(|cell| (2, cell));
    let third = third.into_iter().map(|cell| (3, cell));
    first.chain(second).chain(third).collect()
}

/// What a search found, as a row's last columns.
fn shown(trials: &[Trial], found: Found) -> String {
    let Some((at, verdict, below)) = found else {
        return "none of the sizes tried | | | ".to_owned();
    };
    let Trial { t, s, .. } = trials[at];
    let below = match (at.checked_sub(1), below) {
        (Some(under), Some(below)) => {
            let Trial { t, s, .. } = trials[under];
            format!("{} of {} at t = {t}, s = {s}", below.good, below.done)
        }
        _ => "-".to_owned(),
    };
    format!(
        "{t} | {s} | {:.2e} | {} of {}; below: {below}",
        t as f64 * s as f64,
        verdict.good,
        verdict.done
    )
}

/// The settings of an algorithm in ascending order, and where to begin.
fn settings(
    letter: char,
    cell: Cell,
    algorithm: &dyn TupleAggregator,
) -> Result<(Vec<Trial>, usize), Box<dyn Error>> {
    let needed = cell.needed(algorithm)?;
    Ok(match letter {
        'f' => {
            let per_cluster = [2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64];
            let trial = |m| Trial {
                t: needed + needed / 8,
                s: m * cell.k,
                source: Source::Blocks,
            };
            (per_cluster.map(trial).to_vec(), 4)
        }
        'n' | 's' => {
            let trial = |half: i32| {
                let per_cluster = 2_f64.powf(f64::from(half) / 2.0).round();
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "between 4 and 2^30"
                )]
                let per_cluster = per_cluster as usize;
                Trial {
                    t: needed,
                    s: per_cluster * cell.k,
                    source: Source::Law,
                }
            };
            ((4..=60).map(trial).collect(), 20)
        }
        _ => {
            // 500,000·k·d times powers of 1.25.
            let trial = |step: i32| {
                let t = 500_000.0 * (cell.k * cell.d) as f64 * 1.25_f64.powi(step);
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "positive and far below 2^53"
                )]
                let t = t as usize;
                Trial {
                    t,
                    s: AVERAGES_SAMPLES * cell.k,
                    source: Source::Law,
                }
            };
            let all: Vec<Trial> = (-12..=12).map(trial).collect();
            // The search begins where nearly all cells end: at 625,000·k·d.
            (all, 13)
        }
    })
}

fn name(letter: char) -> &'static str {
    match letter {
        'f' => "FriendlyCore",
        'n' => "NoisyCenters, the paper's separation",
        's' => "NoisyCenters, the proved separation",
        _ => "Averages",
    }
}

pub(crate) fn run(arguments: &[String]) -> Result<(), Box<dyn Error>> {
    let runs: u64 = option(arguments, "--runs").unwrap_or(30);
    let only: Option<usize> = option(arguments, "--test");
    let rows: Option<usize> = option(arguments, "--row");
    let algorithms: String = option(arguments, "--algorithms").unwrap_or_else(|| "fnsa".into());
    say(
        "| test | k | d | R | algorithm | needs | tuples | samples per tuple | samples | success | seconds |",
    );
    say("|---|---|---|---|---|---|---|---|---|---|---|");
    for letter in algorithms.chars() {
        let mut row = 0;
        let mut before = 0;
        for (test, cell) in tests() {
            row = if test == before { row + 1 } else { 1 };
            before = test;
            if only.is_some_and(|only| only != test) || rows.is_some_and(|rows| rows != row) {
                continue;
            }
            let clock = Instant::now();
            let algorithm = algorithm_of(cell, letter)?;
            let (trials, start) = settings(letter, cell, &*algorithm)?;
            let found = first_good(trials.len(), start, runs, |i, runs, seed| {
                verdict(&*algorithm, cell, trials[i], runs, seed)
            })?;
            say(&format!(
                "| {test} | {} | {} | {:.0} | {} | {} | {} | {:.0} |",
                cell.k,
                cell.d,
                cell.radius,
                name(letter),
                cell.needed(&*algorithm)?,
                shown(&trials, found),
                clock.elapsed().as_secs_f64()
            ));
        }
    }
    Ok(())
}

/// One small cell with tuples from their law and from blocks, each algorithm where the table has it: k = 2, d = 1, R = 512.
pub(crate) fn both_ways(arguments: &[String]) -> Result<(), Box<dyn Error>> {
    let runs: u64 = option(arguments, "--runs").unwrap_or(30);
    let algorithms: String = option(arguments, "--algorithms").unwrap_or_else(|| "fna".into());
    let tuples: Option<usize> = option(arguments, "--tuples");
    let samples: Option<usize> = option(arguments, "--samples");
    let cell = Cell {
        k: 2,
        d: 1,
        radius: 512.0,
    };
    say("| algorithm | tuples | samples per tuple | from their law | from blocks |");
    say("|---|---|---|---|---|");
    for letter in algorithms.chars() {
        let algorithm = algorithm_of(cell, letter)?;
        let needed = cell.needed(&*algorithm)?;
        let (t, s) = match letter {
            'f' => (needed + needed / 8, 8),
            'n' => (needed, 512),
            _ => (625_000 * cell.k * cell.d, AVERAGES_SAMPLES * cell.k),
        };
        let (t, s) = (tuples.unwrap_or(t), samples.unwrap_or(s));
        let mut columns = vec![format!("| {} | {t} | {s}", name(letter))];
        for source in [Source::Law, Source::Blocks] {
            let trial = Trial { t, s, source };
            // All runs, also where 90 % is out of reach.
            let mut good = 0;
            for run in 0..runs {
                good += verdict(&*algorithm, cell, trial, 1, 200_007 + 1000 * run)?.good;
            }
            columns.push(format!("{good} of {runs}"));
        }
        say(&format!("{} |", columns.join(" | ")));
    }
    Ok(())
}
