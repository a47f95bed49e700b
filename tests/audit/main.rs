//! Replays and the ledger law for every private algorithm.

use workspace_tests::{replays, spending, subjects};

/// Every algorithm of the facade has neighbors here; a new one fails until it has.
#[test]
fn every_private_algorithm_keeps_its_ledger() {
    let subjects = subjects::all().expect("every algorithm is known to the audit");
    for subject in &subjects {
        spending::subject(subject).unwrap_or_else(|problem| panic!("{problem}"));
    }
}

/// A first look; `cargo xtask audit` compares at least 10,000 pairs per algorithm.
#[test]
fn neighbors_make_the_same_calls_within_the_declared_sensitivities() {
    let subjects = subjects::all().expect("every algorithm is known to the audit");
    for compared in replays::algorithms(&subjects, 200, true).unwrap_or_else(|p| panic!("{p}")) {
        assert!(compared.calls >= compared.pairs, "{compared:?}");
    }
}
