//! Table 1 as measurement: the additive error against k, ε and |V|.

use std::error::Error;

use crate::towns::{Excess, Settled};
use crate::{Effort, mean, say};

/// k whose errors the slope is fitted to.
const CLUSTERS: [usize; 4] = [2, 4, 8, 16];

/// Where sites are at equal distances: their numbers, with the k that Gupta's noise leaves room for (its threshold of about
/// 6k·ln|V|·ln(k|V|)/ε stays below a tenth of the largest cluster).
const EQUIDISTANT: [(usize, &[usize]); 2] = [(300, &[2, 4, 8, 16, 32]), (4000, &[2, 4, 8, 16])];

/// Most records at a site there, and ε.
const LARGEST: f64 = 1e5;
const EPSILON: f64 = 1.0;

/// These are small instances, so there are more: times the usual number.
const MORE_INSTANCES: u64 = 4;

/// Records and ε: from so much data that Gupta's error is well below that of random sites, to so little that ours shows.
const REGIMES: [(usize, f64); 4] = [(200_000, 1.0), (20_000, 0.3), (5000, 0.1), (2000, 0.1)];

/// Sites, where their number is not what changes.
const SITES: usize = 150;

/// The 0.975 quantile of Student's law with 1, 2, … degrees of freedom; beyond the table a little more than it.
fn student(freedom: usize) -> f64 {
    const TABLE: [f64; 10] = [
        12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
    ];
    let beyond = 1.96 + 2.6 / freedom as f64;
    TABLE
        .get(freedom.wrapping_sub(1))
        .copied()
        .unwrap_or(beyond)
}

/// A slope without one instance, or of all.
type Measure<'a> = &'a dyn Fn(Option<usize>) -> f64;

/// One of the errors.
type Part = fn(&Excess) -> f64;

/// Least-squares slope.
fn slope(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let mx = points.iter().map(|p| p.0).sum::<f64>() / n;
    let my = points.iter().map(|p| p.1).sum::<f64>() / n;
    let xx: f64 = points.iter().map(|p| (p.0 - mx) * (p.0 - mx)).sum();
    points.iter().map(|p| (p.0 - mx) * (p.1 - my)).sum::<f64>() / xx
}

/// Means over runs with their own noise.
fn average(
    instance: &Settled,
    k: usize,
    epsilon: f64,
    runs: u64,
) -> Result<Excess, Box<dyn Error>> {
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

/// Against k: in towns, and on sites at equal distances.
pub(crate) fn against_k(effort: Effort) -> Result<(), Box<dyn Error>> {
    for (records, epsilon) in REGIMES {
        say(&format!(
            "\nadditive error against k, towns: |V| = {SITES}, |D| = {records}, ε = {epsilon}, p = 1, {} instances × {} runs\n",
            effort.instances, effort.runs
        ));
        let towns = |seed, _| Settled::towns(SITES, records, seed);
        slopes(&towns, &CLUSTERS, epsilon, effort)?;
    }
    equidistant(effort)
}

/// Against k on sites at equal distances: the spaces that the bounds are about.
pub(crate) fn equidistant(effort: Effort) -> Result<(), Box<dyn Error>> {
    let effort = Effort {
        instances: MORE_INSTANCES * effort.instances,
        ..effort
    };
    for (sites, clusters) in EQUIDISTANT {
        say(&format!(
            "\nadditive error against k, equal distances: |V| = {sites}, k clusters of 1 to {LARGEST} records, ε = {EPSILON}, p = 1, {} instances × {} runs\n",
            effort.instances, effort.runs
        ));
        let planted = |seed, k| Settled::equidistant(sites, k, LARGEST, seed);
        slopes(&planted, clusters, EPSILON, effort)?;
    }
    Ok(())
}

/// A row for each k, and the slope in log-log over instances; `draw` makes one from a seed and k.
fn slopes(
    draw: &dyn Fn(u64, usize) -> Result<Settled, Box<dyn Error>>,
    clusters: &[usize],
    epsilon: f64,
    effort: Effort,
) -> Result<(), Box<dyn Error>> {
    header("k");
    // Per k, the errors of all instances.
    let mut errors: Vec<Vec<Excess>> = Vec::new();
    for &k in clusters {
        let instances = (0..effort.instances)
            .map(|seed| average(&draw(100 + seed, k)?, k, epsilon, effort.runs));
        let found = instances.collect::<Result<Vec<_>, _>>()?;
        row(&k.to_string(), &found);
        errors.push(found);
    }
    let logs: Vec<f64> = clusters.iter().map(|&k| (k as f64).ln()).collect();
    // The slope of mean errors, without one instance or of all.
    let of_means = |error: Part, left_out: Option<usize>| {
        let means = errors.iter().map(|found| {
            let kept = found
                .iter()
                .enumerate()
                .filter(|(i, _)| Some(*i) != left_out);
            mean(&kept.map(|(_, e)| error(e)).collect::<Vec<_>>()).0
        });
        slope(
            &logs
                .iter()
                .copied()
                .zip(means.map(f64::ln))
                .collect::<Vec<_>>(),
        )
    };
    say("");
    let (ours, gupta): (Part, Part) = (|e| e.ours, |e| e.gupta);
    let difference = |left_out| of_means(gupta, left_out) - of_means(ours, left_out);
    let measures: [(&str, Measure<'_>); 3] = [
        ("maximum coverage", &|left_out| of_means(ours, left_out)),
        ("Gupta", &|left_out| of_means(gupta, left_out)),
        ("Gupta minus maximum coverage", &difference),
    ];
    for (name, measure) in measures {
        let found = measure(None);
        let n = errors.first().map_or(0, Vec::len);
        // The jackknife: instances are independent, the errors of one at several k need not be.
        let (_, error) = mean(&(0..n).map(|i| measure(Some(i))).collect::<Vec<_>>());
        let half = student(n.saturating_sub(1)) * error * (n.saturating_sub(1)) as f64;
        if found.is_finite() && half.is_finite() {
            say(&format!(
                "slope in log-log, {name}: {found:.2} ± {half:.2} (95 %, jackknife over {n} instances)"
            ));
        } else {
            say(&format!(
                "slope in log-log, {name}: not to be seen, errors are at the best known cost"
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
                    &Settled::towns(sites, records, 100 + seed)?,
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
