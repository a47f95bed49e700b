use dp_audit::pairs::Group;
use dp_audit::replay::{Promise, replay};
use dp_core::rng::InsecureSeededRng;
use dp_core::tape::Edit;
use dp_core::{Budget, Delta, Epsilon, NeighboringRelation, Session};
use metric_space::{BoxDomain, Frame, FramedSource, Lattice};
use ndarray::Array2;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::blocks::Sampling;
use crate::error::{FitError, ParamsError};

fn budget() -> Budget {
    Budget::approx(
        Epsilon::new(1.0).expect("valid"),
        Delta::new(1e-6).expect("valid"),
    )
}

fn frame() -> Frame {
    let domain = BoxDomain::new(vec![-100.0; 2], vec![100.0; 2]).expect("valid");
    Frame::new(domain, Lattice::default())
}

const PLACES: [[f64; 2]; 3] = [[-60.0, -50.0], [70.0, 0.0], [-20.0, 80.0]];

fn records(n: usize, seed: u64) -> Array2<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    Array2::from_shape_fn((n, 2), |(i, j)| {
        PLACES[i % 3][j] + rng.random_range(-2.0..2.0)
    })
}

fn run(
    means: &PrivateKMeans,
    records: &Array2<f64>,
    session: &mut Session<'_>,
) -> Result<KMeansOutcome, FitError> {
    let frame = frame();
    let mut public = ChaCha8Rng::seed_from_u64(1);
    means.fit(&FramedSource::new(records, &frame), session, &mut public)
}

fn fit(
    means: &PrivateKMeans,
    records: &Array2<f64>,
    relation: NeighboringRelation,
) -> KMeansOutcome {
    let mut rng = InsecureSeededRng::new(5);
    let mut session = Session::new(budget(), relation, &mut rng);
    let outcome = run(means, records, &mut session).expect("fits");
    assert!(session.guarantee().epsilon <= 1.0 && session.guarantee().delta <= 1e-6);
    outcome
}

#[test]
fn separated_groups_are_found_under_both_relations() {
    let means = PrivateKMeansParams::new(3, budget())
        .check()
        .expect("valid");
    let records = records(40_000, 1);
    for relation in NeighboringRelation::ALL {
        let outcome = fit(&means, &records, relation);
        let KMeansOutcome::Released {
            centers,
            noisy_counts,
        } = outcome
        else {
            panic!("refused under {relation}");
        };
        for (center, count) in centers.outer_iter().zip(noisy_counts) {
            let (x, y) = (center[0] * 100.0, center[1] * 100.0);
            let error = PLACES.map(|place| (x - place[0]).hypot(y - place[1]));
            assert!(error.iter().any(|&error| error < 0.2), "{x} {y}");
            assert!((count - 13_333.0).abs() < 3000.0, "{count}");
        }
    }
}

#[test]
fn records_without_groups_are_refused_and_odd_records_do_no_harm() {
    let means = PrivateKMeansParams::new(3, budget())
        .check()
        .expect("valid");
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let mut noise = Array2::from_shape_fn((20_000, 2), |_| rng.random_range(-100.0..100.0));
    noise[(0, 0)] = f64::NAN;
    noise[(1, 0)] = f64::INFINITY;
    let outcome = fit(&means, &noise, NeighboringRelation::AddRemove);
    assert!(matches!(outcome, KMeansOutcome::Refused(_)));
    for n in [0, 1, 2] {
        let few = Array2::from_shape_fn((n, 2), |at| noise[at]);
        let outcome = fit(&means, &few, NeighboringRelation::AddRemove);
        assert!(matches!(outcome, KMeansOutcome::Refused(_)));
    }
}

#[test]
fn one_cluster_needs_no_tuples() {
    let means = PrivateKMeansParams::new(1, budget())
        .check()
        .expect("valid");
    let records = records(3_000, 3);
    let outcome = fit(&means, &records, NeighboringRelation::AddRemove);
    let KMeansOutcome::Released { centers, .. } = outcome else {
        panic!("refused")
    };
    assert!(
        (centers[(0, 0)] * 100.0 + 3.3).abs() < 3.0 && (centers[(0, 1)] * 100.0 - 10.0).abs() < 3.0
    );
}

/// Control flow and statistics on neighbors, under both relations and for a record far from all others.
#[test]
fn replays_on_neighbors_stay_inside_the_declared_sensitivities() {
    let means = PrivateKMeansParams::new(3, budget())
        .check()
        .expect("valid");
    let all = records(30_000, 4);
    let fewer = |at: usize| {
        let mut fewer = all.clone();
        fewer.remove_index(ndarray::Axis(0), at);
        (fewer, Edit::Removed(at as u64))
    };
    let moved = |place: [f64; 2]| {
        let mut moved = all.clone();
        moved.row_mut(12).assign(&ndarray::arr1(&place));
        (moved, Edit::Replaced(12))
    };
    for (relation, neighbors) in [
        (NeighboringRelation::AddRemove, [0, 7, 29_999].map(fewer)),
        (
            NeighboringRelation::ReplaceOne,
            [[100.0, -100.0], [70.0, 0.0], [f64::NAN, f64::NEG_INFINITY]].map(moved),
        ),
    ] {
        let promise = Promise {
            budget: budget(),
            relation,
        };
        let group = Group {
            first: all.clone(),
            neighbors: neighbors.into(),
            seed: 5,
        };
        let compared = replay(promise, &group, |records, session| {
            run(&means, records, session).map(drop)
        });
        let compared = compared.unwrap_or_else(|problem| panic!("{problem}"));
        // Blocks, tuples and both rounds: it was no refusal.
        assert!(compared.pairs == 3 && compared.calls > 3 * 10);
    }
}

#[test]
fn sampling_with_replacement_keeps_the_printed_budgets() {
    let params = PrivateKMeansParams::new(3, budget())
        .sampling(Sampling::WithReplacement { block_size: 12 })
        .n_blocks(Some(6_000))
        .n_hint(Some(150_000));
    let means = params.clone().check().expect("valid");
    let frame = frame();
    assert_eq!(
        means.plan(&frame, NeighboringRelation::AddRemove),
        Err(ParamsError::ReplacementNeedsReplaceOne)
    );
    let events = means
        .plan(&frame, NeighboringRelation::ReplaceOne)
        .expect("fits");
    let total = dp_core::accountant::total(
        &events.into_iter().collect(),
        NeighboringRelation::ReplaceOne,
        1e-6,
    )
    .expect("adds up");
    // 6·(1/6)·72,000/150,000 for the tuples and 1/6 for the averages.
    assert!(total.epsilon < 0.48 + 0.167, "{}", total.epsilon);
    let few = params.n_hint(Some(100_000)).check().expect("valid");
    assert!(matches!(
        few.plan(&frame, NeighboringRelation::ReplaceOne),
        Err(ParamsError::TooFewRecords {
            needed: 144_000,
            ..
        })
    ));
}

/// Else a large hint would buy a small loss: 72,000 draws of 1,000 records are no sample of 150,000.
#[test]
fn fewer_records_than_the_loss_was_computed_for_are_refused() {
    let means = PrivateKMeansParams::new(3, budget())
        .sampling(Sampling::WithReplacement { block_size: 12 })
        .n_blocks(Some(6_000))
        .n_hint(Some(150_000))
        .check()
        .expect("valid");
    let (frame, records) = (frame(), records(1_000, 1));
    let mut rng = InsecureSeededRng::new(5);
    let mut session = Session::new(budget(), NeighboringRelation::ReplaceOne, &mut rng);
    let refused = means.fit(
        &FramedSource::new(&records, &frame),
        &mut session,
        &mut ChaCha8Rng::seed_from_u64(1),
    );
    assert!(matches!(
        refused,
        Err(FitError::Params(ParamsError::Count {
            least: 150_000,
            got: 1_000,
            ..
        }))
    ));
    assert!(session.ledger().events().is_empty());
}

#[test]
fn parameters_out_of_range_are_refused() {
    let new = || PrivateKMeansParams::new(3, budget());
    assert!(PrivateKMeansParams::new(0, budget()).check().is_err());
    assert!(
        PrivateKMeansParams::new(3, Budget::pure(budget().epsilon))
            .check()
            .is_err()
    );
    assert!(new().n_blocks(Some(0)).check().is_err());
    assert!(new().tuple_share(1.0).check().is_err());
    assert!(new().n_restarts(0).check().is_err());
    let refine = |n_rounds, scale_min| Refine {
        n_rounds,
        scale_min,
    };
    assert!(new().refine(refine(0, 0.1)).check().is_err());
    assert!(new().refine(refine(1, f64::NAN)).check().is_err());
}

/// Points 11 and 12: the averages read all records, so no sub-sampling helps them, and a moved record changes two
/// clusters' sizes. Applied to the whole, Lemma 2.25 would claim less than the averages alone cost.
#[test]
fn sampling_does_not_pay_for_the_averages() {
    let frame = frame();
    let params = PrivateKMeansParams::new(3, budget())
        .sampling(Sampling::WithReplacement { block_size: 1 })
        .n_blocks(Some(6_000))
        .n_hint(Some(1_200_000));
    let means = params.check().expect("valid");
    let events = means
        .plan(&frame, NeighboringRelation::ReplaceOne)
        .expect("fits");
    let whole_by_the_lemma = 6.0 * (1.0 / 3.0) * 6_000.0 / 1_200_000.0;
    let averages: f64 = events
        .iter()
        .filter_map(|event| match event.loss {
            dp_core::Loss::Pure(epsilon) => Some(epsilon.get()),
            _ => None,
        })
        .sum();
    assert!(
        averages > whole_by_the_lemma,
        "{averages} {whole_by_the_lemma}"
    );
    // A move is a removal and an addition: each histogram is charged for two records.
    let bounds = events
        .iter()
        .filter(|event| event.mechanism == "discrete-laplace");
    for event in bounds {
        assert_eq!(event.sensitivity, dp_core::sensitivity::Sensitivity::L1(2));
    }
}

/// What an aggregator cannot use is the refinement's, and nothing is spent twice: the session would refuse it.
#[test]
fn a_budget_beyond_what_tuples_can_use_refines_the_centers() {
    for epsilon in [1.0, 80.0, 90.0, 1000.0, 1e6] {
        let budget = Budget::approx(
            Epsilon::new(epsilon).expect("valid"),
            Delta::new(1e-6).expect("valid"),
        );
        let means = PrivateKMeansParams::new(3, budget).check().expect("valid");
        let (tuples, rest) = means.params().shares();
        let usual = 0.75 * epsilon;
        assert!((tuples - if usual < 64.0 { usual } else { 64.0 }).abs() < 1e-9);
        assert!(rest > 0.24 * epsilon && tuples + rest <= epsilon);
        let mut rng = InsecureSeededRng::new(5);
        let mut session = Session::new(budget, NeighboringRelation::AddRemove, &mut rng);
        let outcome = run(&means, &records(20_000, 1), &mut session).expect("fits");
        assert!(
            matches!(outcome, KMeansOutcome::Released { .. }),
            "{epsilon}"
        );
        assert!(session.guarantee().epsilon <= epsilon);
    }
}

/// Averages of few tuples are private and useless: the run is refused before anything is spent.
#[test]
fn too_few_blocks_for_averages_are_refused() {
    let averages = crate::paper::PrivateKAverages::new(1e-3, 0.05, crate::averages::Axes::Own);
    let averages = crate::paper::Paper2021::Averages(averages.expect("valid"));
    let with = |n_blocks| {
        let params = PrivateKMeansParams::new(3, budget());
        let params = params.aggregator(Aggregator::Paper2021(averages));
        params.n_blocks(Some(n_blocks)).check().expect("valid")
    };
    let plan = |n_blocks| with(n_blocks).plan(&frame(), NeighboringRelation::AddRemove);
    let Err(ParamsError::TooFewTuples { got: 8000, needed }) = plan(8000) else {
        panic!("taken");
    };
    let needed = usize::try_from(needed).expect("fits");
    assert!(needed > 1_000_000);
    assert!(plan(needed - 1).is_err() && plan(needed).is_ok());
}

/// Clusters nine and ten standard deviations apart, which the blocks of the default do not tell, and those for a public number of records do.
#[test]
fn a_public_number_of_records_tells_closer_clusters() {
    let places = [[-5.0, 0.0], [5.0, 0.0], [0.0, 8.0]];
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let half = 3.0_f64.sqrt();
    let n = 60_000;
    let records = Array2::from_shape_fn((n, 2), |(i, j)| {
        places[i % 3][j] + rng.random_range(-half..half)
    });
    let params = PrivateKMeansParams::new(3, budget());
    let shape = crate::tuples::TupleShape {
        n_tuples: 0,
        n_clusters: 3,
        dimension: 2,
        lattice: Lattice::default(),
    };
    let tuples = params.tuple_budget().expect("enough");
    let core = crate::planner::closest(n as u64, shape, tuples).expect("feasible");
    let usual = params.clone().check().expect("valid");
    let outcome = fit(&usual, &records, NeighboringRelation::AddRemove);
    assert!(matches!(outcome, KMeansOutcome::Refused(_)));
    let closer = params.aggregator(Aggregator::FriendlyCore(core));
    let closer = closer.n_hint(Some(n as u64)).check().expect("valid");
    let outcome = fit(&closer, &records, NeighboringRelation::AddRemove);
    let KMeansOutcome::Released { centers, .. } = outcome else {
        panic!("refused");
    };
    for place in places {
        let near = centers
            .outer_iter()
            .any(|center| (center[0] * 100.0 - place[0]).hypot(center[1] * 100.0 - place[1]) < 0.2);
        assert!(near, "{centers}");
    }
}
