//! `cargo xtask tidy`: house rules that a machine can check over the text of the repository.

use std::fs;
use std::path::Path;

use crate::run::{root, tracked_files};

mod proofs;

/// A file longer than this is split, unless it says why not.
const MOST_LINES: usize = 600;

/// What a long file says at its top, with a reason after it.
const LONG_ON_PURPOSE: &str = "// tidy: long, ";

/// Text that no source file may hold, and why. Split, so that this file does not hold it either.
const NEVER: &[(&str, &str)] = &[
    (concat!("to", "do!("), "unfinished code"),
    (concat!("unimple", "mented!("), "unfinished code"),
    (concat!("FIX", "ME"), "unfinished code"),
    (concat!("#[ig", "nore"), "a test that nobody runs"),
    (concat!("/ho", "me/"), "a path of one machine"),
    (concat!("/ro", "ot/"), "a path of one machine"),
    (concat!("/wo", "rk/"), "a path of one machine"),
    (
        concat!("cen", "tre"),
        "British spelling: the project writes `center`",
    ),
    (
        concat!("neigh", "bour"),
        "British spelling: the project writes `neighbor`",
    ),
];

/// Checks all tracked source files.
pub(crate) fn run() -> Result<String, String> {
    let mut problems = Vec::new();
    let mut count = 0;
    for file in tracked_files()? {
        let extension = file.extension().and_then(|ending| ending.to_str());
        if !matches!(extension, Some("rs" | "toml" | "md" | "py")) {
            continue;
        }
        // A file that was deleted but not committed yet is no problem of its text.
        let Ok(text) = fs::read_to_string(root().join(&file)) else {
            continue;
        };
        count += 1;
        check(&file, &text, &mut problems);
    }
    proofs::check(&mut problems)?;
    if problems.is_empty() {
        Ok(format!("tidy: {count} files"))
    } else {
        Err(problems.join("\n"))
    }
}

fn check(file: &Path, text: &str, problems: &mut Vec<String>) {
    let name = file.display();
    for (number, line) in text.lines().enumerate() {
        for (never, why) in NEVER {
            if line.contains(never) {
                problems.push(format!("{name}:{}: `{never}`: {why}", number + 1));
            }
        }
    }
    if file.extension().is_some_and(|ending| ending == "rs") {
        let lines = text.lines().count();
        if lines > MOST_LINES && !text.contains(LONG_ON_PURPOSE) {
            problems.push(format!("{name}: {lines} lines, at most {MOST_LINES}"));
        }
        let is_test = file.file_name().is_some_and(|name| name == "tests.rs")
            || file.components().any(|part| part.as_os_str() == "tests");
        if !is_test && !text.starts_with("//!") {
            problems.push(format!("{name}: no module documentation at the top"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(name: &str, text: &str) -> usize {
        let mut problems = Vec::new();
        check(Path::new(name), text, &mut problems);
        problems.len()
    }

    #[test]
    fn unfinished_code_and_missing_docs_are_seen() {
        assert_eq!(problems("a.rs", "//! Doc.\nfn f() {}\n"), 0);
        assert_eq!(problems("a.rs", "fn f() {}\n"), 1);
        assert_eq!(
            problems("a.rs", concat!("//! D\nfn f() { to", "do!() }\n")),
            1
        );
        assert_eq!(problems("a/tests.rs", "use super::*;\n"), 0);
    }

    #[test]
    fn a_long_file_must_say_why() {
        let long = "//! Doc.\n".to_owned() + &"\n".repeat(MOST_LINES);
        assert_eq!(problems("a.rs", &long), 1);
        assert_eq!(
            problems("a.rs", &format!("{long}{LONG_ON_PURPOSE}one table\n")),
            0
        );
    }
}
