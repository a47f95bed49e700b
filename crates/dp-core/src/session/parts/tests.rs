use crate::mechanism::AdditiveMechanism;
use crate::rng::InsecureSeededRng;
use crate::sensitivity::L2Sensitivity;
use crate::tape::{Difference, Edit};
use crate::{Confidential, Delta, Epsilon, Rho, accountant};

use super::*;

const RELATION: NeighboringRelation = NeighboringRelation::AddRemove;

fn budget(epsilon: f64, delta: f64) -> Budget {
    Budget::approx(
        Epsilon::new(epsilon).expect("positive"),
        Delta::new(delta).expect("a probability"),
    )
}

fn gaussian(rho: f64) -> AdditiveMechanism {
    let one = L2Sensitivity::from_squared(1).expect("positive");
    AdditiveMechanism::gaussian(one, Rho::new(rho).expect("positive")).expect("a drawable scale")
}

/// A count of even and a count of odd records, each with noise for the whole budget; `overlap` is a faulty second part that counts all.
fn run(records: &[u64], session: &mut Session<'_>, overlap: bool) -> Result<(), SpendError> {
    let granted = session.budget();
    let noise = gaussian(granted.rho().expect("there is a delta").get());
    let spend = || vec![noise.event(RELATION, "count")];
    let event = DisjointParts::event(granted, RELATION, &[spend(), spend()])?;
    let mut parts = session.disjoint_parts(event)?;
    for part in 0..2 {
        let of_it = |x: &&u64| **x % 2 == part || (overlap && part == 1);
        let count = i64::try_from(records.iter().filter(of_it).count()).unwrap_or(0);
        let count = Confidential::new(vec![count]);
        session.part(&mut parts, |session| {
            session.add_noise(&noise, "count", &count)
        })?;
    }
    Ok(())
}

#[test]
fn parts_cost_what_the_dearest_costs_and_the_ledger_adds_up() {
    let granted = budget(1.0, 1e-6);
    let mut rng = InsecureSeededRng::new(1);
    let mut session = Session::new(granted, RELATION, &mut rng);
    run(&[1, 2, 3], &mut session, false).expect("within the budget");
    let guarantee = session.guarantee();
    assert_eq!((guarantee.epsilon, guarantee.delta), (1.0, 1e-6));
    assert_eq!(session.ledger().events().len(), 1);
    let again = accountant::total(session.ledger(), RELATION, 1e-6).expect("basic events");
    assert_eq!(again, guarantee);
    let entry = &session.ledger().events()[0];
    assert!(matches!(&entry.parameters["part_2"], Value::List(spends) if spends.len() == 1));
    // Nothing is left.
    let count = Confidential::new(vec![1]);
    assert!(session.add_noise(&gaussian(1e-6), "more", &count).is_err());
}

#[test]
fn a_part_cannot_spend_more_than_was_charged() {
    let granted = budget(1.0, 1e-6);
    let rho = granted.rho().expect("there is a delta").get();
    let dear = vec![gaussian(1.01 * rho).event(RELATION, "count")];
    assert!(matches!(
        DisjointParts::event(granted, RELATION, &[Vec::new(), dear]),
        Err(SpendError::Insufficient { .. })
    ));
    let mut rng = InsecureSeededRng::new(1);
    let mut session = Session::new(granted, RELATION, &mut rng);
    let half = DisjointParts::event(budget(0.5, 1e-7), RELATION, &[]).expect("no plan");
    let mut parts = session.disjoint_parts(half).expect("half");
    let count = Confidential::new(vec![1]);
    let noise = gaussian(rho);
    let refused = session.part(&mut parts, |inner| inner.add_noise(&noise, "count", &count));
    assert!(matches!(refused, Err(SpendError::Insufficient { .. })));
    // Parts do not touch what the run has beside them.
    let rest = gaussian(budget(0.4, 5e-7).rho().expect("there is a delta").get());
    assert!(session.add_noise(&rest, "rest", &count).is_ok());
    assert!(
        session
            .disjoint_parts(DisjointParts::event(granted, RELATION, &[]).expect("no plan"))
            .is_err()
    );
}

#[test]
fn a_replay_reports_a_record_that_is_in_two_parts() {
    let granted = budget(1.0, 1e-6);
    for overlap in [false, true] {
        let mut rng = InsecureSeededRng::new(1);
        let mut session = Session::new(granted, RELATION, &mut rng).recorded();
        run(&[1, 2, 3, 4], &mut session, overlap).expect("within the budget");
        let tape = session.into_tape().expect("recorded");
        for (at, fewer) in [(0, [2, 3, 4]), (3, [1, 2, 3])] {
            let mut rng = InsecureSeededRng::new(2);
            let session = Session::new(granted, RELATION, &mut rng);
            let mut session = session.replayed(&tape, Edit::Removed(at));
            run(&fewer, &mut session, overlap).expect("within the budget");
            let report = session.into_report().expect("replayed");
            assert_eq!(report.calls, 2);
            // An even record is also counted by the faulty second part.
            let expected = usize::from(overlap && at == 3);
            assert_eq!(
                report.differences.len(),
                expected,
                "{:?}",
                report.differences
            );
            assert!(
                report
                    .differences
                    .iter()
                    .all(|difference| matches!(difference, Difference::Parts { position: 1 }))
            );
        }
    }
}

#[test]
fn groups_of_parts_are_apart() {
    let mut rng = InsecureSeededRng::new(1);
    let mut session = Session::new(budget(1.0, 1e-6), RELATION, &mut rng).recorded();
    let twice = |records: &[u64], session: &mut Session<'_>| {
        for _ in 0..2 {
            let each = budget(0.5, 5e-7);
            let noise = gaussian(each.rho().expect("there is a delta").get());
            let event = DisjointParts::event(each, RELATION, &[]).expect("no plan");
            let mut parts = session.disjoint_parts(event).expect("half");
            let count = Confidential::new(vec![i64::try_from(records.len()).unwrap_or(0)]);
            session
                .part(&mut parts, |inner| inner.add_noise(&noise, "count", &count))
                .expect("what was charged");
        }
    };
    twice(&[1, 2], &mut session);
    let tape = session.into_tape().expect("recorded");
    let mut session =
        Session::new(budget(1.0, 1e-6), RELATION, &mut rng).replayed(&tape, Edit::Removed(1));
    twice(&[1], &mut session);
    // The record is in the first part of either group, and either was paid for.
    assert!(
        session
            .into_report()
            .expect("replayed")
            .differences
            .is_empty()
    );
}
