//! Record a run on one data set, replay it on its neighbors.
//!
//! In a replay every released value is the recorded one, so the control flow of an algorithm that reads released values
//! only is forced to be the same. Then the list of calls with all public parameters must be equal, and each statistic
//! within its declared sensitivity, in integers: what the proof on paper assumes, checked on the code that runs.

use std::fmt::Display;

use dp_core::rng::InsecureSeededRng;
use dp_core::tape::{Difference, ReplayReport, Statistic, Tape};
use dp_core::{Budget, Event, NeighboringRelation, Session};

use crate::pairs::Group;

/// What an algorithm promises to keep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Promise {
    /// The most it may spend.
    pub budget: Budget,
    /// The neighbors it is about.
    pub relation: NeighboringRelation,
}

/// What was compared.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Replayed {
    /// Pairs of neighbors.
    pub pairs: usize,
    /// Pairs of calls.
    pub calls: usize,
    /// Pairs of statistics whose bound is a theorem, not a sensitivity: for a check of their own.
    pub by_theorem: Vec<(Event, Statistic, Statistic)>,
}

impl Replayed {
    /// Adds what another replay compared.
    pub fn add(&mut self, other: Self) {
        self.pairs += other.pairs;
        self.calls += other.calls;
        self.by_theorem.extend(other.by_theorem);
    }
}

/// An algorithm did not behave as its proof assumes.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// A run failed on data: whether it does is a channel.
    #[error("a run failed on data: {0}")]
    Failed(String),
    /// A run made no call: there was nothing to compare.
    #[error("a run released nothing through its session")]
    Silent,
    /// Neighbors differed in the calls or in a statistic.
    #[error("neighbors differ at call {}: {what}", .position + 1)]
    Differs {
        /// Position in the list of calls (or of secrets).
        position: usize,
        /// What differs.
        what: String,
    },
}

/// Records `run` on a group's first data set and replays it on each of its neighbors.
///
/// `run` must be deterministic but for the session: public randomness comes from a fixed seed of its own.
///
/// # Errors
///
/// [`ReplayError`] for the first difference.
pub fn replay<D, E: Display>(
    promise: Promise,
    group: &Group<D>,
    run: impl Fn(&D, &mut Session<'_>) -> Result<(), E>,
) -> Result<Replayed, ReplayError> {
    let failed = |error: E| ReplayError::Failed(error.to_string());
    let mut rng = InsecureSeededRng::new(group.seed);
    let mut session = Session::new(promise.budget, promise.relation, &mut rng).recorded();
    run(&group.first, &mut session).map_err(failed)?;
    let tape = session.into_tape().unwrap_or_default();
    if tape.calls().is_empty() {
        return Err(ReplayError::Silent);
    }
    let mut replayed = Replayed::default();
    for (neighbor, edit) in &group.neighbors {
        // Other noise: a draw that the tape does not answer shows itself.
        let mut rng = InsecureSeededRng::new(!group.seed);
        let session = Session::new(promise.budget, promise.relation, &mut rng);
        let mut session = session.replayed(&tape, *edit);
        run(neighbor, &mut session).map_err(failed)?;
        let report = session.into_report().unwrap_or_default();
        if let Some(difference) = report.differences.first() {
            return Err(explain(difference, &tape));
        }
        replayed.add(one(report));
    }
    Ok(replayed)
}

fn one(report: ReplayReport) -> Replayed {
    Replayed {
        pairs: 1,
        calls: report.calls,
        by_theorem: report.by_theorem,
    }
}

fn explain(difference: &Difference, tape: &Tape) -> ReplayError {
    let name = |event: &Option<Box<Event>>| {
        event
            .as_ref()
            .map_or("nothing".to_owned(), |event| describe(event))
    };
    match difference {
        Difference::Call {
            position,
            recorded,
            replayed,
        } => ReplayError::Differs {
            position: *position,
            what: format!("{} became {}", name(recorded), name(replayed)),
        },
        Difference::Distance { position, event } => ReplayError::Differs {
            position: *position,
            what: format!(
                "the statistic of {} moved by more than {:?} (of {} calls)",
                describe(event),
                event.sensitivity,
                tape.calls().len()
            ),
        },
        Difference::Secret { position } => ReplayError::Differs {
            position: *position,
            what: "another secret was asked for".to_owned(),
        },
        Difference::Parts { position } => ReplayError::Differs {
            position: *position,
            what: "one record is in two parts that were charged as disjoint".to_owned(),
        },
    }
}

fn describe(event: &Event) -> String {
    let parameters: Vec<String> = event
        .parameters
        .iter()
        .map(|(name, value)| format!("{name} = {value:?}"))
        .collect();
    format!("{event} ({})", parameters.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pairs::{Table, TablePairs};
    use dp_core::mechanism::LaplaceMechanism;
    use dp_core::sensitivity::L1Sensitivity;
    use dp_core::{Confidential, Epsilon, SpendError};

    const PROMISE: NeighboringRelation = NeighboringRelation::AddRemove;

    fn count(
        sensitivity: u64,
        twice: bool,
        early: bool,
    ) -> impl Fn(&Table, &mut Session<'_>) -> Result<(), SpendError> {
        let epsilon = Epsilon::new(0.5).expect("valid");
        let bound = L1Sensitivity::new(sensitivity).expect("valid");
        let laplace = LaplaceMechanism::calibrate(bound, epsilon).expect("valid");
        move |table, session| {
            let n = i64::try_from(table.len()).expect("a small table") * if twice { 2 } else { 1 };
            session.laplace(&laplace, "count", &Confidential::new(vec![n]))?;
            if !early || table.len() % 2 == 0 {
                session.laplace(&laplace, "again", &Confidential::new(vec![n]))?;
            }
            Ok(())
        }
    }

    fn check(
        run: impl Fn(&Table, &mut Session<'_>) -> Result<(), SpendError>,
    ) -> Result<Replayed, ReplayError> {
        let promise = Promise {
            budget: Budget::pure(Epsilon::new(1.0).expect("valid")),
            relation: PROMISE,
        };
        let mut all = Replayed::default();
        for group in TablePairs::new(1, 0.0, 1.0, PROMISE, 1).take(20) {
            all.add(replay(promise, &group, &run)?);
        }
        Ok(all)
    }

    #[test]
    fn a_sound_count_replays() {
        let all = check(count(1, false, false)).expect("sound");
        assert_eq!((all.pairs, all.calls), (80, 160));
    }

    #[test]
    fn a_sensitivity_too_small_a_data_dependent_stop_and_a_failure_are_seen() {
        assert!(matches!(
            check(count(1, true, false)),
            Err(ReplayError::Differs { position: 0, .. })
        ));
        check(count(2, true, false)).expect("sound with the right sensitivity");
        assert!(matches!(
            check(count(1, false, true)),
            Err(ReplayError::Differs { position: 1, .. })
        ));
        let silent = |_: &Table, _: &mut Session<'_>| Ok(());
        assert_eq!(check(silent), Err(ReplayError::Silent));
        let twice = count(1, false, false);
        let overspent = check(move |table, session| {
            twice(table, session)?;
            twice(table, session)
        });
        assert!(matches!(overspent, Err(ReplayError::Failed(_))));
    }
}
