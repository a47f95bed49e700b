//! Figures 1, 3, 4, 5 and 7: the six sets.

use std::error::Error;
use std::time::Instant;

use dp_core::rng::InsecureSeededRng;
use dp_core::{Budget, Epsilon, NeighboringRelation, Session};
use lloyd_dp::privgene::{PrivGeneParams, search_not_private};
use lloyd_dp::sample_aggregate::{
    BlockRule, CenterOrder, SampleAggregateParams, aggregate_not_private,
};
use metric_space::{LloydParams, sphere_packing};
use ndarray::Array2;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::methods::{Effort, Method};
use crate::output::{Output, Point, say, summary};
use crate::shapes;
use workspace_benches::data::Set;

pub(crate) fn run(sets: &[Set], effort: Effort, output: &mut Output) -> Result<(), Box<dyn Error>> {
    let mut errors = Vec::new();
    let mut seconds = Vec::new();
    let mut baselines = Vec::new();
    for set in sets {
        let baseline = set.baseline(effort.restarts)?;
        let nicv = baseline.nicv;
        say(&format!(
            "{}: baseline NICV {nicv:.5}, cluster sizes {:?}",
            set.name, baseline.sizes
        ));
        errors_and_times(set, nicv, effort, &mut errors, &mut seconds)?;
        baselines.push((set.name.clone(), baseline));
    }
    let of = |names: &[&str], points: &[Point]| -> Vec<Point> {
        points
            .iter()
            .filter(|point| names.contains(&point.method.as_str()))
            .cloned()
            .collect()
    };
    let first = [
        "DPLloyd",
        "EUGkM",
        "EUGkM, greedy",
        "grid-k, greedy",
        "GkM",
        "GkM-3K",
        "PGkM",
        "Baseline",
    ];
    output.figure("figure1", "Figure 1: NICV", "epsilon", &of(&first, &errors))?;
    let fifth = [
        "DPLloyd",
        "EUGkM",
        "Hybrid",
        "Hybrid, always",
        "hybrid-refine",
        "Baseline",
    ];
    output.figure(
        "figure5",
        "Figure 5: NICV of the hybrid and its parents",
        "epsilon",
        &of(&fifth, &errors),
    )?;
    output.figure(
        "figure7",
        "Figure 7: seconds per run",
        "epsilon",
        &of(&["DPLloyd", "EUGkM"], &seconds),
    )?;
    shapes::sets(&errors, &seconds, output);
    shapes::adult_baseline(&baselines, output);

    let mut blocks = Vec::new();
    let mut rounds = Vec::new();
    for (set, (_, baseline)) in sets.iter().zip(&baselines) {
        blocks.extend(block_sizes(set, &baseline.centers, effort)?);
        rounds.extend(iterations(set, baseline.nicv, effort)?);
    }
    output.figure(
        "figure3",
        "Figure 3: NICV by block size, ε = 1",
        "log10 of block size",
        &blocks,
    )?;
    output.figure(
        "figure4",
        "Figure 4: NICV by iteration, not private",
        "iteration",
        &rounds,
    )?;
    shapes::blocks(&blocks, output);
    shapes::iterations(&rounds, output);
    Ok(())
}

/// Every system at every ε, and the baseline.
fn errors_and_times(
    set: &Set,
    nicv: f64,
    effort: Effort,
    errors: &mut Vec<Point>,
    seconds: &mut Vec<Point>,
) -> Result<(), Box<dyn Error>> {
    for &epsilon in effort.epsilons {
        for method in [
            Method::DpLloyd,
            Method::Eug,
            Method::EugGreedy,
            Method::GridK,
            Method::Gkm,
            Method::Gkm3k,
            Method::Pgkm,
            Method::Hybrid,
            Method::HybridAlways,
            Method::HybridRefine,
        ] {
            let begin = Instant::now();
            let point = point(set, method, epsilon, effort)?;
            // Runs differ in length by chance alone; the mean is what the paper plots.
            let each = begin.elapsed().as_secs_f64() / point.runs as f64;
            seconds.push(Point {
                mean: each,
                std_error: 0.0,
                ..point.clone()
            });
            errors.push(point);
        }
        errors.push(Point {
            set: set.name.clone(),
            method: "Baseline".to_owned(),
            x: epsilon,
            mean: nicv,
            std_error: 0.0,
            runs: effort.restarts,
        });
    }
    Ok(())
}

/// Mean NICV of a system.
fn point(set: &Set, method: Method, epsilon: f64, effort: Effort) -> Result<Point, Box<dyn Error>> {
    let runs = method.runs(effort, set);
    let mut values = Vec::with_capacity(runs);
    for run in 0..runs {
        values.push(set.nicv(&method.fit(set, epsilon, run, effort)?));
    }
    let (mean, std_error) = summary(&values);
    Ok(Point {
        set: set.name.clone(),
        method: method.name().to_owned(),
        x: epsilon,
        mean,
        std_error,
        runs,
    })
}

/// Figure 3: `GkM`, the aggregate without noise, and the noise alone on the best known centers, for ℓ = N^0.1 … N^0.9.
fn block_sizes(
    set: &Set,
    best: &Array2<f64>,
    effort: Effort,
) -> Result<Vec<Point>, Box<dyn Error>> {
    let n = set.n() as f64;
    let powers: &[f64] = if effort.quick {
        &[0.2, 0.4, 0.8]
    } else {
        &[0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
    };
    let budget = Budget::pure(Epsilon::new(1.0)?);
    let mut points = Vec::new();
    for &power in powers {
        let (mut gkm, mut sag, mut noise) = (Vec::new(), Vec::new(), Vec::new());
        for run in 0..effort.others {
            let mut rng = InsecureSeededRng::new(run as u64);
            let mut session = Session::new(budget, NeighboringRelation::AddRemove, &mut rng);
            let mut public = ChaCha8Rng::seed_from_u64(run as u64);
            let rule = BlockRule::Power(power);
            let aggregate = SampleAggregateParams::gkm(set.k, budget)
                .blocks(rule)
                .n_hint(Some(set.n() as u64))
                .check()?;
            gkm.push(
                set.nicv(
                    &aggregate
                        .fit(&set.source, &mut session, &mut public)?
                        .clustering
                        .centers,
                ),
            );
            let mean = aggregate_not_private(
                &set.source,
                set.k,
                rule,
                &CenterOrder::FirstCoordinate,
                |blocks| session.secret_labels("blocks", blocks),
                &mut public,
            )?;
            sag.push(set.nicv(&mean));
            noise.push(set.nicv(&noisy(best, n.powf(power), set.k, &mut public)));
        }
        for (method, values) in [("GkM", gkm), ("SAG", sag), ("Noise", noise)] {
            let (mean, std_error) = summary(&values);
            points.push(Point {
                set: set.name.clone(),
                method: method.to_owned(),
                x: (1.0 - power) * n.log10(),
                mean,
                std_error,
                runs: values.len(),
            });
        }
    }
    Ok(points)
}

/// The best known centers with the noise of `GkM` at ε = 1 and ranges as wide as half the domain.
fn noisy(best: &Array2<f64>, blocks: f64, k: usize, rng: &mut ChaCha8Rng) -> Array2<f64> {
    let scale = 2.0 * (k * best.ncols()) as f64 / blocks;
    best.mapv(|x| {
        let u: f64 = rng.random_range(-0.5..0.5);
        // Research code on released centers: no privacy hangs on this float.
        (x - scale * u.signum() * (1.0 - 2.0 * u.abs()).ln()).clamp(-1.0, 1.0)
    })
}

/// Figure 4: Lloyd from sphere-packed starts and the genetic search with exact choices.
fn iterations(set: &Set, baseline: f64, effort: Effort) -> Result<Vec<Point>, Box<dyn Error>> {
    let steps: &[usize] = if effort.quick {
        &[1, 3, 10]
    } else {
        &[1, 2, 3, 4, 5, 7, 10, 15, 20, 30]
    };
    let starts = if effort.quick { 3 } else { effort.starts };
    let searches = if effort.quick { 1 } else { 3 };
    let budget = Budget::pure(Epsilon::new(1.0)?);
    let mut points = Vec::new();
    for &step in steps {
        let lloyd = LloydParams::new(set.k)
            .max_iterations(step)
            .tolerance(0.0)
            .check()?;
        let mut values = Vec::new();
        for start in 0..starts {
            let mut public = ChaCha8Rng::seed_from_u64(1000 + start as u64);
            let first = sphere_packing(set.k, set.d(), &mut public);
            let solution = lloyd.fit_from(set.scaled.view(), None, first.view())?;
            values.push(solution.cost / set.n() as f64);
        }
        let mut searched = Vec::new();
        for run in 0..searches {
            let search = PrivGeneParams::new(set.k, budget).check()?;
            let mut public = ChaCha8Rng::seed_from_u64(run);
            searched.push(set.nicv(&search_not_private(
                &search,
                &set.source,
                step,
                &mut public,
            )?));
        }
        for (method, values) in [
            ("Lloyd", values),
            ("Gene", searched),
            ("Baseline", vec![baseline]),
        ] {
            let (mean, std_error) = summary(&values);
            points.push(Point {
                set: set.name.clone(),
                method: method.to_owned(),
                x: step as f64,
                mean,
                std_error,
                runs: values.len(),
            });
        }
    }
    Ok(points)
}
