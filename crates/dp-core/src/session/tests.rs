use super::*;
use crate::rng::InsecureSeededRng;
use crate::sensitivity::{L1Sensitivity, L2Sensitivity};
use crate::tape::Difference;
use crate::units::{Delta, Epsilon, Rho};
use testkit::rates::implausible_cell;

fn budget() -> Budget {
    Budget {
        epsilon: Epsilon::new(2.0).expect("valid"),
        delta: Delta::new(1e-6).expect("valid"),
    }
}

fn laplace(epsilon: f64) -> LaplaceMechanism {
    LaplaceMechanism::calibrate(
        L1Sensitivity::new(1).expect("valid"),
        Epsilon::new(epsilon).expect("valid"),
    )
    .expect("drawable")
}

const ADD: NeighboringRelation = NeighboringRelation::AddRemove;

#[test]
fn noise_is_added_charged_and_released() {
    let mut rng = InsecureSeededRng::new(1);
    let mut session = Session::new(budget(), ADD, &mut rng);
    let counts = Confidential::new(vec![1_000_000, -5]);
    let noisy = session
        .laplace(&laplace(0.5), "counts", &counts)
        .expect("fits");
    // At scale 2 a deviation of 200 has probability e^-100.
    assert!((noisy[0] - 1_000_000).abs() < 200 && (noisy[1] + 5).abs() < 200);
    let rho = Rho::new(0.001).expect("valid");
    let gaussian =
        GaussianMechanism::calibrate(L2Sensitivity::from_squared(1).expect("valid"), rho)
            .expect("drawable");
    session.gaussian(&gaussian, "sums", &counts).expect("fits");
    let release = session.release(noisy);
    assert!(release.seeded);
    assert_eq!(release.ledger.events().len(), 2);
    assert!(release.guarantee.epsilon > 0.5 && release.guarantee.epsilon < 2.0);
}

#[test]
fn a_refused_spend_draws_nothing() {
    let mut rng = InsecureSeededRng::new(1);
    let mut session = Session::new(budget(), ADD, &mut rng);
    let counts = Confidential::new(vec![0]);
    assert!(session.laplace(&laplace(2.5), "counts", &counts).is_err());
    let first = session
        .laplace(&laplace(1.0), "counts", &counts)
        .expect("fits");
    let mut rng = InsecureSeededRng::new(1);
    let mut fresh = Session::new(budget(), ADD, &mut rng);
    assert_eq!(fresh.laplace(&laplace(1.0), "counts", &counts), Ok(first));
}

/// A toy algorithm: releases a count and, if the noisy count is positive, one more.
fn toy(session: &mut Session<'_>, count: i64, honest: bool) {
    let statistic = Confidential::new(vec![count]);
    let noisy = session
        .laplace(&laplace(0.5), "first", &statistic)
        .expect("fits");
    let go_on = if honest { noisy[0] > 0 } else { count > 100 };
    if go_on {
        session
            .laplace(&laplace(0.5), "second", &statistic)
            .expect("fits");
    }
}

fn differences(honest: bool, recorded: i64, replayed: i64) -> Vec<Difference> {
    let mut rng = InsecureSeededRng::new(3);
    let mut session = Session::new(budget(), ADD, &mut rng).recorded();
    toy(&mut session, recorded, honest);
    let tape = session.into_tape().expect("recorded");
    let mut rng = InsecureSeededRng::new(4);
    let mut session = Session::new(budget(), ADD, &mut rng).replayed(&tape, Edit::Removed(0));
    toy(&mut session, replayed, honest);
    session.into_report().expect("replayed").differences
}

#[test]
fn a_replay_of_a_private_algorithm_finds_nothing() {
    assert!(differences(true, 101, 100).is_empty());
}

#[test]
fn a_replay_sees_control_flow_that_reads_private_data() {
    assert!(matches!(
        differences(false, 101, 100)[..],
        [Difference::Call { position: 1, .. }]
    ));
}

#[test]
fn a_replay_sees_a_statistic_that_moves_too_far() {
    assert!(matches!(
        differences(true, 101, 99)[0],
        Difference::Distance { position: 0, .. }
    ));
}

#[test]
fn secret_labels_follow_their_records_through_a_replay() {
    let mut rng = InsecureSeededRng::new(5);
    let mut session = Session::new(budget(), ADD, &mut rng).recorded();
    let labels = session.secret_labels("blocks", 7);
    let recorded: Vec<u64> = (0..20).map(|index| labels.label(index)).collect();
    assert!(recorded.iter().all(|&label| label < 7));
    let tape = session.into_tape().expect("recorded");
    let mut rng = InsecureSeededRng::new(6);
    let mut session = Session::new(budget(), ADD, &mut rng).replayed(&tape, Edit::Removed(3));
    let labels = session.secret_labels("blocks", 7);
    let mut expected = recorded;
    expected.remove(3);
    let replayed: Vec<u64> = (0..19).map(|index| labels.label(index)).collect();
    assert_eq!(replayed, expected);
    assert!(
        session
            .into_report()
            .expect("replayed")
            .differences
            .is_empty()
    );
}

#[test]
fn a_point_of_a_grid_costs_what_a_candidate_costs() {
    let one = ScoreWidth::new(1).expect("valid");
    let epsilon = Epsilon::new(0.1).expect("valid");
    let mechanism = SelectionMechanism::calibrate(SelectionRule::Exponential, one, epsilon);
    let mut rng = InsecureSeededRng::new(7);
    let mut session = Session::new(budget(), ADD, &mut rng);
    for nothing in [vec![], vec![(0, 5)]] {
        assert_eq!(
            session.choose_on_grid(&mechanism, "pick", &Confidential::new(nothing)),
            Err(SelectionError::NoCandidate)
        );
    }
    assert!(session.ledger().events().is_empty(), "nothing was drawn");
    // The point between the two steps leads by 10,000 at η = 0.1: another choice has probability below e^-900.
    let steps = Confidential::new(vec![(1 << 40, 0), (1, 10_000), (1 << 40, -3)]);
    assert_eq!(
        session.choose_on_grid(&mechanism, "pick", &steps),
        Ok(1 << 40)
    );
    let scores = Confidential::new(vec![0, 10_000, -3]);
    assert_eq!(session.select(&mechanism, "pick", &scores, None), Ok(1));
    // One entry that ran twice: the spends are alike.
    assert_eq!(session.ledger().events().len(), 1);
    assert_eq!(session.ledger().events()[0].count, 2);
    // The ledger names the rule that was used, not the one that was asked for: still one entry.
    let other = SelectionMechanism::calibrate(SelectionRule::NoisyMax, one, epsilon);
    assert_eq!(session.choose_on_grid(&other, "pick", &steps), Ok(1 << 40));
    assert_eq!(session.ledger().events().len(), 1);
    assert_eq!(session.ledger().events()[0].count, 3);
    // Beyond the budget nothing is drawn.
    let whole = Epsilon::new(2.0).expect("valid");
    let whole = SelectionMechanism::calibrate(SelectionRule::Exponential, one, whole);
    assert!(matches!(
        session.choose_on_grid(&whole, "pick", &steps),
        Err(SelectionError::Spend(_))
    ));
}

/// Where steps end is private; what is compared are the scores of the points, and their number.
#[test]
fn replayed_steps_are_compared_point_by_point() {
    let one = ScoreWidth::new(1).expect("valid");
    let epsilon = Epsilon::new(0.1).expect("valid");
    let mechanism = SelectionMechanism::calibrate(SelectionRule::Exponential, one, epsilon);
    let mut rng = InsecureSeededRng::new(7);
    let mut session = Session::new(budget(), ADD, &mut rng).recorded();
    let steps = Confidential::new(vec![(0, 9), (3, 0), (2, 1), (0, -7)]);
    session
        .choose_on_grid(&mechanism, "pick", &steps)
        .expect("fits");
    let tape = session.into_tape().expect("it was recorded");
    for (steps, differences) in [
        (vec![(3, 0), (2, 1)], 0),
        (vec![(2, 0), (0, 5), (3, 1)], 0),
        (vec![(3, 0), (2, 2), (0, 4)], 0),
        // Beyond the width of 1, another number of points, none at all.
        (vec![(3, 0), (2, 3)], 1),
        (vec![(3, -1), (2, 2)], 1),
        (vec![(3, 0), (1, 1)], 1),
        (vec![(3, 0), (2, 1), (1, 1)], 1),
    ] {
        let mut rng = InsecureSeededRng::new(8);
        let mut session = Session::new(budget(), ADD, &mut rng).replayed(&tape, Edit::Removed(0));
        let replayed =
            session.choose_on_grid(&mechanism, "pick", &Confidential::new(steps.clone()));
        assert!(replayed.is_ok());
        let report = session.into_report().expect("it was replayed");
        assert_eq!(report.differences.len(), differences, "{steps:?}");
    }
}

#[test]
fn selection_needs_a_candidate() {
    let mut rng = InsecureSeededRng::new(7);
    let mut session = Session::new(budget(), ADD, &mut rng);
    let one = ScoreWidth::new(1).expect("valid");
    for rule in [
        SelectionRule::Exponential,
        SelectionRule::PermuteAndFlip,
        SelectionRule::NoisyMax,
    ] {
        let mechanism = SelectionMechanism::calibrate(rule, one, Epsilon::new(0.1).expect("valid"));
        let none = Confidential::new(Vec::new());
        assert_eq!(
            session.select(&mechanism, "pick", &none, None),
            Err(SelectionError::NoCandidate)
        );
        // The best score leads by 10,000 at η = 0.1: another choice has probability below e^-900.
        let scores = Confidential::new(vec![0, 10_000, -3]);
        assert_eq!(session.select(&mechanism, "pick", &scores, None), Ok(1));
    }
}

#[test]
fn rare_keys_stay_hidden_and_common_keys_come_out() {
    let mut rng = InsecureSeededRng::new(8);
    let mut session = Session::new(budget(), ADD, &mut rng);
    let mechanism = ThresholdMechanism::calibrate(
        Epsilon::new(1.0).expect("valid"),
        Delta::new(1e-7).expect("valid"),
    )
    .expect("drawable");
    assert!(mechanism.threshold() > 10 && mechanism.threshold() < 25);
    let counts = Confidential::new(BTreeMap::from([
        (vec![1, 2], 1_000),
        (vec![3, 4], 1),
        (vec![5], 0),
    ]));
    let released = session
        .threshold(&mechanism, "cells", &counts)
        .expect("fits");
    // A false alarm has probability below 1e-7 for the rare key and e^-900 for the common one.
    assert_eq!(released.keys().collect::<Vec<_>>(), [&vec![1, 2]]);
}

/// δ of the threshold against the exact tail: the least integer threshold whose tail is at most δ.
#[test]
fn the_threshold_is_the_least_that_hides_a_single_record() {
    for (epsilon, delta) in [(0.1, 1e-6), (1.0, 1e-9), (3.0, 1e-2), (0.01, 0.3)] {
        let mechanism = ThresholdMechanism::calibrate(
            Epsilon::new(epsilon).expect("valid"),
            Delta::new(delta).expect("valid"),
        )
        .expect("drawable");
        let q = (-epsilon).exp();
        let tail = |threshold: i64| q.powf((threshold - 1) as f64) / (1.0 + q);
        assert!(tail(mechanism.threshold()) <= delta * (1.0 + 1e-9));
        assert!(
            mechanism.threshold() == 2 || tail(mechanism.threshold() - 1) > delta * (1.0 - 1e-6)
        );
    }
}

/// A charge, and draws under it.
fn charged(session: &mut Session<'_>, kept: &[(u64, u64)]) -> (Vec<usize>, Vec<bool>, i128) {
    let loss = crate::guarantee::Loss::Pure(Epsilon::new(1.0).expect("valid"));
    let event = Event::new("theorem", Sensitivity::ByTheorem, ADD, loss);
    let charge = session.charge(event).expect("fits");
    let sample = session.sample_charged(&charge, "sample", 4, 10);
    let coins = session.filter_charged(&charge, &Confidential::new(kept.to_vec()));
    let mechanism = AdditiveMechanism::Laplace(laplace(1.0));
    let one = Sensitivity::L1(1);
    let count = Confidential::new(vec![i64::try_from(kept.len()).expect("a short list")]);
    let noisy = session.add_noise_charged(&charge, &mechanism, "count", one, &count);
    (sample, coins.expose_to_data_holder(), noisy[0])
}

#[test]
fn draws_under_a_charge_cost_nothing_more_and_are_replayed() {
    let mut rng = InsecureSeededRng::new(11);
    let mut session = Session::new(budget(), ADD, &mut rng).recorded();
    let all = [(1, 2), (0, 2), (2, 2), (1, 2)];
    let first = charged(&mut session, &all);
    assert_eq!(session.ledger().events().len(), 1);
    assert!(!first.1[1] && first.1[2]);
    let distinct: std::collections::BTreeSet<_> = first.0.iter().collect();
    assert!(distinct.len() == 4 && first.0.iter().all(|&i| i < 10));
    let tape = session.into_tape().expect("recorded");
    // The number of coins is the same: they stay in place, and what cannot show heads shows tails.
    let mut rng = InsecureSeededRng::new(12);
    let mut session = Session::new(budget(), ADD, &mut rng).replayed(&tape, Edit::Removed(0));
    let second = charged(&mut session, &[(2, 2), (2, 2), (0, 2), (1, 2)]);
    assert_eq!(
        (first.0, first.1[3], first.2),
        (second.0, second.1[3], second.2)
    );
    assert_eq!(second.1[..3], [first.1[0], false, false]);
    assert!(
        session
            .into_report()
            .expect("replayed")
            .differences
            .is_empty()
    );
}

/// Each of the 12 ordered pairs of 4 has probability 1/12. False alarm with probability 1e-9 (exact binomial tails).
#[test]
fn samples_without_replacement_are_uniform_in_order() {
    let mut rng = InsecureSeededRng::new(13);
    let mut session = Session::new(budget(), ADD, &mut rng);
    let loss = crate::guarantee::Loss::Pure(Epsilon::new(1.0).expect("valid"));
    let event = Event::new("theorem", Sensitivity::ByTheorem, ADD, loss);
    let charge = session.charge(event).expect("fits");
    let mut counts = BTreeMap::new();
    for _ in 0..12_000 {
        let sample = session.sample_charged(&charge, "sample", 2, 4);
        *counts.entry(sample).or_insert(0_u64) += 1;
    }
    let counts: Vec<u64> = counts.into_values().collect();
    let implausible = |p: &[f64]| implausible_cell(&counts, p, 1e-9);
    assert_eq!(implausible(&[1.0 / 12.0; 12]), None, "{counts:?}");
    // The twin: a law in which one pair is a third rarer, at the cost of another.
    let mut other = [1.0 / 12.0; 12];
    (other[0], other[1]) = (1.0 / 18.0, 1.0 / 9.0);
    assert!(implausible(&other).is_some());
}
