//! `cargo xtask study vote-refine [--runs R] [--epsilons a,b]`: the experiment behind the rules of vote-and-refine, on generated sets alone. Each line is a change of one
//! number against the defaults; a cell is the mean ratio of costs over seeds, and the last column the geometric mean over sets, at which
//! settings are compared.

use std::error::Error;
use std::io::Write;
use std::process::ExitCode;

use dp_core::rng::InsecureSeededRng;
use dp_core::{Budget, Delta, Epsilon, NeighboringRelation, Session};
use lloyd_dp::vote_refine::VoteRefineParams;
use metric_space::{BoxDomain, Frame, FramedSource, Lattice};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use workspace_benches::generated;
use workspace_benches::sets::Set;

/// Changes against the defaults: each a list of names and values; the first line is no change.
const CHANGES: &[&[(&str, f64)]] = &[
    &[],
    // The start: which one, and what it spends.
    &[("start", 0.0)],
    &[("start", 1.0)],
    &[("grid-share", 0.65)],
    &[("grid-share", 0.95)],
    &[("grid-bias", 0.5)],
    &[("grid-bias", 8.0)],
    &[("shape-share", 0.02)],
    &[("shape-share", 0.12)],
    &[("vote-share", 0.15)],
    &[("vote-share", 0.5)],
    &[("rounds", 1.0)],
    &[("rounds", 3.0)],
    &[("candidates", 200.0)],
    &[("candidates", 4000.0)],
    &[("spread", 0.5)],
    &[("spread", 1.0)],
    &[("growth", 0.5)],
    &[("growth", 1.5)],
    &[("threshold", 1.5)],
    &[("threshold", 3.5)],
    // The steps.
    &[("over-provision", 1.0)],
    &[("over-provision", 4.0)],
    &[("first-steps", 1.0)],
    &[("first-steps", 5.0)],
    &[("last-steps", 1.0)],
    &[("last-steps", 3.0)],
    &[("last-steps", 8.0)],
    &[("quantile", 0.5)],
    &[("quantile", 0.95)],
    &[("radius-share", 0.03)],
    &[("radius-share", 0.2)],
    &[("settling", 0.25)],
    &[("settling", 3.0)],
    &[("drift", 0.05)],
    &[("drift", 1.0)],
];

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr().lock(), "study vote-refine: {error}");
            ExitCode::FAILURE
        }
    }
}

fn say(line: &str) {
    let _ = writeln!(std::io::stdout().lock(), "{line}");
}

fn run() -> Result<(), Box<dyn Error>> {
    let mut runs = 6;
    let mut epsilons = vec![0.1, 0.5, 1.0];
    let mut arguments = std::env::args().skip(1);
    while let Some(flag) = arguments.next() {
        let value = arguments.next().ok_or("a flag needs a value")?;
        match flag.as_str() {
            "--runs" => runs = value.parse()?,
            "--epsilons" => {
                epsilons = value.split(',').map(str::parse).collect::<Result<_, _>>()?;
            }
            other => return Err(format!("there is no flag `{other}`").into()),
        }
    }
    let sets = generated::all(101)?;
    for epsilon in epsilons {
        let names: Vec<&str> = sets.iter().map(|(name, _)| *name).collect();
        say(&format!(
            "\nε = {epsilon}\n\n| change | {} | geometric mean |",
            names.join(" | ")
        ));
        say(&format!("|---{}|---|", "|---".repeat(names.len())));
        for change in CHANGES {
            let means = sets
                .iter()
                .map(|(_, set)| mean(set, change, epsilon, runs))
                .collect::<Result<Vec<f64>, _>>()?;
            let cells: Vec<String> = means.iter().map(|mean| format!("{mean:.4}")).collect();
            let geometric = means.iter().map(|mean| mean.ln()).sum::<f64>() / means.len() as f64;
            let words: Vec<String> = change
                .iter()
                .map(|(name, x)| format!("{name} = {x}"))
                .collect();
            let label = if change.is_empty() {
                "defaults".to_owned()
            } else {
                words.join(", ")
            };
            say(&format!(
                "| {label} | {} | {:.4} |",
                cells.join(" | "),
                geometric.exp()
            ));
        }
    }
    Ok(())
}

fn mean(set: &Set, change: &[(&str, f64)], epsilon: f64, runs: u64) -> Result<f64, Box<dyn Error>> {
    let (lo, hi) = set.bounds.iter().map(|&[lo, hi]| (lo, hi)).unzip();
    let frame = Frame::new(BoxDomain::new(lo, hi)?, Lattice::default());
    let source = FramedSource::new(&set.records, &frame);
    let budget = Budget::approx(Epsilon::new(epsilon)?, Delta::new(1e-6)?);
    let n = set.records.nrows() as u64;
    let mut params = VoteRefineParams::new(set.k, budget).n_hint(Some(n));
    for (name, value) in change {
        if !params.vary(name, *value) {
            return Err(format!("there is no parameter `{name}`").into());
        }
    }
    let checked = params.check()?;
    let mut sum = 0.0;
    for run in 0..runs {
        let mut noise = InsecureSeededRng::new(run);
        let mut session = Session::new(budget, NeighboringRelation::AddRemove, &mut noise);
        let mut public = ChaCha8Rng::seed_from_u64(1000 + run);
        let centers = checked
            .fit(&source, &mut session, &mut public)?
            .clustering
            .centers;
        let original = centers
            .outer_iter()
            .map(|row| frame.domain().to_original(&row.to_vec()));
        sum += set.ratio(&original.collect::<Vec<_>>());
    }
    Ok(sum / runs as f64)
}
