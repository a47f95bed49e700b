//! `cargo xtask reproduce peers --data DIR [--out DIR] [--runs R] [--rows a,b] [--methods a,b] [--peers PYTHON]`: the table of what the best public tools
//! reach, rerun with our methods, as Markdown, CSV and SVG, beside the peers' recorded numbers; with `--peers` also beside diffprivlib and
//! scikit-learn, run in the same minute on the same scaled records (see `benches/peers/clustering.py`).
//!
//! A cell is the mean cost over the best known cost without privacy, ± one standard error; δ = 1e-6, add-remove, the number of
//! records and the exact extremes of each column taken as public. Run r has noise seed r and public seed 1000 + r; generated sets take the seeds 1
//! to 4 in turn.

mod output;
mod rows;

use std::error::Error;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::Instant;

use dp_cluster::{
    Budget, Delta, Epsilon, FitRequest, NeighboringRelation, fit, rng::InsecureSeededRng,
};
use output::{Measured, Output, say};
use rows::{ROWS, Row};
use workspace_benches::sets::{self, Set};

/// δ of all runs.
const DELTA: f64 = 1e-6;

/// Sets that a generated row is measured on.
const N_SETS: u64 = 4;

struct Arguments {
    data: PathBuf,
    out: PathBuf,
    runs: u64,
    rows: Option<Vec<String>>,
    methods: Vec<String>,
    peers: Option<PathBuf>,
}

impl Arguments {
    fn read() -> Result<Self, String> {
        let mut read = Self {
            data: PathBuf::new(),
            out: PathBuf::from("target/reproduce/peers"),
            runs: 20,
            rows: None,
            methods: [
                "auto",
                "vote-refine",
                "grid-k",
                "eug",
                "hybrid-refine",
                "dplloyd",
            ]
            .map(str::to_owned)
            .to_vec(),
            peers: None,
        };
        let mut arguments = std::env::args().skip(1);
        let list = |text: String| text.split(',').map(str::to_owned).collect::<Vec<_>>();
        while let Some(flag) = arguments.next() {
            let value = arguments
                .next()
                .ok_or_else(|| format!("{flag} needs a value"))?;
            match flag.as_str() {
                "--data" => read.data = value.into(),
                "--out" => read.out = value.into(),
                "--runs" => read.runs = value.parse().map_err(|_| "--runs needs a number")?,
                "--rows" => read.rows = Some(list(value)),
                "--methods" => read.methods = list(value),
                "--peers" => read.peers = Some(value.into()),
                other => return Err(format!("there is no flag `{other}`")),
            }
        }
        if read.data.as_os_str().is_empty() {
            return Err("--data DIR is needed: the folder of the sets".to_owned());
        }
        Ok(read)
    }
}

fn main() -> ExitCode {
    let result = Arguments::read()
        .map_err(Into::into)
        .and_then(|arguments| run(&arguments));
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output::complain(&format!("reproduce peers: {error}"));
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let mut output = Output::new(&arguments.out)?;
    for row in ROWS {
        let wanted =
            |names: &Vec<String>| names.iter().any(|name| row.name.starts_with(name.as_str()));
        if !arguments.rows.as_ref().is_none_or(wanted) {
            continue;
        }
        let n_sets = match row.origin {
            sets::Origin::File(..) => 1,
            sets::Origin::Generated(..) => N_SETS.min(arguments.runs.max(1)),
        };
        let sets = (1..=n_sets)
            .map(|seed| Set::new(row.origin, row.k, &arguments.data, seed))
            .collect::<Result<Vec<Set>, _>>();
        let sets = match sets {
            Ok(sets) => sets,
            Err(error) => {
                say(&format!("{}: left out ({error})", row.name));
                continue;
            }
        };
        for cell in row.cells {
            for method in &arguments.methods {
                if let Some(measured) = measure(row, &sets, method, cell.epsilon, arguments.runs)? {
                    output.add(row, cell, measured);
                }
            }
            if let Some(python) = &arguments.peers
                && !row.by_error
            {
                for measured in side_by_side(python, &arguments.out, row, &sets[0], cell.epsilon)? {
                    output.add(row, cell, measured);
                }
            }
        }
    }
    output.finish()
}

/// All runs of a method; none if it does not fit the row.
#[expect(
    clippy::disallowed_methods,
    reason = "the time of a fit is part of the table"
)]
fn measure(
    row: &Row,
    sets: &[Set],
    method: &str,
    epsilon: f64,
    runs: u64,
) -> Result<Option<Measured>, Box<dyn Error>> {
    let (mut values, mut seconds) = (Vec::new(), Vec::new());
    for run in 0..runs {
        let set = &sets[usize::try_from(run)? % sets.len()];
        let columns = (0..set.records.ncols()).map(|j| format!("x{j}")).collect();
        let budget = Budget::approx(Epsilon::new(epsilon)?, Delta::new(DELTA)?);
        let relation = NeighboringRelation::AddRemove;
        let request = FitRequest::new(method, columns, set.bounds.clone(), set.k, relation)
            .budget(budget)
            .n_hint(set.records.nrows() as u64);
        let mut noise = InsecureSeededRng::new(run);
        let mut public = InsecureSeededRng::new(1000 + run);
        let start = Instant::now();
        // A grid of too many cells, for one.
        let Ok(fitted) = fit(&request, &set.records, &mut noise, &mut public) else {
            return Ok(None);
        };
        seconds.push(start.elapsed().as_secs_f64());
        let centers = &fitted.model.centers;
        let value = if row.by_error {
            set.worst_error(centers)
        } else {
            Some(set.ratio(centers))
        };
        values.push(value.unwrap_or(f64::NAN));
    }
    Ok(Some(Measured::new(method, values, &seconds)))
}

/// diffprivlib and scikit-learn on the same scaled records.
fn side_by_side(
    python: &PathBuf,
    folder: &std::path::Path,
    row: &Row,
    set: &Set,
    epsilon: f64,
) -> Result<Vec<Measured>, Box<dyn Error>> {
    let path = folder.join("peer-records.csv");
    set.write_scaled(&path)?;
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("peers/clustering.py");
    let out = Command::new(python)
        .arg(script)
        .arg(&path)
        .args([row.k.to_string(), epsilon.to_string()])
        .output()?;
    std::fs::remove_file(&path)?;
    if !out.status.success() {
        return Err(format!("the peers failed: {}", String::from_utf8_lossy(&out.stderr)).into());
    }
    let mut measured = Vec::new();
    for line in String::from_utf8(out.stdout)?.lines() {
        let mut fields = line.split(',');
        let name = fields.next().unwrap_or("?").to_owned();
        let numbers = fields.map(str::parse).collect::<Result<Vec<f64>, _>>()?;
        let Some((seconds, costs)) = numbers.split_first() else {
            continue;
        };
        let values = costs.iter().map(|cost| cost / set.best).collect();
        measured.push(Measured::new(&name, values, &[*seconds]));
    }
    Ok(measured)
}
