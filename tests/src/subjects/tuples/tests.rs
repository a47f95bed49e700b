use dp_core::mechanism::AdditiveMechanism;
use dp_core::sensitivity::L1Sensitivity;
use dp_core::{Confidential, Epsilon, Loss};

use super::*;
use crate::replays;

const OUTSIDE: &str = "tuples outside of the balls";
const MATCHES: &str = "matches per tuple";
const PASSING: &str = "passing tuples";

#[test]
fn one_count_may_be_anything_and_the_others_move_by_one() {
    for purpose in [OUTSIDE, MATCHES] {
        assert_eq!(counts(purpose, &[3, 9, 4], &[4, 900, 3]), Ok(()));
        assert!(counts(purpose, &[3, 9, 4], &[5, 900, 3]).is_err());
        assert!(counts(purpose, &[3, 9, 4], &[3, 9]).is_err());
    }
    assert_eq!(counts(PASSING, &[12], &[12]), Ok(()));
    assert!(counts(PASSING, &[12], &[13]).is_err());
    assert!(counts("anything else", &[1], &[1]).is_err());
}

#[test]
fn probabilities_have_the_denominator_of_the_lemma_and_no_tuple_is_kept_that_half_match() {
    // Ten tuples: (2a − 12)/6.
    let all = |top: u64| vec![(top, 6); 10];
    assert_eq!(probabilities(&all(4), &all(6)), Ok(()));
    assert!(probabilities(&all(2), &all(6)).is_err());
    let mut one = all(4);
    one[3].0 = 0;
    assert_eq!(probabilities(&all(4), &one), Ok(()));
    one[4].0 = 0;
    assert!(probabilities(&all(4), &one).is_err());
    assert!(probabilities(&all(4), &[(4, 6); 9]).is_err());
    // Where half of the others are subtracted from twice as many, a tuple that all match has more than all of the probability.
    let half = vec![(2 * 9 - 5, 6); 10];
    assert!(probabilities(&half, &half).is_err());
    let odd = vec![(4, 7); 10];
    assert!(probabilities(&odd, &odd).is_err());
}

/// Counts of the rows to the right, one per place: each counted `times` times. The bound is a theorem, so the door itself cannot object.
fn counted(purpose: &'static str, times: i64) -> Subject {
    let promise = Promise {
        budget: budget(1.0, 0.0),
        relation: NeighboringRelation::ReplaceOne,
    };
    let run = move |rows: &Array2<f64>, session: &mut Session<'_>| {
        let epsilon = promise.budget.epsilon;
        let event = Event::new(
            "theorem",
            Sensitivity::ByTheorem,
            promise.relation,
            Loss::Pure(epsilon),
        );
        let charge = session.charge(event).map_err(|error| error.to_string())?;
        let right = rows.column(0).iter().filter(|x| **x > 0.0).count();
        let right = times * i64::try_from(right).map_err(|error| error.to_string())?;
        let one = L1Sensitivity::new(1).map_err(|error| error.to_string())?;
        let each = Epsilon::new(0.1).map_err(|error| error.to_string())?;
        let noise = AdditiveMechanism::laplace(one, each).map_err(|error| error.to_string())?;
        let counts = Confidential::new(vec![right; 4]);
        session.add_noise_charged(&charge, &noise, purpose, Sensitivity::ByTheorem, &counts);
        Ok(())
    };
    let settings = format!("{purpose}, times {times}");
    Subject::new("twin", settings, promise, 1, run).theorem(by_theorem)
}

#[test]
fn a_double_count_that_only_a_theorem_bounds_is_caught_by_the_replays() {
    for purpose in [OUTSIDE, MATCHES] {
        assert!(replays::subject(&counted(purpose, 1), 100, 1).is_ok());
        let caught = replays::subject(&counted(purpose, 2), 100, 1);
        assert!(caught.is_err_and(|what| what.contains("4 counts move by more than 1")));
    }
    // What is counted here moves, so it is no answer that follows from others.
    assert!(replays::subject(&counted(PASSING, 1), 100, 1).is_err());
}
