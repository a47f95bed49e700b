//! One file per command.

mod algorithms;
mod completions;
mod evaluate;
mod fit;
mod generate;
mod inspect;
mod plan;
mod predict;
mod recluster;

use std::process::ExitCode;

use crate::args::Command;
use crate::failure::Failure;

pub(crate) fn run(command: Command) -> Result<ExitCode, Failure> {
    let done = |result: Result<(), Failure>| result.map(|()| ExitCode::SUCCESS);
    match command {
        Command::Fit(args) => fit::run(&args),
        Command::Recluster(args) => done(recluster::run(&args)),
        Command::Evaluate(args) => done(evaluate::run(&args)),
        Command::Predict(args) => done(predict::run(&args)),
        Command::Inspect(args) => done(inspect::run(&args)),
        Command::Plan(args) => done(plan::run(&args)),
        Command::Algorithms(args) => done(algorithms::run(&args)),
        Command::Generate(args) => done(generate::run(&args)),
        Command::Completions(args) => done(completions::run(&args)),
    }
}
