//! Euclidean k-means without sites: through private candidates, against Gupta's search on the same candidates, DPLloyd and EUG.

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use dp_cluster::{CandidateSource, FitRequest, MetricChoice, Options, fit};
use dp_core::rng::InsecureSeededRng;
use dp_core::{Budget, Delta, Epsilon, NeighboringRelation, Session};
use maxcover::black_box::FreeLloyd;
use maxcover::candidates::Candidates;
use maxcover::gupta::GuptaLocalSearch;
use maxcover::{MaxCoverParams, Space, ThroughCandidates, cost};
use metric_space::{Euclidean, LloydParams, Power, Records, mean_cost};
use ndarray::{Array2, Axis};
use rand::Rng;

use crate::instances::{Instance, budget, public};
use crate::{Effort, mean, say};
use workspace_benches::data;

/// Gupta's search on private candidates against Algorithm 2 on them: half of ε each for the former, 0.6 and 0.4 for the latter.
pub(crate) fn candidates(effort: Effort) -> Result<(), Box<dyn Error>> {
    let (k, limit, epsilon) = (5, 128, 1.0);
    say(
        "\ncost over that of the generator's centers: Euclidean k-means, d = 2, |D| = 5000, k = 5, ε = 1, at most 128 candidates\n",
    );
    say("| candidates | Algorithm 2 with free centers | Gupta |");
    say("|---|---|---|");
    for source in CandidateSource::ALL {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for seed in 0..effort.instances {
            let instance = Instance::new(10, 5000, k, 100 + seed);
            let (records, domain) = (&instance.records, &instance.domain);
            let price = |centers: &Array2<f64>| {
                cost(&Euclidean, Power::MEANS, records.view(), centers.view())
            };
            let truth = price(&instance.centers);
            let relation = NeighboringRelation::AddRemove;
            let mut noise = InsecureSeededRng::new(seed);
            let all = budget(epsilon)?;
            let params = MaxCoverParams::new(k, all, Power::MEANS);
            let through = ThroughCandidates::new(source, limit, params)?;
            let mut session = Session::new(all, relation, &mut noise);
            let found = through.fit(
                &Euclidean,
                domain,
                records,
                &FreeLloyd::default(),
                &mut session,
                &mut public(seed),
            )?;
            ours.push(price(&found.centers) / truth);

            let half = if source.is_private() {
                epsilon / 2.0
            } else {
                epsilon
            };
            let mut session = Session::new(all, relation, &mut noise);
            let drawn = Candidates::new(source, budget(half)?, limit)?;
            let sites = drawn
                .draw(domain, records, &mut session, &mut public(seed))?
                .points;
            let space = Space::new(&Euclidean, domain, sites.view())?;
            let search = GuptaLocalSearch::new(k, Epsilon::new(half)?, Power::MEANS)?;
            let rows = search.fit(&space, records, &mut session, &mut public(seed))?;
            theirs.push(price(&sites.select(Axis(0), &rows)) / truth);
        }
        let ((a, ea), (b, eb)) = (mean(&ours), mean(&theirs));
        say(&format!(
            "| {} | {a:.2} ± {ea:.2} | {b:.2} ± {eb:.2} |",
            source.name()
        ));
    }
    Ok(())
}

/// Generated sets on which the settings of the private sources were chosen: columns, clusters, records, standard deviation.
const GENERATED: [(usize, usize, usize, f64); 6] = [
    (2, 5, 5000, 0.05),
    (2, 15, 5000, 0.05),
    (2, 15, 50_000, 0.05),
    (6, 5, 30_000, 0.1),
    (10, 3, 20_000, 0.15),
    (10, 8, 50_000, 0.1),
];

/// The private sources on generated sets: cost over that of the generator's centers.
pub(crate) fn sources(effort: Effort) -> Result<(), Box<dyn Error>> {
    say(&format!(
        "\ncost over that of the generator's centers, geometric mean of {} sets of (columns, clusters, records, σ)\n",
        effort.instances
    ));
    let names = GENERATED.map(|set| format!("{set:?}"));
    say(&format!("| ε | candidates | {} |", names.join(" | ")));
    say("|---|---|---|---|---|---|---|---|");
    for epsilon in [0.5, 1.0] {
        for source in ["lsh", "partition", "tree"] {
            let mut cells = Vec::new();
            for (d, k, n, sigma) in GENERATED {
                let mut logs = Vec::new();
                for seed in 0..effort.instances {
                    let (records, truth) = blobs(d, k, n, sigma, 7000 + seed);
                    let price = |centers: &Array2<f64>| {
                        cost(&Euclidean, Power::MEANS, records.view(), centers.view())
                    };
                    let found = release(&records, k, source, epsilon, seed)?;
                    logs.push((price(&found) / price(&truth)).ln());
                }
                cells.push(format!("{:.2}", mean(&logs).0.exp()));
            }
            say(&format!("| {epsilon} | {source} | {} |", cells.join(" | ")));
        }
    }
    Ok(())
}

/// Records in [−1, 1]^d around uniform centers, the first clusters larger than the last; and the centers.
fn blobs(d: usize, k: usize, n: usize, sigma: f64, seed: u64) -> (Array2<f64>, Array2<f64>) {
    let mut rng = public(seed);
    let centers = Array2::from_shape_simple_fn((k, d), || rng.random_range(-0.8..0.8));
    let mut records = Array2::zeros((n, d));
    for mut row in records.rows_mut() {
        let u: f64 = rng.random();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between 0 and k"
        )]
        let cluster = (u * (0.7 + 0.3 * u) * k as f64) as usize;
        for (x, center) in row.iter_mut().zip(centers.row(cluster.min(k - 1))) {
            // Nearly normal.
            let z = (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0;
            *x = (center + sigma * z).clamp(-1.0, 1.0);
        }
    }
    (records, centers)
}

/// Mean squared distance over the best known one, on public sets scaled to [−1, 1].
pub(crate) fn real(folder: &Path, effort: Effort) -> Result<(), Box<dyn Error>> {
    let runs = 2 * effort.runs;
    say(&format!(
        "\nNICV over the best of 20 runs without privacy: δ = 10⁻⁶, add-remove, n and extremes public, {runs} runs\n"
    ));
    say("| set, k | ε | method | ratio | seconds |");
    say("|---|---|---|---|---|");
    for (name, k) in [("s1", 15), ("adult", 5), ("lifesci", 3)] {
        let Some(path) = data::find(Some(folder), name) else {
            say(&format!("| {name} | | | not there | |"));
            continue;
        };
        let scaled = scaled(&data::read(&path)?.records);
        let lloyd = LloydParams::new(k).n_restarts(20).check()?;
        let best = lloyd.fit(scaled.view(), None, &mut public(1))?.cost / scaled.nrows() as f64;
        for epsilon in [0.5, 1.0] {
            for method in METHODS {
                // A lattice has no place for ten columns.
                if method == "lattice" && scaled.ncols() > 2 {
                    continue;
                }
                let (mut ratios, mut seconds) = (Vec::new(), Vec::new());
                for seed in 0..runs {
                    let start = Instant::now();
                    let centers = release(&scaled, k, method, epsilon, seed)?;
                    seconds.push(start.elapsed().as_secs_f64());
                    ratios.push(mean_cost(Records::from(&scaled), centers.view(), None)? / best);
                }
                let ((ratio, error), (time, _)) = (mean(&ratios), mean(&seconds));
                say(&format!(
                    "| {name}, {k} | {epsilon} | {method} | {ratio:.2} ± {error:.2} | {time:.2} |"
                ));
            }
        }
    }
    Ok(())
}

/// Sources of candidates for `maxcover`, and its rivals.
const METHODS: [&str; 6] = ["lattice", "lsh", "partition", "tree", "dplloyd", "eug"];

fn release(
    records: &Array2<f64>,
    k: usize,
    method: &str,
    epsilon: f64,
    seed: u64,
) -> Result<Array2<f64>, Box<dyn Error>> {
    let d = records.ncols();
    let source = CandidateSource::ALL
        .into_iter()
        .find(|s| s.name() == method);
    let algorithm = if source.is_some() { "maxcover" } else { method };
    let columns = (0..d).map(|j| format!("x{j}")).collect();
    let relation = NeighboringRelation::AddRemove;
    let mut request = FitRequest::new(algorithm, columns, vec![[-1.0, 1.0]; d], k, relation)
        .budget(Budget::approx(Epsilon::new(epsilon)?, Delta::new(1e-6)?))
        .n_hint(records.nrows() as u64);
    if source.is_some() {
        request = request.options(Options {
            candidates: source,
            metric: Some(MetricChoice::Euclidean),
            power: Some(2.0),
            ..Options::default()
        });
    }
    let mut noise = InsecureSeededRng::new(seed);
    let fitted = fit(&request, records, &mut noise, &mut public(1000 + seed))?;
    let centers = fitted.model.centers;
    Ok(Array2::from_shape_fn((centers.len(), d), |(i, j)| {
        centers[i][j]
    }))
}

/// Each column moved to [−1, 1] by its extremes.
fn scaled(records: &Array2<f64>) -> Array2<f64> {
    let mut scaled = records.clone();
    for mut column in scaled.columns_mut() {
        let (mut lo, mut hi) = (f64::INFINITY, f64::NEG_INFINITY);
        for &x in &column {
            lo = if x < lo { x } else { lo };
            hi = if x > hi { x } else { hi };
        }
        column.mapv_inplace(|x| ((x - lo) / (hi - lo) * 2.0 - 1.0).clamp(-1.0, 1.0));
    }
    scaled
}
