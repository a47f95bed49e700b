//! `cargo xtask reproduce gmm PART …`: private mixtures against their own truth, beside what is known without privacy.
//!
//! * `curves [--runs R] [--most N] [--k K] [--d D]`: total variation against n, beside EM without privacy and EM on noisy records, then errors of parameters and labels;
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
mod errors;
mod press;
mod rules;
mod truth;

use std::process::ExitCode;

use workspace_benches::program::run;

fn main() -> ExitCode {
    run(|part, arguments| match part {
        "curves" => curves::run(arguments),
        "eight" => eight::run(arguments),
        "separations" => curves::separations(arguments),
        "press" => press::run(arguments),
        "speed" => em::speed(arguments),
        "rules" => rules::run(arguments),
        "em" => em::run(arguments),
        _ => Err("usage: reproduce gmm curves|eight|separations|rules|press|speed|em".into()),
    })
}
