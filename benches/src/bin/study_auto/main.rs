//! `cargo xtask study auto [--runs R] [--seed S] [--epsilons a,b] [--wide a,b]`: is what `auto` picks the best of what it could have picked?
//!
//! Generated sets of many kinds, whose seed the caller may choose so that nobody has seen them, with bounds from the exact extremes
//! and with bounds that are too wide by some factors. A line is a set, a width and ε: the mean cost ratio of `auto`, the best other method with its
//! ratio, and their quotient; then the ratio of each method (none: it does not fit, or it refused). δ = 1e-6, add-remove, n public.

use std::error::Error;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use dp_cluster::generate::Kind;
use dp_cluster::{
    Budget, Delta, Epsilon, FitRequest, NeighboringRelation, fit, rng::InsecureSeededRng,
};
use workspace_benches::generated;
use workspace_benches::sets::{Origin, Set};

/// Everything private that `auto` could pick.
const METHODS: [&str; 6] = [
    "vote-refine",
    "grid-k",
    "eug",
    "hybrid-refine",
    "dplloyd",
    "ktuple",
];

struct Arguments {
    runs: u64,
    seed: u64,
    epsilons: Vec<f64>,
    widths: Vec<f64>,
}

impl Arguments {
    fn read() -> Result<Self, Box<dyn Error>> {
        let mut read = Self {
            runs: 6,
            seed: 9000,
            epsilons: vec![0.1, 0.5, 1.0],
            widths: vec![1.0, 10.0],
        };
        let list = |text: &str| {
            text.split(',')
                .map(str::parse)
                .collect::<Result<Vec<f64>, _>>()
        };
        let mut arguments = std::env::args().skip(1);
        while let Some(flag) = arguments.next() {
            let value = arguments.next().ok_or("a flag needs a value")?;
            match flag.as_str() {
                "--runs" => read.runs = value.parse()?,
                "--seed" => read.seed = value.parse()?,
                "--epsilons" => read.epsilons = list(&value)?,
                "--wide" => read.widths = list(&value)?,
                other => return Err(format!("there is no flag `{other}`").into()),
            }
        }
        Ok(read)
    }
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr().lock(), "study auto: {error}");
            ExitCode::FAILURE
        }
    }
}

fn say(line: &str) {
    let _ = writeln!(std::io::stdout().lock(), "{line}");
}

fn run() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::read()?;
    let mut sets = generated::all(arguments.seed)?;
    // Easy enough for k-tuples.
    let ball = Origin::Generated(Kind::GaussBall, 100_000, 32, Some(110.0));
    let ball = Set::new(ball, 8, Path::new("."), arguments.seed)?;
    sets.push(("ball 32/8", ball));
    say(&format!(
        "| set | width | ε | `auto` | best other | quotient | {} |",
        METHODS.join(" | ")
    ));
    say(&format!(
        "|---|---|---|---|---|---{}|",
        "|---".repeat(METHODS.len())
    ));
    let mut worst = 0.0;
    for (name, set) in &sets {
        for &width in &arguments.widths {
            let set = set.widened(width)?;
            for &epsilon in &arguments.epsilons {
                let quotient = line(name, &set, width, epsilon, arguments.runs)?;
                if quotient > worst {
                    worst = quotient;
                }
            }
        }
    }
    say(&format!("\nLargest quotient: {worst:.3}."));
    Ok(())
}

/// Prints a line; `auto` over the best other.
fn line(name: &str, set: &Set, width: f64, epsilon: f64, runs: u64) -> Result<f64, Box<dyn Error>> {
    let auto = mean(set, "auto", epsilon, runs)?.ok_or("`auto` always answers")?;
    let mut best = ("–", f64::INFINITY);
    let mut cells = Vec::new();
    for method in METHODS {
        let ratio = mean(set, method, epsilon, runs)?;
        cells.push(ratio.map_or_else(|| "–".to_owned(), |ratio| format!("{ratio:.3}")));
        if let Some(ratio) = ratio
            && ratio < best.1
        {
            best = (method, ratio);
        }
    }
    let quotient = auto / best.1;
    say(&format!(
        "| {name} | {width} | {epsilon} | {auto:.3} | {} {:.3} | {quotient:.3} | {} |",
        best.0,
        best.1,
        cells.join(" | ")
    ));
    Ok(quotient)
}

/// Mean ratio over the runs; none if a method does not fit, or refused in some run.
fn mean(set: &Set, method: &str, epsilon: f64, runs: u64) -> Result<Option<f64>, Box<dyn Error>> {
    let columns = (0..set.records.ncols()).map(|j| format!("x{j}")).collect();
    let budget = Budget::approx(Epsilon::new(epsilon)?, Delta::new(1e-6)?);
    let relation = NeighboringRelation::AddRemove;
    let request = FitRequest::new(method, columns, set.bounds.clone(), set.k, relation)
        .budget(budget)
        .n_hint(set.records.nrows() as u64);
    let mut sum = 0.0;
    for run in 0..runs {
        let mut noise = InsecureSeededRng::new(run);
        let mut public = InsecureSeededRng::new(1000 + run);
        // A grid of too many cells, for one; or ⊥, which has no centers.
        let fitted = match fit(&request, &set.records, &mut noise, &mut public) {
            Ok(fitted) if !fitted.model.centers.is_empty() => fitted,
            _ => return Ok(None),
        };
        sum += set.ratio(&fitted.model.centers);
    }
    Ok(Some(sum / runs as f64))
}
