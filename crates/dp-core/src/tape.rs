//! Recording a run and replaying it on a neighboring data set.
//!
//! A replay forces every released value to be the recorded one, so the control flow of an algorithm
//! that reads released values only is forced to be the same. What is left to compare is exactly what the proof
//! speaks of: the list of calls with their public parameters must be equal, and at each call the two statistics
//! must be within the declared sensitivity.

use std::collections::BTreeMap;

use crate::ledger::Event;
use crate::neighboring::NeighboringRelation;
use crate::sensitivity::Sensitivity;

/// How a data set differs from the recorded one, by the index of the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edit {
    /// The recorded data set's record at this index is missing here.
    Removed(u64),
    /// A record was inserted here at this index.
    Inserted(u64),
    /// The record at this index has other values; or nothing differs.
    Replaced(u64),
}

impl Edit {
    /// The index that a record of this data set had in the recorded one; a new record gets an index that
    /// no other has.
    pub(crate) const fn original_index(self, index: u64) -> u64 {
        match self {
            Self::Removed(at) if index >= at => index + 1,
            Self::Inserted(at) if index == at => u64::MAX >> 1,
            Self::Inserted(at) if index > at => index - 1,
            _ => index,
        }
    }
}

/// What a mechanism was asked about: private.
#[derive(Clone, Debug, PartialEq)]
pub enum Statistic {
    /// A vector of integers.
    Integers(Vec<i128>),
    /// Counts by key.
    Keyed(BTreeMap<Vec<i64>, i64>),
    /// Probabilities as fractions.
    Fractions(Vec<(u64, u64)>),
    /// A step function on a grid: how many grid points each step has, and its value there.
    Steps(Vec<(u64, i64)>),
}

/// What a mechanism answered.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// A noisy vector.
    Integers(Vec<i128>),
    /// Noisy counts of the keys that were released.
    Keyed(BTreeMap<Vec<i64>, i128>),
    /// The index that was chosen.
    Choice(Option<usize>),
    /// Outcomes of coins; these stay private.
    Coins(Vec<bool>),
}

impl Output {
    pub(crate) fn into_integers(self) -> Vec<i128> {
        if let Self::Integers(values) = self {
            values
        } else {
            Vec::new()
        }
    }

    pub(crate) fn into_keyed(self) -> BTreeMap<Vec<i64>, i128> {
        if let Self::Keyed(values) = self {
            values
        } else {
            BTreeMap::new()
        }
    }

    pub(crate) fn into_choice(self) -> Option<usize> {
        if let Self::Choice(index) = self {
            index
        } else {
            None
        }
    }

    pub(crate) fn into_coins(self) -> Vec<bool> {
        if let Self::Coins(values) = self {
            values
        } else {
            Vec::new()
        }
    }
}

/// One passage through the door.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// What the ledger says of it.
    pub event: Event,
    /// What was asked about: private.
    pub statistic: Statistic,
    /// What was answered.
    pub output: Output,
}

/// A recorded run. It holds private statistics: for audits on made-up data.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tape {
    calls: Vec<Call>,
    secrets: Vec<(String, [u8; 32])>,
}

impl Tape {
    /// The calls in order.
    #[must_use]
    pub fn calls(&self) -> &[Call] {
        &self.calls
    }
}

/// Something that a replay did differently from the recorded run.
#[derive(Clone, Debug, PartialEq)]
pub enum Difference {
    /// A call with other public parameters, or where there was none.
    Call {
        /// Position in the list of calls.
        position: usize,
        /// What the recorded run did there, if anything.
        recorded: Option<Box<Event>>,
        /// What the replay did there, if anything.
        replayed: Option<Box<Event>>,
    },
    /// A statistic moved by more than its declared sensitivity.
    Distance {
        /// Position in the list of calls.
        position: usize,
        /// What was declared.
        event: Box<Event>,
    },
    /// A secret was drawn for another purpose, or where there was none.
    Secret {
        /// Position in the list of secrets.
        position: usize,
    },
    /// A statistic moved in a second one of parts that were charged as disjoint.
    Parts {
        /// Position in the list of calls.
        position: usize,
    },
}

/// One of several parts that were charged together as disjoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) group: u32,
    pub(crate) number: u32,
}

/// What a replay found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReplayReport {
    /// Differences that the proof does not allow; empty for a private algorithm.
    pub differences: Vec<Difference>,
    /// How many calls were compared.
    pub calls: usize,
    /// Pairs of statistics whose bound is a theorem, not a sensitivity: recorded, then replayed. Of equal length, and not empty.
    pub by_theorem: Vec<(Event, Statistic, Statistic)>,
    /// What the replay asked at each call that was compared, by its position in the list of calls: private, for audits that look for what tells
    /// the two data sets apart.
    pub statistics: BTreeMap<usize, Statistic>,
}

/// Where a session's calls go.
#[derive(Debug)]
pub(crate) enum Deck {
    Off,
    Recording(Tape),
    Replaying {
        tape: Tape,
        edit: Edit,
        at: usize,
        secrets_at: usize,
        report: ReplayReport,
        /// The part that runs.
        part: Option<Part>,
        /// The first part of each group in which a statistic moved.
        moved: BTreeMap<u32, u32>,
    },
}

impl Deck {
    pub(crate) fn replaying(tape: Tape, edit: Edit) -> Self {
        Self::Replaying {
            tape,
            edit,
            at: 0,
            secrets_at: 0,
            report: ReplayReport::default(),
            part: None,
            moved: BTreeMap::new(),
        }
    }

    /// Says which part runs from here on; returns which one did.
    pub(crate) const fn enter(&mut self, next: Option<Part>) -> Option<Part> {
        match self {
            Self::Replaying { part, .. } => std::mem::replace(part, next),
            Self::Off | Self::Recording(_) => None,
        }
    }

    pub(crate) const fn edit(&self) -> Option<Edit> {
        match self {
            Self::Replaying { edit, .. } => Some(*edit),
            Self::Off | Self::Recording(_) => None,
        }
    }

    /// One passage: draws and perhaps records, or compares and answers from the tape.
    pub(crate) fn call(
        &mut self,
        event: &Event,
        statistic: impl FnOnce() -> Statistic,
        draw: impl FnOnce() -> Output,
    ) -> Output {
        match self {
            Self::Off => draw(),
            Self::Recording(tape) => {
                let output = draw();
                tape.calls.push(Call {
                    event: event.clone(),
                    statistic: statistic(),
                    output: output.clone(),
                });
                output
            }
            Self::Replaying {
                tape,
                at,
                edit,
                report,
                part,
                moved,
                ..
            } => {
                let position = *at;
                *at += 1;
                let recorded = tape.calls.get(position);
                let Some(call) = recorded.filter(|call| call.event == *event) else {
                    report.differences.push(Difference::Call {
                        position,
                        recorded: recorded.map(|call| Box::new(call.event.clone())),
                        replayed: Some(Box::new(event.clone())),
                    });
                    // The control flow has diverged: go on with what fits best.
                    return recorded.map_or_else(draw, |call| call.output.clone());
                };
                report.calls += 1;
                let statistic = statistic();
                let output = align(&call.output, &statistic, *edit);
                if let Some(part) = part
                    && statistic != call.statistic
                    && *moved.entry(part.group).or_insert(part.number) != part.number
                {
                    report.differences.push(Difference::Parts { position });
                }
                compare(position, call, &statistic, *edit, report);
                report.statistics.insert(position, statistic);
                output
            }
        }
    }

    /// A secret key, recorded and replayed like a call.
    pub(crate) fn secret(&mut self, purpose: &str, draw: impl FnOnce() -> [u8; 32]) -> [u8; 32] {
        match self {
            Self::Off => draw(),
            Self::Recording(tape) => {
                let key = draw();
                tape.secrets.push((purpose.to_owned(), key));
                key
            }
            Self::Replaying {
                tape,
                secrets_at,
                report,
                ..
            } => {
                let position = *secrets_at;
                *secrets_at += 1;
                match tape.secrets.get(position) {
                    Some((recorded, key)) if recorded == purpose => *key,
                    _ => {
                        report.differences.push(Difference::Secret { position });
                        draw()
                    }
                }
            }
        }
    }

    pub(crate) fn into_tape(self) -> Option<Tape> {
        match self {
            Self::Recording(tape) => Some(tape),
            Self::Off | Self::Replaying { .. } => None,
        }
    }

    pub(crate) fn into_report(self) -> Option<ReplayReport> {
        match self {
            Self::Replaying {
                tape,
                at,
                mut report,
                ..
            } => {
                for (position, call) in tape.calls.iter().enumerate().skip(at) {
                    report.differences.push(Difference::Call {
                        position,
                        recorded: Some(Box::new(call.event.clone())),
                        replayed: None,
                    });
                }
                Some(report)
            }
            Self::Off | Self::Recording(_) => None,
        }
    }
}

/// Checks one replayed statistic against the recorded one.
fn compare(
    position: usize,
    call: &Call,
    statistic: &Statistic,
    edit: Edit,
    report: &mut ReplayReport,
) {
    let by_theorem = call.event.sensitivity == Sensitivity::ByTheorem;
    let covered = match (&call.statistic, statistic) {
        // How many numbers there are is public. What they may be is not for a norm to say, so they are kept for a check of their own.
        (Statistic::Integers(recorded), Statistic::Integers(replayed)) if by_theorem => {
            if recorded.len() == replayed.len() && !recorded.is_empty() {
                keep(call, statistic, report);
            }
            recorded.len() == replayed.len()
        }
        (Statistic::Integers(recorded), Statistic::Integers(replayed)) => {
            allowed(&call.event, edit).covers(recorded, replayed)
        }
        (Statistic::Keyed(recorded), Statistic::Keyed(replayed)) => {
            keyed_covers(call, recorded, replayed, edit)
        }
        (Statistic::Steps(recorded), Statistic::Steps(replayed)) => {
            steps_cover(allowed(&call.event, edit), recorded, replayed)
        }
        // Probabilities are bounded by the theorem of their charge, whatever the draw says.
        (Statistic::Fractions(_), Statistic::Fractions(_)) => {
            keep(call, statistic, report);
            true
        }
        _ => false,
    };
    if !covered {
        report.differences.push(Difference::Distance {
            position,
            event: Box::new(call.event.clone()),
        });
    }
}

/// Hands a pair out whose bound is a theorem.
fn keep(call: &Call, statistic: &Statistic, report: &mut ReplayReport) {
    let pair = (
        call.event.clone(),
        call.statistic.clone(),
        statistic.clone(),
    );
    report.by_theorem.push(pair);
}

/// How far a statistic may move. A replaced record is a removal and an addition: what was proved under add-remove, for which the
/// accountant charges twice, may move twice as far.
fn allowed(event: &Event, edit: Edit) -> Sensitivity {
    let twice =
        matches!(edit, Edit::Replaced(_)) && event.relation == NeighboringRelation::AddRemove;
    match event.sensitivity {
        Sensitivity::L1(bound) if twice => Sensitivity::L1(bound.saturating_mul(2)),
        Sensitivity::L2Squared(squared) if twice => {
            Sensitivity::L2Squared(squared.saturating_mul(4))
        }
        Sensitivity::LInf(bound) if twice => Sensitivity::LInf(bound.saturating_mul(2)),
        Sensitivity::Width(bound) if twice => Sensitivity::Width(bound.saturating_mul(2)),
        sensitivity => sensitivity,
    }
}

/// Counts by key: a key that is missing counts zero.
fn keyed_covers(
    call: &Call,
    recorded: &BTreeMap<Vec<i64>, i64>,
    replayed: &BTreeMap<Vec<i64>, i64>,
    edit: Edit,
) -> bool {
    let keys: std::collections::BTreeSet<_> = recorded.keys().chain(replayed.keys()).collect();
    let read = |map: &BTreeMap<Vec<i64>, i64>| -> Vec<i128> {
        keys.iter()
            .map(|key| map.get(*key).copied().unwrap_or(0).into())
            .collect()
    };
    allowed(&call.event, edit).covers(&read(recorded), &read(replayed))
}

/// Two step functions on one grid, compared on each piece where both are constant.
fn steps_cover<'a>(
    sensitivity: Sensitivity,
    recorded: &'a [(u64, i64)],
    replayed: &'a [(u64, i64)],
) -> bool {
    let (mut first, mut second) = (Vec::new(), Vec::new());
    // A step without points has no value anywhere.
    let points = |steps: &'a [(u64, i64)]| steps.iter().copied().filter(|&(length, _)| length > 0);
    let (mut left, mut right) = (points(recorded), points(replayed));
    let (mut a, mut b) = (left.next(), right.next());
    while let (Some((length_a, value_a)), Some((length_b, value_b))) = (a, b) {
        let common = length_a.min(length_b);
        first.push(i128::from(value_a));
        second.push(i128::from(value_b));
        let rest = |length: u64, value: i64| (length > common).then_some((length - common, value));
        a = rest(length_a, value_a).or_else(|| left.next());
        b = rest(length_b, value_b).or_else(|| right.next());
    }
    // Both end together: the grid is public.
    a.is_none() && b.is_none() && sensitivity.covers(&first, &second)
}

/// The recorded output as this data set sees it: coins move with the records they belong to, and one that cannot show heads here shows
/// tails. One that must show heads here is left as it fell: theorems of filters change coins one at a time and pay for each, so
/// what comes after is compared on the same kept set, but for records that cannot be kept.
fn align(output: &Output, statistic: &Statistic, edit: Edit) -> Output {
    let (Output::Coins(coins), Statistic::Fractions(fractions)) = (output, statistic) else {
        return output.clone();
    };
    let mut coins = coins.clone();
    // Coins of blocks, whose number is public, stay where they are: only a list per record changes its length.
    match edit {
        Edit::Removed(at) if fractions.len() < coins.len() => {
            if let Ok(at) = usize::try_from(at)
                && at < coins.len()
            {
                coins.remove(at);
            }
        }
        Edit::Inserted(at) if fractions.len() > coins.len() => {
            let at = usize::try_from(at).unwrap_or(usize::MAX).min(coins.len());
            coins.insert(at, true);
        }
        _ => {}
    }
    for (coin, &(numerator, _)) in coins.iter_mut().zip(fractions) {
        *coin = *coin && numerator > 0;
    }
    Output::Coins(coins)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mechanism::AdditiveMechanism;
    use crate::rng::InsecureSeededRng;
    use crate::sensitivity::L1Sensitivity;
    use crate::{Budget, Confidential, Epsilon, Loss, Session};

    const ADD: NeighboringRelation = NeighboringRelation::AddRemove;

    /// A secret sample and two noisy vectors, one of them bounded by a theorem alone.
    fn run(session: &mut Session<'_>, counts: &[i64]) {
        let epsilon = Epsilon::new(1.0).expect("valid");
        let event = Event::new("theorem", Sensitivity::ByTheorem, ADD, Loss::Pure(epsilon));
        let charge = session.charge(event).expect("fits");
        let one = L1Sensitivity::new(1).expect("valid");
        let noise = AdditiveMechanism::laplace(one, epsilon).expect("drawable");
        session.sample_charged(&charge, "sample", 2, 4);
        for (purpose, sensitivity) in [
            ("by theorem", Sensitivity::ByTheorem),
            ("by norm", Sensitivity::LInf(9)),
        ] {
            let counts = Confidential::new(counts.to_vec());
            session.add_noise_charged(&charge, &noise, purpose, sensitivity, &counts);
        }
    }

    fn replay(first: &[i64], second: &[i64]) -> ReplayReport {
        let budget = Budget::pure(Epsilon::new(1.0).expect("valid"));
        let mut rng = InsecureSeededRng::new(1);
        let mut session = Session::new(budget, ADD, &mut rng).recorded();
        run(&mut session, first);
        let tape = session.into_tape().expect("recorded");
        let mut rng = InsecureSeededRng::new(2);
        let session = Session::new(budget, ADD, &mut rng);
        let mut session = session.replayed(&tape, Edit::Replaced(0));
        run(&mut session, second);
        session.into_report().expect("replayed")
    }

    #[test]
    fn integers_whose_bound_is_a_theorem_are_handed_out() {
        let report = replay(&[1, 2], &[1, 7]);
        assert!(report.differences.is_empty(), "{:?}", report.differences);
        let [(event, recorded, replayed)] = &report.by_theorem[..] else {
            panic!("{:?}", report.by_theorem);
        };
        assert_eq!(event.sensitivity, Sensitivity::ByTheorem);
        assert_eq!(recorded, &Statistic::Integers(vec![1, 2]));
        assert_eq!(replayed, &Statistic::Integers(vec![1, 7]));
        // The sample asks about nothing; both vectors are there.
        assert_eq!(report.statistics.len(), 3);
        assert_eq!(report.statistics[&2], Statistic::Integers(vec![1, 7]));
    }

    #[test]
    fn another_number_of_integers_is_a_difference_even_under_a_theorem() {
        let report = replay(&[1, 2], &[1, 2, 3]);
        assert!(report.by_theorem.is_empty());
        // Of the other vector what it loses by itself has changed too: that is another call.
        let [Difference::Distance { event, .. }, _] = &report.differences[..] else {
            panic!("{:?}", report.differences);
        };
        assert_eq!(event.sensitivity, Sensitivity::ByTheorem);
    }
}
