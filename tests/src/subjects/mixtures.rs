//! `PrivatekGMM` on records that are easy but for those of the table, and its learners alone.

use dp_audit::replay::Promise;
use dp_core::{NeighboringRelation, Session};
use gmm::learner::{
    ClipAndNoise, CoinPress, CoinPressParams, GaussianLearner, KarwaVadhan, Passes, Prior, Sigmas,
    Start, Target,
};
use gmm::{GmmOutcome, PrivateGmmParams, Split, private::LearnerChoice};
use metric_space::FramedSource;
use ndarray::Array2;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::lloyd::frame;
use super::{Subject, budget, paid_in_full, promises};

/// The default learner on one column: for the black box.
pub(super) fn small(promise: Promise) -> Subject {
    let press = CoinPressParams::default().start(Start::Radii);
    let press: CoinPress = press.check().expect("valid parameters");
    learner_under("CoinPress from radii", 1, press, promise)
}

pub(super) fn subjects() -> Vec<Subject> {
    let press = |start, target| -> CoinPress {
        let params = CoinPressParams::default().start(start).target(target);
        params.check().expect("valid parameters")
    };
    let mut subjects = Vec::new();
    for relation in NeighboringRelation::ALL {
        subjects.push(whole(relation, Split::Budget));
        subjects.push(whole(relation, Split::Halves));
    }
    for columns in [1, 2] {
        subjects.extend(learner(
            "CoinPress from radii",
            columns,
            press(Start::Radii, Target::Both),
        ));
        subjects.extend(learner(
            "CoinPress from bounds",
            columns,
            press(Start::Public, Target::Both),
        ));
        subjects.extend(learner(
            "CoinPress, mean",
            columns,
            press(Start::Radii, Target::Mean),
        ));
        subjects.extend(learner(
            "CoinPress, covariance",
            columns,
            press(Start::Radii, Target::Covariance),
        ));
        let known = CoinPressParams::default()
            .start(Start::Within(0.5))
            .public_count(Some(5));
        subjects.extend(learner(
            "CoinPress, radius and size public",
            columns,
            known.check().expect("valid parameters"),
        ));
        subjects.extend(learner("clip and noise", columns, ClipAndNoise));
    }
    subjects.extend(learner("Karwa-Vadhan", 1, KarwaVadhan));
    subjects
}

/// A learner by itself, with so large a budget that its beliefs follow single records.
fn learner(
    what: &'static str,
    columns: usize,
    learner: impl GaussianLearner + Copy + Send + 'static,
) -> Vec<Subject> {
    let subject = |promise| learner_under(what, columns, learner, promise);
    promises(budget(30.0, 1e-6)).map(subject).into()
}

fn learner_under(
    what: &'static str,
    columns: usize,
    learner: impl GaussianLearner + Copy + Send + 'static,
    promise: Promise,
) -> Subject {
    let frame = frame(columns, 12);
    let spend = promise.budget.gaussian().expect("there is a delta");
    let run = move |rows: &Array2<f64>, session: &mut Session<'_>| {
        let prior = Prior {
            centers: Array2::from_shape_fn((2, columns), |(i, _)| i as f64 - 0.4),
            sigmas: Sigmas::of_widths(columns),
        };
        let source = FramedSource::new(rows, &frame);
        learner
            .learn(&Passes::new(&source), &prior, spend, session)
            .map(drop)
            .map_err(|error| error.to_string())
    };
    let settings = format!("{what}, d = {columns}");
    Subject::new("gmm learners", settings, promise, columns, run)
}

/// The whole algorithm: the rows of the table and two groups of records that are easy to find.
fn whole(relation: NeighboringRelation, split: Split) -> Subject {
    let promise = Promise {
        budget: budget(40.0, 1e-3),
        relation,
    };
    let params = PrivateGmmParams::new(2, promise.budget)
        .learner(LearnerChoice::default())
        .split(split);
    let frame = frame(2, 20);
    let gmm = params.check().expect("valid parameters");
    // To look for the number of blocks again would take most of the time of each run.
    let gmm = gmm.resolved(&frame).expect("enough budget");
    let n_blocks = gmm.n_blocks(&frame).expect("enough budget");
    let mut rng = ChaCha8Rng::seed_from_u64(23);
    // With halves every second record goes to a block.
    let per_block = match split {
        Split::Budget => 12,
        Split::Halves => 24,
    };
    let easy = Array2::from_shape_fn((per_block * n_blocks, 2), |(i, _)| {
        let place = if i % 2 == 0 { -0.6 } else { 0.6 };
        place + rng.random_range(-0.01..0.01)
    });
    let run = move |rows: &Array2<f64>, session: &mut Session<'_>| {
        let records = ndarray::concatenate(ndarray::Axis(0), &[rows.view(), easy.view()])
            .map_err(|error| error.to_string())?;
        let mut public = ChaCha8Rng::seed_from_u64(5);
        let outcome = gmm
            .fit(&FramedSource::new(&records, &frame), session, &mut public)
            .map_err(|error| error.to_string())?;
        match outcome {
            GmmOutcome::Released { .. } => paid_in_full(session, promise.budget),
            GmmOutcome::Refused(_) => Ok(()),
        }
    };
    let (name, least_share) = match split {
        Split::Budget => ("PrivatekGMM", 0.499),
        Split::Halves => ("halves", 0.999),
    };
    let settings = format!("{name}, {n_blocks} blocks");
    Subject::new("gmm on groups", settings, promise, 2, run)
        .most_rows(6)
        .cost(100)
        .least_share(
            least_share,
            "where the answer is ⊥ the learner is not paid for, unless halves were",
        )
        .theorem(super::tuples::by_theorem)
}
