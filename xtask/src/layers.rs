//! `cargo xtask layers`: which crate may depend on which.

use std::fs;
use std::path::Path;

use crate::run::root;

/// The only place where the layering is written down for the machine: a crate and what it may use.
const MAY_USE: &[(&str, &[&str])] = &[
    ("testkit", &[]),
    ("dp-core", &[]),
    ("metric-space", &[]),
    ("dp-audit", &["dp-core"]),
    ("lloyd-dp", &["dp-core", "metric-space"]),
    ("maxcover", &["dp-core", "metric-space"]),
    ("ktuple", &["dp-core", "metric-space"]),
    ("gmm", &["dp-core", "metric-space", "ktuple"]),
    (
        "dp-cluster",
        &[
            "dp-core",
            "metric-space",
            "lloyd-dp",
            "maxcover",
            "ktuple",
            "gmm",
        ],
    ),
    ("dp-cluster-cli", &["dp-cluster"]),
];

/// Checks every crate of `crates/` against [`MAY_USE`].
pub(crate) fn run() -> Result<String, String> {
    let crates = root().join("crates");
    let mut names: Vec<String> = fs::read_dir(&crates)
        .map_err(|error| format!("crates: {error}"))?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    names.sort();
    let mut problems = Vec::new();
    for name in &names {
        match MAY_USE.iter().find(|(known, _)| known == name) {
            None => problems.push(format!("crates/{name} is not in the table of layers")),
            Some((_, may_use)) => check(&crates.join(name), name, may_use, &mut problems)?,
        }
    }
    if problems.is_empty() {
        Ok(format!("layers: {} crates, no forbidden edge", names.len()))
    } else {
        Err(problems.join("\n"))
    }
}

fn check(
    folder: &Path,
    name: &str,
    may_use: &[&str],
    problems: &mut Vec<String>,
) -> Result<(), String> {
    let manifest = fs::read_to_string(folder.join("Cargo.toml"))
        .map_err(|error| format!("crates/{name}/Cargo.toml: {error}"))?;
    for used in own_crates_used(&manifest) {
        if !may_use.contains(&used) {
            problems.push(format!("{name} may not depend on {used}"));
        }
    }
    Ok(())
}

/// The project's own crates under any `dependencies` table but `dev-dependencies`.
fn own_crates_used(manifest: &str) -> Vec<&str> {
    let mut in_dependencies = false;
    let mut used = Vec::new();
    for line in manifest.lines().map(str::trim) {
        let name = if let Some(table) = line.strip_prefix('[') {
            let table = table.trim_end_matches(']');
            in_dependencies = table.ends_with("dependencies") && !table.contains("dev-");
            table.strip_prefix("dependencies.")
        } else if in_dependencies {
            line.split(['=', '.', ' ']).next()
        } else {
            None
        };
        used.extend(name.filter(|name| MAY_USE.iter().any(|(own, _)| own == name)));
    }
    used
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn finds(manifest: &str, expected: &[&str]) {
        assert_eq!(own_crates_used(manifest), expected);
    }

    #[test]
    fn own_crates_are_found_in_every_spelling() {
        finds(
            "[dependencies]\ngmm.workspace = true\nrand = \"1\"",
            &["gmm"],
        );
        finds(
            "[dependencies]\nktuple = { path = \"../ktuple\" }",
            &["ktuple"],
        );
        finds("[dependencies.dp-core]\nworkspace = true", &["dp-core"]);
        finds("[dev-dependencies]\ngmm.workspace = true", &[]);
        finds("[package]\nname = \"gmm\"", &[]);
    }

    #[test]
    fn the_table_itself_has_no_cycle() {
        for (position, (name, may_use)) in MAY_USE.iter().enumerate() {
            let earlier: Vec<&str> = MAY_USE[..position].iter().map(|(own, _)| *own).collect();
            for used in *may_use {
                assert!(
                    earlier.contains(used),
                    "{name} uses {used}, which stands later"
                );
            }
        }
    }
}
