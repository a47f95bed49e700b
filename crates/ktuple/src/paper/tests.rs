use dp_audit::pairs::Group;
use dp_audit::replay::{Promise, replay};
use dp_core::rng::InsecureSeededRng;
use dp_core::tape::{Edit, Statistic};
use dp_core::{Budget, Delta, Epsilon, NeighboringRelation, Session};
use metric_space::Lattice;
use ndarray::{Array2, array};
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

fn aggregate(
    algorithm: &Paper2021,
    tuples: &Tuples,
    session: &mut Session<'_>,
) -> Result<Aggregate, FitError> {
    let mut public = ChaCha8Rng::seed_from_u64(5);
    let spend = TupleSpend::direct(budget(1e-6));
    algorithm.aggregate(tuples, spend, session, &mut public)
}

fn run(algorithm: &Paper2021, tuples: &Tuples) -> Aggregate {
    let mut rng = InsecureSeededRng::new(4);
    let mut session = Session::new(budget(1e-6), NeighboringRelation::ReplaceOne, &mut rng);
    aggregate(algorithm, tuples, &mut session).expect("fits")
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
        let answer = run(&algorithm, &tuples(4000, 2e-5, 1));
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
        let answer = run(&algorithm, &tuples(4000, 1.0 / 6.0, 2));
        let Aggregate::Refused(refusal) = answer else {
            panic!("released")
        };
        assert!(refusal.enough_tuples > 1000 && refusal.separation >= 7.0);
        // 2·0.5^s ≤ 0.03 from s = 7 on.
        assert_eq!(refusal.enough_records, 7 * refusal.enough_tuples);
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

/// A replaced tuple, also one that cannot be partitioned, one with both points in one cluster, and one at the domain's corners: same
/// control flow, statistics within what was declared.
fn replays(algorithm: &Paper2021) {
    let all = tuples(4000, 2e-5, 3);
    let promise = Promise {
        budget: budget(1e-6),
        relation: NeighboringRelation::ReplaceOne,
    };
    let others = [
        None,
        Some(array![[0.8, 0.4], [0.79, 0.41]]),
        Some(array![[1.0, 1.0], [-1.0, -1.0]]),
    ];
    for at in [0_usize, 1234, 3999] {
        let neighbor = |other: &Option<Array2<f64>>| {
            let other = other.as_ref().map(|other| other.view());
            (all.with_another(at, other), Edit::Replaced(at as u64))
        };
        let group = Group {
            first: all.clone(),
            neighbors: others.iter().map(neighbor).collect(),
            seed: 4,
        };
        let compared = replay(promise, &group, |tuples, session| {
            aggregate(algorithm, tuples, session).map(|answer| {
                assert!(matches!(answer, Aggregate::Centers(_)));
            })
        });
        let compared = compared.unwrap_or_else(|problem| panic!("{problem}"));
        assert!(compared.pairs == 3 && compared.calls > 3 * 5);
    }
}

#[test]
fn replays_of_noisy_centers_stay_inside_the_declared_sensitivities() {
    for composition in [NoisyComposition::Basic, NoisyComposition::Advanced] {
        replays(&noisy(3000.0, composition));
    }
}

/// Given the balls, a replaced tuple moves at most four points of two clusters.
#[test]
fn replays_of_averages_stay_inside_the_declared_sensitivities() {
    for axes in [Axes::Own, Axes::Rotated] {
        let averages = PrivateKAverages::new(1e-3, 0.05, axes).expect("valid");
        replays(&Paper2021::Averages(averages));
    }
}

/// Two clusters whose order one tuple turns around: what is asked of each must be the same, only in another order. Rotations of their own
/// would be public, and show the order.
#[test]
fn the_private_order_of_clusters_does_not_show() {
    let list = |last: f64| {
        // First coordinates that are 0 on the average, but for the last tuple.
        let mut rng = ChaCha8Rng::seed_from_u64(8);
        let mut all = Tuples::new(2, 2, Lattice::default());
        for t in 0..4000 {
            let x = if t == 3999 { last } else { 0.0 };
            let mut near = |place: f64| place + 2e-5 * rng.random_range(-1.0..1.0);
            all.push(array![[x, near(-0.8)], [-x, near(0.2)]].view());
        }
        all
    };
    // Where the values of each cluster begin along each axis, all axes of a cluster in turn.
    let begins = |all: &Tuples| {
        let averages = PrivateKAverages::new(1e-3, 0.05, Axes::Rotated).expect("valid");
        let mut rng = InsecureSeededRng::new(4);
        let session = Session::new(budget(1e-6), NeighboringRelation::ReplaceOne, &mut rng);
        let mut session = session.recorded();
        let answer = aggregate(&Paper2021::Averages(averages), all, &mut session);
        assert!(matches!(answer, Ok(Aggregate::Centers(_))));
        let tape = session.into_tape().expect("recorded");
        let steps = tape
            .calls()
            .iter()
            .filter_map(|call| match &call.statistic {
                // Every other one is of the upper ends.
                Statistic::Steps(steps) => {
                    Some(steps.iter().map(|step| step.0).collect::<Vec<_>>())
                }
                _ => None,
            });
        steps.step_by(2).collect::<Vec<_>>()
    };
    let (first, second) = (begins(&list(0.02)), begins(&list(-0.02)));
    assert_eq!(first.len(), 4);
    // The grid point at which half of the steps have passed, to within a few points of some thousand.
    let middle = |steps: &[u64]| steps[..steps.len() / 2].iter().sum::<u64>();
    let near = |a: &[u64], b: &[u64]| middle(a).abs_diff(middle(b)) < 30;
    let alike = |i: usize, j: usize| {
        near(&first[2 * i], &second[2 * j]) && near(&first[2 * i + 1], &second[2 * j + 1])
    };
    assert!(
        alike(0, 1) && alike(1, 0) && !alike(0, 0),
        "{first:?} {second:?}"
    );
}

/// The two ways to steady centers: the proved Δ grows with d and k, and noise swaps hardly any centers at it.
#[test]
fn the_proved_separation_keeps_centers_apart() {
    let delta = (-28.0_f64).exp();
    let separation = |k: usize, d: usize| {
        let shape = TupleShape {
            n_tuples: 0,
            n_clusters: k,
            dimension: d,
            lattice: Lattice::default(),
        };
        PrivateKNoisyCenters::steady_separation(budget(delta), shape, 0.05, NoisyComposition::Basic)
            .expect("feasible")
    };
    // The paper's does not depend on d.
    let printed = PrivateKNoisyCenters::wide_separation(budget(delta), 2, 0.05);
    assert!(separation(2, 1) > printed);
    for (k, d) in [(2, 1), (2, 16), (8, 4)] {
        assert!(separation(k, 4 * d) > separation(k, d) && separation(2 * k, d) > separation(k, d));
    }
    // In 16 columns, k = 2: at most 5 % of runs may put a center nearer to the other one's place, beside the 2.5 % in which the test
    // may fail; more than 12 of 60 have probability below 1e-3.
    let mut tuples = Tuples::new(2, 16, Lattice::new(22).expect("valid"));
    for _ in 0..4298 {
        tuples
            .push(Array2::from_shape_fn((2, 16), |(i, _)| if i == 0 { -0.2 } else { 0.2 }).view());
    }
    let swaps = |separation: f64| {
        let noisy = noisy(separation, NoisyComposition::Basic);
        let bad = (0..60).filter(|&seed| {
            let mut rng = InsecureSeededRng::new(seed);
            let mut session =
                Session::new(budget(delta), NeighboringRelation::ReplaceOne, &mut rng);
            let mut public = ChaCha8Rng::seed_from_u64(5);
            let spend = TupleSpend::direct(budget(delta));
            let answer = noisy.aggregate(&tuples, spend, &mut session, &mut public);
            let Aggregate::Centers(centers) = answer.expect("fits") else {
                return true;
            };
            // Each place is nearest to a center of its own.
            let of = |place: f64| {
                let distance = |i: usize| {
                    let center = centers.row(i);
                    center.iter().map(|x| (x - place).powi(2)).sum::<f64>()
                };
                usize::from(distance(1) < distance(0))
            };
            of(-0.2) == of(0.2)
        });
        bad.count()
    };
    let bad = swaps(separation(2, 16));
    assert!(bad <= 12, "{bad}");
    // The twin: with the paper's Δ the noise is too wide for so many columns.
    let bad = swaps(printed / 2.0);
    assert!(bad > 12, "{bad}");
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

/// Point 6: what is drawn adds up to (ε, δ), for both compositions; the printed theorem says (ε + δ/4, δ).
#[test]
fn noisy_centers_adds_up_to_its_budget() {
    use dp_core::conversion::delta_of_gaussians;
    use dp_core::rounding::ExactSum;
    let (epsilon, delta) = (1.0_f64, 1e-6_f64);
    for k in [2_usize, 8] {
        let shape = TupleShape {
            n_tuples: 4000,
            n_clusters: k,
            ..tuples(1, 0.0, 1).shape()
        };
        let mut losses = ExactSum::new();
        losses.add(epsilon / 2.0); // the test
        for composition in [NoisyComposition::Basic, NoisyComposition::Advanced] {
            let centers = PrivateKNoisyCenters::new(100.0, 0.05, composition).expect("valid");
            let (scales, raise, rho) = centers.noise_of(k, budget(delta)).expect("feasible");
            let parts = k as f64;
            match composition {
                NoisyComposition::Basic => {
                    let dp_core::Loss::Pure(scale) = scales.loss() else {
                        panic!("not pure")
                    };
                    losses.add_times(k as u64, scale.get());
                    losses.add_times(k as u64, epsilon / (4.0 * parts));
                    let each = delta_of_gaussians(rho, epsilon / (4.0 * parts));
                    assert!(parts * each <= delta / 8.0 && parts * each > delta / 8.1);
                    // Discrete Laplace noise below −w has probability at most e^(−w/b); a unit is for the rounding of the logarithm.
                    let scale = scales.std_dev() * core::f64::consts::FRAC_1_SQRT_2;
                    assert!(parts * (-(raise - 1.0) / scale).exp() <= delta / 8.0 * (1.0 + 1e-6));
                }
                NoisyComposition::Advanced => {
                    let dp_core::Loss::Zcdp(scales_rho) = scales.loss() else {
                        panic!("not Gaussian")
                    };
                    let both = scales_rho.get() + parts * rho;
                    let whole = delta_of_gaussians(both, epsilon / 2.0);
                    assert!(whole <= delta / 8.0 && whole > delta / 8.1);
                    let tail = (raise - 1.0) / scales.std_dev();
                    assert!(parts * (-tail * tail / 2.0).exp() <= delta / 8.0);
                }
            }
        }
        assert!(losses.is_at_most(epsilon));
        losses.add(delta / 4.0); // the conditioning that the text pays for
        assert!(!losses.is_at_most(epsilon));
        // The test's whole with what follows at (ε/2, δ/4), of which δ/8 is for scales that are too small.
        let plan = tested("noisy-centers", shape, budget(delta), 0.05).expect("feasible");
        assert!(plan.total_delta(epsilon / 2.0) <= delta);
    }
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
