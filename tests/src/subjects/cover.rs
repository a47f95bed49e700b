//! Private facility location: three rates, two metrics; candidates from each source; the baseline.

use dp_audit::replay::Promise;
use maxcover::black_box::{FasterPam, FreeLloyd};
use maxcover::candidates::Source;
use maxcover::gupta::GuptaLocalSearch;
use maxcover::{MaxCoverParams, Rate, Space, ThroughCandidates};
use metric_space::{BoxDomain, Domain, Euclidean, Manhattan, Metric, Power};
use ndarray::{Array2, array};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::{Subject, budget, promises};

/// Sites with a repetition, on the border and on records of generated tables: ties in every distance.
pub(super) fn sites() -> Array2<f64> {
    array![
        [-1.0, -1.0],
        [1.0, 1.0],
        [0.0, 0.0],
        [0.0, 0.0],
        [-0.5, -0.5],
        [0.7, 0.7],
        [1.5, -0.3]
    ]
}

pub(super) fn subjects() -> Vec<Subject> {
    let mut subjects = Vec::new();
    for rate in Rate::ALL {
        subjects.extend(with_metric(&Euclidean, "euclidean", rate));
        subjects.extend(with_metric(&Manhattan, "manhattan", rate));
    }
    subjects.extend(through_candidates());
    subjects.extend(gupta());
    subjects
}

/// Two sites in opposite corners: for the black box.
fn two_sites() -> Array2<f64> {
    array![[-0.9, -0.9], [0.9, 0.9]]
}

/// One center among two sites, at the rate that leaves least of the loss unused.
pub(super) fn small(promise: Promise) -> Subject {
    of_sites(
        &Euclidean,
        "euclidean",
        Rate::Largest,
        1,
        two_sites(),
        promise,
    )
}

/// One center among two candidates of a line.
pub(super) fn small_candidates(promise: Promise) -> Subject {
    through(Source::Lattice, (1, 1, 2), promise)
}

/// Without sites: candidates from each source, few columns and many, then the coverage.
fn through_candidates() -> Vec<Subject> {
    let mut subjects = Vec::new();
    for source in Source::ALL {
        for columns in [2, 9] {
            // Nine columns take another way through the halving alone; a grid of them has no place for so few points.
            if columns > 2 && source != Source::Partition {
                continue;
            }
            for promise in promises(budget(2.0, 1e-3)) {
                subjects.push(through(source, (columns, 2, 16), promise));
            }
        }
    }
    subjects
}

fn through(
    source: Source,
    (columns, clusters, candidates): (usize, usize, usize),
    promise: Promise,
) -> Subject {
    let params = MaxCoverParams::new(clusters, promise.budget, Power::MEANS);
    let through = ThroughCandidates::new(source, candidates, params).expect("valid parameters");
    let bounds = BoxDomain::new(vec![-1.0; columns], vec![1.0; columns]).expect("bounds in order");
    let domain = Domain::from(bounds);
    Subject::new(
        "maxcover candidates",
        format!("{}, d = {columns}", source.name()),
        promise,
        columns,
        move |records, session| {
            let mut public = ChaCha8Rng::seed_from_u64(5);
            let solver = FreeLloyd::default();
            through
                .fit(&Euclidean, &domain, records, &solver, session, &mut public)
                .map(drop)
                .map_err(|error| error.to_string())
        },
    )
}

/// The baseline with private swaps.
fn gupta() -> Vec<Subject> {
    let subject = |promise: Promise| {
        let search = GuptaLocalSearch::new(2, promise.budget.epsilon, Power::MEDIANS);
        let search = search.expect("valid parameters");
        let bounds = BoxDomain::new(vec![-1.0; 2], vec![1.0; 2]).expect("bounds in order");
        let domain = Domain::from(bounds);
        let sites = sites();
        Subject::new(
            "gupta",
            "k = 2".to_owned(),
            promise,
            2,
            move |records, session| {
                let space = Space::new(&Euclidean, &domain, sites.view())
                    .map_err(|error| error.to_string())?;
                let mut public = ChaCha8Rng::seed_from_u64(5);
                search
                    .fit(&space, records, session, &mut public)
                    .map(drop)
                    .map_err(|error| error.to_string())
            },
        )
    };
    promises(budget(20.0, 0.0)).map(subject).into()
}

fn with_metric<M: Metric + Clone + Send + Sync + 'static>(
    metric: &M,
    name: &'static str,
    rate: Rate,
) -> Vec<Subject> {
    let subject = |promise| of_sites(metric, name, rate, 2, sites(), promise);
    promises(budget(2.0, 1e-3)).map(subject).into()
}

fn of_sites<M: Metric + Clone + Send + Sync + 'static>(
    metric: &M,
    name: &'static str,
    rate: Rate,
    clusters: usize,
    sites: Array2<f64>,
    promise: Promise,
) -> Subject {
    let maxcover = MaxCoverParams::new(clusters, promise.budget, Power::MEDIANS)
        .rate(rate)
        .check()
        .expect("valid parameters");
    let metric = metric.clone();
    let bounds = BoxDomain::new(vec![-1.0; 2], vec![1.0; 2]).expect("bounds in order");
    let domain = Domain::from(bounds);
    Subject::new(
        "maxcover",
        format!("{name}, {}", rate.name()),
        promise,
        2,
        move |records, session| {
            let space =
                Space::new(&metric, &domain, sites.view()).map_err(|error| error.to_string())?;
            let mut public = ChaCha8Rng::seed_from_u64(5);
            maxcover
                .fit(&space, records, &FasterPam::default(), session, &mut public)
                .map(drop)
                .map_err(|error| error.to_string())
        },
    )
}
