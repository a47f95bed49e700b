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

/// What bisecting the shares finds is what trying all of them from the least on would: the same share and the same blocks.
#[test]
fn no_share_is_passed_over() {
    let exhaustive = |gmm: &PrivateGmm, frame: &Frame, n: f64| -> Result<Choice, ParamsError> {
        let size = |choice: &Choice| match gmm.params.split {
            Split::Budget => n / choice.n_blocks as f64,
            Split::Halves => choice.share * n / choice.n_blocks as f64,
        };
        let least = block_size(gmm.params.n_clusters);
        let middle = gmm.choice(frame, UNKNOWN);
        let plenty = middle.as_ref().map_or(1.0, |middle| size(middle) / least);
        let wanted = least * if plenty > 1.0 { plenty.sqrt() } else { 1.0 };
        for share in SHARES {
            let choice = gmm.choice(frame, share);
            if let Ok(choice) = choice
                && (choice.n_blocks <= MOST_BLOCKS || share >= UNKNOWN)
                && size(&choice) >= wanted
            {
                return Ok(choice);
            }
        }
        gmm.choice(frame, SHARES[SHARES.len() - 1])
    };
    let mut chosen = std::collections::BTreeSet::new();
    for (k, d) in [(2, 1), (4, 8), (20, 3)] {
        let frame = frame(d);
        for epsilon in [0.01, 0.3, 1.0, 8.0] {
            for n in [300, 10_000, 30_000, 100_000, 400_000, 10_000_000] {
                for split in [Split::Budget, Split::Halves] {
                    let params = PrivateGmmParams::new(k, approx(epsilon, 1e-6).expect("valid"));
                    let gmm = params.n_hint(Some(n)).split(split).check().expect("valid");
                    let all = exhaustive(&gmm, &frame, n as f64);
                    let found = gmm.choose(&frame);
                    let facts = |choice: Result<Choice, ParamsError>| {
                        choice.map(|choice| (choice.share.to_bits(), choice.n_blocks))
                    };
                    if let Ok(found) = &found {
                        chosen.insert(found.share.to_bits());
                    }
                    assert_eq!(facts(found), facts(all), "{k} {d} {epsilon} {n} {split:?}");
                }
            }
        }
    }
    assert!(chosen.len() >= 7, "{}", chosen.len());
}

/// What was resolved is chosen, and charged for, as it would have been anew.
#[test]
fn resolved_parameters_change_nothing() {
    for (n, split) in [
        (None, Split::Budget),
        (Some(200_000), Split::Halves),
        (Some(200_000), Split::Budget),
    ] {
        for k in [1, 3] {
            let params = PrivateGmmParams::new(k, budget()).n_hint(n).split(split);
            let gmm = params.check().expect("valid");
            let resolved = gmm.clone().resolved(&frame(2)).expect("feasible");
            assert_eq!(gmm.division(&frame(2)), resolved.division(&frame(2)));
            for relation in NeighboringRelation::ALL {
                assert_eq!(
                    gmm.plan(&frame(2), relation),
                    resolved.plan(&frame(2), relation)
                );
            }
        }
    }
}

/// So many centers that their tuples would need more memory than any data that could be answered: an error before anything is done.
#[test]
fn tuples_that_cannot_be_held_are_refused() {
    let gmm = PrivateGmmParams::new(70_000, budget())
        .check()
        .expect("valid");
    assert!(matches!(
        gmm.division(&frame(4)),
        Err(ParamsError::Tuples(ktuple::ParamsError::TooManyTuples {
            n_clusters: 70_000,
            dimension: 4,
            ..
        }))
    ));
}

/// Labels beyond 2^32 are of no block: the first half would be smaller than was asked for.
#[test]
fn halves_have_no_more_labels_than_blocks_are_dealt_by() {
    let divided = |share| {
        let params = PrivateGmmParams::new(2, budget())
            .split(Split::Halves)
            .n_blocks(Some(2000));
        let gmm = params.tuple_share(Some(share)).check().expect("valid");
        gmm.division(&frame(2))
    };
    assert!(divided(1e-6).expect("few enough").n_labels <= MOST_LABELS);
    for share in [1e-7, 1e-300] {
        assert!(matches!(
            divided(share),
            Err(ParamsError::Range {
                name: "tuple_share",
                ..
            })
        ));
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
        let second = second_labels(900, share).expect("few") as f64;
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
