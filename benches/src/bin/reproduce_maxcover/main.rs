//! `cargo xtask reproduce maxcover [PART] [--quick] [--data DIR]`: Table 1 of Jones, Nguyen and Nguyen (2020) as measurement.
//!
//! Without a part, all from `bounds` to `boxes` but `sources`, and `real` where there is `--data`. `--quick` takes fewer instances and runs.
//!
//! * `bounds`: the orders of growth that the papers state;
//! * `table`: cost minus optimum against k, for Algorithm 2 and for Gupta's local search on the same instances: slopes in log-log;
//! * `equidistant`: the last part of `table` alone: sites at equal distances;
//! * `others`: the same against ε and against |V|;
//! * `candidates`: both on the same private candidates;
//! * `sources`: the private sources on the generated sets that their settings were chosen on;
//! * `boxes`: the black boxes, time against cost;
//! * `real --data DIR`: Euclidean k-means through candidates on S1, Adult and Lifesci against DPLloyd and EUG;
//! * `bars`: |V| = 5,000, |D| = 100,000, k = 20: time, memory, cost against the generator's centers;
//! * `scaling`: time over |V|, |D| and k;
//! * `clinics FOLDER`: the example of `docs/examples/clinics.md`: public sites, made-up homes, a map of the release.
#![expect(
    clippy::disallowed_methods,
    reason = "a program that measures looks at the clock"
)]

mod clinics;
mod instances;
mod kmeans;
mod map;
mod table;
mod towns;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use instances::{Instance, run};
use maxcover::black_box::{BlackBox, FasterPam, FreeLloyd, LocalSearch, Problem, Seeding};
use maxcover::{cost, guarantee};
use metric_space::{Euclidean, Power};
use ndarray::Axis;

/// One line to standard output.
fn say(line: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stdout().lock(), "{line}");
}

/// How much is measured.
#[derive(Clone, Copy, Debug)]
struct Effort {
    instances: u64,
    runs: u64,
}

fn main() -> ExitCode {
    match start() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("failed: {error}"));
            ExitCode::FAILURE
        }
    }
}

fn start() -> Result<(), Box<dyn Error>> {
    let (mut effort, mut folder, mut words) = (
        Effort {
            instances: 10,
            runs: 5,
        },
        None,
        Vec::new(),
    );
    let mut arguments = std::env::args().skip(1);
    while let Some(word) = arguments.next() {
        match word.as_str() {
            "--quick" => {
                effort = Effort {
                    instances: 4,
                    runs: 3,
                };
            }
            "--data" => {
                folder = Some(PathBuf::from(
                    arguments.next().ok_or("--data needs a folder")?,
                ));
            }
            _ => words.push(word),
        }
    }
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match (words.as_slice(), folder) {
        ([], folder) => {
            bounds();
            table::against_k(effort)?;
            table::against_others(effort)?;
            kmeans::candidates(effort)?;
            boxes()?;
            folder.map_or(Ok(()), |folder| kmeans::real(&folder, effort))
        }
        (["bounds"], _) => {
            bounds();
            Ok(())
        }
        (["table"], _) => table::against_k(effort),
        (["equidistant"], _) => table::equidistant(effort),
        (["others"], _) => table::against_others(effort),
        (["candidates"], _) => kmeans::candidates(effort),
        (["sources"], _) => kmeans::sources(effort),
        (["boxes"], _) => boxes(),
        (["real"], Some(folder)) => kmeans::real(&folder, effort),
        (["bars"], _) => bars(),
        (["scaling"], _) => scaling(),
        (["clinics", folder], _) => clinics::run(folder.as_ref()),
        _ => Err("usage: reproduce maxcover [bounds|table|equidistant|others|candidates|sources|boxes|real --data DIR|bars|scaling|clinics FOLDER] [--quick]".into()),
    }
}

fn bounds() {
    say("| who | for | factor | additive |");
    say("|---|---|---|---|");
    for row in guarantee::TABLE {
        say(&format!(
            "| {} | {} | {} | {} |",
            row.name, row.objective, row.factor, row.additive
        ));
    }
}

/// Mean and standard error.
fn mean(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|x| (x - mean) * (x - mean)).sum();
    (mean, (squares / (n - 1.0) / n).sqrt())
}

/// Seconds of processor time of this process so far, where the system says them (in hundredths, as Linux does).
fn processor_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program may hold blanks; it ends with the last parenthesis.
    let fields = stat.rsplit(')').next().unwrap_or_default();
    let ticks = fields
        .split_whitespace()
        .skip(11)
        .take(2)
        .filter_map(|field| field.parse::<f64>().ok());
    ticks.sum::<f64>() / 100.0
}

fn bars() -> Result<(), Box<dyn Error>> {
    for power in [Power::MEDIANS, Power::MEANS] {
        let (mut ratios, mut seconds, mut processor) = (Vec::new(), Vec::new(), Vec::new());
        for seed in 0..10 {
            let instance = Instance::new(5000, 100_000, 20, seed);
            let (start, before) = (Instant::now(), processor_seconds());
            let fitted = run(&instance, 20, power, 1.0, &FasterPam::default(), seed)?;
            seconds.push(start.elapsed().as_secs_f64());
            processor.push(processor_seconds() - before);
            let records = instance.records.view();
            let found = cost(&Euclidean, power, records, fitted.centers.view());
            ratios.push(found / cost(&Euclidean, power, records, instance.centers.view()));
        }
        let ((ratio, error), (time, _)) = (mean(&ratios), mean(&seconds));
        say(&format!(
            "p = {}: cost ratio {ratio:.4} ± {error:.4}, {time:.2} s, {:.2} s of processor time",
            power.get(),
            mean(&processor).0
        ));
    }
    if let Ok(status) = std::fs::read_to_string("/proc/self/status")
        && let Some(peak) = status.lines().find(|line| line.starts_with("VmHWM"))
    {
        say(&format!("peak memory: {peak}"));
    }
    Ok(())
}

/// Releases per size.
const SCALING_RUNS: u64 = 3;

fn scaling() -> Result<(), Box<dyn Error>> {
    for (sites, records, k) in [
        (2500, 100_000, 20),
        (5000, 100_000, 20),
        (10_000, 100_000, 20),
        (20_000, 100_000, 20),
        (5000, 50_000, 20),
        (5000, 200_000, 20),
        (5000, 400_000, 20),
        (5000, 100_000, 10),
        (5000, 100_000, 40),
        (5000, 100_000, 80),
    ] {
        let instance = Instance::new(sites, records, k, 1);
        let (start, before) = (Instant::now(), processor_seconds());
        for seed in 1..=SCALING_RUNS {
            run(
                &instance,
                k,
                Power::MEDIANS,
                1.0,
                &FasterPam::default(),
                seed,
            )?;
        }
        let runs = SCALING_RUNS as f64;
        say(&format!(
            "|V| = {sites:6}, |D| = {records:7}, k = {k:3}: {:.2} s, {:.2} s of processor time",
            start.elapsed().as_secs_f64() / runs,
            (processor_seconds() - before) / runs
        ));
    }
    Ok(())
}

fn boxes() -> Result<(), Box<dyn Error>> {
    let instance = Instance::new(2000, 50_000, 20, 1);
    for power in [Power::MEDIANS, Power::MEANS] {
        // One release, then each black box on it: post-processing.
        let fitted = run(&instance, 20, power, 1.0, &Seeding, 1)?;
        let flat: Vec<f64> = instance.sites.iter().copied().collect();
        let boxes: [&dyn BlackBox; 5] = [
            &Seeding,
            &FasterPam::default(),
            &LocalSearch::single(),
            &LocalSearch::multi(2, Some(40)),
            &FreeLloyd::default(),
        ];
        for black_box in boxes {
            let start = Instant::now();
            let clients = fitted
                .candidates
                .iter()
                .copied()
                .zip(fitted.candidate_counts.iter().copied());
            let problem = Problem::new(&Euclidean, power, &flat, 2, 20, clients);
            let centers = match black_box.solve(&problem, &mut instances::public(1)) {
                maxcover::black_box::Chosen::Sites(rows) => instance.sites.select(Axis(0), &rows),
                maxcover::black_box::Chosen::Points(points) => points,
            };
            let seconds = start.elapsed().as_secs_f64();
            let found = cost(&Euclidean, power, instance.records.view(), centers.view());
            say(&format!(
                "p = {}, {:20} cost {found:9.2}, {seconds:.3} s",
                power.get(),
                black_box.name()
            ));
        }
    }
    Ok(())
}
