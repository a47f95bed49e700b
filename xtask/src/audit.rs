//! `cargo xtask audit`: the evidence, by the program `audit` of the `tests` package.

use std::path::PathBuf;
use std::process::Command;

use crate::run::{capture, cargo, check, root};

/// `cargo xtask audit [--quick|--long|--rates|--zoo[=PREFIX]|--tuples|--asan] [NAME]`
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    match arguments.first().map(String::as_str) {
        Some(option) if option == "--zoo" || option.starts_with("--zoo=") => zoo(option),
        Some("--asan") => asan(),
        Some(_) if arguments.len() > 2 => Err("one option and one name at a time".to_owned()),
        // Hours of runs are worth a build of their own.
        Some("--long" | "--rates") => check(program().args(["--release", "--"]).args(arguments)),
        _ => check(program().arg("--").args(arguments)),
    }
}

/// What continuous integration runs: the quick audit, then the fault zoo.
pub(crate) fn quick() -> Result<(), String> {
    check(program().args(["--", "--quick"]))
}

/// The whole fault zoo.
pub(crate) fn faults() -> Result<(), String> {
    zoo("--zoo")
}

/// The fault zoo, in a build of its own: faults exist under `--cfg dp_faults` only.
fn zoo(option: &str) -> Result<(), String> {
    let mut program = program();
    program.env("RUSTFLAGS", "--cfg dp_faults");
    program.env("CARGO_TARGET_DIR", target()?.join("faults"));
    check(program.args(["--", option]))
}

/// The kernel's tests under `AddressSanitizer`, which the pinned compiler ships; the kernel is all the unsafe code there is.
fn asan() -> Result<(), String> {
    let mut test = cargo();
    // The flag is not stable, its runtime is shipped all the same. A target of its own keeps build scripts free of it.
    test.env("RUSTC_BOOTSTRAP", "1");
    test.env("RUSTFLAGS", "-Zsanitizer=address");
    test.env("CARGO_TARGET_DIR", target()?.join("asan"));
    test.args(["test", "--package", "metric-space", "--lib", "--locked"]);
    test.args(["--target", &host()?, "--", "nearest"]);
    check(&mut test)
}

fn program() -> Command {
    let mut program = cargo();
    program.args(["run", "--quiet", "--locked", "--package", "workspace-tests"]);
    program.args(["--bin", "audit"]);
    program
}

/// The target directory of the workspace, as cargo sees it.
fn target() -> Result<PathBuf, String> {
    let metadata = capture(cargo().args(["metadata", "--no-deps", "--format-version", "1"]))?;
    let after = metadata.split_once("\"target_directory\":\"");
    let path = after.and_then(|(_, rest)| rest.split_once('"'));
    Ok(path.map_or_else(|| root().join("target"), |(path, _)| PathBuf::from(path)))
}

/// The triple of this machine.
fn host() -> Result<String, String> {
    let version = capture(Command::new("rustc").arg("-vV"))?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned)
        .ok_or_else(|| "rustc names no host".to_owned())
}
