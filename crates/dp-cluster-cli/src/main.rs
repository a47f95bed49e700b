//! The command `dp-cluster`; all of it is in the library beside this file.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    dp_cluster_cli::run()
}
