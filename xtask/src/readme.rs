//! The README is the contract: its commands are taken from it, not repeated here.

use std::fs;

use crate::run::root;

/// Marks the command that does the main job.
pub(crate) const RUN: &str = "<!-- ci: run -->";

/// The command in the first shell block after a marker, continued lines joined.
pub(crate) fn command(marker: &str) -> Result<String, String> {
    let path = root().join("README.md");
    let text = fs::read_to_string(&path).map_err(|error| format!("README.md: {error}"))?;
    find(&text, marker).ok_or_else(|| format!("README.md has no command after {marker}"))
}

fn find(text: &str, marker: &str) -> Option<String> {
    let (_, after) = text.split_once(marker)?;
    let (_, block) = after.split_once("```sh\n")?;
    let (block, _) = block.split_once("```")?;
    let line = block.replace("\\\n", " ");
    let words: Vec<&str> = line.lines().next()?.split_whitespace().collect();
    (!words.is_empty()).then(|| words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_found_and_its_lines_joined() {
        let text = "a\n<!-- ci: run -->\n```sh\ncargo run \\\n  -- fit\n```\n";
        assert_eq!(find(text, RUN).as_deref(), Some("cargo run -- fit"));
        assert_eq!(find("no marker", RUN), None);
    }
}
