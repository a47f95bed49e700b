//! Markdown and SVG, and every number as CSV.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::rows::{Cell, Row};

/// One line to standard output.
pub(crate) fn say(line: &str) {
    let _ = writeln!(std::io::stdout().lock(), "{line}");
}

/// One line to standard error.
pub(crate) fn complain(line: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}

/// The runs of one method in one cell.
pub(crate) struct Measured {
    method: String,
    values: Vec<f64>,
    seconds: f64,
}

impl Measured {
    pub(crate) fn new(method: &str, values: Vec<f64>, seconds: &[f64]) -> Self {
        let mut sorted = seconds.to_vec();
        sorted.sort_by(f64::total_cmp);
        Self {
            method: method.to_owned(),
            values,
            seconds: sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN),
        }
    }

    fn mean(&self) -> f64 {
        self.values.iter().sum::<f64>() / self.values.len() as f64
    }

    fn std_error(&self) -> f64 {
        let (n, mean) = (self.values.len() as f64, self.mean());
        let squares: f64 = self.values.iter().map(|x| (x - mean) * (x - mean)).sum();
        if n > 1.0 {
            (squares / (n - 1.0) / n).sqrt()
        } else {
            0.0
        }
    }

    fn largest(&self) -> f64 {
        self.values
            .iter()
            .copied()
            .fold(f64::NAN, |a, b| if a > b { a } else { b })
    }

    /// Whether the bar is held, beyond what chance explains.
    fn holds(&self, row: &Row, bar: f64) -> bool {
        if row.by_error {
            let held = self.values.iter().filter(|value| **value <= bar).count();
            held as f64 >= 0.95 * self.values.len() as f64
        } else {
            self.mean() - 2.0 * self.std_error() <= bar
        }
    }
}

struct Line {
    row: &'static str,
    epsilon: f64,
    measured: Measured,
}

/// Collects lines, and writes them as they come.
pub(crate) struct Output {
    folder: PathBuf,
    lines: Vec<Line>,
    markdown: String,
}

impl Output {
    pub(crate) fn new(folder: &Path) -> Result<Self, Box<dyn Error>> {
        fs::create_dir_all(folder)?;
        let header = "| set | ε | method | mean ± SE | largest | seconds | bar | best peer |\n|---|---|---|---|---|---|---|---|";
        say(header);
        Ok(Self {
            folder: folder.to_owned(),
            lines: Vec::new(),
            markdown: format!("{header}\n"),
        })
    }

    pub(crate) fn add(&mut self, row: &Row, cell: &Cell, measured: Measured) {
        let bar = match cell.bar {
            Some(bar) if measured.holds(row, bar) => format!("{bar} held"),
            Some(bar) => format!("{bar} **not held**"),
            None => "–".to_owned(),
        };
        let unit = if row.by_error { " σ" } else { "" };
        let line = format!(
            "| {} | {} | {} | {:.4} ± {:.4}{unit} | {:.4} | {:.2} | {bar} | {} |",
            row.name,
            cell.epsilon,
            measured.method,
            measured.mean(),
            measured.std_error(),
            measured.largest(),
            measured.seconds,
            cell.peer,
        );
        say(&line);
        let _ = writeln!(self.markdown, "{line}");
        self.lines.push(Line {
            row: row.name,
            epsilon: cell.epsilon,
            measured,
        });
    }

    pub(crate) fn finish(self) -> Result<(), Box<dyn Error>> {
        fs::write(self.folder.join("peers.md"), &self.markdown)?;
        let mut csv = csv::Writer::from_path(self.folder.join("peers.csv"))?;
        csv.write_record(["set", "epsilon", "method", "run", "value", "median_seconds"])?;
        for line in &self.lines {
            for (run, value) in line.measured.values.iter().enumerate() {
                csv.write_record([
                    line.row.to_owned(),
                    line.epsilon.to_string(),
                    line.measured.method.clone(),
                    run.to_string(),
                    value.to_string(),
                    line.measured.seconds.to_string(),
                ])?;
            }
        }
        csv.flush()?;
        let mut rows: Vec<&str> = self.lines.iter().map(|line| line.row).collect();
        rows.dedup();
        for row in rows {
            self.svg(row)?;
        }
        Ok(())
    }

    /// One figure a row: a line a method, the decimal logarithm of the mean over ε.
    fn svg(&self, row: &str) -> Result<(), Box<dyn Error>> {
        let lines: Vec<&Line> = self.lines.iter().filter(|line| line.row == row).collect();
        let mut methods: Vec<&str> = Vec::new();
        for line in &lines {
            if !methods.contains(&line.measured.method.as_str()) {
                methods.push(&line.measured.method);
            }
        }
        let plots: Vec<_> = methods
            .into_iter()
            .map(|method| {
                let of_method = lines.iter().filter(|line| line.measured.method == method);
                let points: Vec<[f64; 2]> = of_method
                    .map(|line| [line.epsilon, line.measured.mean().log10()])
                    .filter(|point| point[1].is_finite())
                    .collect();
                poloto::build::plot(method.to_owned()).line(points)
            })
            .collect();
        let svg = poloto::frame_build()
            .data(poloto::plots!(plots))
            .build_and_label((row, "ε", "log10 of the mean"))
            .append_to(poloto::header().light_theme())
            .render_string()?;
        let name: String = row.chars().filter(char::is_ascii_alphanumeric).collect();
        fs::write(self.folder.join(format!("peers-{name}.svg")), svg)?;
        Ok(())
    }
}
