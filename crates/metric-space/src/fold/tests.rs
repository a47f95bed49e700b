use ndarray::{Array2, s};
use proptest::prelude::*;

use super::*;
use crate::domain::{BallDomain, BoxDomain};
use crate::lattice::Lattice;
use crate::source::ChunkedRecords;

fn frame(d: usize) -> Frame {
    Frame::new(
        BoxDomain::new(vec![-1.5; d], vec![2.5; d]).unwrap(),
        Lattice::default(),
    )
}

/// Sums of units per column, and the number of records.
fn sums(source: &impl LatticeSource) -> (Vec<i64>, u64) {
    let d = source.frame().dimension();
    source
        .fold(
            || (vec![0_i64; d], 0_u64),
            |acc, block| {
                acc.1 += block.len() as u64;
                for i in 0..block.len() {
                    for j in 0..d {
                        acc.0[j] += i64::from(block.units(i, j));
                    }
                }
            },
            |acc, part| {
                acc.1 += part.1;
                for (a, b) in acc.0.iter_mut().zip(part.0) {
                    *a += b;
                }
            },
        )
        .unwrap()
}

fn rows(n: usize, d: usize) -> Array2<f64> {
    Array2::from_shape_fn((n, d), |(i, j)| {
        if (i + j) % 97 == 0 {
            f64::NAN
        } else {
            (((i * 7919 + j * 104_729) % 1009) as f64) / 200.0 - 2.0
        }
    })
}

fn in_pool<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .unwrap()
        .install(work)
}

#[test]
fn threads_chunks_and_caching_do_not_change_the_sums() {
    let frame = frame(3);
    let rows = rows(5000, 3);
    let expected = sums(&FramedSource::new(&rows, &frame));
    assert_eq!(expected.1, 5000);
    for threads in [1, 2, 5] {
        for chunk_rows in [1, 7, 1024, 1025, 9999] {
            let chunked = ChunkedRecords::new(&rows, chunk_rows);
            assert_eq!(
                in_pool(threads, || sums(&FramedSource::new(&chunked, &frame))),
                expected
            );
            let kept = in_pool(threads, || LatticeRecords::read(&chunked, &frame).unwrap());
            assert_eq!(kept.len(), 5000);
            assert_eq!(in_pool(threads, || sums(&kept)), expected);
        }
    }
}

#[test]
fn the_order_of_the_records_does_not_change_the_sums() {
    let frame = Frame::new(
        BallDomain::new(vec![0.5; 3], 1.0).unwrap(),
        Lattice::default(),
    );
    let rows = rows(3000, 3);
    let reversed = rows.slice(s![..;-1, ..]);
    assert_eq!(
        sums(&FramedSource::new(&rows, &frame)),
        sums(&FramedSource::new(&reversed, &frame))
    );
}

#[test]
fn blocks_say_where_they_stand_and_parts_merge_in_order() {
    let frame = frame(2);
    let rows = rows(4321, 2);
    let kept = LatticeRecords::read(&rows, &frame).unwrap();
    for chunk_rows in [100, 5000] {
        let chunked = ChunkedRecords::new(&rows, chunk_rows);
        let (indices, values) = fold(
            &chunked,
            &frame,
            || (Vec::new(), Vec::new()),
            |acc, block| {
                assert!(!block.is_empty() && block.len() <= BLOCK_ROWS);
                acc.0
                    .extend((0..block.len()).map(|i| block.first + i as u64));
                acc.1.extend_from_slice(block.rows);
            },
            |acc, part| {
                acc.0.extend(part.0);
                acc.1.extend(part.1);
            },
        )
        .unwrap();
        assert_eq!(indices, (0..4321).collect::<Vec<u64>>());
        assert_eq!(values, kept.rows());
    }
}

#[test]
fn no_records_give_the_accumulator_as_it_was_made() {
    let frame = frame(2);
    let none = Array2::<f32>::zeros((0, 2));
    assert_eq!(sums(&FramedSource::new(&none, &frame)), (vec![0, 0], 0));
    assert!(LatticeRecords::read(&none, &frame).unwrap().is_empty());
}

#[test]
fn another_number_of_columns_is_an_error() {
    let frame = frame(2);
    let wide = Array2::<f64>::zeros((4, 3));
    let folded = fold(&wide, &frame, || (), |(), _| (), |(), ()| ());
    assert!(matches!(
        folded,
        Err(SourceError::Columns {
            expected: 2,
            found: 3
        })
    ));
    assert!(LatticeRecords::read(&wide, &frame).is_err());
}

#[test]
fn wide_records_come_in_smaller_blocks() {
    let d = 5000;
    let frame = frame(d);
    let rows = rows(40, d);
    let largest = fold(
        &rows,
        &frame,
        || 0,
        |n, b| *n = b.len().max(*n),
        |n, m| *n = m.max(*n),
    )
    .unwrap();
    assert!(largest * d <= BLOCK_VALUES);
    assert_eq!(sums(&FramedSource::new(&rows, &frame)).1, 40);
}

proptest! {
    #[test]
    fn one_record_more_adds_its_own_units(
        x in proptest::collection::vec(-3.0..3.0_f64, 2..40), at in any::<proptest::sample::Index>()
    ) {
        let frame = frame(1);
        let with = Array2::from_shape_vec((x.len(), 1), x.clone()).unwrap();
        let at = at.index(x.len());
        let mut rest = x.clone();
        let alone = rest.remove(at);
        let without = Array2::from_shape_vec((rest.len(), 1), rest).unwrap();
        let alone = Array2::from_elem((1, 1), alone);
        let sum = |rows: &Array2<f64>| sums(&FramedSource::new(rows, &frame)).0[0];
        prop_assert_eq!(sum(&with), sum(&without) + sum(&alone));
    }
}
