//! Ours and a peer's in turn: the peer's process, the figures of the rounds, the table.

use std::error::Error;
use std::io::{self, BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};
use std::{fmt, fs};

/// What may go wrong in a bench.
pub type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// A process that answers each line with a line, and ends with its input.
pub struct Peer {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl fmt::Debug for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Peer")
            .field("child", &self.child)
            .finish_non_exhaustive()
    }
}

impl Peer {
    /// Starts the process.
    ///
    /// # Errors
    ///
    /// If there is no such program.
    pub fn start(command: &mut Command) -> Result<Self> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{}: {error}", command.get_program().display()))?;
        let input = child.stdin.take();
        let output = child.stdout.take().ok_or("the peer has no output")?;
        Ok(Self {
            child,
            input,
            output: BufReader::new(output),
        })
    }

    /// Its answer to a line.
    ///
    /// # Errors
    ///
    /// If the process ended.
    pub fn ask(&mut self, command: &str) -> Result<String> {
        let input = self.input.as_mut().ok_or("the peer has no input")?;
        writeln!(input, "{command}")?;
        let mut answer = String::new();
        self.output.read_line(&mut answer)?;
        if answer.is_empty() {
            return Err("the peer ended".into());
        }
        Ok(answer)
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        drop(self.input.take()); // its loop ends with its input
        let _ended = self.child.wait();
    }
}

/// What the rounds of one case took, in one unit.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    /// Ours.
    pub ours: Vec<f64>,
    /// The peer's.
    pub peer: Vec<f64>,
}

fn least(rounds: &[f64]) -> f64 {
    rounds
        .iter()
        .copied()
        .min_by(f64::total_cmp)
        .unwrap_or(f64::NAN)
}

fn median(rounds: &[f64]) -> f64 {
    let mut sorted = rounds.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

/// A table of cases on standard output, and the same as CSV.
#[derive(Clone, Debug)]
pub struct Table {
    decimals: usize,
    csv: String,
}

impl Table {
    /// Prints the heads of a table in `unit`, with so many decimals.
    ///
    /// # Errors
    ///
    /// If standard output is gone.
    pub fn new(unit: &str, decimals: usize) -> Result<Self> {
        writeln!(
            io::stdout(),
            "{:<14} {:>19} {:>21} {:>17}",
            "case",
            format!("ours_{unit}"),
            format!("peer_{unit}"),
            "ratio"
        )?;
        Ok(Self {
            decimals,
            csv: String::from("case,ours,peer,ratio\n"),
        })
    }

    /// A line: the least of the rounds with the median in parentheses, and the peer's over ours.
    ///
    /// # Errors
    ///
    /// If standard output is gone.
    pub fn row(&mut self, name: &str, figures: &Figures) -> Result<()> {
        let (ours, theirs) = (least(&figures.ours), least(&figures.peer));
        let (our_median, their_median) = (median(&figures.ours), median(&figures.peer));
        let digits = self.decimals;
        writeln!(
            io::stdout(),
            "{name:<14} {ours:>9.digits$} ({our_median:>7.digits$}) {theirs:>10.digits$} ({their_median:>8.digits$}) {:>7.digits$} ({:>7.digits$})",
            theirs / ours,
            their_median / our_median,
        )?;
        fmt::Write::write_fmt(
            &mut self.csv,
            format_args!("{name},{ours:.4},{theirs:.4},{:.4}\n", theirs / ours),
        )?;
        Ok(())
    }

    /// Writes the CSV, where a file is asked for.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn save(self, file: Option<&PathBuf>) -> Result<()> {
        match file {
            Some(file) => fs::write(file, self.csv)
                .map_err(|error| format!("{}: {error}", file.display()).into()),
            None => Ok(()),
        }
    }
}

/// Runs a bench to its end; says on standard error what went wrong.
pub fn exit(name: &str, bench: impl FnOnce() -> Result<()>) -> ExitCode {
    match bench() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Nobody is left to tell if standard error is gone.
            let _ = writeln!(io::stderr(), "{name}: {error}");
            ExitCode::FAILURE
        }
    }
}
