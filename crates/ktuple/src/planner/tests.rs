use dp_core::{Budget, Delta, Epsilon};
use metric_space::Lattice;

use super::*;

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

#[test]
fn assumptions_out_of_range_are_refused() {
    for bad in [0.0, -1.0, f64::NAN] {
        assert!(best_blocks(SHAPE, budget(1.0), assumed(bad)).is_err());
    }
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
    // FriendlyCore with γ = 0.0974 needs 1,091 tuples at (0.75, 7.5e-7); an eighth more are 1,227. With kt = 9,816 places, means in √8 +
    // √(2·ln(2kt/β)) = 7.90 standard deviations and γ·40·(1 − 2γ) = 3.14 allowed: 2·7.90²/3.14² = 12.7 members of the smallest cluster,
    // 24.4 with room for three standard deviations, 244 records at a share of a tenth.
    // Accounting that asks for less noise needs fewer tuples; nothing may need more records.
    assert!(plan.n_records() <= 1_227 * 244, "{plan:?}");
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
