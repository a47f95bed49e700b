//! `cargo xtask study grid [--quick]`: the experiment behind the defaults of the grid algorithms, on generated sets alone: the factor of the rule that
//! depends on k, the factor θ of the published one, and how the synopsis is clustered.
//!
//! Ratios are NICV over the best of 30 runs without privacy on the same set; a geometric mean over sets and seeds says which setting is best.

use std::error::Error;
use std::io::Write;
use std::process::ExitCode;

use dp_core::rng::InsecureSeededRng;
use dp_core::{Budget, Epsilon, NeighboringRelation, Session};
use lloyd_dp::grid::{CellRule, GridParams, Starts, SynopsisSolverParams};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use workspace_benches::data::{self, Set};

/// Records, columns, clusters.
const SHAPES: [(usize, usize, usize); 9] = [
    (5000, 2, 5),
    (5000, 2, 15),
    (7000, 2, 40),
    (30_000, 2, 80),
    (5000, 3, 5),
    (10_000, 3, 20),
    (20_000, 4, 10),
    (30_000, 6, 5),
    (30_000, 8, 4),
];

const EPSILONS: [f64; 3] = [0.1, 0.5, 1.0];

type Make = Box<dyn Fn(usize, Budget) -> GridParams>;

fn settings() -> Vec<(String, Make)> {
    let mut settings: Vec<(String, Make)> = Vec::new();
    for bias in [0.125, 0.25, 0.5, 1.0, 2.0] {
        let rule = CellRule::ClusterAware { bias };
        settings.push((
            format!("grid-k, factor {bias}"),
            Box::new(move |k, budget| GridParams::new(k, budget, rule)),
        ));
    }
    for theta in [2.5, 5.0, 10.0, 20.0] {
        let rule = CellRule::Extended { theta };
        settings.push((
            format!("eug, θ = {theta}"),
            Box::new(move |k, budget| GridParams::new(k, budget, rule)),
        ));
    }
    let eug = |solver: fn(usize) -> SynopsisSolverParams| -> Make {
        Box::new(move |k, budget| GridParams::eug(k, budget).solver(solver(k)))
    };
    settings.push((
        "eug, sphere packing".to_owned(),
        eug(SynopsisSolverParams::paper),
    ));
    settings.push((
        "eug, no swaps".to_owned(),
        eug(|k| SynopsisSolverParams::new(k).n_swaps(0)),
    ));
    settings.push((
        "eug, no threshold".to_owned(),
        eug(|k| SynopsisSolverParams::new(k).seed_threshold(0.0)),
    ));
    settings.push((
        "eug, 64 starts".to_owned(),
        eug(|k| {
            SynopsisSolverParams::new(k)
                .starts(Starts::Greedy)
                .n_starts(64)
        }),
    ));
    settings
}

fn ratio(
    set: &Set,
    baseline: f64,
    make: &Make,
    epsilon: f64,
    seed: u64,
) -> Result<f64, Box<dyn Error>> {
    let budget = Budget::pure(Epsilon::new(epsilon)?);
    let mut noise = InsecureSeededRng::new(seed);
    let mut session = Session::new(budget, NeighboringRelation::AddRemove, &mut noise);
    let grid = make(set.k, budget).n_hint(Some(set.n() as u64)).check()?;
    let mut public = ChaCha8Rng::seed_from_u64(seed);
    let fit = grid.fit(&set.source, &mut session, &mut public)?;
    Ok(set.nicv(&fit.clustering.centers) / baseline)
}

fn run() -> Result<(), Box<dyn Error>> {
    let quick = std::env::args().any(|argument| argument == "--quick");
    let seeds = if quick { 1 } else { 5 };
    let shapes = if quick { &SHAPES[..6] } else { &SHAPES[..] };
    let mut sets = Vec::new();
    for &(n, d, k) in shapes {
        let (records, _) = data::mixture(n, d, k, (n + 10 * d + k) as u64);
        let set = Set::new(&format!("d={d} k={k}"), "generated", k, &records)?;
        let baseline = set.baseline(30)?.nicv;
        sets.push((set, baseline));
    }
    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "geometric mean of NICV over the baseline, {} sets, {seeds} seeds",
        sets.len()
    )?;
    let header: Vec<String> = EPSILONS.iter().map(|e| format!("ε = {e:<5}")).collect();
    writeln!(out, "{:<22} {}  all", "setting", header.join(" "))?;
    for (name, make) in settings() {
        let mut logs = Vec::new();
        for epsilon in EPSILONS {
            let mut sum = 0.0;
            for (set, baseline) in &sets {
                for seed in 0..seeds {
                    sum += ratio(set, *baseline, &make, epsilon, seed)?.ln();
                }
            }
            logs.push(sum / (sets.len() as u64 * seeds) as f64);
        }
        let cells: Vec<String> = logs
            .iter()
            .map(|log| format!("{:<9.4}", log.exp()))
            .collect();
        let all = (logs.iter().sum::<f64>() / logs.len() as f64).exp();
        writeln!(out, "{name:<22} {} {all:.4}", cells.join(" "))?;
    }
    Ok(())
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr().lock(), "failed: {error}");
            ExitCode::FAILURE
        }
    }
}
