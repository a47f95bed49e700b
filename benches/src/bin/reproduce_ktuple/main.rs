//! `cargo xtask reproduce ktuple PART …`: what the k-tuple clusterings of this project do, beside the paper.
//!
//! * `ball`: eight unit Gaussians with means in a ball of radius 100: how often every mean is found, and in what time;
//! * `real --data DIR`: sets that are not easy: ⊥ or a good answer;
//! * `tables [--test 1|2|3] [--row I] [--algorithms fnsa]`: Section 7 of the paper, Tests 1 to 3, for FriendlyCore (f), the published
//!   `NoisyCenters` with the paper's separation (n) and with the proved one (s), and the published `Averages` (a): minutes for all
//!   but `a`, which takes an hour and more for k·d > 16;
//! * `both-ways`: one small cell with tuples from their law and from blocks;
//! * `separations`: how close together clusters may be;
//! * `sizes`: how many tuples the published test needs, by each of its formulas;
//! * `speed`: test, aggregation and whole fits against the clock.
#![expect(
    clippy::disallowed_methods,
    reason = "a program that measures looks at the clock"
)]

mod ball;
mod real;
mod section7;
mod separations;
mod tables;

use std::process::ExitCode;

/// One line to standard output.
fn say(line: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stdout().lock(), "{line}");
}

/// The value after `--name`, if it is there.
fn option<T: std::str::FromStr>(arguments: &[String], name: &str) -> Option<T> {
    let at = arguments.iter().position(|argument| argument == name)?;
    arguments.get(at + 1)?.parse().ok()
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match arguments.first().map(String::as_str) {
        Some("ball") => ball::run(&arguments),
        Some("real") => real::run(&arguments),
        Some("speed") => real::speed(),
        Some("sizes") => tables::sizes(),
        Some("tables") => tables::run(&arguments),
        Some("both-ways") => tables::both_ways(&arguments),
        Some("separations") => separations::run(&arguments),
        _ => {
            Err("usage: reproduce ktuple ball|real|tables|both-ways|separations|sizes|speed".into())
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("failed: {error}"));
            ExitCode::FAILURE
        }
    }
}
