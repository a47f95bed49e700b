use dp_core::rng::InsecureSeededRng;
use dp_core::{Budget, Delta, Epsilon, NeighboringRelation, Session};
use metric_space::{BoxDomain, Domain, Euclidean};
use ndarray::Array2;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::black_box::{BlackBox, Exact};
use crate::{MaxCoverParams, Rate, Space, cost};

/// Cost, optimum and bound of a seeded run on few sites, where the optimum is found exactly.
fn run(seed: u64, power: Power) -> (f64, f64, Bound) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let sites = Array2::from_shape_simple_fn((25, 2), || rng.random_range(-1.0..1.0));
    let records = Array2::from_shape_fn((2000, 2), |(i, j)| {
        sites[[i % 3, j]] + rng.random_range(-0.1..0.1)
    });
    let domain = Domain::from(BoxDomain::new(vec![-2.0; 2], vec![2.0; 2]).expect("valid"));
    let space = Space::new(&Euclidean, &domain, sites.view()).expect("valid");
    let (epsilon, delta) = (
        Epsilon::new(8.0).expect("valid"),
        Delta::new(1e-3).expect("valid"),
    );
    let budget = Budget::approx(epsilon, delta);
    let maxcover = MaxCoverParams::new(3, budget, power)
        .quality(0.2)
        .check()
        .expect("valid");
    let mut noise = InsecureSeededRng::new(seed);
    let mut session = Session::new(budget, NeighboringRelation::AddRemove, &mut noise);
    let mut public = ChaCha8Rng::seed_from_u64(seed);
    let exact = Exact::default();
    let fitted = maxcover
        .fit(&space, &records, &exact, &mut session, &mut public)
        .expect("a release");
    let mut optimum = f64::INFINITY;
    for (a, b, c) in (0..25).flat_map(|a| (0..a).flat_map(move |b| (0..b).map(move |c| (a, b, c))))
    {
        let rows = sites.select(ndarray::Axis(0), &[a, b, c]);
        let found = cost(&Euclidean, power, records.view(), rows.view());
        if found < optimum {
            optimum = found;
        }
    }
    let half = Epsilon::new(4.0).expect("valid");
    let instance = Instance {
        n_clusters: 3,
        n_sites: 25,
        records: 2000.0,
        diameter: space.diameter(),
        power,
        quality: 0.2,
        size: 25.0,
        rate: Rate::Largest.value(half, delta).expect("a rate"),
        histogram_epsilon: 4.0,
        black_box_factor: exact.factor(power).expect("exact"),
    };
    let found = cost(&Euclidean, power, records.view(), fitted.centers.view());
    (found, optimum, instance.bound())
}

#[test]
fn the_bound_holds_in_seeded_runs() {
    // The bound's own chance to fail exceeds 1 % on so few sites; it is loose, so not one of these runs fails.
    for seed in 0..10 {
        for power in [Power::MEDIANS, Power::MEANS] {
            let (found, optimum, bound) = run(seed, power);
            assert!(found >= optimum * (1.0 - 1e-12));
            assert!(
                found <= bound.factor * optimum + bound.additive,
                "{found} {optimum} {bound:?}"
            );
        }
    }
}

#[test]
fn the_additive_part_is_linear_in_k_and_falls_with_the_budget() {
    let instance = |k: usize, rate: f64| Instance {
        n_clusters: k,
        n_sites: 100_000,
        records: 0.0,
        diameter: 1.0,
        power: Power::MEDIANS,
        quality: 0.2,
        size: 1e5,
        rate,
        histogram_epsilon: 0.5,
        black_box_factor: 5.0,
    };
    let ratio = instance(40, 0.05).bound().additive / instance(10, 0.05).bound().additive;
    assert!((ratio - 4.0).abs() < 0.1, "{ratio}");
    assert!(instance(10, 0.1).bound().additive < instance(10, 0.05).bound().additive);
    // 2M + 1 in front as the quality goes to zero.
    let fine = Instance {
        quality: 1e-3,
        ..instance(10, 0.1)
    };
    assert!((fine.bound().factor - 11.0).abs() < 0.05);
}
