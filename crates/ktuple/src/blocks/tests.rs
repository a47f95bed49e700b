use dp_core::rng::InsecureSeededRng;
use dp_core::tape::Edit;
use dp_core::{Budget, Epsilon, NeighboringRelation};
use metric_space::{BoxDomain, Frame, FramedSource, Lattice};
use ndarray::Array2;

use super::*;

fn frame() -> Frame {
    let domain = BoxDomain::new(vec![0.0, 0.0], vec![10.0, 10.0]).expect("valid");
    Frame::new(domain, Lattice::default())
}

fn records(n: usize) -> Array2<f64> {
    // Two groups, and a little of each record's own.
    Array2::from_shape_fn((n, 2), |(i, j)| {
        let group = if i % 2 == 0 { 2.0 } else { 8.0 };
        group + ((i * 7 + j * 3) % 10) as f64 * 0.01
    })
}

fn budget() -> Budget {
    Budget::pure(Epsilon::new(1.0).expect("valid"))
}

#[test]
fn a_removed_record_changes_one_block_alone() {
    let frame = frame();
    let all = records(500);
    let mut rng = InsecureSeededRng::new(1);
    let mut session = Session::new(budget(), NeighboringRelation::AddRemove, &mut rng).recorded();
    let solver = KMeans::new(2, 2).expect("valid");
    let blocks =
        Blocks::disjoint(&FramedSource::new(&all, &frame), 20, &mut session).expect("reads");
    let tuples = blocks.tuples(&solver, &frame, 2);
    let tape = session.into_tape().expect("recorded");
    for at in [0_usize, 123, 499] {
        let mut fewer = all.clone();
        fewer.remove_index(ndarray::Axis(0), at);
        let mut rng = InsecureSeededRng::new(2);
        let session = Session::new(budget(), NeighboringRelation::AddRemove, &mut rng);
        let mut session = session.replayed(&tape, Edit::Removed(at as u64));
        let neighbor =
            Blocks::disjoint(&FramedSource::new(&fewer, &frame), 20, &mut session).expect("reads");
        let changed = (0..20)
            .filter(|&b| blocks.rows[b] != neighbor.rows[b])
            .count();
        assert_eq!(changed, 1);
        let neighbor = neighbor.tuples(&solver, &frame, 2);
        let changed = (0..20)
            .filter(|&t| tuples.tuple(t) != neighbor.tuple(t))
            .count();
        assert!(changed <= 1);
    }
}

#[test]
fn blocks_without_enough_records_give_void_tuples() {
    let frame = frame();
    let all = records(3);
    let mut rng = InsecureSeededRng::new(1);
    let mut session = Session::new(budget(), NeighboringRelation::AddRemove, &mut rng);
    let blocks =
        Blocks::disjoint(&FramedSource::new(&all, &frame), 50, &mut session).expect("reads");
    let tuples = blocks.tuples(&KMeans::new(4, 1).expect("valid"), &frame, 4);
    assert_eq!(tuples.len(), 50);
    assert!((0..50).all(|t| tuples.is_void(t)));
}

/// Labels of more than 32 bits are of no block, least of all of the first. A label that is drawn below 4 would be a false alarm: 1 in 10^7.
#[test]
fn records_with_labels_beyond_the_blocks_are_in_none() {
    let frame = frame();
    let all = records(500);
    let mut rng = InsecureSeededRng::new(1);
    let mut session = Session::new(budget(), NeighboringRelation::AddRemove, &mut rng);
    let source = FramedSource::new(&all, &frame);
    for bits in [33, 44] {
        let labels = session.secret_labels("blocks", 1 << bits);
        let blocks = Blocks::labeled(&source, 4, labels).expect("reads");
        assert!(blocks.rows.iter().all(Vec::is_empty), "{bits}");
    }
    let labels = session.secret_labels("blocks", 8);
    let blocks = Blocks::labeled(&source, 4, labels).expect("reads");
    assert!(blocks.rows.iter().all(|rows| !rows.is_empty()));
}

#[test]
fn draws_with_replacement_fill_every_block() {
    let frame = frame();
    let all = records(100);
    let mut rng = InsecureSeededRng::new(1);
    let mut session = Session::new(budget(), NeighboringRelation::ReplaceOne, &mut rng);
    let source = FramedSource::new(&all, &frame);
    let blocks = Blocks::with_replacement(&source, 7, 30, &mut session).expect("reads");
    assert!(blocks.rows.iter().all(|rows| rows.len() == 60));
    assert_ne!(blocks.rows[0], blocks.rows[1]);
    let empty = records(0);
    let source = FramedSource::new(&empty, &frame);
    let blocks = Blocks::with_replacement(&source, 7, 30, &mut session).expect("reads");
    assert!(blocks.rows.iter().all(Vec::is_empty));
}
