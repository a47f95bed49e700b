//! The algorithms of the facade by name, as a user calls them.

use dp_cluster::algorithm::{self, DeltaNeed};
use dp_cluster::{BudgetSchedule, FitRequest, Options};
use dp_core::NeighboringRelation;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::{Subject, budget};
use dp_audit::replay::Promise;

/// A setting of an algorithm: columns, clusters, ε, public size, options.
pub(super) struct Setting {
    columns: usize,
    clusters: usize,
    epsilon: f64,
    n_hint: Option<u64>,
    iterations: Option<usize>,
    schedule: Option<BudgetSchedule>,
}

pub(super) const fn setting(
    columns: usize,
    clusters: usize,
    epsilon: f64,
    n_hint: Option<u64>,
) -> Setting {
    Setting {
        columns,
        clusters,
        epsilon,
        n_hint,
        iterations: None,
        schedule: None,
    }
}

impl Setting {
    pub(super) const fn iterations(self, iterations: usize) -> Self {
        Self {
            iterations: Some(iterations),
            ..self
        }
    }
}

/// The settings with which an algorithm is audited; none for one that nobody thought about.
///
/// Add a line when you add an algorithm: small tables, and settings in which every branch of it runs.
fn settings(name: &str) -> Option<Vec<Setting>> {
    let with = |iterations, schedule, base: Setting| Setting {
        iterations,
        schedule,
        ..base
    };
    Some(match name {
        "dplloyd" | "dplloyd-paper" => BudgetSchedule::ALL
            .into_iter()
            .flat_map(|schedule| {
                [
                    with(Some(3), Some(schedule), setting(2, 3, 1.0, None)),
                    with(Some(2), Some(schedule), setting(1, 2, 0.5, Some(10))),
                ]
            })
            .collect(),
        // A large ε makes a fine grid of few records, and a grid that follows each count of them.
        "ug" | "eug" | "grid-k" | "grid-sparse" | "hybrid" | "hybrid-refine" => vec![
            setting(1, 2, 20.0, None),
            setting(2, 2, 20.0, Some(20)),
            setting(2, 3, 1.0, None),
        ],
        "gkm" | "gkm-3k" => vec![setting(2, 2, 5.0, None), setting(1, 3, 1.0, Some(40))],
        "pgkm" => vec![
            with(Some(3), None, setting(2, 2, 1.0, None)),
            setting(1, 2, 1.0, Some(10)),
        ],
        // Few columns start from a grid, nine from votes.
        "vote-refine" => vec![
            setting(2, 3, 1.0, None),
            setting(1, 2, 5.0, Some(12)),
            setting(9, 2, 5.0, Some(12)),
        ],
        "auto" => vec![setting(2, 2, 1.0, None), setting(9, 2, 1.0, Some(12))],
        // One cluster needs no tuples; tuples that agree are made below the facade: see `tuples`.
        "ktuple" => vec![setting(2, 1, 1.0, None), setting(2, 2, 40.0, None)],
        "gmm" => vec![setting(2, 1, 1.0, None), setting(1, 2, 40.0, None)],
        // Audited below the facade, which needs sites: see `cover`.
        "maxcover" => vec![],
        _ => return None,
    })
}

/// All private algorithms of the facade, each under both relations.
pub(super) fn subjects() -> Result<Vec<Subject>, String> {
    let mut subjects = Vec::new();
    for algorithm in algorithm::all() {
        let facts = algorithm.facts();
        if !facts.private {
            continue;
        }
        let settings = settings(facts.name)
            .ok_or_else(|| format!("`{}` has no neighbors in the audit", facts.name))?;
        let deltas: &[f64] = match facts.delta {
            DeltaNeed::None => &[0.0],
            DeltaNeed::Optional => &[0.0, 1e-6],
            DeltaNeed::Required => &[1e-6],
        };
        for setting in &settings {
            for &delta in deltas {
                for relation in NeighboringRelation::ALL {
                    subjects.push(subject(facts.name, setting, delta, relation)?);
                }
            }
        }
    }
    Ok(subjects)
}

pub(super) fn subject(
    name: &'static str,
    setting: &Setting,
    delta: f64,
    relation: NeighboringRelation,
) -> Result<Subject, String> {
    let columns = (0..setting.columns).map(|i| format!("x{i}")).collect();
    let budget = budget(setting.epsilon, delta);
    let options = Options {
        iterations: setting.iterations,
        schedule: setting.schedule,
        ..Options::default()
    };
    let bounds = vec![[-1.0, 1.0]; setting.columns];
    let mut request = FitRequest::new(name, columns, bounds, setting.clusters, relation)
        .budget(budget)
        .options(options);
    request.n_hint = setting.n_hint;
    let algorithm = request
        .check()
        .map_err(|error| format!("{name}: {error}"))?;
    let text = format!(
        "d = {}, k = {}, epsilon = {}, delta = {delta}, n_hint = {:?}{}",
        setting.columns,
        setting.clusters,
        setting.epsilon,
        setting.n_hint,
        setting
            .schedule
            .map_or(String::new(), |schedule| format!(", {}", schedule.name())),
    );
    let run = move |records: &ndarray::Array2<f64>, session: &mut dp_core::Session<'_>| {
        let mut public = ChaCha8Rng::seed_from_u64(5);
        algorithm
            .fit(&request, records, session, &mut public)
            .map(drop)
            .map_err(|error| error.to_string())
    };
    let subject = Subject::new(
        name,
        text,
        Promise { budget, relation },
        setting.columns,
        run,
    );
    let subject = subject.theorem(super::tuples::probabilities);
    let refusal = "where the answer is ⊥ the rest is not paid for";
    Ok(match name {
        "ktuple" if setting.clusters > 1 => subject.least_share(0.749, refusal),
        "gmm" if setting.clusters > 1 => subject.least_share(0.499, refusal),
        _ => subject,
    })
}
