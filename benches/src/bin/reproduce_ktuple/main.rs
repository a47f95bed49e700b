//! `cargo xtask reproduce ktuple PART …`: what the k-tuple clusterings of this project do, beside the paper.
//!
//! * `ball`: eight unit Gaussians with means in a ball of radius 100: how often every mean is found, and in what time;
//! * `real --data DIR`: sets that are not easy: ⊥ or a good answer;
//! * `tables`: Section 7 of the paper, Tests 1 to 3, for the two published algorithms and FriendlyCore;
//! * `separations`: how close together clusters may be, and one cell with tuples made both ways;
//! * `sizes`: how many tuples the published test needs, by each of its formulas;
//! * `speed`: test, aggregation and whole fits against the clock.
#![expect(
    clippy::disallowed_methods,
    reason = "a program that measures looks at the clock"
)]

mod ball;
mod real;
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
        Some("separations") => tables::separations(&arguments),
        _ => Err("usage: reproduce ktuple ball|real|tables|separations|sizes|speed".into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("failed: {error}"));
            ExitCode::FAILURE
        }
    }
}
