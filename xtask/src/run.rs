//! Starting other programs and talking to the person who waits.

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest).to_owned()
}

/// One line to standard output.
pub(crate) fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    // Nobody is left to tell if standard output is gone.
    let _ = writeln!(out, "{line}");
}

/// One message to standard error.
pub(crate) fn complain(message: &str) {
    let mut out = std::io::stderr().lock();
    let _ = writeln!(out, "{message}");
}

/// `cargo` as it called us.
#[expect(
    clippy::disallowed_methods,
    reason = "cargo says in this variable which cargo it is"
)]
pub(crate) fn cargo() -> Command {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let mut command = Command::new(cargo);
    command.current_dir(root());
    command
}

/// Runs a command to its end and fails if it does.
pub(crate) fn check(command: &mut Command) -> Result<(), String> {
    let shown = show(command);
    let status = command
        .status()
        .map_err(|error| format!("{shown}: {error}"))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("{shown}: {status}"))
    }
}

/// Runs a command and takes what it prints; its own words go through if it fails.
pub(crate) fn capture(command: &mut Command) -> Result<String, String> {
    let shown = show(command);
    let output = command
        .output()
        .map_err(|error| format!("{shown}: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        Ok(text)
    } else {
        let errors = String::from_utf8_lossy(&output.stderr);
        Err(format!("{shown}: {}\n{text}{errors}", output.status))
    }
}

fn show(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words
        .map(OsStr::to_string_lossy)
        .collect::<Vec<_>>()
        .join(" ")
}

/// Files that git tracks, relative to the root.
pub(crate) fn tracked_files() -> Result<Vec<PathBuf>, String> {
    let mut git = Command::new("git");
    git.current_dir(root()).args(["ls-files", "-z"]);
    let list = capture(&mut git)?;
    Ok(list
        .split('\0')
        .filter(|name| !name.is_empty())
        .map(PathBuf::from)
        .collect())
}
