//! `bench`, `reproduce`, `study`: programs of the `benches` package, in release, by name.
//!
//! A program's name is its kind and its subject (`bench-kernel`, `reproduce-lloyd`, `study-vote-refine`), so
//! adding one needs no change here.

use std::fs;

use crate::run::{cargo, check, root};

/// `cargo xtask bench NAME …`
pub(crate) fn bench(arguments: &[String]) -> Result<(), String> {
    start("bench", arguments)
}

/// `cargo xtask reproduce NAME …`
pub(crate) fn reproduce(arguments: &[String]) -> Result<(), String> {
    start("reproduce", arguments)
}

/// `cargo xtask study NAME …`
pub(crate) fn study(arguments: &[String]) -> Result<(), String> {
    start("study", arguments)
}

fn start(kind: &str, arguments: &[String]) -> Result<(), String> {
    let manifest = fs::read_to_string(root().join("benches/Cargo.toml"))
        .map_err(|error| format!("benches/Cargo.toml: {error}"))?;
    let subjects = subjects(&manifest, kind);
    let known = subjects.join(", ");
    let Some((subject, rest)) = arguments.split_first() else {
        return Err(format!(
            "usage: cargo xtask {kind} NAME …, NAME one of: {known}"
        ));
    };
    if !subjects.contains(&subject.as_str()) {
        return Err(format!(
            "there is no {kind} `{subject}`; there are: {known}"
        ));
    }
    let program = format!("{kind}-{subject}");
    check(
        cargo()
            .args([
                "run",
                "--quiet",
                "--release",
                "--package",
                "workspace-benches",
            ])
            .args(["--bin", &program, "--"])
            .args(rest),
    )
}

/// Subjects of the programs of one kind in a manifest.
fn subjects<'m>(manifest: &'m str, kind: &str) -> Vec<&'m str> {
    let names = manifest
        .lines()
        .filter_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'));
    names
        .filter_map(|name| name.strip_prefix(kind)?.strip_prefix('-'))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_by_kind() {
        let manifest = "[[bin]]\nname = \"bench-kernel\"\n[[bin]]\nname = \"study-vote-refine\"\n";
        assert_eq!(subjects(manifest, "bench"), ["kernel"]);
        assert_eq!(subjects(manifest, "study"), ["vote-refine"]);
        assert!(subjects(manifest, "reproduce").is_empty());
    }
}
