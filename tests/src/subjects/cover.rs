//! Private facility location: three rates, two metrics.

use maxcover::black_box::FasterPam;
use maxcover::{MaxCoverParams, Rate, Space};
use metric_space::{BoxDomain, Domain, Euclidean, Manhattan, Metric, Power};
use ndarray::{Array2, array};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::{Subject, budget, promises};

/// Sites with a repetition, on the border and on records of generated tables: ties in every distance.
fn sites() -> Array2<f64> {
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
    subjects
}

fn with_metric<M: Metric + Clone + Send + Sync + 'static>(
    metric: &M,
    name: &'static str,
    rate: Rate,
) -> Vec<Subject> {
    let promises = promises(budget(2.0, 1e-3));
    let subject = |promise: dp_audit::replay::Promise| {
        let maxcover = MaxCoverParams::new(2, promise.budget, Power::MEDIANS)
            .rate(rate)
            .check()
            .expect("valid parameters");
        let metric = metric.clone();
        let sites = sites();
        let bounds = BoxDomain::new(vec![-1.0; 2], vec![1.0; 2]).expect("bounds in order");
        let domain = Domain::from(bounds);
        Subject::new(
            "maxcover",
            format!("{name}, {}", rate.name()),
            promise,
            2,
            move |records, session| {
                let space = Space::new(&metric, &domain, sites.view())
                    .map_err(|error| error.to_string())?;
                let mut public = ChaCha8Rng::seed_from_u64(5);
                maxcover
                    .fit(&space, records, &FasterPam::default(), session, &mut public)
                    .map(drop)
                    .map_err(|error| error.to_string())
            },
        )
    };
    promises.map(subject).into_iter().collect()
}
