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
fn advice_says_what_is_missing() {
    assert!(advice(1_000, 1_000, 4, 2).contains("n >= 32000"));
    assert!(advice(1_000_000, 1_000, 4, 2).contains("standard deviations apart"));
}
