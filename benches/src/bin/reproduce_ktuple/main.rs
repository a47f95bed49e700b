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

use workspace_benches::program::run;

fn main() -> ExitCode {
    run(|part, arguments| match part {
        "ball" => ball::run(arguments),
        "real" => real::run(arguments),
        "speed" => real::speed(),
        "sizes" => tables::sizes(),
        "tables" => tables::run(arguments),
        "both-ways" => tables::both_ways(arguments),
        "separations" => separations::run(arguments),
        _ => {
            Err("usage: reproduce ktuple ball|real|tables|both-ways|separations|sizes|speed".into())
        }
    })
}
