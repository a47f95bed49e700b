//! `cargo xtask reproduce lloyd [--quick] [--data DIR] [--out DIR]`: Figures 1 to 7 of Su, Cao, Li, Bertino, Jin (2016, arXiv 1504.05998), the
//! schedule study of Huang et al., and the quality of the grid against known numbers: tables here, CSV and SVG in `--out`.
//!
//! Adult and generated sets always run; the others where DIR holds their files. Each shape that the papers report is checked and marked
//! reproduced, partly, or not, with the numbers.
#![expect(
    clippy::disallowed_methods,
    reason = "a program that measures looks at the clock"
)]

mod bars;
mod methods;
mod output;
mod schedules;
mod sets;
mod shapes;
mod sweep;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use methods::Effort;
use output::{Output, say};

/// What the command line says.
struct Arguments {
    quick: bool,
    data: Option<PathBuf>,
    out: PathBuf,
    parts: Vec<String>,
}

const PARTS: [&str; 4] = ["bars", "sets", "sweep", "schedules"];

fn arguments() -> Result<Arguments, String> {
    let mut parsed = Arguments {
        quick: false,
        data: None,
        out: PathBuf::from("target/reproduce/lloyd"),
        parts: Vec::new(),
    };
    let mut rest = std::env::args().skip(1);
    while let Some(argument) = rest.next() {
        let mut value = || rest.next().ok_or(format!("{argument} needs a directory"));
        match argument.as_str() {
            "--quick" => parsed.quick = true,
            "--data" => parsed.data = Some(value()?.into()),
            "--out" => parsed.out = value()?.into(),
            part if PARTS.contains(&part) => parsed.parts.push(argument),
            _ => {
                return Err(format!(
                    "usage: reproduce lloyd [{}]… [--quick] [--data DIR] [--out DIR]",
                    PARTS.join("|")
                ));
            }
        }
    }
    Ok(parsed)
}

fn run() -> Result<(), Box<dyn std::error::Error>> {
    let arguments = arguments()?;
    let wanted =
        |part: &str| arguments.parts.is_empty() || arguments.parts.iter().any(|p| p == part);
    let effort = if arguments.quick {
        Effort::QUICK
    } else {
        Effort::FULL
    };
    let mut output = Output::new(&arguments.out)?;
    let begin = Instant::now();
    say(&format!(
        "{} run: {} of the paper's 30 × 100 runs of DPLloyd per point, {} of its 10 synopses, {} of its 100 runs of GkM and PGkM",
        if arguments.quick { "quick" } else { "full" },
        effort.starts * effort.runs_per_start,
        effort.synopses,
        effort.others,
    ));
    let sets = workspace_benches::data::sets(arguments.data.as_deref())?;
    for set in &sets.found {
        say(&format!(
            "{}: {} records, {} columns, k = {}; {}",
            set.name,
            set.n(),
            set.d(),
            set.k,
            set.origin
        ));
    }
    for missing in &sets.missing {
        say(&format!("{missing}: skipped, no such file (--data DIR)"));
    }
    if wanted("bars") {
        bars::run(arguments.data.as_deref(), effort, &mut output)?;
    }
    if wanted("sets") {
        sets::run(&sets.found, effort, &mut output)?;
    }
    if wanted("sweep") {
        sweep::run(effort, &mut output)?;
    }
    if wanted("schedules") {
        schedules::run(arguments.data.as_deref(), effort, &mut output)?;
    }
    output.verdicts()?;
    say(&format!(
        "{:.0} s; CSV and SVG in {}",
        begin.elapsed().as_secs_f64(),
        arguments.out.display()
    ));
    Ok(())
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("failed: {error}"));
            ExitCode::FAILURE
        }
    }
}
