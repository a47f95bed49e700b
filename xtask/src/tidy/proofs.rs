//! What the proofs name must be there: tests, planted faults, files.

use std::collections::BTreeSet;
use std::fs;

use crate::run::{root, tracked_files};

/// Names that exist.
struct Known {
    /// Functions, tests among them.
    functions: BTreeSet<String>,
    /// Planted faults.
    faults: BTreeSet<String>,
    /// Tracked files, and the folders that they are in.
    paths: BTreeSet<String>,
}

/// Adds a problem for each name in `docs/proofs` that stands for nothing.
pub(super) fn check(problems: &mut Vec<String>) -> Result<(), String> {
    let files = tracked_files()?;
    let mut known = Known {
        functions: BTreeSet::new(),
        faults: BTreeSet::new(),
        paths: BTreeSet::new(),
    };
    let mut proofs = Vec::new();
    for file in files {
        for part in file.ancestors() {
            known.paths.insert(part.display().to_string());
        }
        let is_proof = file.starts_with("docs/proofs");
        let is_source = file.extension().is_some_and(|ending| ending == "rs");
        if !(is_proof || is_source) {
            continue;
        }
        let Ok(text) = fs::read_to_string(root().join(&file)) else {
            continue;
        };
        if is_source {
            known.functions.extend(functions(&text));
            known.faults.extend(faults(&text));
        } else {
            proofs.push((file.display().to_string(), text));
        }
    }
    for (file, text) in proofs {
        for name in names(&text) {
            if !known.holds(&name) {
                problems.push(format!("{file}: `{name}` is nowhere"));
            }
        }
    }
    Ok(())
}

/// What a proof points to.
#[derive(Debug, PartialEq, Eq)]
enum Name {
    Function(String),
    Fault(String),
    Path(String),
}

impl std::fmt::Display for Name {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (Self::Function(name) | Self::Fault(name) | Self::Path(name)) = self;
        f.write_str(name)
    }
}

impl Known {
    fn holds(&self, name: &Name) -> bool {
        match name {
            Name::Function(name) => self.functions.contains(name),
            Name::Fault(name) => self.faults.contains(name),
            // Paths are from the root or from `crates`.
            Name::Path(path) => {
                let path = path.trim_end_matches('/');
                self.paths.contains(path) || self.paths.contains(&format!("crates/{path}"))
            }
        }
    }
}

/// The names between backquotes: a test has three words or more, a path a slash, a fault comes after the word.
fn names(text: &str) -> Vec<Name> {
    let mut names = Vec::new();
    for line in text.lines() {
        let mut of_fault = false;
        for (position, part) in line.split('`').enumerate() {
            if position % 2 == 0 {
                let (before, now) = (of_fault, part.trim_end());
                of_fault = now.ends_with("fault")
                    || now.ends_with("faults")
                    || (before && matches!(now.trim(), "," | "and" | ", and"));
                continue;
            }
            let is_word = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
            if of_fault {
                names.push(Name::Fault(part.to_owned()));
            } else if part.split('_').count() > 2
                && part
                    .split('_')
                    .all(|word| !word.is_empty() && word.bytes().all(is_word))
            {
                names.push(Name::Function(part.to_owned()));
            } else if part.contains('/')
                && part
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || b"_-./".contains(&byte))
            {
                names.push(Name::Path(part.to_owned()));
            }
        }
    }
    names
}

fn functions(text: &str) -> impl Iterator<Item = String> {
    text.split("fn ").skip(1).map(|after| {
        let end = after.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        after[..end.unwrap_or(after.len())].to_owned()
    })
}

fn faults(text: &str) -> impl Iterator<Item = String> {
    text.split("planted!(").skip(1).filter_map(|after| {
        let (name, _) = after.trim_start().strip_prefix('"')?.split_once('"')?;
        Some(name.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_faults_and_paths_are_told_from_other_words() {
        let text = "`a_test_of_it`, faults `one-way`, `other-way`; see `crates/x/src/y.rs` and `Split::Joint`, `n_hint`, `a/b * c`.\n";
        let found: Vec<String> = names(text).iter().map(ToString::to_string).collect();
        assert_eq!(
            found,
            ["a_test_of_it", "one-way", "other-way", "crates/x/src/y.rs"]
        );
    }

    #[test]
    fn names_of_nothing_are_seen() {
        let known = Known {
            functions: functions("fn a_test_of_it() {}").collect(),
            faults: faults("planted!(\n    \"one-way\": 1; 2)").collect(),
            paths: BTreeSet::from(["crates/x/src".to_owned()]),
        };
        let holds = |text: &str| {
            names(text)
                .iter()
                .map(|name| known.holds(name))
                .collect::<Vec<_>>()
        };
        assert_eq!(holds("`a_test_of_it` `a_test_of_them`"), [true, false]);
        assert_eq!(holds("fault `one-way`\nfault `no-way`"), [true, false]);
        assert_eq!(holds("`x/src/` `x/tests/`"), [true, false]);
    }
}
