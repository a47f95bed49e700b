//! `PrivatekMeans` and the aggregators under it, on tuples that agree but for those of the table.

use dp_audit::replay::Promise;
use dp_core::sensitivity::Sensitivity;
use dp_core::tape::Statistic;
use dp_core::{Event, NeighboringRelation, Session, Value};
use ktuple::averages::Axes;
use ktuple::blocks::Sampling;
use ktuple::friendly::{Filter, FriendlyAverages, FriendlyCore, RadiusSearch};
use ktuple::means::{KMeansOutcome, PrivateKMeansParams};
use ktuple::paper::{NoisyComposition, PrivateKAverages, PrivateKNoisyCenters};
use ktuple::{ParamsError, TupleAggregator, TupleShape, TupleSpend, Tuples};
use metric_space::{FramedSource, Lattice};
use ndarray::{Array2, ArrayView2};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::lloyd::frame;
use super::{Subject, budget, paid_in_full};

#[cfg(test)]
mod tests;

pub(super) fn subjects() -> Vec<Subject> {
    let core = |filter| FriendlyCore::new(1.0 / 12.0, filter).expect("a ratio in range");
    let averages =
        |search| FriendlyAverages::new(search, Filter::Proportional).expect("a radius in range");
    let noisy = |composition| PrivateKNoisyCenters::new(7.0, 0.05, composition).expect("a range");
    let paper = |axes| PrivateKAverages::new(0.01, 0.05, axes).expect("a radius in range");
    let (some, none, all) = (Agree::Some, Agree::None, Agree::All);
    let mut subjects = vec![
        aggregator("proportional", core(Filter::Proportional), some, (8.0, 2)),
        aggregator("gaussian", core(Filter::Gaussian), none, (40.0, 2)),
        aggregator(
            "average within 0.1",
            averages(RadiusSearch::Public(0.1)),
            some,
            (8.0, 1),
        ),
        aggregator(
            "average, searched",
            averages(RadiusSearch::Above(0.01)),
            some,
            (8.0, 1),
        ),
        aggregator(
            "noisy centers",
            noisy(NoisyComposition::Basic),
            all,
            (1.0, 2),
        ),
        aggregator(
            "noisy centers, advanced",
            noisy(NoisyComposition::Advanced),
            all,
            (1.0, 2),
        ),
        aggregator("averages", paper(Axes::Own), all, (1.0, 2)),
        aggregator("averages, rotated", paper(Axes::Rotated), all, (1.0, 2)),
    ];
    for relation in NeighboringRelation::ALL {
        subjects.push(means(relation));
    }
    subjects.push(with_replacement());
    subjects
}

/// Which rows of a table become tuples that agree with the others, more or less.
#[derive(Clone, Copy, PartialEq)]
enum Agree {
    /// Those that begin with a positive number: a replaced tuple may be one that is kept.
    Some,
    /// None: a replay would keep a tuple that has lost its matches, which the theorem leaves to δ.
    None,
    /// All: a replay would go on with the balls of a tuple that has lost its own, which the theorem leaves to δ.
    All,
}

/// An aggregator on tuples, the first of which are the rows of the table.
fn aggregator(
    name: &'static str,
    aggregator: impl TupleAggregator + Send + 'static,
    agree: Agree,
    (epsilon, points): (f64, usize),
) -> Subject {
    let promise = Promise {
        budget: budget(epsilon, 1e-6),
        relation: NeighboringRelation::ReplaceOne,
    };
    let shape = TupleShape {
        n_tuples: 1,
        n_clusters: points,
        dimension: 2,
        lattice: Lattice::default(),
    };
    let needed = match aggregator.name() {
        // What the test takes; the averages are of use from hundreds of thousands on.
        "averages" => 3_000,
        _ => aggregator
            .tuples_needed(shape, promise.budget)
            .expect("a number that will do"),
    };
    let agreeing = usize::try_from(needed).unwrap_or(usize::MAX) + 30;
    let settings = format!("{name}, epsilon = {epsilon}, {agreeing} tuples that agree");
    let run = move |rows: &Array2<f64>, session: &mut Session<'_>| {
        let mut tuples = Tuples::new(points, 2, shape.lattice);
        for row in rows.outer_iter() {
            let mut row = row.to_vec();
            let agrees = match agree {
                Agree::Some => row.first().is_some_and(|&x| x > 0.0),
                Agree::None => false,
                Agree::All => true,
            };
            if agrees {
                for (i, x) in row.iter_mut().enumerate() {
                    let near = if x.is_nan() { 0.0 } else { x.clamp(-1.0, 1.0) };
                    *x = place(i / 2) + 0.02 * near;
                }
            }
            let tuple = ArrayView2::from_shape((points, 2), &row);
            tuples.push(tuple.map_err(|error| error.to_string())?);
        }
        let mut rng = ChaCha8Rng::seed_from_u64(17);
        for _ in 0..agreeing {
            let tuple = Array2::from_shape_fn((points, 2), |(i, _)| {
                place(i) + rng.random_range(-0.01..0.01)
            });
            tuples.push(tuple.view());
        }
        let mut public = ChaCha8Rng::seed_from_u64(5);
        let spend = TupleSpend::direct(promise.budget);
        aggregator
            .aggregate(&tuples, spend, session, &mut public)
            .map(drop)
            .map_err(|error| error.to_string())
    };
    let cost = if agree == Agree::All { 100 } else { 10 };
    Subject::new("ktuple aggregators", settings, promise, 2 * points, run)
        .cost(cost)
        .theorem(by_theorem)
}

/// Where point `i` of a tuple lies if it agrees with the others.
fn place(i: usize) -> f64 {
    0.6 - 1.2 * i as f64
}

/// The whole algorithm: the rows of the table and three groups of records that are easy to find.
fn means(relation: NeighboringRelation) -> Subject {
    let promise = Promise {
        budget: budget(40.0, 1e-3),
        relation,
    };
    let params = PrivateKMeansParams::new(2, promise.budget).n_restarts(1);
    let frame = frame(2, 20);
    let means = params.check().expect("valid parameters");
    let n_blocks = means.n_blocks(&frame, relation).expect("enough budget");
    let mut rng = ChaCha8Rng::seed_from_u64(19);
    let easy = easy(12 * n_blocks, &mut rng);
    let run = move |rows: &Array2<f64>, session: &mut Session<'_>| {
        let records = ndarray::concatenate(ndarray::Axis(0), &[rows.view(), easy.view()])
            .map_err(|error| error.to_string())?;
        let mut public = ChaCha8Rng::seed_from_u64(5);
        let outcome = means
            .fit(&FramedSource::new(&records, &frame), session, &mut public)
            .map_err(|error| error.to_string())?;
        match outcome {
            KMeansOutcome::Released { .. } => paid_in_full(session, promise.budget),
            KMeansOutcome::Refused(_) => Ok(()),
        }
    };
    let settings = format!("PrivatekMeans, {n_blocks} blocks");
    Subject::new("ktuple on groups", settings, promise, 2, run)
        .most_rows(6)
        .cost(30)
        .least_share(
            0.749,
            "where the answer is ⊥ the refinement is not paid for",
        )
        .theorem(by_theorem)
}

/// Records of two groups in two columns.
fn easy(n: usize, rng: &mut ChaCha8Rng) -> Array2<f64> {
    Array2::from_shape_fn((n, 2), |(i, _)| {
        let place = if i % 2 == 0 { -0.6 } else { 0.6 };
        place + rng.random_range(-0.01..0.01)
    })
}

/// Blocks that are drawn with replacement, as published, from twice as many records as draws: the least that the lemma takes.
fn with_replacement() -> Subject {
    // A sixth of ε is 1, the most that the lemma takes.
    let promise = Promise {
        budget: budget(6.0, 1e-3),
        relation: NeighboringRelation::ReplaceOne,
    };
    let frame = frame(2, 20);
    let sampling = Sampling::WithReplacement { block_size: 4 };
    let params = PrivateKMeansParams::new(2, promise.budget)
        .n_restarts(1)
        .sampling(sampling);
    // Too few on purpose: the refusal says how many are needed.
    let few = params.clone().n_hint(Some(1)).check();
    let few = few.expect("valid parameters");
    let needed = match few.n_blocks(&frame, promise.relation) {
        Err(ParamsError::TooFewRecords { needed, .. }) => needed,
        other => panic!("one record is too few, got {other:?}"),
    };
    let means = params.n_hint(Some(needed)).check();
    let means = means.expect("valid parameters");
    let n = usize::try_from(needed).expect("some thousands");
    let easy = easy(n, &mut ChaCha8Rng::seed_from_u64(29));
    let run = move |rows: &Array2<f64>, session: &mut Session<'_>| {
        let records = ndarray::concatenate(ndarray::Axis(0), &[rows.view(), easy.view()])
            .map_err(|error| error.to_string())?;
        let mut public = ChaCha8Rng::seed_from_u64(5);
        means
            .fit(&FramedSource::new(&records, &frame), session, &mut public)
            .map(drop)
            .map_err(|error| error.to_string())
    };
    let settings = format!("PrivatekMeans, drawn with replacement from {needed}");
    Subject::new("ktuple on groups", settings, promise, 2, run)
        .least_share(
            0.499,
            "as printed: half for the tuples by the lemma, a sixth for the averages, which are not paid for where the answer is ⊥",
        )
        .unreplayed("a record may be in several blocks, and with it in several tuples: the lemma counts them, not the replay")
}

/// Statistics under a theorem: probabilities of keeping, and counts of which the tuple that is replaced has any.
pub(super) fn by_theorem(
    event: &Event,
    recorded: &Statistic,
    replayed: &Statistic,
) -> Result<(), String> {
    match (recorded, replayed) {
        (Statistic::Fractions(a), Statistic::Fractions(b)) => probabilities(a, b),
        (Statistic::Integers(a), Statistic::Integers(b))
            if event.sensitivity == Sensitivity::ByTheorem =>
        {
            let purpose = match event.parameters.get("purpose") {
                Some(Value::Text(purpose)) => purpose.as_str(),
                _ => "",
            };
            counts(purpose, a, b).map_err(|what| format!("{purpose}: {what}"))
        }
        _ => Err(format!("{event} is about no probabilities and no counts")),
    }
}

/// Counts of other tuples, one for each that is drawn or for all, move by at most 1, but that of the tuple that is replaced; it is drawn at
/// most once. How many of the drawn ones pass follows from noisy counts, which a replay answers as they were.
fn counts(purpose: &str, recorded: &[i128], replayed: &[i128]) -> Result<(), String> {
    if recorded.len() != replayed.len() {
        return Err("how many there are is public and differs".to_owned());
    }
    let pairs = recorded.iter().zip(replayed);
    let far = pairs.filter(|(a, b)| a.abs_diff(**b) > 1).count();
    match purpose {
        "tuples outside of the balls" | "matches per tuple" => match far {
            0 | 1 => Ok(()),
            more => Err(format!(
                "{more} counts move by more than 1, at most one may"
            )),
        },
        "passing tuples" if recorded == replayed => Ok(()),
        "passing tuples" => Err("follows from what was answered before, and differs".to_owned()),
        _ => Err("has a bound by theorem that nothing checks".to_owned()),
    }
}

/// Keeping probabilities (2a − t − 2)/(t − 4) of tuples with a matches among t − 1 others: one tuple has any other one, each of the others one
/// that differs by at most 1/(t/2 − 2).
fn probabilities(recorded: &[(u64, u64)], replayed: &[(u64, u64)]) -> Result<(), String> {
    if recorded.len() != replayed.len() {
        return Err("the number of tuples is public and differs".to_owned());
    }
    let t = recorded.len() as u64;
    for &(top, bottom) in recorded.iter().chain(replayed) {
        if bottom == 0 || bottom != t.saturating_sub(4) {
            return Err(format!("{bottom} is not the lemma's denominator, t − 4"));
        }
        // a ≤ t − 1, so more than 1 is possible only where less than t + 2 is subtracted: where tuples are kept that half of the others match
        // and no more.
        if top > bottom {
            return Err(format!("a tuple is kept with probability {top}/{bottom}"));
        }
    }
    // Exactly, in integers: with the same denominator t − 4, 1/(t/2 − 2) is 2/(t − 4).
    let far = recorded.iter().zip(replayed);
    let far = far.filter(|(a, b)| a.0.abs_diff(b.0) > 2).count();
    if far <= 1 {
        Ok(())
    } else {
        Err(format!(
            "{far} keeping probabilities move by more than the lemma allows"
        ))
    }
}
