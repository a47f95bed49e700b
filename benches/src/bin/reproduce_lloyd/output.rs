//! Tables to the terminal, CSV and SVG to a directory, verdicts at the end.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// One line to standard output.
pub(crate) fn say(line: &str) {
    let _ = writeln!(std::io::stdout().lock(), "{line}");
}

/// How well an expected shape was met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Reproduced,
    Partly,
    Not,
    NoData,
}

impl Verdict {
    /// From the share of cases that agree.
    pub(crate) fn of(agree: usize, cases: usize) -> Self {
        match (agree, cases) {
            (_, 0) => Self::NoData,
            (a, c) if a * 10 >= c * 9 => Self::Reproduced,
            (a, c) if a * 2 >= c => Self::Partly,
            _ => Self::Not,
        }
    }

    const fn word(self) -> &'static str {
        match self {
            Self::Reproduced => "reproduced",
            Self::Partly => "partly",
            Self::Not => "not",
            Self::NoData => "no data",
        }
    }
}

/// A row of results.
#[derive(Clone, Debug)]
pub(crate) struct Point {
    pub(crate) set: String,
    pub(crate) method: String,
    pub(crate) x: f64,
    pub(crate) mean: f64,
    pub(crate) std_error: f64,
    pub(crate) runs: usize,
}

pub(crate) struct Output {
    folder: PathBuf,
    verdicts: Vec<(Verdict, String, String)>,
}

impl Output {
    pub(crate) fn new(folder: &Path) -> Result<Self, Box<dyn Error>> {
        fs::create_dir_all(folder)?;
        Ok(Self {
            folder: folder.to_owned(),
            verdicts: Vec::new(),
        })
    }

    pub(crate) fn verdict(&mut self, verdict: Verdict, shape: &str, reason: String) {
        self.verdicts.push((verdict, shape.to_owned(), reason));
    }

    /// A table per set on the terminal, one CSV, one SVG per set.
    pub(crate) fn figure(
        &self,
        name: &str,
        title: &str,
        x: &str,
        points: &[Point],
    ) -> Result<(), Box<dyn Error>> {
        let mut csv = csv::Writer::from_path(self.folder.join(format!("{name}.csv")))?;
        csv.write_record(["set", "method", x, "mean", "std_error", "runs"])?;
        for point in points {
            csv.write_record([
                point.set.clone(),
                point.method.clone(),
                point.x.to_string(),
                point.mean.to_string(),
                point.std_error.to_string(),
                point.runs.to_string(),
            ])?;
        }
        csv.flush()?;
        let mut by_set: BTreeMap<&str, Vec<&Point>> = BTreeMap::new();
        for point in points {
            by_set.entry(&point.set).or_default().push(point);
        }
        for (set, points) in by_set {
            say(&format!("\n{title}: {set}"));
            table(x, &points);
            self.svg(
                &format!("{name}-{set}"),
                &format!("{title}: {set}"),
                x,
                &points,
            )?;
        }
        Ok(())
    }

    fn svg(
        &self,
        file: &str,
        title: &str,
        x: &str,
        points: &[&Point],
    ) -> Result<(), Box<dyn Error>> {
        let lines: Vec<_> = methods(points)
            .into_iter()
            .map(|method| {
                let line: Vec<[f64; 2]> = points
                    .iter()
                    .filter(|point| point.method == method && point.mean.is_finite())
                    .map(|point| [point.x, point.mean])
                    .collect();
                poloto::build::plot(method.to_owned()).line(line)
            })
            .collect();
        let svg = poloto::frame_build()
            .data(poloto::plots!(lines))
            .build_and_label((title, x, "mean"))
            .append_to(poloto::header().light_theme())
            .render_string()?;
        fs::write(self.folder.join(format!("{file}.svg")), svg)?;
        Ok(())
    }

    /// The list of shapes with what became of them.
    pub(crate) fn verdicts(&self) -> Result<(), Box<dyn Error>> {
        let mut csv = csv::Writer::from_path(self.folder.join("shapes.csv"))?;
        csv.write_record(["verdict", "shape", "reason"])?;
        say("\nExpected shapes");
        for (verdict, shape, reason) in &self.verdicts {
            say(&format!("[{}] {shape}: {reason}", verdict.word()));
            csv.write_record([verdict.word(), shape, reason])?;
        }
        csv.flush()?;
        Ok(())
    }
}

/// Methods in the order in which they come.
fn methods<'a>(points: &[&'a Point]) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    for point in points {
        if !names.contains(&point.method.as_str()) {
            names.push(&point.method);
        }
    }
    names
}

fn table(x: &str, points: &[&Point]) {
    let mut xs: Vec<f64> = points.iter().map(|point| point.x).collect();
    xs.sort_by(f64::total_cmp);
    xs.dedup();
    let header: Vec<String> = xs.iter().map(|x| format!("{x:>16}")).collect();
    say(&format!("{x:<18} {}", header.join(" ")));
    for method in methods(points) {
        let cells: Vec<String> = xs
            .iter()
            .map(|x| {
                let point = points
                    .iter()
                    .find(|point| point.method == method && point.x.total_cmp(x).is_eq());
                point.map_or(format!("{:>16}", "–"), |point| {
                    format!("{:>9.5} ±{:>5.0e}", point.mean, point.std_error)
                })
            })
            .collect();
        say(&format!("{method:<18} {}", cells.join(" ")));
    }
}

/// Mean and standard error.
pub(crate) fn summary(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (n - 1.0);
    let error = if values.len() > 1 {
        (variance / n).sqrt()
    } else {
        0.0
    };
    (mean, error)
}
