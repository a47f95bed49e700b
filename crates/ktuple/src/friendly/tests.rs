#![expect(clippy::cast_possible_truncation, reason = "small numbers of tests")]

use dp_audit::pairs::Group;
use dp_audit::replay::{Promise, replay};
use dp_core::composition::ApproxLoss;
use dp_core::rng::InsecureSeededRng;
use dp_core::tape::{Edit, Statistic};
use dp_core::{Budget, Delta, Epsilon, NeighboringRelation, Session};
use metric_space::Lattice;
use ndarray::{Array2, array};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::tuples::Tuples;

fn budget(epsilon: f64) -> Budget {
    Budget::approx(
        Epsilon::new(epsilon).expect("valid"),
        Delta::new(1e-6).expect("valid"),
    )
}

const PLACES: [[f64; 2]; 4] = [[-0.7, -0.7], [0.7, -0.6], [-0.6, 0.7], [0.75, 0.7]];

/// A tuple near the four places, its points turned around.
fn near(spread: f64, rng: &mut ChaCha8Rng) -> Array2<f64> {
    let turn = rng.random_range(0..4);
    Array2::from_shape_fn((4, 2), |(i, j)| {
        PLACES[(i + turn) % 4][j] + spread * rng.random_range(-1.0..1.0)
    })
}

fn friendly_tuples(n: usize, bad: usize, spread: f64, seed: u64) -> Tuples {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut tuples = Tuples::new(4, 2, Lattice::default());
    for t in 0..n {
        if t < bad {
            let far = Array2::from_shape_fn((4, 2), |_| rng.random_range(-1.0..1.0));
            tuples.push(far.view());
        } else {
            tuples.push(near(spread, &mut rng).view());
        }
    }
    tuples
}

fn run(core: &dyn TupleAggregator, tuples: &Tuples, epsilon: f64, seed: u64) -> Aggregate {
    let mut rng = InsecureSeededRng::new(seed);
    let mut session = Session::new(budget(epsilon), NeighboringRelation::ReplaceOne, &mut rng);
    let mut public = ChaCha8Rng::seed_from_u64(seed);
    let spend = TupleSpend::direct(budget(epsilon));
    let answer = core
        .aggregate(tuples, spend, &mut session, &mut public)
        .expect("fits");
    assert!(session.guarantee().epsilon <= epsilon && session.guarantee().delta <= 1e-6);
    answer
}

#[test]
fn tuples_that_agree_give_their_centers() {
    let core = FriendlyCore::default();
    let tuples = friendly_tuples(1200, 40, 0.02, 1);
    let Aggregate::Centers(centers) = run(&core, &tuples, 1.0, 1) else {
        panic!("refused");
    };
    let mut expected = PLACES.to_vec();
    expected.sort_by(|a, b| a[0].total_cmp(&b[0]));
    for (center, place) in centers.outer_iter().zip(expected) {
        let error = (center[0] - place[0]).hypot(center[1] - place[1]);
        // Noise of about a twentieth of the gap 1.3 per coordinate.
        assert!(error < 0.4, "{error}");
    }
}

#[test]
fn tuples_that_do_not_agree_are_refused() {
    let core = FriendlyCore::default();
    let tuples = friendly_tuples(1200, 1200, 0.0, 2);
    assert!(matches!(run(&core, &tuples, 1.0, 1), Aggregate::Refused(_)));
}

#[test]
fn void_tuples_are_refused() {
    let mut tuples = Tuples::new(4, 2, Lattice::default());
    for _ in 0..1200 {
        tuples.push_void();
    }
    let core = FriendlyCore::default();
    assert!(matches!(run(&core, &tuples, 1.0, 1), Aggregate::Refused(_)));
}

#[test]
fn too_few_tuples_are_refused_up_front_with_the_number_that_would_do() {
    let core = FriendlyCore::default();
    let shape = friendly_tuples(50, 0, 0.02, 3).shape();
    let needed = core.tuples_needed(shape, budget(1.0)).expect("feasible");
    assert!((200..1200).contains(&needed), "{needed}");
    let refused = core.plan(
        shape,
        NeighboringRelation::ReplaceOne,
        TupleSpend::direct(budget(1.0)),
    );
    assert_eq!(refused, Err(ParamsError::TooFewTuples { got: 50, needed }));
}

#[test]
fn the_gaussian_filter_works_where_the_budget_is_large() {
    let core = FriendlyCore::new(1.0 / 12.0, Filter::Gaussian).expect("valid");
    let shape = friendly_tuples(1, 0, 0.02, 3).shape();
    let needed = core.tuples_needed(shape, budget(8.0)).expect("feasible");
    assert!(needed < 4000, "{needed}");
    let tuples = friendly_tuples(needed as usize + 500, 0, 0.02, 4);
    assert!(matches!(run(&core, &tuples, 8.0, 1), Aggregate::Centers(_)));
}

/// The hybrids of Lemma 2, exactly: the worst (ε₀, δ₀)-private average against the filter, on the set that each
/// list may keep, by enumeration of all coins.
#[test]
fn the_filter_amplifies_no_more_than_the_lemma_says() {
    // Every tuple is kept with the probabilities of two neighbors; the average answers 1 with a probability that grows
    // by e^ε₀ with each kept tuple: as distinguishing as add-remove privacy allows.
    let t = 9_u64;
    for average in [0.05_f64, 0.236, 0.7] {
        let claimed = plan::filtered(
            ApproxLoss {
                epsilon: average,
                delta: 0.0,
            },
            t,
        );
        let step = 1.0 / (t as f64 / 2.0 - 2.0);
        // All others move by the whole step; the replaced one goes from kept to dropped and back: from matching to not.
        let law = |p: f64, replaced: f64| {
            // E[exp(average·kept)] up to a common factor, as the worst probability of an answer.
            let others = (1.0 + p * average.exp_m1()).powi(t as i32 - 1);
            others * (1.0 + replaced * average.exp_m1())
        };
        let ratio = law(step, 1.0) / law(0.0, 0.0);
        assert!(ratio.ln() <= claimed.epsilon);
        // And the lemma is not slack by more than the one hybrid that this pair does not use.
        assert!(ratio.ln() >= claimed.epsilon - average - 1e-9);
    }
}

#[test]
fn at_one_the_average_gets_about_a_quarter() {
    let plan = plan::solve(
        Goal::Tuples(MatchRatio::DEFAULT),
        Filter::Proportional,
        friendly_tuples(2000, 0, 0.0, 1).shape(),
        budget(1.0),
    );
    let average = plan.expect("feasible").average_epsilon;
    assert!((0.22..0.24).contains(&average), "{average}");
}

/// A replaced tuple (also one that turns unfriendly) moves no statistic farther than was declared, and the
/// probabilities by no more than the lemma assumes.
#[test]
fn replays_on_neighbors_stay_inside_the_declared_sensitivities() {
    let tuples = friendly_tuples(1000, 20, 0.02, 5);
    let core = FriendlyCore::default();
    let promise = Promise {
        budget: budget(1.0),
        relation: NeighboringRelation::ReplaceOne,
    };
    let run = |tuples: &Tuples, session: &mut Session<'_>| {
        let mut public = ChaCha8Rng::seed_from_u64(1);
        core.aggregate(
            tuples,
            TupleSpend::direct(promise.budget),
            session,
            &mut public,
        )
        .map(drop)
    };
    let mut rng = ChaCha8Rng::seed_from_u64(6);
    let replacements = [
        near(0.02, &mut rng),
        near(0.05, &mut rng),
        array![[0.0, 0.0], [0.1, 0.0], [0.2, 0.0], [0.3, 0.0]],
        Array2::zeros((4, 2)),
    ];
    for at in [0_usize, 20, 500, 999] {
        let neighbor = |other: &Array2<f64>| {
            (
                tuples.with_another(at, Some(other.view())),
                Edit::Replaced(at as u64),
            )
        };
        let group = Group {
            first: tuples.clone(),
            neighbors: replacements.iter().map(neighbor).collect(),
            seed: 9,
        };
        let compared = replay(promise, &group, run).unwrap_or_else(|problem| panic!("{problem}"));
        // Coins, count, scales and four centers.
        assert_eq!((compared.pairs, compared.calls), (4, 4 * 7));
        assert_eq!(compared.by_theorem.len(), 4);
        for (_, recorded, replayed) in &compared.by_theorem {
            let (Statistic::Fractions(a), Statistic::Fractions(b)) = (recorded, replayed) else {
                panic!("no coins");
            };
            for (i, (a, b)) in a.iter().zip(b).enumerate() {
                let cut = |(top, bottom): (u64, u64)| top.min(bottom) as f64 / bottom as f64;
                assert!(i == at || (cut(*a) - cut(*b)).abs() <= 1.0 / 498.0 + 1e-12);
            }
        }
    }
}

#[test]
fn the_average_of_points_finds_their_scale() {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let mut points = Tuples::new(1, 3, Lattice::default());
    for _ in 0..1500 {
        let point = Array2::from_shape_fn((1, 3), |_| 0.5 + 0.001 * rng.random_range(-1.0..1.0));
        points.push(point.view());
    }
    let average =
        FriendlyAverages::new(RadiusSearch::Above(1e-5), Filter::Proportional).expect("valid");
    let Aggregate::Centers(center) = run(&average, &points, 1.0, 3) else {
        panic!("refused");
    };
    for &x in &center {
        // The radius is at most 0.008, the noise a tenth of that.
        assert!((x - 0.5).abs() < 0.005, "{x}");
    }
    let public =
        FriendlyAverages::new(RadiusSearch::Public(1e-6), Filter::Proportional).expect("valid");
    assert!(matches!(
        run(&public, &points, 1.0, 3),
        Aggregate::Refused(_)
    ));
}
