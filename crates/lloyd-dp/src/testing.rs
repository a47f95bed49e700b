//! What the tests of several modules share.

use dp_core::rng::InsecureSeededRng;
use dp_core::tape::{Edit, ReplayReport};
use dp_core::{Budget, Delta, Epsilon, NeighboringRelation, Session};
use metric_space::{BoxDomain, Frame, FramedSource, Lattice};
use ndarray::{Array2, Axis};
use proptest::num::f64::ANY;
use proptest::prelude::*;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::error::FitError;

pub(crate) fn pure(epsilon: f64) -> Budget {
    Budget::pure(Epsilon::new(epsilon).expect("valid"))
}

pub(crate) fn approx(epsilon: f64, delta: f64) -> Budget {
    Budget::approx(
        Epsilon::new(epsilon).expect("valid"),
        Delta::new(delta).expect("valid"),
    )
}

/// [-1, 1]^d with a lattice of 12 bits.
pub(crate) fn frame(d: usize) -> Frame {
    let domain = BoxDomain::new(vec![-1.0; d], vec![1.0; d]).expect("valid");
    Frame::new(domain, Lattice::new(12).expect("valid"))
}

pub(crate) fn public() -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(5)
}

/// Runs an algorithm once, with seeded noise.
pub(crate) fn run<T>(
    budget: Budget,
    relation: NeighboringRelation,
    seed: u64,
    records: &Array2<f64>,
    fit: impl FnOnce(&FramedSource<'_, Array2<f64>>, &mut Session<'_>) -> Result<T, FitError>,
) -> (T, dp_core::Guarantee) {
    let frame = frame(records.ncols());
    let mut rng = InsecureSeededRng::new(seed);
    let mut session = Session::new(budget, relation, &mut rng);
    let value = fit(&FramedSource::new(records, &frame), &mut session).expect("total on data");
    (value, session.guarantee())
}

/// A data set, a neighbor, and how they differ.
#[derive(Clone, Debug)]
pub(crate) struct Neighbors {
    pub(crate) records: Array2<f64>,
    pub(crate) neighbor: Array2<f64>,
    pub(crate) edit: Edit,
    pub(crate) relation: NeighboringRelation,
}

/// Coordinates: mostly inside the domain, sometimes any float at all.
fn coordinate() -> impl Strategy<Value = f64> {
    prop_oneof![6 => -1.2..1.2_f64, 1 => Just(1.0), 1 => Just(-1.0), 1 => ANY]
}

/// Neighbors of up to `most` records: one removed, one inserted, or one replaced.
pub(crate) fn neighbors(d: usize, most: usize) -> impl Strategy<Value = Neighbors> {
    (1..most)
        .prop_flat_map(move |n| {
            let rows = proptest::collection::vec(coordinate(), n * d);
            let other = proptest::collection::vec(coordinate(), d);
            (rows, other, 0..n, 0..3_u8)
        })
        .prop_map(move |(rows, other, at, kind)| {
            let n = rows.len() / d;
            let records = Array2::from_shape_vec((n, d), rows).expect("n rows of d");
            let without = |skip: usize| {
                let keep: Vec<usize> = (0..n).filter(|&i| i != skip).collect();
                records.select(Axis(0), &keep)
            };
            let index = at as u64;
            let (neighbor, edit, relation) = match kind {
                0 => (
                    without(at),
                    Edit::Removed(index),
                    NeighboringRelation::AddRemove,
                ),
                1 => {
                    let mut flat: Vec<f64> = records.iter().copied().collect();
                    flat.splice(at * d..at * d, other);
                    let longer = Array2::from_shape_vec((n + 1, d), flat).expect("one row more");
                    (
                        longer,
                        Edit::Inserted(index),
                        NeighboringRelation::AddRemove,
                    )
                }
                _ => {
                    let mut replaced = records.clone();
                    replaced.row_mut(at).assign(&ndarray::Array1::from(other));
                    (
                        replaced,
                        Edit::Replaced(index),
                        NeighboringRelation::ReplaceOne,
                    )
                }
            };
            Neighbors {
                records,
                neighbor,
                edit,
                relation,
            }
        })
}

/// Records of one to three columns with any floats, and each way to a neighbor: one removed, inserted, replaced.
pub(crate) fn neighbors_of_each_kind() -> impl Strategy<Value = [Neighbors; 3]> {
    let value = || prop_oneof![ANY, -1.0..1.0_f64, Just(1.0), Just(-1.0), Just(0.0)];
    (1_usize..12, 1_usize..4)
        .prop_flat_map(move |(n, d)| {
            let rows = proptest::collection::vec(value(), n * d);
            (rows, 0..n, proptest::collection::vec(value(), d))
        })
        .prop_map(|(rows, at, other)| {
            let d = other.len();
            let records = Array2::from_shape_vec((rows.len() / d, d), rows).expect("n rows of d");
            let kept: Vec<usize> = (0..records.nrows()).filter(|&i| i != at).collect();
            let fewer = records.select(Axis(0), &kept);
            let mut replaced = records.clone();
            replaced.row_mut(at).assign(&ndarray::Array1::from(other));
            let pair = |records: &Array2<f64>, neighbor: &Array2<f64>, edit, relation| Neighbors {
                records: records.clone(),
                neighbor: neighbor.clone(),
                edit,
                relation,
            };
            let (at, unbounded) = (at as u64, NeighboringRelation::AddRemove);
            [
                pair(&records, &fewer, Edit::Removed(at), unbounded),
                pair(&fewer, &records, Edit::Inserted(at), unbounded),
                pair(
                    &records,
                    &replaced,
                    Edit::Replaced(at),
                    NeighboringRelation::ReplaceOne,
                ),
            ]
        })
}

/// Records a run and replays it on the neighbor: differences that the report holds are holes in the proof.
pub(crate) fn replay<T>(
    budget: Budget,
    pair: &Neighbors,
    fit: impl Fn(&FramedSource<'_, Array2<f64>>, &mut Session<'_>) -> Result<T, FitError>,
) -> ReplayReport {
    let frame = frame(pair.records.ncols());
    let mut rng = InsecureSeededRng::new(3);
    let mut session = Session::new(budget, pair.relation, &mut rng).recorded();
    fit(&FramedSource::new(&pair.records, &frame), &mut session).expect("total on data");
    let tape = session.into_tape().expect("a recorded session has a tape");
    let mut rng = InsecureSeededRng::new(4);
    let mut session = Session::new(budget, pair.relation, &mut rng).replayed(&tape, pair.edit);
    fit(&FramedSource::new(&pair.neighbor, &frame), &mut session).expect("total on data");
    session
        .into_report()
        .expect("a replayed session has a report")
}

/// Tables on which nothing may fail: none, one, NaN and infinities, duplicates; n × d.
pub(crate) fn odd_tables(d: usize) -> Vec<Array2<f64>> {
    let strange = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, -0.0, 0.5];
    vec![
        Array2::zeros((0, d)),
        Array2::zeros((1, d)),
        Array2::from_elem((20, d), f64::NAN),
        Array2::from_shape_fn((13, d), |(i, j)| strange[(i + j) % strange.len()]),
        Array2::from_elem((50, d), 0.25),
    ]
}
