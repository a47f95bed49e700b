//! `cargo xtask release-check`: what must hold before anything is published.

use std::collections::BTreeSet;
use std::fs;

use crate::run::{capture, cargo, check, root, say};

/// Licenses that a dependency may have, as cargo metadata writes them.
///
/// A new expression is added here by a person who has read it.
const LICENSES: &[&str] = &[
    "0BSD OR MIT OR Apache-2.0",
    "(MIT OR Apache-2.0) AND Unicode-3.0",
    "Apache-2.0",
    "Apache-2.0 OR MIT",
    "Apache-2.0/MIT",
    "Apache-2.0 OR BSL-1.0",
    "Apache-2.0 WITH LLVM-exception OR Apache-2.0 OR MIT",
    "BSD-2-Clause OR Apache-2.0 OR MIT",
    "BSD-3-Clause",
    "BSD-3-Clause AND MIT",
    "BSD-3-Clause OR Apache-2.0",
    "BSL-1.0",
    "CC0-1.0 OR MIT-0 OR Apache-2.0",
    "ISC",
    "MIT",
    "MIT AND BSD-3-Clause",
    "MIT OR Apache-2.0",
    "MIT OR Apache-2.0 OR LGPL-2.1-or-later",
    "MIT OR Apache-2.0 OR Zlib",
    "MIT OR Zlib OR Apache-2.0",
    "MIT/Apache-2.0",
    "Unicode-3.0",
    "Unlicense OR MIT",
    "Unlicense/MIT",
    "Zlib",
    "Zlib OR Apache-2.0 OR MIT",
];

/// Runs all checks.
pub(crate) fn run(_: &[String]) -> Result<(), String> {
    let metadata = capture(cargo().args(["metadata", "--format-version", "1", "--locked"]))?;
    say(&licenses(&metadata)?);
    say(&changelog()?);
    say("── docs");
    let mut doc = cargo();
    doc.args(["doc", "--workspace", "--no-deps", "--locked"]);
    check(doc.env("RUSTDOCFLAGS", "--deny warnings"))?;
    say("── packages");
    let mut package = cargo();
    package.args(["package", "--workspace", "--no-verify", "--allow-dirty"]);
    // What says `publish = false` in its manifest.
    for unpublished in ["testkit", "workspace-benches", "workspace-tests", "xtask"] {
        package.args(["--exclude", unpublished]);
    }
    check(package.arg("--locked"))?;
    say("── public API");
    say(&public_api()?);
    Ok(())
}

/// Every license of the dependency graph is on the list.
fn licenses(metadata: &str) -> Result<String, String> {
    let found = texts_of(metadata, "\"license\":");
    let unknown: Vec<&str> = found
        .iter()
        .copied()
        .filter(|license| !LICENSES.contains(license))
        .collect();
    if unknown.is_empty() {
        Ok(format!("licenses: {} expressions, all known", found.len()))
    } else {
        Err(format!(
            "licenses that nobody has allowed: {}",
            unknown.join("; ")
        ))
    }
}

/// Distinct string values of a key in JSON text; null values are passed over.
fn texts_of<'j>(json: &'j str, key: &str) -> BTreeSet<&'j str> {
    json.split(key)
        .skip(1)
        .filter_map(|rest| rest.strip_prefix('"')?.split('"').next())
        .collect()
}

/// The changelog has an entry for the version of the workspace, or an unreleased part.
fn changelog() -> Result<String, String> {
    let read = |name: &str| {
        fs::read_to_string(root().join(name)).map_err(|error| format!("{name}: {error}"))
    };
    let manifest = read("Cargo.toml")?;
    let version = manifest
        .lines()
        .find_map(|line| line.strip_prefix("version = \"")?.strip_suffix('"'))
        .ok_or("Cargo.toml has no version")?;
    let log = read("CHANGELOG.md")?;
    if log.contains(&format!("## {version}")) || log.contains("## Unreleased") {
        Ok(format!(
            "changelog: speaks of {version} or of what is unreleased"
        ))
    } else {
        Err(format!("CHANGELOG.md says nothing of {version}"))
    }
}

/// Lists the public items of each library, by its own `pub` lines, one line a crate.
fn public_api() -> Result<String, String> {
    let mut lines = Vec::new();
    let crates = root().join("crates");
    let mut names: Vec<_> = fs::read_dir(&crates)
        .map_err(|error| format!("crates: {error}"))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    names.sort();
    for folder in names {
        let mut items = Vec::new();
        collect_public(&folder.join("src"), &mut items)?;
        let name = folder
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        lines.push(format!("{name}: {} public items", items.len()));
        lines.extend(items.into_iter().map(|item| format!("  {item}")));
    }
    Ok(lines.join("\n"))
}

fn collect_public(folder: &std::path::Path, items: &mut Vec<String>) -> Result<(), String> {
    let problem = |error: std::io::Error| format!("{}: {error}", folder.display());
    for entry in fs::read_dir(folder).map_err(problem)? {
        let path = entry.map_err(problem)?.path();
        if path.is_dir() {
            collect_public(&path, items)?;
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            let text = fs::read_to_string(&path).map_err(problem)?;
            items.extend(text.lines().filter_map(public_item));
        }
    }
    items.sort();
    Ok(())
}

/// The name part of a line that declares a public item.
fn public_item(line: &str) -> Option<String> {
    let item = line.trim_start().strip_prefix("pub ")?;
    let kinds = [
        "fn ",
        "const fn ",
        "struct ",
        "enum ",
        "trait ",
        "type ",
        "mod ",
    ];
    kinds.iter().find(|kind| item.starts_with(**kind))?;
    let end = item.find(['(', '{', ';', '<', '=']).unwrap_or(item.len());
    Some(item[..end].trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_license_is_refused() {
        assert!(licenses(r#"{"license":"MIT"},{"license":null}"#).is_ok());
        assert!(licenses(r#"{"license":"SSPL-1.0"}"#).is_err());
    }

    #[test]
    fn public_items_are_listed_by_name() {
        assert_eq!(
            public_item("    pub const fn new(x: u8)").as_deref(),
            Some("const fn new")
        );
        assert_eq!(
            public_item("pub struct Lattice<T> {").as_deref(),
            Some("struct Lattice")
        );
        assert_eq!(public_item("pub(crate) fn hidden() {}"), None);
        assert_eq!(public_item("fn hidden() {}"), None);
    }
}
