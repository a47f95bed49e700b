//! Attacks on whole algorithms.

use std::collections::BTreeMap;
use std::convert::Infallible;

use dp_audit::black_box::{BlackBox, Chosen, Counts};
use dp_core::rng::InsecureSeededRng;
use dp_core::tape::Edit;
use dp_core::{NeighboringRelation, Session};
use ndarray::Array2;

use super::view::{LOOKS, Look, Moves, Neighbors, SEEN, Seen, View, look};
use super::{Verdict, audit};
use crate::parallel::spread;
use crate::subjects::Subject;

/// Runs of one job: many jobs share the machine's cores.
const JOB: u64 = 10_000;

/// Where the other records are, in each column.
const CROWD: f64 = 0.9;

/// Where the record may be in which neighbors differ, in each column: with the others, in the opposite corner, on the border, in between.
const PLACES: [f64; 7] = [CROWD, -CROWD, 1.0, -1.0, 0.1, 0.5, -0.3];

/// The neighbors among which the adversary chooses. Add-remove: a record that one of them lacks. Replace-one: a record that is elsewhere.
pub(super) fn all_neighbors(subject: &Subject) -> Vec<Neighbors> {
    let (relation, crowd) = (subject.promise.relation, subject.crowd);
    let last = crowd.saturating_sub(1);
    let others = Array2::from_elem((last, subject.columns), CROWD);
    let with = |place: f64| {
        let mut records = Array2::from_elem((crowd, subject.columns), CROWD);
        records.row_mut(last).fill(place);
        records
    };
    let at = last as u64;
    let mut all = Vec::new();
    for (i, &place) in PLACES.iter().enumerate() {
        match relation {
            NeighboringRelation::AddRemove => all.push(Neighbors {
                sets: [with(place), others.clone()],
                edits: [Edit::Inserted(at), Edit::Removed(at)],
            }),
            NeighboringRelation::ReplaceOne => {
                all.extend(PLACES.iter().skip(i + 1).map(|&elsewhere| Neighbors {
                    sets: [with(place), with(elsewhere)],
                    edits: [Edit::Replaced(at); 2],
                }));
            }
        }
    }
    all
}

/// What the adversary looks at on two neighbors.
pub(super) fn view(subject: &Subject, neighbors: &Neighbors) -> View {
    View::of(subject.promise, neighbors, |records, session| {
        subject.run(records, session)
    })
}

/// The neighbors between which statistics move most, ties to the earlier ones.
fn worst(subject: &Subject) -> (Neighbors, View) {
    let mut all = all_neighbors(subject);
    let one = |job: u64| {
        let at = usize::try_from(job).unwrap_or(usize::MAX);
        let neighbors = all.get(at);
        Ok::<_, Infallible>(neighbors.map(|neighbors| (at, view(subject, neighbors))))
    };
    let worse = |a: &(usize, View), b: &(usize, View)| {
        let order = a.1.moves.all.total_cmp(&b.1.moves.all);
        order.then(b.0.cmp(&a.0)).is_gt()
    };
    let worst = |a: Option<(usize, View)>, b: Option<(usize, View)>| match (a, b) {
        (Some(a), Some(b)) => Some(if worse(&a, &b) { a } else { b }),
        (a, b) => a.or(b),
    };
    let Ok(worst) = spread(all.len() as u64, one, worst);
    let (at, view) = worst.flatten().expect("there are several");
    (all.swap_remove(at), view)
}

/// How far the statistics of a subject move between the neighbors on which it is attacked: without any runs of the attack.
#[must_use]
pub fn moves(subject: &Subject) -> Moves {
    worst(subject).1.moves
}

/// Outcomes of runs that choose an event. Half of them choose one for each look, the other half says which of these is best: of many
/// outcomes some seem to tell much by chance, and where there are more runs there are more such outcomes.
#[derive(Default)]
struct Gathered {
    choosing: [Counts<Seen>; LOOKS.len()],
    judging: BTreeMap<Seen, [u64; 2]>,
    runs: [u64; 2],
}

impl Gathered {
    fn add(&mut self, first: Seen, second: Seen) {
        if self.runs[0] == self.runs[1] {
            self.runs[0] += 1;
            for (counts, at) in self.choosing.iter_mut().zip(LOOKS) {
                counts.add(look(first, at), look(second, at));
            }
        } else {
            self.runs[1] += 1;
            self.judging.entry(first).or_default()[0] += 1;
            self.judging.entry(second).or_default()[1] += 1;
        }
    }

    fn merged(mut self, other: Self) -> Self {
        for (into, from) in self.choosing.iter_mut().zip(other.choosing) {
            *into = std::mem::take(into).merged(from);
        }
        for (seen, counts) in other.judging {
            let sum = self.judging.entry(seen).or_default();
            *sum = [sum[0] + counts[0], sum[1] + counts[1]];
        }
        let [a, b] = self.runs;
        self.runs = [a + other.runs[0], b + other.runs[1]];
        self
    }

    /// The best event, and what it looks at.
    fn best(&self, audit: &BlackBox) -> (Look, Chosen<Seen>) {
        let mut best = (f64::NEG_INFINITY, None);
        for (at, counts) in LOOKS.into_iter().zip(&self.choosing) {
            let chosen = audit.choose(counts, self.runs[0]);
            let mut hits = [0; 2];
            for (seen, counts) in &self.judging {
                if chosen.event.contains(&look(*seen, at)) {
                    hits = [hits[0] + counts[0], hits[1] + counts[1]];
                }
            }
            let bound = audit.bound(chosen.clone(), hits, self.runs[1]).epsilon;
            // What is no number is no bound, but an event there must be.
            if best.1.is_none() || bound > best.0 {
                let bound = if bound.is_nan() {
                    f64::NEG_INFINITY
                } else {
                    bound
                };
                best = (bound, Some((at, chosen)));
            }
        }
        best.1.expect("there are several looks")
    }
}

/// Attacks an algorithm end to end: the adversary chooses the neighbors, and the numbers that come through the door at which it looks.
///
/// Jobs have generators of their own, so that the result does not depend on the number of threads.
#[must_use]
pub fn algorithm(subject: &Subject, runs: u64, pairs: usize) -> Verdict {
    let runs = (runs / subject.cost as u64).max(1000);
    let promise = subject.promise;
    let (neighbors, view) = worst(subject);
    let [first, second] = &neighbors.sets;
    let run = |records: &Array2<f64>, rng: &mut InsecureSeededRng| -> Seen {
        let mut session = Session::new(promise.budget, promise.relation, rng).recorded();
        // A failure is an outcome too.
        match subject.run(records, &mut session) {
            Ok(()) => view.seen(&session.into_tape().unwrap_or_default()),
            Err(_) => [i32::MAX; SEEN],
        }
    };
    // The outcomes of one job of one half of the runs.
    let each = |half: u64, n: u64, job: u64, see: &mut dyn FnMut(Seen, Seen)| {
        let seed = 4 * job + 2 * half;
        let mut rngs = [seed, seed + 1].map(InsecureSeededRng::new);
        for _ in 0..JOB.min(n - job * JOB) {
            let [a, b] = &mut rngs;
            see(run(first, a), run(second, b));
        }
    };
    let audit = audit(runs, pairs, promise.budget.delta.get());
    let half = runs / 2;
    let gather = |job| {
        let mut gathered = Gathered::default();
        each(0, half, job, &mut |a, b| gathered.add(a, b));
        Ok::<_, Infallible>(gathered)
    };
    let Ok(gathered) = spread(half.div_ceil(JOB), gather, Gathered::merged);
    let (at, chosen) = gathered.unwrap_or_default().best(&audit);
    let rest = runs - half;
    let hit = |job| {
        let mut hits = [0; 2];
        each(1, rest, job, &mut |a, b| {
            hits[0] += u64::from(chosen.event.contains(&look(a, at)));
            hits[1] += u64::from(chosen.event.contains(&look(b, at)));
        });
        Ok::<_, Infallible>(hits)
    };
    let Ok(hits) = spread(rest.div_ceil(JOB), hit, |a, b| [a[0] + b[0], a[1] + b[1]]);
    let hits = hits.unwrap_or_default();
    let finding = audit.bound(chosen, hits, rest);
    Verdict {
        name: subject.name(),
        runs,
        found: finding.epsilon,
        promised: promise.budget.epsilon.get(),
        own: None,
        moves: Some(view.moves),
        unseen: subject.unseen,
    }
}
