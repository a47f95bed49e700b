//! What a program of parts needs: its options, its lines, its end.

use std::process::ExitCode;

/// One line to standard output.
pub fn say(line: &str) {
    use std::io::Write;
    // Nobody is left to tell if standard output is gone.
    let _ = writeln!(std::io::stdout().lock(), "{line}");
}

/// The value after `--name`, if it is there and one of `T`.
#[must_use]
pub fn option<T: std::str::FromStr>(arguments: &[String], name: &str) -> Option<T> {
    let at = arguments.iter().position(|argument| argument == name)?;
    arguments.get(at + 1)?.parse().ok()
}

/// Runs what `part` makes of the first argument; all arguments are handed on, and an error is said.
#[must_use]
pub fn run(
    part: impl FnOnce(&str, &[String]) -> Result<(), Box<dyn std::error::Error>>,
) -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let name = arguments.first().map_or("", String::as_str);
    match part(name, &arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("failed: {error}"));
            ExitCode::FAILURE
        }
    }
}
