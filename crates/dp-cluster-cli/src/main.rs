//! The command `dp-cluster`: private centers of a table, and what goes with them.
//!
//! Results go to stdout, everything else to stderr. Exit codes: 0 released, 1 data or I/O, 2 usage, 3 the
//! mechanism answered ⊥.
#![forbid(unsafe_code)]

mod args;
mod bounds;
mod commands;
mod failure;
mod input;
mod output;
mod progress;
mod report;
mod request;

use std::process::ExitCode;

use clap::Parser;

use args::Cli;

fn main() -> ExitCode {
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
