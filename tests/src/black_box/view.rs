//! Which numbers the adversary of a black-box attack looks at: those that tell most.
//!
//! The adversary may know both data sets. So it records a few runs on each and replays them on the other: given all that was released
//! before, the exact statistics of the two show which numbers have another law, and by how much of their noise. It looks at the few that
//! move most, in every run at the same places, and at the sum of all that move, each times how far it does: for Gaussian noise that sum tells
//! all there is. Numbers that most calls are full of, as empty cells of a histogram, tell nothing.

use std::collections::BTreeMap;

use dp_audit::replay::Promise;
use dp_core::Session;
use dp_core::rng::InsecureSeededRng;
use dp_core::tape::{Edit, Tape};
use ndarray::Array2;

use super::numbers::{Move, NOTHING, Place, halves, moved, read, std_dev, value};

#[cfg(test)]
mod tests;

/// Numbers that the adversary looks at one by one.
const SINGLE: usize = 3;

/// Those, and a sum.
pub(super) const SEEN: usize = SINGLE + 1;

/// What the adversary sees of one run: single numbers, the one that moves most first, then the sum of all.
pub(super) type Seen = [i32; SEEN];

/// Which part of what is seen an event is about.
pub(super) type Look = [bool; SEEN];

/// What events may be about: the first number, the first two, …, or the sum alone. Few numbers have few outcomes, whose odds are soon known.
pub(super) const LOOKS: [Look; SEEN] = [
    [true, false, false, false],
    [true, true, false, false],
    [true, true, true, false],
    [false, false, false, true],
];

/// What a look leaves of what is seen.
pub(super) fn look(seen: Seen, look: Look) -> Seen {
    std::array::from_fn(|i| if look[i] { seen[i] } else { NOTHING })
}

/// Runs that are recorded on each data set: paths differ with what was released before.
const TAPES: u64 = 8;

/// Above this variance, in that of its noise, a number is moved about by what was released before: no sample of noise alone comes so high but
/// once in a thousand.
const MOST_VARIANCE: f64 = 4.0;

/// Two neighbors, and how each of them differs from the other.
pub(super) struct Neighbors {
    pub(super) sets: [Array2<f64>; 2],
    pub(super) edits: [Edit; 2],
}

/// Where in a run a number stands: in which call, and where in what that released.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Position {
    call: usize,
    place: Place,
}

/// What is known of one number: its moves, added up, and how its noisy values vary on either data set.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    moved: Move,
    values: [Moments; 2],
}

impl Known {
    /// The standard deviation that hides the moves: 1, that of the noise, unless values vary far more.
    fn spread(&self) -> f64 {
        let of_either = self.values.iter().map(Moments::variance);
        let variance = of_either.fold(0.0, |a, b| if b > a { b } else { a });
        if variance > MOST_VARIANCE {
            variance.sqrt()
        } else {
            1.0
        }
    }
}

/// The moments of some values, around the first of them.
#[derive(Clone, Copy, Debug, Default)]
struct Moments {
    first: f64,
    n: u32,
    sum: f64,
    squares: f64,
}

impl Moments {
    fn add(&mut self, value: f64) {
        if self.n == 0 {
            self.first = value;
        }
        let x = value - self.first;
        self.n += 1;
        self.sum += x;
        self.squares += x * x;
    }

    fn variance(&self) -> f64 {
        if self.n < 2 {
            return 0.0;
        }
        let n = f64::from(self.n);
        (self.squares - self.sum * self.sum / n) / (n - 1.0)
    }
}

/// How far all statistics move between two neighbors: the root of the sum of squares.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moves {
    /// Those that the adversary looks at one by one.
    pub single: f64,
    /// All that are released.
    pub all: f64,
}

/// The numbers that the adversary looks at.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct View {
    single: Vec<Position>,
    /// The terms of the sum, with their factors; its noise has a standard deviation of 1 if that of its terms is independent.
    terms: Vec<(Position, f64)>,
    pub(super) moves: Moves,
}

impl View {
    /// The numbers whose exact statistics differ most, on the average of a few recorded runs; ties to the earlier ones. They are measured by
    /// their noise, or by how far they vary where that is far more: a sum of differences to a center that was released with noise, of many
    /// records, goes wherever the center went.
    ///
    /// The seeds are fixed, so the choice is the same each time. Runs that fail show nothing.
    pub(super) fn of(
        promise: Promise,
        neighbors: &Neighbors,
        run: impl Fn(&Array2<f64>, &mut Session<'_>) -> Result<(), String>,
    ) -> Self {
        let mut known = known(promise, neighbors, run);
        known.retain(|_, known| known.moved.size > 0.0);
        let moves: Vec<(Position, Move, f64)> = known
            .into_iter()
            .map(|(position, known)| {
                let spread = known.spread();
                let moved = Move {
                    size: known.moved.size / spread,
                    signed: known.moved.signed / spread,
                };
                (position, moved, spread)
            })
            .collect();
        let length_of_terms = length(moves.iter().map(|(_, moved, _)| moved.signed));
        let terms = moves.iter().filter(|(_, moved, _)| moved.signed != 0.0);
        let terms = terms.map(|(position, moved, spread)| {
            (position.clone(), moved.signed / length_of_terms / spread)
        });
        let terms = terms.collect();
        let all = length(moves.iter().map(|(_, moved, _)| moved.size));
        let mut ranked = moves;
        // Stable: positions come in order.
        ranked.sort_by(|a, b| b.1.size.total_cmp(&a.1.size));
        ranked.truncate(SINGLE);
        let moves = Moves {
            single: length(ranked.iter().map(|(_, moved, _)| moved.size)),
            all,
        };
        let positions = ranked.into_iter().map(|(position, ..)| position);
        Self {
            single: positions.collect(),
            terms,
            moves,
        }
    }

    /// What the adversary sees of one run, in halves of a standard deviation (single numbers with Laplace noise: of its scale).
    pub(super) fn seen(&self, tape: &Tape) -> Seen {
        let mut seen = [NOTHING; SEEN];
        // Another run may have ended, or done something else, before it came to a position.
        let call = |position: &Position| tape.calls().get(position.call);
        for (number, position) in seen.iter_mut().zip(&self.single) {
            *number = call(position).map_or(NOTHING, |call| read(call, &position.place));
        }
        if !self.terms.is_empty() {
            let terms = self.terms.iter().filter_map(|(position, factor)| {
                let call = call(position)?;
                Some(factor * value(call, &position.place)? / std_dev(call))
            });
            seen[SINGLE] = halves(terms.sum());
        }
        seen
    }
}

/// What is known of all numbers from runs that are recorded on one of the neighbors and replayed on the other.
fn known(
    promise: Promise,
    neighbors: &Neighbors,
    run: impl Fn(&Array2<f64>, &mut Session<'_>) -> Result<(), String>,
) -> BTreeMap<Position, Known> {
    let Neighbors { sets, edits } = neighbors;
    let mut known: BTreeMap<Position, Known> = BTreeMap::new();
    let weight = 1.0 / (2 * TAPES) as f64;
    for tape in 0..TAPES {
        for (recorded, replayed, sign) in [(0, 1, weight), (1, 0, -weight)] {
            // Far from the seeds of the attack itself, which count from zero.
            let mut rng = InsecureSeededRng::new(!(2 * tape + recorded as u64));
            let session = Session::new(promise.budget, promise.relation, &mut rng);
            let mut session = session.recorded();
            if run(&sets[recorded], &mut session).is_err() {
                continue;
            }
            let tape = session.into_tape().unwrap_or_default();
            let session = Session::new(promise.budget, promise.relation, &mut rng);
            let mut session = session.replayed(&tape, edits[replayed]);
            if run(&sets[replayed], &mut session).is_err() {
                continue;
            }
            let report = session.into_report().unwrap_or_default();
            for (at, statistic) in report.statistics {
                let call = &tape.calls()[at];
                for (place, moved) in moved(call, &statistic) {
                    let value = value(call, &place).map(|value| value / std_dev(call));
                    let known = known.entry(Position { call: at, place }).or_default();
                    known.moved.size += weight * moved.size;
                    known.moved.signed += sign * moved.signed;
                    if let Some(value) = value {
                        known.values[recorded].add(value);
                    }
                }
            }
        }
    }
    known
}

/// The root of the sum of squares.
fn length(moves: impl Iterator<Item = f64>) -> f64 {
    moves.fold(0.0, |sum, moved| sum + moved * moved).sqrt()
}
