use dp_core::rng::InsecureSeededRng;
use dp_core::{Budget, Delta, Epsilon, NeighboringRelation, Session};
use metric_space::Lattice;
use ndarray::Array2;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::aggregator::{Aggregate, TupleSpend};
use crate::tuples::Tuples;

const SHAPE: TupleShape = TupleShape {
    n_tuples: 0,
    n_clusters: 4,
    dimension: 2,
    lattice: match Lattice::new(20) {
        Ok(lattice) => lattice,
        Err(_) => unreachable!(),
    },
};

fn budget(epsilon: f64) -> Budget {
    Budget::approx(
        Epsilon::new(epsilon).expect("valid"),
        Delta::new(1e-6).expect("valid"),
    )
}

fn assumed(separation: f64) -> Assumption {
    Assumption {
        separation,
        least_share: 0.25,
        failure_probability: 0.05,
    }
}

#[test]
fn more_separation_or_more_budget_needs_fewer_records() {
    let records = |epsilon, separation| {
        let plan = best_blocks(SHAPE, budget(epsilon), assumed(separation));
        plan.expect("feasible").n_records()
    };
    assert!(records(1.0, 80.0) < records(1.0, 10.0));
    assert!(records(2.0, 20.0) < records(0.5, 20.0));
}

/// Where few tuples are needed, an eighth more would leave no room for bad ones.
#[test]
fn a_small_failure_probability_takes_more_blocks_and_is_feasible() {
    let planned = |failure_probability| {
        let assumption = Assumption {
            failure_probability,
            ..assumed(20.0)
        };
        best_blocks(SHAPE, budget(12.0), assumption).expect("feasible")
    };
    let (usual, rare) = (planned(0.05), planned(1e-12));
    assert!(rare.n_blocks > usual.n_blocks && rare.n_records() > usual.n_records());
}

#[test]
fn assumptions_out_of_range_are_refused() {
    // The last one needs more records than a number holds.
    for bad in [0.0, -1.0, f64::NAN, 1e-9] {
        assert!(best_blocks(SHAPE, budget(1.0), assumed(bad)).is_err());
    }
    // The smallest of four clusters has a quarter at most; one cluster is not separated from anything.
    let shares = Assumption {
        least_share: 0.3,
        ..assumed(20.0)
    };
    assert!(best_blocks(SHAPE, budget(1.0), shares).is_err());
    let one = TupleShape {
        n_clusters: 1,
        ..SHAPE
    };
    assert!(best_blocks(one, budget(1.0), assumed(20.0)).is_err());
}

#[test]
fn a_prospect_says_what_is_missing() {
    let few = Prospect::new(1_000, 1_000, (4, 2), 0.05);
    assert!(!few.is_feasible());
    // 4·(3/4)^s ≤ 0.03 from s = 18 on.
    assert_eq!((few.block_size, few.needed_records), (1, 18_000));
    assert!(few.to_string().contains("n >= 18000"));
    let enough = Prospect::new(18_000, 1_000, (4, 2), 0.05);
    assert!(enough.is_feasible() && enough.to_string().contains("standard deviations apart"));
    // One cluster is always found.
    assert_eq!(Prospect::new(10, 1, (1, 2), 0.05).separation, Some(0.0));
}

/// Beside measured separations for 90 % success (k = 2, match ratio 1/16): d, records a block, D/σ = 2R.
#[test]
fn a_prospect_is_near_what_was_measured() {
    let ratio = 1.0 / 16.0 * (1.0 - 2.0 / 16.0);
    for (d, size, measured) in [
        (4, 11, 38.0),
        (4, 35, 19.0),
        (4, 117, 11.4),
        (1, 11, 27.0),
        (1, 35, 13.4),
    ] {
        let prospect = Prospect::new(850 * size, 850, (2, d), ratio);
        let separation = prospect.separation.expect("feasible");
        assert!(
            (separation / measured).ln().abs() < 0.17,
            "{separation} {measured}"
        );
    }
    assert!((quantile_above(0.025) - 1.959_964).abs() < 1e-5);
}

#[test]
fn more_records_tell_closer_clusters() {
    let separation = |n| {
        Prospect::new(n, 1_000, (4, 2), 0.05)
            .separation
            .expect("feasible")
    };
    assert!(separation(400_000) < 0.51 * separation(100_000));
}

/// The number in the example of [`best_blocks`].
#[test]
fn the_example_needs_as_many_records_as_it_says() {
    let shape = TupleShape {
        n_clusters: 8,
        dimension: 8,
        ..SHAPE
    };
    let budget = Budget::approx(
        Epsilon::new(0.75).expect("valid"),
        Delta::new(7.5e-7).expect("valid"),
    );
    let assumption = Assumption {
        separation: 40.0,
        least_share: 0.1,
        failure_probability: 0.05,
    };
    let plan = best_blocks(shape, budget, assumption).expect("feasible");
    // FriendlyCore with γ = 1/8 needs 1,305 tuples at (0.75, 7.5e-7), and an eighth more are 1,468. Of these 142 may get lost, which at most 39
    // bad blocks do: q = 0.0163. Means may be r = 40/18 standard deviations off, and 12.65 members of the smallest cluster do, at θ = 1/4.
    // Accounting that asks for less noise needs fewer tuples; nothing may need more records.
    assert!(plan.n_records() <= 1_468 * 127, "{plan:?}");
    // One record less is not feasible, and twice as many fill blocks twice as large.
    let needed = plan.n_records();
    assert_eq!(
        blocks_for(needed - 1, shape, budget, assumption),
        Err(ParamsError::NotFeasible {
            got: needed - 1,
            needed
        })
    );
    assert_eq!(blocks_for(needed, shape, budget, assumption), Ok(plan));
    let larger = blocks_for(2 * needed, shape, budget, assumption).expect("feasible");
    assert_eq!(
        (larger.n_blocks, larger.block_size),
        (plan.n_blocks, 2 * plan.block_size)
    );
}

/// P(χ²_d ≥ z) for an even d.
fn chi_square_above(z: f64, dimension: usize) -> f64 {
    let half = z / 2.0;
    let terms = (1..dimension / 2).scan(1.0, |term, j| {
        *term *= half / j as f64;
        Some(*term)
    });
    (-half).exp() * (1.0 + terms.sum::<f64>())
}

/// The exact probability that a block of a plan, with `size` records on the average, is bad on account of one of the smallest clusters.
fn bad_by_one(plan: BlockPlan, size: f64, dimension: usize, assumption: Assumption) -> f64 {
    // What is left of γ times the gap when two means are off by r each: γ(D − 2r) = 2r.
    let gamma = plan.match_ratio;
    let radius = gamma * assumption.separation / (2.0 + 2.0 * gamma);
    let of_cluster = size * plan.n_blocks as f64 * assumption.least_share;
    let odds = 1.0 / (plan.n_blocks as f64 - 1.0);
    let mut binomial = (of_cluster * (-1.0 / plan.n_blocks as f64).ln_1p()).exp();
    let mut bad = 0.0;
    for members in 0..4_000 {
        let members = f64::from(members);
        bad += binomial * chi_square_above(members * radius * radius, dimension);
        binomial *= (of_cluster - members) / (members + 1.0) * odds;
    }
    bad
}

/// The proof's bound on a bad block beside the exact probability: it holds, and blocks of half the size would be too small.
#[test]
fn blocks_are_bad_as_seldom_as_the_proof_says() {
    for (n_clusters, dimension) in [(2, 2), (2, 4), (8, 8), (8, 32)] {
        for (separation, epsilon, failure_probability) in [
            (10.0, 1.0, 0.05),
            (20.0, 0.3, 0.05),
            (40.0, 1.0, 1e-6),
            (1e4, 2.0, 0.5),
        ] {
            let shape = TupleShape {
                n_clusters,
                dimension,
                ..SHAPE
            };
            let assumption = Assumption {
                separation,
                least_share: 0.8 / n_clusters as f64,
                failure_probability,
            };
            let plan = best_blocks(shape, budget(epsilon), assumption).expect("feasible");
            let core = FriendlyCore::new(plan.match_ratio, Filter::Proportional).expect("valid");
            let allowed = bad_share(core, plan.n_blocks, shape, budget(epsilon), assumption);
            let allowed = allowed.expect("feasible");
            let clusters = (n_clusters, dimension);
            let prospect = Prospect::new(plan.n_records(), plan.n_blocks, clusters, 0.1);
            assert!(prospect.is_feasible(), "{plan:?}");
            let exact =
                |size: f64| n_clusters as f64 * bad_by_one(plan, size, dimension, assumption);
            let size = plan.block_size as f64;
            assert!(exact(size) <= allowed, "{plan:?} {allowed}");
            assert!(exact(size / 2.0) > allowed, "{plan:?} {allowed}");
        }
    }
}

/// FriendlyCore on blocks of records of the model: at most β of the runs may be refused. With β = 0.05, eight or more of 40 are with
/// probability below 10^-3.
#[test]
fn what_is_planned_is_answered() {
    let assumption = assumed(20.0);
    let plan = best_blocks(SHAPE, budget(2.0), assumption).expect("feasible");
    let core = FriendlyCore::new(plan.match_ratio, Filter::Proportional).expect("valid");
    let (mut refused, mut bad_blocks) = (0, 0);
    for seed in 0..40 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let (tuples, bad) = blocks_of_the_model(plan, assumption, &mut rng);
        bad_blocks += bad;
        let mut noise = InsecureSeededRng::new(seed);
        let relation = NeighboringRelation::ReplaceOne;
        let mut session = Session::new(budget(2.0), relation, &mut noise);
        let spend = TupleSpend::direct(budget(2.0));
        let answer = core.aggregate(&tuples, spend, &mut session, &mut rng);
        refused += u32::from(matches!(answer, Ok(Aggregate::Refused(_))));
    }
    assert!(refused < 8, "{refused}");
    // It is not that no block is bad: about one in 600 is.
    assert!(bad_blocks > 0);
}

/// Tuples of means of four clusters of equal share at the corners of a square of side 1, and how many of them are bad.
fn blocks_of_the_model(
    plan: BlockPlan,
    assumption: Assumption,
    rng: &mut ChaCha8Rng,
) -> (Tuples, u32) {
    let n_blocks = usize::try_from(plan.n_blocks).expect("few");
    let mut members = vec![[0_u32; 4]; n_blocks];
    for _ in 0..plan.n_records() {
        members[rng.random_range(0..n_blocks)][rng.random_range(0..4)] += 1;
    }
    let radius = plan.match_ratio / (2.0 + 2.0 * plan.match_ratio);
    let mut tuples = Tuples::new(4, 2, Lattice::default());
    let mut bad = 0;
    for members in members {
        let means = Array2::from_shape_fn((4, 2), |(i, j)| {
            let corner = if (i >> j) & 1 == 0 { -0.5 } else { 0.5 };
            // Without members not a number: a void tuple.
            corner + normal(rng) / assumption.separation / f64::from(members[i]).sqrt()
        });
        let off = |i: usize| {
            let corner = |j: usize| if (i >> j) & 1 == 0 { -0.5 } else { 0.5 };
            (means[[i, 0]] - corner(0)).hypot(means[[i, 1]] - corner(1))
        };
        bad += u32::from(!(0..4).all(|i| off(i) <= radius));
        tuples.push(means.view());
    }
    (tuples, bad)
}

/// Box and Muller.
fn normal(rng: &mut ChaCha8Rng) -> f64 {
    let (u, v): (f64, f64) = (rng.random(), rng.random());
    (-2.0 * (-u).ln_1p()).sqrt() * (core::f64::consts::TAU * v).cos()
}

/// A larger ratio where blocks have room for it, else the default.
#[test]
fn plenty_of_records_take_a_larger_ratio() {
    let shape = TupleShape {
        n_clusters: 8,
        dimension: 8,
        ..SHAPE
    };
    let ratio = |n| {
        let core = closest(n, shape, budget(0.75)).expect("feasible");
        core.match_ratio()
    };
    let default = FriendlyCore::default().match_ratio();
    for few in [1, 20_000, 45_000] {
        assert!((ratio(few) - default).abs() < 1e-9);
    }
    assert!(ratio(60_000) > default && ratio(300_000) > ratio(60_000));
}

/// The column "blocks × records" in `docs/proofs/friendly-core.md`, "How many records".
#[test]
fn the_table_of_the_proof_is_what_is_planned() {
    let budget = Budget::approx(
        Epsilon::new(0.75).expect("valid"),
        Delta::new(7.5e-7).expect("valid"),
    );
    for (n_clusters, dimension, separation, planned) in [
        (8, 8, 70.0, (1_095, 88)),
        (8, 32, 110.0, (1_148, 96)),
        (2, 4, 19.0, (1_000, 41)),
        (2, 4, 38.0, (1_000, 17)),
    ] {
        let shape = TupleShape {
            n_clusters,
            dimension,
            ..SHAPE
        };
        let assumption = Assumption {
            separation,
            least_share: 1.0 / n_clusters as f64,
            failure_probability: 0.05,
        };
        let plan = best_blocks(shape, budget, assumption).expect("feasible");
        assert_eq!((plan.n_blocks, plan.block_size), planned);
    }
}
