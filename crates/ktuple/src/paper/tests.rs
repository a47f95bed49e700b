use dp_core::rng::InsecureSeededRng;
use dp_core::tape::{Edit, Tape};
use dp_core::{Budget, Delta, Epsilon, NeighboringRelation, Session};
use metric_space::Lattice;
use ndarray::Array2;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::averages::Axes;

fn budget(delta: f64) -> Budget {
    Budget::approx(
        Epsilon::new(1.0).expect("valid"),
        Delta::new(delta).expect("valid"),
    )
}

fn tuples(n: usize, spread: f64, seed: u64) -> Tuples {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut tuples = Tuples::new(2, 2, Lattice::default());
    for _ in 0..n {
        let turn = rng.random_range(0..2);
        let points = Array2::from_shape_fn((2, 2), |(i, j)| {
            let place = if (i + turn) % 2 == 0 { -0.8 } else { 0.8 };
            place * if j == 0 { 1.0 } else { 0.5 } + spread * rng.random_range(-1.0..1.0)
        });
        tuples.push(points.view());
    }
    tuples
}

fn run(
    algorithm: &Paper2021,
    tuples: &Tuples,
    replay: Option<(&Tape, Edit)>,
) -> (Aggregate, Option<Tape>, Option<dp_core::tape::ReplayReport>) {
    let mut rng = InsecureSeededRng::new(4);
    let session = Session::new(budget(1e-6), NeighboringRelation::ReplaceOne, &mut rng);
    let mut session = match replay {
        None => session.recorded(),
        Some((tape, edit)) => session.replayed(tape, edit),
    };
    let mut public = ChaCha8Rng::seed_from_u64(5);
    let spend = TupleSpend::direct(budget(1e-6));
    let answer = algorithm
        .aggregate(tuples, spend, &mut session, &mut public)
        .expect("fits");
    match replay {
        None => (answer, session.into_tape(), None),
        Some(_) => (answer, None, session.into_report()),
    }
}

fn noisy(separation: f64, composition: NoisyComposition) -> Paper2021 {
    Paper2021::NoisyCenters(
        PrivateKNoisyCenters::new(separation, 0.05, composition).expect("valid"),
    )
}

#[test]
fn noisy_centers_finds_clusters_that_are_far_apart() {
    for composition in [NoisyComposition::Basic, NoisyComposition::Advanced] {
        let algorithm = noisy(5000.0, composition);
        let (answer, ..) = run(&algorithm, &tuples(4000, 2e-5, 1), None);
        let Aggregate::Centers(centers) = answer else {
            panic!("refused")
        };
        for (center, sign) in centers.outer_iter().zip([-1.0, 1.0]) {
            assert!((center[0] - sign * 0.8).abs() < 0.3 && (center[1] - sign * 0.4).abs() < 0.3);
        }
    }
}

#[test]
fn scattered_tuples_are_refused_by_both() {
    let averages = PrivateKAverages::new(1e-3, 0.05, Axes::Own).expect("valid");
    for algorithm in [
        noisy(7.0, NoisyComposition::Basic),
        Paper2021::Averages(averages),
    ] {
        let (answer, ..) = run(&algorithm, &tuples(4000, 1.0 / 6.0, 2), None);
        let Aggregate::Refused(refusal) = answer else {
            panic!("released")
        };
        assert!(refusal.enough_tuples > 1000 && refusal.separation >= 16.0);
    }
}

#[test]
fn too_few_tuples_are_refused_with_the_smallest_number() {
    let algorithm = noisy(100.0, NoisyComposition::Basic);
    let spend = TupleSpend::direct(budget((-28.0_f64).exp()));
    let shape = |n_tuples| TupleShape {
        n_tuples,
        ..tuples(1, 0.0, 1).shape()
    };
    let plan = |n| algorithm.plan(shape(n), NeighboringRelation::ReplaceOne, spend);
    assert_eq!(
        plan(4297),
        Err(ParamsError::TooFewTuples {
            got: 4297,
            needed: 4298
        })
    );
    assert!(plan(4298).is_ok());
    let large = Budget::approx(
        Epsilon::new(2.0).expect("valid"),
        Delta::new(1e-6).expect("valid"),
    );
    assert!(matches!(
        algorithm.plan(
            shape(9000),
            NeighboringRelation::ReplaceOne,
            TupleSpend::direct(large)
        ),
        Err(ParamsError::EpsilonTooLarge { .. })
    ));
}

/// A replaced tuple, also one that cannot be partitioned: same control flow, statistics within what was declared.
#[test]
fn replays_of_noisy_centers_stay_inside_the_declared_sensitivities() {
    let algorithm = noisy(3000.0, NoisyComposition::Basic);
    let all = tuples(4000, 2e-5, 3);
    let (_, tape, _) = run(&algorithm, &all, None);
    let tape = tape.expect("recorded");
    for at in [0_usize, 1234, 3999] {
        let mut neighbor = Tuples::new(2, 2, Lattice::default());
        for t in 0..all.len() {
            if t == at {
                neighbor.push_void();
            } else {
                let points = all
                    .tuple(t)
                    .iter()
                    .map(|&x| all.shape().lattice.to_f64(x.into()));
                let points = Array2::from_shape_vec((2, 2), points.collect()).expect("shape");
                neighbor.push(points.view());
            }
        }
        let report = run(
            &algorithm,
            &neighbor,
            Some((&tape, Edit::Replaced(at as u64))),
        )
        .2;
        let report = report.expect("replayed");
        assert!(report.differences.is_empty(), "{:?}", report.differences);
    }
}

/// Point 9, exactly: the loss of λ between gaps D and (1 + α)·D at a value that γ exceeds with probability e^-x/2.
#[test]
fn a_scale_that_is_multiplied_loses_without_bound() {
    let (k, delta_separation) = (2.0_f64, 7.0_f64);
    let alpha = 4.0 / (delta_separation - 2.0);
    let scale = 4.0 * k; // of the Laplace noise, ε = 1
    let laplace = |x: f64| (-x.abs() / scale).exp() / (2.0 * scale);
    for (delta, times) in [(1e-6_f64, 100.0), ((-28.0_f64).exp(), 190.0)] {
        let shift = scale * (4.0 * k / delta).ln() + 1.0;
        // Density of λ over (2/Δ): gap·(1 + α·(noise + shift)).
        let density =
            |value: f64, gap: f64| laplace((value / gap - 1.0) / alpha - shift) / (alpha * gap);
        // At the typical value of γ itself (noise 0) the loss is many budgets already.
        let typical = 1.0 + alpha * shift;
        let (near, far) = (density(typical, 1.0), density(typical, 1.0 + alpha));
        let loss = (near / far).ln().abs();
        assert!(loss > times * 0.4 / scale, "{}", loss * scale);
        // And unbounded further out: twice as large a value has about twice the loss.
        let further = (density(4.0 * typical, 1.0) / density(4.0 * typical, 1.0 + alpha))
            .ln()
            .abs();
        assert!(further > 1.5 * loss);
        // Mended: the logarithm has noise of scale ln(1 + α)·4k/ε, so the loss is ε/(4k) everywhere.
        let width = alpha.ln_1p() * scale;
        for i in -400..400 {
            let ln = f64::from(i) / 10.0;
            let loss = ((ln - 0.0).abs() - (ln - alpha.ln_1p()).abs()) / width;
            assert!(loss.abs() <= 1.0 / scale + 1e-12);
        }
    }
}

/// Point 6: the parts of the mended proof add up to (ε, δ); the printed theorem says (ε + δ/4, δ).
#[test]
fn noisy_centers_adds_up_to_its_budget() {
    use dp_core::rounding::ExactSum;
    let (epsilon, delta) = (1.0_f64, 1e-6_f64);
    let mut sum = ExactSum::new();
    sum.add(epsilon / 2.0); // the test
    for _ in 0..8 {
        sum.add_times(2, epsilon / (4.0 * 8.0)); // a scale and a center
    }
    assert!(sum.is_at_most(epsilon));
    sum.add(delta / 4.0); // the conditioning that the text pays for
    assert!(!sum.is_at_most(epsilon));
    let plan = tested(
        "noisy-centers",
        TupleShape {
            n_tuples: 4000,
            ..tuples(1, 0.0, 1).shape()
        },
        budget(delta),
        0.05,
    );
    // The test's whole with what follows at (ε/2, δ/4), of which δ/8 is for scales that are too small.
    assert!(plan.expect("feasible").total_delta(epsilon / 2.0) <= delta);
}

/// The averages, not the test, say how many tuples are of use: hundreds of thousands times k·d.
#[test]
fn averages_need_hundreds_of_thousands_of_tuples() {
    let averages = PrivateKAverages::new(0.1 / 2048.0, 0.05, Axes::Own).expect("valid");
    let shape = tuples(1, 0.0, 1).shape();
    let needed = averages
        .tuples_needed(shape, budget((-28.0_f64).exp()))
        .expect("feasible");
    assert!(needed > 500_000 * 4, "{needed}");
}
