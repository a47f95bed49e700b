//! The command as a user runs it.

mod commands;
mod data;
mod determinism;
mod fit;
mod golden;
mod mixtures;
mod models;
mod schema;
mod sites;
mod tuples;

use std::fmt::Write as _;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A folder of its own, with the command in it.
struct Place(TempDir);

/// What a run gave.
struct Run {
    code: i32,
    stdout: String,
    stderr: String,
}

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    /// A folder with `data.csv`: 600 rows around (2, 20) and (8, 80), and a column of text.
    fn with_data() -> Self {
        let place = Self::new();
        place.write("data.csv", table(600));
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).expect("written");
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect("readable")
    }

    fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dp-cluster"));
        command
            .args(line.split_whitespace())
            .current_dir(self.0.path());
        command
    }

    /// Runs a line of arguments, cut at blanks.
    fn run(&self, line: &str) -> Run {
        Run::of(&self.command(line).output().expect("the command starts"))
    }

    /// As `run`, with something on stdin.
    fn run_with(&self, line: &str, stdin: &[u8]) -> Run {
        let mut child = self
            .command(line)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command starts");
        let mut pipe = child.stdin.take().expect("it was asked for");
        // A command that stops early closes its end.
        let _ = pipe.write_all(stdin);
        drop(pipe);
        Run::of(&child.wait_with_output().expect("the command ends"))
    }

    /// Runs a line that must succeed, and reads its JSON.
    #[track_caller]
    fn json(&self, line: &str) -> Value {
        let run = self.run(line);
        assert_eq!(run.code, 0, "{line}: {}", run.stderr);
        serde_json::from_str(&run.stdout).expect("stdout holds JSON and nothing else")
    }
}

impl Run {
    fn of(output: &Output) -> Self {
        Self {
            code: output.status.code().expect("no signal ends the command"),
            stdout: String::from_utf8(output.stdout.clone()).expect("text"),
            stderr: String::from_utf8(output.stderr.clone()).expect("text"),
        }
    }

    /// The run failed with this code, printed no result, and its message has all these words.
    #[track_caller]
    fn fails(&self, code: i32, words: &[&str]) {
        assert_eq!(self.code, code, "stderr: {}", self.stderr);
        assert_eq!(self.stdout, "");
        for word in words {
            assert!(
                self.stderr.contains(word),
                "{:?} should say {word:?}",
                self.stderr
            );
        }
    }

    #[track_caller]
    fn succeeds(&self) {
        assert_eq!(self.code, 0, "stderr: {}", self.stderr);
    }
}

/// A fit of `data.csv` that only lacks what a test is about.
const FIT: &str = "fit data.csv --clusters 2 --epsilon 1 --bounds=0,100 --columns a,b";

/// The same by an algorithm whose settings and spends are known.
const DPLLOYD: &str =
    "fit data.csv --clusters 2 --epsilon 1 --bounds=0,100 --columns a,b --algorithm dplloyd";

fn table(rows: usize) -> String {
    let mut table = String::from("a,b,note,class\n");
    for i in 0..rows {
        let (middle, class) = if i % 2 == 0 {
            (2.0, "low")
        } else {
            (8.0, "high")
        };
        let a = middle + (i % 7) as f64 / 10.0;
        let b = 10.0 * middle + (i % 5) as f64;
        writeln!(table, "{a},{b},\"some, text\",{class}").expect("a string takes all");
    }
    table
}

fn repository() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}
