//! `cargo xtask ci`: everything that must pass, the same by hand as on a server.

use std::time::{Duration, Instant};

use crate::run::{cargo, check, say};
use crate::{audit, layers, readme, tidy};

type Step = (&'static str, fn() -> Result<(), String>);

const STEPS: &[Step] = &[
    ("format", || {
        check(cargo().args(["fmt", "--all", "--check"]))
    }),
    ("tidy", || tidy::run().map(|line| say(&line))),
    ("layers", || layers::run().map(|line| say(&line))),
    ("lints", || {
        check(cargo().args([
            "clippy",
            "--workspace",
            "--all-targets",
            "--all-features",
            "--locked",
            "--",
            "--deny",
            "warnings",
        ]))
    }),
    ("docs", || {
        let mut doc = cargo();
        doc.args([
            "doc",
            "--workspace",
            "--no-deps",
            "--document-private-items",
            "--locked",
        ]);
        check(doc.env("RUSTDOCFLAGS", "--deny warnings"))
    }),
    // Unit, property, integration, golden and statistical tests, and the examples of the docs.
    ("tests", || {
        check(cargo().args(["test", "--workspace", "--locked"]))
    }),
    // The zoo is a build of its own, in `target/faults`.
    ("audit", audit::quick),
    ("fault zoo", audit::faults),
    ("no default features", || {
        check(cargo().args(["check", "--workspace", "--no-default-features", "--locked"]))
    }),
    ("the README's command", || {
        let line = readme::command(readme::RUN)?;
        let mut words = line.split_whitespace();
        if words.next() != Some("cargo") {
            return Err(format!("the README's command is no cargo command: {line}"));
        }
        check(cargo().args(words))
    }),
];

/// Runs all steps in order and stops at the first that fails.
pub(crate) fn run(_: &[String]) -> Result<(), String> {
    let start = now();
    let mut times = Vec::new();
    for (name, step) in STEPS {
        say(&format!("── {name}"));
        let begun = now();
        step().map_err(|problem| format!("ci: {name} failed\n{problem}"))?;
        times.push((name, begun.elapsed()));
    }
    say("── times");
    for (name, time) in &times {
        say(&format!("{:>8}  {name}", seconds(*time)));
    }
    say(&format!("{:>8}  all", seconds(start.elapsed())));
    say(&format!("ci: {} passed, 0 failed", times.len()));
    Ok(())
}

#[expect(
    clippy::disallowed_methods,
    reason = "people who wait want to know for what"
)]
fn now() -> Instant {
    Instant::now()
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}
