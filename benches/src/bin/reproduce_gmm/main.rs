//! `cargo xtask reproduce gmm PART …`: private mixtures against their own truth, beside what is known without privacy.
//!
//! * `curves [--runs R] [--most N] [--k K] [--d D]`: total variation against n, beside EM without privacy and EM on noisy records;
//! * `eight [--runs R]`: eight unit Gaussians in a ball: means, variances, weights, likelihood;
//! * `separations [--runs R]`: how close together components may be at n = 100,000;
//! * `rules [--runs R] [--k K] [--d D] [--sizes N,…] [--split S] [--shares A,…] [--ratios G,…] [--separation H]`: what shares and blocks were chosen on;
//! * `press [--runs R]`: CoinPress alone, beside the authors' algorithm in floats with the number of records public;
//! * `speed [--records N]`: one fit against the clock and its peak of memory;
//! * `em [--peer 'PYTHON SCRIPT']`: an iteration of EM against the clock, beside a peer in the same run.
#![expect(
    clippy::disallowed_methods,
    reason = "a program that measures looks at the clock"
)]

mod curves;
mod eight;
mod em;
mod press;
mod rules;
mod truth;

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
        Some("curves") => curves::run(&arguments),
        Some("eight") => eight::run(&arguments),
        Some("separations") => curves::separations(&arguments),
        Some("press") => press::run(&arguments),
        Some("speed") => em::speed(&arguments),
        Some("rules") => rules::run(&arguments),
        Some("em") => em::run(&arguments),
        _ => Err("usage: reproduce gmm curves|eight|separations|rules|press|speed|em".into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("failed: {error}"));
            ExitCode::FAILURE
        }
    }
}
