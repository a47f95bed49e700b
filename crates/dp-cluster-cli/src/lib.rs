//! The command `dp-cluster`: private centers of a table, and what goes with them.
//!
//! Results go to stdout, everything else to stderr. Exit codes: 0 released, 1 data or I/O, 2 usage, 3 the
//! mechanism answered ⊥.
//!
//! A library beside the program, so that its reader can be fuzzed; it promises no interface of its own.
#![forbid(unsafe_code)]

mod args;
mod bounds;
mod commands;
mod failure;
pub mod hostile;
mod input;
mod output;
mod paths;
mod progress;
mod report;
mod request;

use std::process::ExitCode;

use clap::Parser;

use args::Cli;

/// Runs the command with the arguments of the process.
#[must_use]
pub fn run() -> ExitCode {
    let cli = Cli::parse();
    match commands::run(cli.command) {
        Ok(code) => code,
        Err(failure) => {
            if !failure.is_closed_pipe() {
                output::say(&failure.to_string());
            }
            failure.exit_code()
        }
    }
}
