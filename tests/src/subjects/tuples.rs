//! `PrivatekMeans` and the aggregators under it, on tuples that agree but for those of the table.

use dp_audit::replay::Promise;
use dp_core::tape::Statistic;
use dp_core::{Event, NeighboringRelation, Session};
use ktuple::averages::Axes;
use ktuple::friendly::{Filter, FriendlyAverages, FriendlyCore, RadiusSearch};
use ktuple::means::PrivateKMeansParams;
use ktuple::paper::{NoisyComposition, PrivateKAverages, PrivateKNoisyCenters};
use ktuple::{TupleAggregator, TupleShape, TupleSpend, Tuples};
use metric_space::{FramedSource, Lattice};
use ndarray::{Array2, ArrayView2};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::lloyd::frame;
use super::{Subject, budget};

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
        .theorem(probabilities)
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
    let easy = Array2::from_shape_fn((12 * n_blocks, 2), |(i, _)| {
        let place = if i % 2 == 0 { -0.6 } else { 0.6 };
        place + rng.random_range(-0.01..0.01)
    });
    let run = move |rows: &Array2<f64>, session: &mut Session<'_>| {
        let records = ndarray::concatenate(ndarray::Axis(0), &[rows.view(), easy.view()])
            .map_err(|error| error.to_string())?;
        let mut public = ChaCha8Rng::seed_from_u64(5);
        means
            .fit(&FramedSource::new(&records, &frame), session, &mut public)
            .map(drop)
            .map_err(|error| error.to_string())
    };
    let settings = format!("PrivatekMeans, {n_blocks} blocks");
    Subject::new("ktuple on groups", settings, promise, 2, run)
        .most_rows(6)
        .cost(30)
        .least_share(
            0.749,
            "where the answer is ⊥ the refinement is not paid for",
        )
        .theorem(probabilities)
}

/// Keeping probabilities: one tuple has any other one, each of the others one that differs by at most 1/(t/2 − 2).
pub(super) fn probabilities(
    _: &Event,
    recorded: &Statistic,
    replayed: &Statistic,
) -> Result<(), String> {
    let (Statistic::Fractions(a), Statistic::Fractions(b)) = (recorded, replayed) else {
        return Err("no probabilities".to_owned());
    };
    if a.len() != b.len() {
        return Err("the number of tuples is public and differs".to_owned());
    }
    // Exactly, in integers: |min(a, m)/m − min(b, m)/m| ≤ 1/(t/2 − 2) = 2/(t − 4).
    let t = a.len() as u64;
    let far = a.iter().zip(b).filter(|(a, b)| {
        let (top_a, top_b) = (a.0.min(a.1), b.0.min(b.1));
        a.1 != b.1 || top_a.abs_diff(top_b).saturating_mul(t.saturating_sub(4)) > 2 * a.1
    });
    // Half of the tuples must match two neighbors' worth of each other: nothing below half may be kept at all.
    let unfriendly = a.iter().zip(b).any(|(a, _)| a.1 == 0);
    match far.count() {
        _ if unfriendly => Err("a probability without a denominator".to_owned()),
        0 | 1 => Ok(()),
        more => Err(format!(
            "{more} keeping probabilities move by more than the lemma allows"
        )),
    }
}
