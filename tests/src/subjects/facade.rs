//! The algorithms of the facade by name, as a user calls them.

use dp_cluster::algorithm::{self, DeltaNeed, Facts};
use dp_cluster::{
    AggregatorChoice, BudgetSchedule, CandidateSource, CenterOrderChoice, FitRequest, MetricChoice,
    Options,
};
use dp_core::NeighboringRelation;
use gmm::CovarianceKind;
use lloyd_dp::grid::Starts;
use ndarray::array;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::{Subject, budget, paid_in_full};
use dp_audit::replay::Promise;

#[cfg(test)]
mod tests;

/// A setting of an algorithm: columns, clusters, ε, public size, options.
pub(super) struct Setting {
    columns: usize,
    clusters: usize,
    epsilon: f64,
    n_hint: Option<u64>,
    options: Options,
    /// What the options are, in words.
    label: String,
    cost: usize,
}

pub(super) fn setting(
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
        options: Options::default(),
        label: String::new(),
        cost: 1,
    }
}

impl Setting {
    pub(super) fn iterations(mut self, iterations: usize) -> Self {
        self.options.iterations = Some(iterations);
        self
    }

    /// Sets options, and says so in the name.
    fn with(mut self, label: &str, set: impl FnOnce(&mut Options)) -> Self {
        set(&mut self.options);
        self.label = format!("{}, {label}", self.label);
        self
    }

    fn cost(mut self, cost: usize) -> Self {
        self.cost = cost;
        self
    }
}

/// Options that no setting here has, and why.
const ELSEWHERE: [(&str, &str, &str); 2] = [
    (
        "ktuple",
        "sampling",
        "takes thousands of records: below the facade, see `tuples`",
    ),
    ("ktuple", "block-size", "goes with `sampling`"),
];

/// The settings with which an algorithm is audited; none for one that nobody thought about.
///
/// Add a line when you add an algorithm or an option: small tables, and settings in which every branch of it runs.
fn settings(name: &str) -> Option<Vec<Setting>> {
    Some(match name {
        "dplloyd" | "dplloyd-paper" => dplloyd(),
        // A large ε makes a fine grid of few records, and a grid that follows each count of them.
        "ug" | "eug" | "grid-k" | "grid-sparse" | "hybrid" | "hybrid-refine" => vec![
            setting(1, 2, 20.0, None),
            setting(2, 2, 20.0, Some(20)),
            setting(2, 3, 1.0, None),
            setting(1, 2, 1.0, None).with("sphere packing", |options| {
                options.starts = Some(Starts::SpherePacking);
            }),
        ],
        "gkm" | "gkm-3k" => sample_aggregate(),
        "pgkm" => vec![
            setting(2, 2, 1.0, None).iterations(3),
            setting(1, 2, 1.0, Some(10)),
        ],
        // Few columns start from a grid, nine from votes.
        "vote-refine" => vec![
            setting(2, 3, 1.0, None),
            setting(1, 2, 5.0, Some(12)),
            setting(9, 2, 5.0, Some(12)),
        ],
        "auto" => vec![setting(2, 2, 1.0, None), setting(9, 2, 1.0, Some(12))],
        "ktuple" => ktuple(),
        "gmm" => gmm(),
        "maxcover" => maxcover(),
        _ => return None,
    })
}

fn dplloyd() -> Vec<Setting> {
    let mut settings = Vec::new();
    for schedule in BudgetSchedule::ALL {
        let scheduled =
            |base: Setting| base.with(schedule.name(), |options| options.schedule = Some(schedule));
        settings.push(scheduled(setting(2, 3, 1.0, None).iterations(3)));
        settings.push(scheduled(setting(1, 2, 0.5, Some(10)).iterations(2)));
    }
    let first = |options: &mut Options| options.init_centers = Some(array![[-0.9], [0.3]]);
    settings.push(setting(1, 2, 1.0, None).with("first centers", first));
    settings
}

fn sample_aggregate() -> Vec<Setting> {
    vec![
        setting(2, 2, 5.0, None),
        setting(1, 3, 1.0, Some(40)),
        setting(2, 2, 5.0, None).with("matched", |options| {
            options.center_order = Some(CenterOrderChoice::Reference);
        }),
        setting(1, 2, 5.0, None).with("matched to first centers", |options| {
            options.init_centers = Some(array![[-0.9], [0.3]]);
        }),
    ]
}

/// One cluster needs no tuples; tuples that agree are made below the facade: see `tuples`. The published clusterings take thousands of
/// blocks, which stay empty here, and averages half a million and more: those are below the facade, too.
fn ktuple() -> Vec<Setting> {
    let noisy_centers = |options: &mut Options| {
        options.aggregator = Some(AggregatorChoice::NoisyCenters);
        options.blocks = Some(8000);
        options.failure_probability = Some(0.1);
    };
    vec![
        setting(2, 1, 1.0, None),
        setting(2, 2, 40.0, None),
        setting(1, 1, 1.0, None).with("scale-min = 0.1", |options| options.scale_min = Some(0.1)),
        setting(2, 2, 1.0, None)
            .cost(20)
            .with("noisy centers", noisy_centers),
        setting(1, 2, 40.0, None).with("separation = 100", |options| {
            options.separation = Some(100.0);
        }),
    ]
}

fn gmm() -> Vec<Setting> {
    let of = |kind: CovarianceKind| {
        setting(2, 1, 1.0, None).with(kind.name(), |options| options.covariance = Some(kind))
    };
    let bounds = |options: &mut Options| {
        options.sigma_min = Some(0.05);
        options.sigma_max = Some(0.4);
    };
    let noisy = |options: &mut Options| options.aggregator = Some(AggregatorChoice::NoisyCenters);
    let mut settings = vec![
        setting(2, 1, 1.0, None),
        setting(1, 2, 40.0, None),
        setting(2, 1, 1.0, None).with("bounds of its own", bounds),
        setting(1, 2, 40.0, None).with("400 blocks", |options| options.blocks = Some(400)),
        setting(1, 2, 1.0, None)
            .with("noisy centers", noisy)
            .cost(20),
    ];
    settings.extend(CovarianceKind::ALL.map(of));
    settings
}

/// Every distance that needs no table, and candidates that are few; the others are audited below the facade: see `cover`.
fn maxcover() -> Vec<Setting> {
    let among = |metric: MetricChoice, power: f64| {
        let label = format!("{}, p = {power}, seven sites", metric.name());
        setting(2, 2, 2.0, None).with(&label, |options| {
            options.sites = Some(super::cover::sites());
            options.metric = Some(metric);
            options.power = Some(power);
        })
    };
    let from = |source: CandidateSource, power: f64| {
        let label = format!("{}, p = {power}", source.name());
        setting(2, 2, 5.0, None).with(&label, |options| {
            options.candidates = Some(source);
            options.power = Some(power);
        })
    };
    vec![
        among(MetricChoice::Euclidean, 1.0),
        among(MetricChoice::L1, 2.0),
        among(MetricChoice::Linf, 1.5),
        among(MetricChoice::Haversine, 1.0),
        from(CandidateSource::Tree, 2.0),
        from(CandidateSource::Lsh, 1.0),
    ]
}

/// Whether every option of an algorithm is in one of its settings, or elsewhere with a reason.
fn check_options(facts: &Facts, settings: &[Setting]) -> Result<(), String> {
    let name = facts.name;
    for option in facts.options {
        let mut given = settings.iter().flat_map(|setting| setting.options.given());
        let is_here = given.any(|given| given == *option);
        let is_elsewhere = ELSEWHERE
            .iter()
            .any(|(of, other, _)| (*of, other) == (name, option));
        match (is_here, is_elsewhere) {
            (true, false) | (false, true) => {}
            (false, false) => {
                return Err(format!(
                    "`{option}` of `{name}` has no setting in the audit"
                ));
            }
            (true, true) => {
                return Err(format!("`{option}` of `{name}` needs no reason any more"));
            }
        }
    }
    Ok(())
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
        check_options(&facts, &settings)?;
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
    let bounds = vec![[-1.0, 1.0]; setting.columns];
    let mut request = FitRequest::new(name, columns, bounds, setting.clusters, relation)
        .budget(budget)
        .options(setting.options.clone());
    request.n_hint = setting.n_hint;
    let algorithm = request
        .check()
        .map_err(|error| format!("{name}: {error}"))?;
    let text = format!(
        "d = {}, k = {}, epsilon = {}, delta = {delta}, n_hint = {:?}{}",
        setting.columns, setting.clusters, setting.epsilon, setting.n_hint, setting.label,
    );
    // Where blocks agree on nothing.
    let may_refuse = setting.clusters > 1 && matches!(name, "ktuple" | "gmm");
    let run = move |records: &ndarray::Array2<f64>, session: &mut dp_core::Session<'_>| {
        let mut public = ChaCha8Rng::seed_from_u64(5);
        let outcome = algorithm
            .fit(&request, records, session, &mut public)
            .map_err(|error| error.to_string())?;
        if may_refuse && outcome.centers.is_some() {
            return paid_in_full(session, budget);
        }
        Ok(())
    };
    let subject = Subject::new(
        name,
        text,
        Promise { budget, relation },
        setting.columns,
        run,
    );
    let subject = subject
        .theorem(super::tuples::by_theorem)
        .cost(setting.cost);
    let refusal = "where the answer is ⊥ the rest is not paid for";
    Ok(match name {
        "ktuple" if may_refuse => subject.least_share(0.749, refusal),
        "gmm" if may_refuse => subject.least_share(0.499, refusal),
        _ => subject,
    })
}
