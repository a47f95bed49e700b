//! Table 1 as measurement: the additive error against k, ε and |V|.

use std::error::Error;

use crate::towns::{Excess, Towns};
use crate::{Effort, mean, say};

/// k whose errors the slope is fitted to.
const CLUSTERS: [usize; 4] = [2, 4, 8, 16];

/// Records and ε: from so much data that Gupta's error is well below that of random sites, to so little that ours shows.
const REGIMES: [(usize, f64); 4] = [(200_000, 1.0), (20_000, 0.3), (5000, 0.1), (2000, 0.1)];

/// Sites, where their number is not what changes.
const SITES: usize = 150;

/// The 0.975 quantile of Student's law with 1, 2, … degrees of freedom; the normal one beyond.
fn student(freedom: usize) -> f64 {
    const TABLE: [f64; 10] = [
        12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
    ];
    TABLE.get(freedom.wrapping_sub(1)).copied().unwrap_or(1.96)
}

/// Least-squares slope.
fn slope(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let mx = points.iter().map(|p| p.0).sum::<f64>() / n;
    let my = points.iter().map(|p| p.1).sum::<f64>() / n;
    let xx: f64 = points.iter().map(|p| (p.0 - mx) * (p.0 - mx)).sum();
    points.iter().map(|p| (p.0 - mx) * (p.1 - my)).sum::<f64>() / xx
}

/// Means over runs with their own noise.
fn average(instance: &Towns, k: usize, epsilon: f64, runs: u64) -> Result<Excess, Box<dyn Error>> {
    let best = instance.best(k)?;
    let mut sum = Excess {
        ours: 0.0,
        gupta: 0.0,
        blind: 0.0,
    };
    for seed in 0..runs {
        let one = instance.excess(k, epsilon, best, seed)?;
        sum.ours += one.ours;
        sum.gupta += one.gupta;
        sum.blind += one.blind;
    }
    let n = runs as f64;
    Ok(Excess {
        ours: sum.ours / n,
        gupta: sum.gupta / n,
        blind: sum.blind / n,
    })
}

/// A row: means over instances with standard errors.
fn row(label: &str, all: &[Excess]) {
    let part = |of: fn(&Excess) -> f64| mean(&all.iter().map(of).collect::<Vec<_>>());
    let ((a, ea), (b, eb), (c, _)) = (part(|e| e.ours), part(|e| e.gupta), part(|e| e.blind));
    say(&format!(
        "| {label} | {a:.1} ± {ea:.1} | {b:.1} ± {eb:.1} | {c:.0} |"
    ));
}

fn header(first: &str) {
    say(&format!(
        "| {first} | maximum coverage | Gupta | k sites at random |"
    ));
    say("|---|---|---|---|");
}

/// Against k, with the slope in log-log of each instance.
pub(crate) fn against_k(effort: Effort) -> Result<(), Box<dyn Error>> {
    for (records, epsilon) in REGIMES {
        say(&format!(
            "\nadditive error against k: |V| = {SITES}, |D| = {records}, ε = {epsilon}, p = 1, {} instances × {} runs\n",
            effort.instances, effort.runs
        ));
        let instances = (0..effort.instances)
            .map(|seed| Towns::new(SITES, records, 100 + seed))
            .collect::<Result<Vec<_>, _>>()?;
        let mut points: Vec<[Vec<(f64, f64)>; 2]> =
            instances.iter().map(|_| [Vec::new(), Vec::new()]).collect();
        let mut hidden = 0;
        header("k");
        for k in CLUSTERS {
            let mut all = Vec::new();
            for (instance, points) in instances.iter().zip(&mut points) {
                let found = average(instance, k, epsilon, effort.runs)?;
                for (points, error) in points.iter_mut().zip([found.ours, found.gupta]) {
                    // Below that it is rounding.
                    if error > 1e-3 {
                        points.push(((k as f64).ln(), error.ln()));
                    } else {
                        hidden += 1;
                    }
                }
                all.push(found);
            }
            row(&k.to_string(), &all);
        }
        if hidden > 0 {
            say(&format!(
                "\n{hidden} errors were none (at the best known cost) and are left out of the slopes"
            ));
        }
        // Of each instance, where most of its errors could be seen.
        let slopes = |which: usize| -> Vec<Option<f64>> {
            let each = points.iter().map(|points| &points[which]);
            each.map(|points| (points.len() > 2).then(|| slope(points)))
                .collect()
        };
        let (ours, gupta) = (slopes(0), slopes(1));
        let pairs = gupta.iter().zip(&ours);
        let difference: Vec<Option<f64>> = pairs.map(|(g, o)| Some((*g)? - (*o)?)).collect();
        say("");
        for (name, slopes) in [
            ("maximum coverage", ours),
            ("Gupta", gupta),
            ("Gupta minus maximum coverage", difference),
        ] {
            let slopes: Vec<f64> = slopes.into_iter().flatten().collect();
            if slopes.len() < 2 {
                say(&format!(
                    "slope in log-log, {name}: not to be seen, errors are at the best known cost"
                ));
                continue;
            }
            let (slope, error) = mean(&slopes);
            let half = student(slopes.len() - 1) * error;
            say(&format!(
                "slope in log-log, {name}: {slope:.2} ± {half:.2} (95 %, over {} instances)",
                slopes.len()
            ));
        }
    }
    Ok(())
}

/// Against ε, and against |V|.
pub(crate) fn against_others(effort: Effort) -> Result<(), Box<dyn Error>> {
    let (k, records) = (8, 20_000);
    let many = |sites: usize, epsilon: f64| {
        (0..effort.instances)
            .map(|seed| {
                average(
                    &Towns::new(sites, records, 100 + seed)?,
                    k,
                    epsilon,
                    effort.runs,
                )
            })
            .collect::<Result<Vec<_>, Box<dyn Error>>>()
    };
    say(&format!(
        "\nadditive error against ε: |V| = {SITES}, |D| = {records}, k = {k}\n"
    ));
    header("ε");
    for epsilon in [0.1, 0.25, 0.5, 1.0, 2.0, 4.0] {
        row(&epsilon.to_string(), &many(SITES, epsilon)?);
    }
    say(&format!(
        "\nadditive error against |V|: |D| = {records}, k = {k}, ε = 0.25\n"
    ));
    header("sites");
    for sites in [40, 80, 160, 320] {
        row(&sites.to_string(), &many(sites, 0.25)?);
    }
    Ok(())
}
