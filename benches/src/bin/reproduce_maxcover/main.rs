//! `cargo xtask reproduce maxcover PART`: Table 1 of Jones, Nguyen and Nguyen (2020) as measurement.
//!
//! * `bars`: |V| = 5,000, |D| = 100,000, k = 20: time, memory, cost against the generator's centers;
//! * `table`: cost minus optimum against k, for Algorithm 2 and for Gupta's local search on the same instances, and against ε;
//! * `scaling`: time over |V|, |D| and k;
//! * `boxes`: the black boxes, time against cost;
//! * `clinics FOLDER`: the example of `docs/examples/clinics.md`: public sites, made-up homes, a map of the release;
//! * `bounds`: the orders of growth that the papers state.
#![expect(
    clippy::disallowed_methods,
    reason = "a program that measures looks at the clock"
)]

mod clinics;
mod instances;

use std::error::Error;
use std::process::ExitCode;
use std::time::Instant;

use dp_core::rng::InsecureSeededRng;
use dp_core::{Epsilon, NeighboringRelation, Session};
use instances::{Instance, budget, run};
use maxcover::black_box::{BlackBox, FasterPam, FreeLloyd, LocalSearch, Problem, Seeding};
use maxcover::gupta::GuptaLocalSearch;
use maxcover::{Space, cost, guarantee};
use metric_space::{Euclidean, Power};
use ndarray::Axis;

/// One line to standard output.
fn say(line: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stdout().lock(), "{line}");
}

fn main() -> ExitCode {
    let part = std::env::args().nth(1);
    let done = match part.as_deref() {
        Some("bars") => bars(),
        Some("table") => table(),
        Some("scaling") => scaling(),
        Some("boxes") => boxes(),
        Some("clinics") => match std::env::args().nth(2) {
            Some(folder) => clinics::run(folder.as_ref()),
            None => Err("usage: reproduce maxcover clinics FOLDER".into()),
        },
        Some("bounds") => {
            for row in guarantee::TABLE {
                say(&format!(
                    "{:22} {:18} {:12} {}",
                    row.name, row.objective, row.factor, row.additive
                ));
            }
            Ok(())
        }
        _ => Err("usage: reproduce maxcover bars|table|scaling|boxes|bounds|clinics".into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("failed: {error}"));
            ExitCode::FAILURE
        }
    }
}

/// Mean and standard error.
fn mean(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|x| (x - mean) * (x - mean)).sum();
    (mean, (squares / (n - 1.0) / n).sqrt())
}

fn bars() -> Result<(), Box<dyn Error>> {
    for power in [Power::MEDIANS, Power::MEANS] {
        let (mut ratios, mut seconds) = (Vec::new(), Vec::new());
        for seed in 0..10 {
            let instance = Instance::new(5000, 100_000, 20, seed);
            let start = Instant::now();
            let fitted = run(&instance, 20, power, 1.0, &FasterPam::default(), seed)?;
            seconds.push(start.elapsed().as_secs_f64());
            let records = instance.records.view();
            let found = cost(&Euclidean, power, records, fitted.centers.view());
            ratios.push(found / cost(&Euclidean, power, records, instance.centers.view()));
        }
        let ((ratio, error), (time, _)) = (mean(&ratios), mean(&seconds));
        say(&format!(
            "p = {}: cost ratio {ratio:.4} ± {error:.4}, {time:.2} s",
            power.get()
        ));
    }
    if let Ok(status) = std::fs::read_to_string("/proc/self/status")
        && let Some(peak) = status.lines().find(|line| line.starts_with("VmHWM"))
    {
        say(&format!("peak memory: {peak}"));
    }
    Ok(())
}

/// Cost minus the cost of the best known sites.
fn excess(
    instance: &Instance,
    k: usize,
    epsilon: f64,
    seed: u64,
) -> Result<(f64, f64), Box<dyn Error>> {
    let (power, records) = (Power::MEDIANS, instance.records.view());
    let at = |rows: &[usize]| {
        cost(
            &Euclidean,
            power,
            records,
            instance.sites.select(Axis(0), rows).view(),
        )
    };
    let best = at(&instance.best_sites(k, power, seed)?);
    let ours = run(instance, k, power, epsilon, &FasterPam::default(), seed)?;
    let ours = at(&ours.site_rows.unwrap_or_default());
    let space = Space::new(&Euclidean, &instance.domain, instance.sites.view())?;
    let mut noise = InsecureSeededRng::new(seed);
    let mut session = Session::new(budget(epsilon)?, NeighboringRelation::AddRemove, &mut noise);
    let search = GuptaLocalSearch::new(k, Epsilon::new(epsilon)?, power)?;
    let theirs = search.fit(
        &space,
        &instance.records,
        &mut session,
        &mut instances::public(seed),
    )?;
    Ok((ours - best, at(&theirs) - best))
}

/// Least-squares slope with the standard error of its residuals.
fn slope(points: &[(f64, f64)]) -> (f64, f64) {
    let n = points.len() as f64;
    let (mx, my) = (
        points.iter().map(|p| p.0).sum::<f64>() / n,
        points.iter().map(|p| p.1).sum::<f64>() / n,
    );
    let xx: f64 = points.iter().map(|p| (p.0 - mx) * (p.0 - mx)).sum();
    let slope = points.iter().map(|p| (p.0 - mx) * (p.1 - my)).sum::<f64>() / xx;
    let residuals: f64 = points
        .iter()
        .map(|p| (p.1 - my - slope * (p.0 - mx)).powi(2))
        .sum();
    (slope, (residuals / (n - 2.0) / xx).sqrt())
}

fn table() -> Result<(), Box<dyn Error>> {
    let (mut ours_by_k, mut theirs_by_k) = (Vec::new(), Vec::new());
    say("additive error (cost minus best known), |V| = 150, |D| = 20,000, epsilon = 1");
    for k in [2, 4, 8, 16] {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for seed in 0..5 {
            let instance = Instance::new(150, 20_000, k, 100 + seed);
            let (a, b) = excess(&instance, k, 1.0, seed)?;
            for (x, list, points) in [
                (a, &mut ours, &mut ours_by_k),
                (b, &mut theirs, &mut theirs_by_k),
            ] {
                list.push(x);
                if x > 0.0 {
                    points.push(((k as f64).ln(), x.ln()));
                }
            }
        }
        let ((a, ea), (b, eb)) = (mean(&ours), mean(&theirs));
        say(&format!(
            "k = {k:3}: maximum coverage {a:9.1} ± {ea:.1}, Gupta {b:9.1} ± {eb:.1}"
        ));
    }
    for (name, points) in [("maximum coverage", ours_by_k), ("Gupta", theirs_by_k)] {
        let (slope, error) = slope(&points);
        say(&format!(
            "slope in log-log of {name}: {slope:.2} ± {:.2} (95 %)",
            1.96 * error
        ));
    }
    for epsilon in [0.25, 0.5, 1.0, 2.0, 4.0] {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for seed in 0..5 {
            let (a, b) = excess(&Instance::new(150, 20_000, 8, 100 + seed), 8, epsilon, seed)?;
            ours.push(a);
            theirs.push(b);
        }
        let ((a, ea), (b, eb)) = (mean(&ours), mean(&theirs));
        say(&format!(
            "epsilon = {epsilon:4}: maximum coverage {a:9.1} ± {ea:.1}, Gupta {b:9.1} ± {eb:.1}"
        ));
    }
    Ok(())
}

fn scaling() -> Result<(), Box<dyn Error>> {
    for (sites, records, k) in [
        (2500, 100_000, 20),
        (5000, 100_000, 20),
        (10_000, 100_000, 20),
        (5000, 50_000, 20),
        (5000, 200_000, 20),
        (5000, 100_000, 10),
        (5000, 100_000, 40),
    ] {
        let instance = Instance::new(sites, records, k, 1);
        let start = Instant::now();
        run(&instance, k, Power::MEDIANS, 1.0, &FasterPam::default(), 1)?;
        say(&format!(
            "|V| = {sites:6}, |D| = {records:7}, k = {k:3}: {:.2} s",
            start.elapsed().as_secs_f64()
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
