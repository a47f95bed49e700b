//! How close together clusters may be: the smallest R for 90 % success, with as many samples as one likes, and at equal numbers of
//! samples.
//!
//! All three algorithms work in units of the distances between centers, so R alone says little: with enough samples per tuple
//! centers are as exact as one likes, at any R. And below R of about 3.6 no centers whatever succeed, for of 1,000 samples some are
//! nearer to another Gaussian's mean. What tells algorithms apart is the R that a number of samples is enough for.

use std::error::Error;

use ktuple::TupleAggregator;

use crate::section7::{Cell, Found, Source, Trial, algorithm_of, first_good, verdict};
use workspace_benches::program::{option, say};

/// R = 2^(i/4), i from 4 on.
fn radius(step: usize) -> f64 {
    2_f64.powf((step + 4) as f64 / 4.0)
}

/// Steps of R up to half of Λ.
fn steps(cell: Cell) -> usize {
    (0..100)
        .filter(|&step| radius(step) <= cell.bound() / 2.0)
        .count()
}

fn smallest(
    letter: char,
    (k, d): (usize, usize),
    trial: Trial,
    runs: u64,
    start: usize,
) -> Result<Found, Box<dyn Error>> {
    let at = |step: usize| Cell {
        k,
        d,
        radius: radius(step),
    };
    first_good(steps(at(0)), start, runs, |step, runs, seed| {
        let cell = at(step);
        let algorithm: Box<dyn TupleAggregator> = algorithm_of(cell, letter)?;
        verdict(&*algorithm, cell, trial, runs, seed)
    })
}

fn shown(found: Found) -> String {
    found.map_or_else(
        || "none".to_owned(),
        |(step, verdict, below)| {
            let below = below.map_or_else(String::new, |below| {
                format!(", {} of {} one step below", below.good, below.done)
            });
            format!(
                "{:.1} ({} of {}{below})",
                radius(step),
                verdict.good,
                verdict.done
            )
        },
    )
}

pub(crate) fn run(arguments: &[String]) -> Result<(), Box<dyn Error>> {
    let runs: u64 = option(arguments, "--runs").unwrap_or(30);
    let d: usize = option(arguments, "--dimension").unwrap_or(4);
    let k: usize = option(arguments, "--clusters").unwrap_or(2);
    let algorithms: String = option(arguments, "--algorithms").unwrap_or_else(|| "fns".into());
    let totals: String =
        option(arguments, "--samples").unwrap_or_else(|| "1e5,1e6,1e7,1e8,1e9".into());
    say("| k | d | samples | algorithm | tuples | samples per tuple | smallest R |");
    say("|---|---|---|---|---|---|---|");
    for letter in algorithms.chars() {
        let cell = Cell { k, d, radius: 1.0 };
        let algorithm = algorithm_of(cell, letter)?;
        let needed = cell.needed(&*algorithm)?;
        let least = match letter {
            'f' => needed + needed / 8,
            'n' | 's' => needed,
            // About what the tables need.
            _ => option(arguments, "--tuples").unwrap_or(needed / 2),
        };
        let mut start = steps(cell) - 1;
        let mut sizes: Vec<(String, usize)> = Vec::new();
        for total in totals.split(',') {
            let total: f64 = total.parse()?;
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "positive and below 2^53"
            )]
            let each = (total / least as f64) as usize;
            sizes.push((format!("{total:.0e}"), each));
        }
        sizes.push(("any number".to_owned(), k << 34));
        for (total, s) in sizes {
            if s < 2 * k {
                say(&format!(
                    "| {k} | {d} | {total} | {letter} | {least} | {s} | none: too few for {least} tuples |"
                ));
                continue;
            }
            let source = if s > 2000 || letter != 'f' {
                Source::Law
            } else {
                Source::Blocks
            };
            let trial = Trial {
                t: least,
                s,
                source,
            };
            let found = smallest(letter, (k, d), trial, runs, start)?;
            if let Some((step, ..)) = found {
                start = step;
            }
            say(&format!(
                "| {k} | {d} | {total} | {letter} | {least} | {s} | {} |",
                shown(found)
            ));
        }
    }
    Ok(())
}
