//! Black-box attacks on k-tuple aggregators: one tuple is moved so that it flips a ball, a pass bit, the first tuple that passes, the
//! tuples that are kept, or the extremes of a cluster.
//!
//! The adversary sees all that is released: whether there are centers, and where. Two clusters on a line and a large δ keep the
//! lists short, so that 10⁵ runs take seconds.

use dp_audit::black_box::{BlackBox, Finding};
use dp_core::rng::InsecureSeededRng;
use dp_core::{Budget, Event, NeighboringRelation, Session};
use ktuple::averages::Axes;
use ktuple::friendly::FriendlyCore;
use ktuple::paper::{NoisyComposition, PrivateKAverages, PrivateKNoisyCenters};
use ktuple::partition::{Formulas, TestCall};
use ktuple::{Aggregate, FitError, ParamsError, TupleAggregator, TupleShape, TupleSpend, Tuples};
use metric_space::Lattice;
use ndarray::{Array2, array};
use rand::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use crate::black_box::{JOINT_RATE, Verdict};
use crate::subjects::budget;

/// What every aggregator here promises.
const EPSILON: f64 = 1.0;
const DELTA: f64 = 0.01;

/// β of the published test.
const FAILURE_PROBABILITY: f64 = 0.05;

/// Number of attacks in [`all`].
pub const ATTACKS: usize = 7;

/// A tuple of the list.
#[derive(Clone, Copy)]
enum Kind {
    /// {−0.4, 0.4}, as most are.
    Usual,
    /// A little to the right, inside of the balls of the usual ones and matched by them.
    Right,
    /// A quarter wider; at Δ = 7 it and the usual ones still partition each other.
    Wide,
    /// {0.8, 0.9}: neither partitioned nor matched.
    Apart,
    /// Equal points.
    Void,
}

impl Kind {
    fn push(self, tuples: &mut Tuples) {
        match self {
            Self::Usual => tuples.push(array![[-0.4], [0.4]].view()),
            Self::Right => tuples.push(array![[-0.36], [0.44]].view()),
            Self::Wide => tuples.push(array![[-0.5], [0.5]].view()),
            Self::Apart => tuples.push(array![[0.8], [0.9]].view()),
            Self::Void => tuples.push_void(),
        }
    }
}

/// t tuples, `n` of the second kind and the others of the first.
fn list(t: usize, n: usize, (usual, other): (Kind, Kind)) -> Tuples {
    let mut tuples = Tuples::new(2, 1, Lattice::default());
    for i in 0..t {
        if i < n { other } else { usual }.push(&mut tuples);
    }
    tuples
}

/// A list, the number of other tuples in it (one more in the neighbor), and how finely released places are told apart.
struct Attack {
    name: &'static str,
    aggregator: Box<dyn TupleAggregator + Send>,
    kinds: (Kind, Kind),
    others: usize,
    grid: f64,
}

fn attacks() -> Vec<Attack> {
    let noisy = || -> Box<dyn TupleAggregator + Send> {
        let noisy = PrivateKNoisyCenters::new(7.0, FAILURE_PROBABILITY, NoisyComposition::Basic);
        Box::new(noisy.expect("valid"))
    };
    let core = || -> Box<dyn TupleAggregator + Send> { Box::new(FriendlyCore::default()) };
    let averages = PrivateKAverages::new(0.5, FAILURE_PROBABILITY, Axes::Own).expect("valid");
    let attack = |name, aggregator, kinds, others, grid| Attack {
        name,
        aggregator,
        kinds,
        others,
        grid,
    };
    let t = n_tuples(&*noisy());
    let call = TestCall::of_algorithm(EPSILON, DELTA, FAILURE_PROBABILITY);
    let plan = Formulas::default()
        .plan(t as u64, call)
        .expect("enough tuples");
    let limit = usize::try_from(plan.most_outside()).unwrap_or(0);
    let kept = n_tuples(&FriendlyCore::default());
    vec![
        attack(
            "noisy centers, a ball flips where half of the tests pass",
            noisy(),
            (Kind::Usual, Kind::Apart),
            limit,
            100.0,
        ),
        attack(
            "noisy centers, a pass bit flips",
            noisy(),
            (Kind::Usual, Kind::Void),
            0,
            100.0,
        ),
        attack(
            "noisy centers, the first that passes is wider",
            noisy(),
            (Kind::Usual, Kind::Wide),
            0,
            0.5,
        ),
        attack(
            "averages, an extreme of both clusters",
            Box::new(averages),
            (Kind::Usual, Kind::Right),
            0,
            0.1,
        ),
        attack(
            "averages, a ball flips where half of the tests pass",
            Box::new(averages),
            (Kind::Usual, Kind::Apart),
            limit,
            100.0,
        ),
        attack(
            "friendly core, all probabilities of keeping move",
            core(),
            (Kind::Usual, Kind::Apart),
            kept / 16,
            100.0,
        ),
        attack(
            "friendly core, an extreme of both clusters",
            core(),
            (Kind::Usual, Kind::Right),
            0,
            0.002,
        ),
    ]
}

/// A few more tuples than are needed.
fn n_tuples(aggregator: &dyn TupleAggregator) -> usize {
    let shape = TupleShape {
        n_tuples: 0,
        n_clusters: 2,
        dimension: 1,
        lattice: Lattice::default(),
    };
    let needed = match aggregator.name() {
        // The averages say how many are of use; the test takes far fewer.
        "averages" => {
            let noisy =
                PrivateKNoisyCenters::new(7.0, FAILURE_PROBABILITY, NoisyComposition::Basic);
            let noisy = noisy.expect("valid");
            noisy.tuples_needed(shape, budget(EPSILON, DELTA))
        }
        _ => aggregator.tuples_needed(shape, budget(EPSILON, DELTA)),
    };
    let needed = usize::try_from(needed.expect("feasible")).unwrap_or(usize::MAX);
    needed + needed / 16
}

impl Attack {
    fn run(&self, runs: u64, pairs: usize) -> Verdict {
        let t = n_tuples(&*self.aggregator);
        let spend = budget(EPSILON, DELTA);
        let draw = |others: usize, seed: u64| {
            let tuples = list(t, others, self.kinds);
            let mut rng = InsecureSeededRng::new(seed);
            let mut public = ChaCha8Rng::seed_from_u64(seed);
            move || {
                let mut session = Session::new(spend, NeighboringRelation::ReplaceOne, &mut rng);
                let spend = TupleSpend::direct(spend);
                let answer = self
                    .aggregator
                    .aggregate(&tuples, spend, &mut session, &mut public);
                match answer {
                    Ok(Aggregate::Centers(centers)) => {
                        let places = centers.iter().map(|x| {
                            #[expect(clippy::cast_possible_truncation, reason = "clamped")]
                            let place = (x / self.grid).round().clamp(-1e6, 1e6) as i64;
                            place
                        });
                        places.collect()
                    }
                    Ok(Aggregate::Refused(_)) => Vec::new(),
                    Err(_) => vec![i64::MAX],
                }
            }
        };
        let audit = BlackBox {
            runs,
            false_positive_rate: JOINT_RATE / pairs as f64,
            delta: DELTA,
        };
        let finding: Finding<Vec<i64>> =
            audit.attack(draw(self.others + 1, 41), draw(self.others, 42));
        Verdict {
            name: format!("{} ({t} tuples)", self.name),
            runs,
            found: finding.epsilon,
            promised: EPSILON,
            own: None,
            moves: None,
            unseen: None,
        }
    }
}

/// All attacks, `runs` runs on each of two neighbors; `pairs` attacks are tested at the joint level.
#[must_use]
pub fn all(runs: u64, pairs: usize) -> Vec<Verdict> {
    let attacks = attacks();
    debug_assert_eq!(attacks.len(), ATTACKS, "the joint level counts them");
    attacks
        .par_iter()
        .map(|attack| attack.run(runs, pairs))
        .collect()
}

/// The twin: an aggregator that releases the first tuple as it is, which any attack that moves it must see.
#[derive(Debug)]
struct FirstTuple;

impl TupleAggregator for FirstTuple {
    fn name(&self) -> &'static str {
        "first tuple"
    }

    fn tuples_needed(&self, _: TupleShape, _: Budget) -> Result<u64, ParamsError> {
        Ok(16)
    }

    fn plan(
        &self,
        _: TupleShape,
        _: NeighboringRelation,
        _: TupleSpend,
    ) -> Result<Vec<Event>, ParamsError> {
        Ok(Vec::new())
    }

    fn aggregate(
        &self,
        tuples: &Tuples,
        _: TupleSpend,
        _: &mut Session<'_>,
        _: &mut dyn RngCore,
    ) -> Result<Aggregate, FitError> {
        let shape = tuples.shape();
        let places = (shape.n_clusters, shape.dimension);
        let first = tuples.tuple(0);
        Ok(Aggregate::Centers(Array2::from_shape_fn(
            places,
            |(i, j)| f64::from(first[i * shape.dimension + j]) * shape.lattice.step(),
        )))
    }
}

/// The attack on the twin, as one of `pairs`.
#[must_use]
pub fn unsound(runs: u64, pairs: usize) -> Verdict {
    let attack = Attack {
        name: "the first tuple itself",
        aggregator: Box::new(FirstTuple),
        kinds: (Kind::Usual, Kind::Right),
        others: 0,
        grid: 0.002,
    };
    attack.run(runs, pairs)
}
