use dp_core::mechanism::{
    AdditiveMechanism, LaplaceMechanism, SelectionMechanism, SelectionRule, ThresholdMechanism,
};
use dp_core::sensitivity::{L1Sensitivity, ScoreWidth};
use dp_core::{Confidential, Delta, Epsilon, Event, Loss, NeighboringRelation};

use std::collections::BTreeSet;

use dp_core::sensitivity::Sensitivity;

use super::*;
use crate::black_box::algorithm;
use crate::black_box::end_to_end::{all_neighbors, view};
use crate::subjects::{Subject, budget};

const RELATION: NeighboringRelation = NeighboringRelation::AddRemove;

fn epsilon(epsilon: f64) -> Epsilon {
    Epsilon::new(epsilon).expect("a positive constant")
}

fn laplace(epsilon: f64) -> LaplaceMechanism {
    let one = L1Sensitivity::new(1).expect("valid");
    LaplaceMechanism::calibrate(one, self::epsilon(epsilon)).expect("drawable")
}

fn subject(
    run: impl Fn(&Array2<f64>, &mut Session<'_>) -> Result<(), String> + Send + Sync + 'static,
) -> Subject {
    let promise = Promise {
        budget: budget(1.0, 1e-6),
        relation: RELATION,
    };
    Subject::new("twin", "one column".to_owned(), promise, 1, run)
}

/// The number of records, times `times`.
fn count(records: &Array2<f64>, times: i64) -> i64 {
    times * i64::try_from(records.nrows()).expect("a few")
}

/// Nine cells, all records in the fifth; each counts as many times as that, and the noise is for once.
fn histogram(times: i64) -> Subject {
    let laplace = laplace(1.0);
    subject(move |records, session| {
        let mut cells = vec![0; 9];
        cells[4] = count(records, times);
        let noisy = session.laplace(&laplace, "cells", &Confidential::new(cells));
        noisy.map(drop).map_err(|error| error.to_string())
    })
}

fn of(subject: &Subject) -> View {
    view(subject, &all_neighbors(subject)[0])
}

fn positions(subject: &Subject) -> Vec<Position> {
    of(subject).single
}

const fn at(call: usize, place: usize) -> Position {
    Position {
        call,
        place: Place::At(place),
    }
}

#[test]
fn the_one_number_that_tells_is_found_in_the_middle_of_a_call() {
    let subject = histogram(1);
    let view = of(&subject);
    assert_eq!(view.single, [at(0, 4)]);
    // One of a scale of one, whose standard deviation is √2.
    assert!((view.moves.single - 0.5_f64.sqrt()).abs() < 1e-12);
    assert!((view.moves.all - view.moves.single).abs() < 1e-12);
}

/// False-positive rate of the first: 10^-3. The second counts each record four times: its loss is 4 and the bound from 20,000 runs about
/// 3.5, above 1 but with a probability far below 10^-6.
#[test]
fn a_number_in_the_middle_that_counts_too_often_is_convicted() {
    let sound = algorithm(&histogram(1), 20_000, 1);
    assert!(!sound.convicts() && !sound.is_blind(), "{}", sound.line());
    assert!(sound.found > 0.5, "{}", sound.line());
    let twin = algorithm(&histogram(4), 20_000, 1);
    assert!(twin.convicts(), "{}", twin.line());
}

#[test]
fn equal_laws_are_blind_unless_a_reason_is_given() {
    let mut subject = histogram(0);
    assert!(positions(&subject).is_empty());
    assert!(algorithm(&subject, 1000, 1).is_blind());
    subject.unseen = Some("nothing is counted");
    assert!(!algorithm(&subject, 1000, 1).is_blind());
    // A reason that is out of date.
    let mut subject = histogram(1);
    subject.unseen = Some("nothing is counted");
    assert!(algorithm(&subject, 1000, 1).is_blind());
}

/// What a theorem bounds stays private, however far it moves; of numbers that move as far the earlier ones are seen.
#[test]
fn private_draws_are_not_seen_and_ties_go_to_the_earlier() {
    let subject = subject(|records, session| {
        let text = |error: dp_core::SpendError| error.to_string();
        let loss = Loss::Pure(epsilon(0.5));
        let event = Event::new("theorem", Sensitivity::ByTheorem, RELATION, loss);
        let charge = session.charge(event).map_err(text)?;
        let far = Confidential::new(vec![count(records, 100)]);
        let noise = AdditiveMechanism::Laplace(laplace(0.5));
        let by_theorem = Sensitivity::ByTheorem;
        session.add_noise_charged(&charge, &noise, "secret", by_theorem, &far);
        let coins = Confidential::new(vec![(records.nrows() as u64, 3)]);
        session.filter_charged(&charge, &coins);
        let all = Confidential::new(vec![count(records, 1); 5]);
        let noisy = session.laplace(&laplace(0.5), "cells", &all);
        noisy.map(drop).map_err(text)
    });
    assert_eq!(positions(&subject), [at(2, 0), at(2, 1), at(2, 2)]);
}

/// A run that ends before it comes to a number shows nothing there.
#[test]
fn what_a_run_does_not_come_to_reads_as_nothing() {
    let subject = subject(|records, session| {
        let counts = |times| Confidential::new(vec![0, count(records, times)]);
        let text = |error: dp_core::SpendError| error.to_string();
        let noisy = session.laplace(&laplace(0.5), "first", &counts(1));
        if noisy.map_err(text)?[0] > 0 {
            return Ok(());
        }
        let noisy = session.laplace(&laplace(0.5), "second", &counts(3));
        noisy.map(drop).map_err(text)
    });
    let neighbors = &all_neighbors(&subject)[0];
    let view = of(&subject);
    assert_eq!(view.single, [at(1, 1), at(0, 1)]);
    let mut ends = BTreeSet::new();
    for seed in 0..20 {
        let mut rng = InsecureSeededRng::new(seed);
        let session = Session::new(subject.promise.budget, RELATION, &mut rng);
        let mut session = session.recorded();
        subject.run(&neighbors.sets[0], &mut session).expect("fits");
        let tape = session.into_tape().expect("recorded");
        let seen = view.seen(&tape);
        assert_eq!(tape.calls().len() == 1, seen[0] == NOTHING, "{seen:?}");
        assert!(seen[1] != NOTHING && seen[2] == NOTHING, "{seen:?}");
        ends.insert(tape.calls().len());
    }
    assert_eq!(ends.len(), 2, "both paths were taken");
}

/// A number that moves farther in its noise, but goes wherever an earlier one went, comes after one that stays in its place.
#[test]
fn what_is_moved_about_by_earlier_noise_is_seen_last() {
    let subject = subject(|records, session| {
        let text = |error: dp_core::SpendError| error.to_string();
        let mut noisy = |epsilon, statistic: i64| {
            let statistic = Confidential::new(vec![statistic]);
            session
                .laplace(&laplace(epsilon), "number", &statistic)
                .map_err(text)
        };
        let center = noisy(0.25, 0)?[0];
        let center = i64::try_from(center).map_err(|error| error.to_string())?;
        noisy(0.5, 50 * center + count(records, 1))?;
        noisy(0.25, count(records, 1)).map(drop)
    });
    assert_eq!(positions(&subject), [at(2, 0), at(1, 0)]);
}

#[test]
fn choices_and_keys_are_seen_by_what_moves_their_odds() {
    let width = ScoreWidth::new(2).expect("valid");
    let selection = SelectionMechanism::calibrate(SelectionRule::Exponential, width, epsilon(0.5));
    let one_key = ThresholdMechanism::calibrate(epsilon(0.5), Delta::new(1e-6).expect("valid"));
    let threshold = one_key.expect("drawable");
    let subject = subject(move |records, session| {
        let n = count(records, 1);
        // A shift of all scores tells nothing, one of a single score does.
        for scores in [vec![n, n, n + 7], vec![0, n, 0]] {
            let scores = Confidential::new(scores);
            let chosen = session.select(&selection, "choice", &scores, None);
            chosen.map_err(|error| error.to_string())?;
        }
        let counts = Confidential::new(BTreeMap::from([(vec![3], 5), (vec![7], n)]));
        let released = session.threshold(&threshold, "keys", &counts);
        released.map(drop).map_err(|error| error.to_string())
    });
    let mut subject = subject;
    subject.promise.budget = budget(2.0, 1e-5);
    let view = of(&subject);
    let key = Position {
        call: 2,
        place: Place::Key(vec![7]),
    };
    assert_eq!(view.single, [key, at(1, 0)]);
    // One of a scale of 2, and η = 1/4.
    let squares = 1.0 / 8.0 + 1.0 / 16.0;
    assert!((view.moves.single * view.moves.single - squares).abs() < 1e-9);
}
