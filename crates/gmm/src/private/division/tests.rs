use dp_core::NeighboringRelation;
use metric_space::{BoxDomain, Lattice};

use super::*;
use crate::PrivateGmmParams;

fn budget() -> Budget {
    approx(1.0, 1e-6).expect("valid")
}

fn frame(dimension: usize) -> Frame {
    Frame::new(
        BoxDomain::unit(dimension).expect("columns"),
        Lattice::default(),
    )
}

fn division(k: usize, d: usize, n: Option<u64>, split: Split) -> Division {
    let gmm = PrivateGmmParams::new(k, budget())
        .n_hint(n)
        .split(split)
        .check()
        .expect("valid");
    gmm.division(&frame(d)).expect("feasible")
}

#[test]
fn more_records_leave_more_to_the_learner_and_blocks_grow_all_the_same() {
    for split in [Split::Budget, Split::Halves] {
        let (mut share, mut size) = (1.0, 0.0);
        for n in [40_000, 100_000, 200_000, 1_000_000] {
            let division = division(4, 8, Some(n), split);
            let records = match split {
                Split::Budget => n as f64,
                Split::Halves => division.tuple_share * n as f64,
            };
            let larger = records / division.n_blocks as f64;
            assert!(
                division.tuple_share <= share && larger > size,
                "{n} {division:?}"
            );
            assert!(larger > 0.99 * block_size(4) || division.tuple_share > 0.69);
            (share, size) = (division.tuple_share, larger);
        }
        assert!(share < 0.3, "{share}");
    }
}

/// Where no size is public the share is one half; what was asked for is kept.
#[test]
fn what_is_unknown_or_asked_for() {
    let same = |a: f64, b: f64| a.to_bits() == b.to_bits();
    assert!(same(
        division(4, 8, None, Split::Budget).tuple_share,
        UNKNOWN
    ));
    let params = PrivateGmmParams::new(4, budget()).n_hint(Some(1_000_000));
    let gmm = params
        .clone()
        .tuple_share(Some(0.65))
        .check()
        .expect("valid");
    let asked = gmm.division(&frame(8)).expect("feasible").tuple_share;
    assert!(same(asked, 0.65));
    // Blocks that half of the budget cannot serve get more.
    let few = division(4, 8, None, Split::Budget).n_blocks * 6 / 10;
    let gmm = params.n_blocks(Some(few)).check().expect("valid");
    let division = gmm.division(&frame(8)).expect("feasible");
    assert!(division.n_blocks == few && division.tuple_share > 0.5);
    assert!(gmm.plan(&frame(8), NeighboringRelation::AddRemove).is_ok());
}

/// By hand: the expected number of missed components at the size that comes out, components as unequal as stated.
#[test]
fn blocks_of_the_least_size_miss_few_components() {
    for k in 2..40 {
        let least = 1.0 / (2.0 * k as f64 - 1.0);
        let missed = k as f64 * (1.0 - least).powf(block_size(k));
        assert!((missed - MISSED).abs() < 1e-9);
    }
}

#[test]
fn labels_of_halves_have_the_share_that_was_chosen() {
    for share in SHARES {
        let second = second_labels(900, share) as f64;
        assert!((900.0 / (900.0 + second) - share).abs() < 1e-3);
    }
    // Each half has the whole budget, and the run has no more.
    let halves = division(4, 8, Some(200_000), Split::Halves);
    let whole = budget().gaussian().expect("there is a delta");
    assert_eq!(halves.learner_spend, whole);
    assert!(halves.n_labels > halves.n_blocks as u64);
    let divided = division(4, 8, Some(200_000), Split::Budget);
    assert!(divided.learner_spend.rho() < whole.rho());
    assert_eq!(divided.n_labels, divided.n_blocks as u64);
}

/// A budget of which a tenth is too little, and one that is too small for all: an error, not a panic.
#[test]
fn small_budgets_and_sizes_are_answered_or_refused() {
    for epsilon in [1e-3, 0.01, 0.1, 30.0] {
        for n in [1, 100, u64::MAX] {
            let params = PrivateGmmParams::new(3, approx(epsilon, 1e-9).expect("valid"));
            let gmm = params.n_hint(Some(n)).check().expect("valid");
            if let Ok(division) = gmm.division(&frame(2)) {
                assert!((0.0..1.0).contains(&division.tuple_share));
            }
        }
    }
}
