//! The project's own commands: `cargo xtask NAME`.
//!
//! Only the standard library is used, so this builds in a second. What needs more (samplers, data, plots) is a
//! program of the `benches` or `tests` package that a command here starts.
#![forbid(unsafe_code)]

use std::fmt::Write;
use std::process::ExitCode;

mod audit;
mod ci;
mod layers;
mod programs;
mod readme;
mod release;
mod run;
mod tidy;

/// A command of this driver.
struct Command {
    name: &'static str,
    arguments: &'static str,
    summary: &'static str,
    run: fn(&[String]) -> Result<(), String>,
}

const COMMANDS: &[Command] = &[
    Command {
        name: "ci",
        arguments: "",
        summary: "everything that must pass: format, lints, layers, tests, docs, the README's command",
        run: ci::run,
    },
    Command {
        name: "tidy",
        arguments: "",
        summary: "house rules over the text of the repository",
        run: |_| tidy::run().map(|line| run::say(&line)),
    },
    Command {
        name: "layers",
        arguments: "",
        summary: "which crate may depend on which",
        run: |_| layers::run().map(|line| run::say(&line)),
    },
    Command {
        name: "audit",
        arguments: "[--quick | --long | --zoo[=PREFIX] | --tuples | --asan]",
        summary: "replays, ledger law, laws, black box; planted faults; the kernel under AddressSanitizer",
        run: audit::run,
    },
    Command {
        name: "bench",
        arguments: "NAME [--csv FILE] [--python PYTHON]",
        summary: "timings against a named peer in one run",
        run: programs::bench,
    },
    Command {
        name: "reproduce",
        arguments: "NAME [--quick] [--data DIR] [--out DIR]",
        summary: "tables and figures of the papers",
        run: programs::reproduce,
    },
    Command {
        name: "study",
        arguments: "NAME [--quick] [--data DIR]",
        summary: "experiments that chose a default",
        run: programs::study,
    },
    Command {
        name: "release-check",
        arguments: "",
        summary: "versions, licenses, package dry run, docs, public API",
        run: release::run,
    },
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((name, rest)) = arguments.split_first() else {
        return usage();
    };
    let Some(command) = COMMANDS.iter().find(|command| command.name == name) else {
        return usage();
    };
    match (command.run)(rest) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            run::complain(&problem);
            ExitCode::FAILURE
        }
    }
}

fn usage() -> ExitCode {
    let mut text = "usage: cargo xtask COMMAND\n".to_owned();
    for command in COMMANDS {
        let call = format!("{} {}", command.name, command.arguments);
        // Writing to a string cannot fail.
        let _ = write!(text, "\n  {call:<50} {}", command.summary);
    }
    run::complain(&text);
    ExitCode::from(2)
}
