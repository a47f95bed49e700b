use ndarray::{Array2, array};

use super::*;

#[test]
fn chunks_come_in_order_and_again_on_a_second_reading() {
    let rows = Array2::from_shape_fn((7, 2), |(i, j)| (2 * i + j) as f64);
    let source = ChunkedRecords::new(&rows, 3);
    for _ in 0..2 {
        let mut seen = Vec::new();
        let mut sizes = Vec::new();
        source
            .for_each_chunk(&mut |chunk| {
                sizes.push(chunk.len());
                seen.extend(chunk.to_f64());
                Ok(())
            })
            .unwrap();
        assert_eq!(sizes, [3, 3, 1]);
        assert_eq!(seen, rows.iter().copied().collect::<Vec<_>>());
    }
}

#[test]
fn an_error_of_the_visitor_stops_the_reading() {
    let rows = array![[0.0], [1.0], [2.0]];
    let mut visits = 0;
    let result = ChunkedRecords::new(&rows, 1).for_each_chunk(&mut |_| {
        visits += 1;
        Err(std::io::Error::other("stop").into())
    });
    assert!(matches!(result, Err(SourceError::Io(_))));
    assert_eq!(visits, 1);
}

#[test]
fn arrays_views_and_references_are_sources() {
    fn rows<S: RecordSource>(source: S) -> (usize, usize) {
        let mut n = 0;
        source
            .for_each_chunk(&mut |chunk| {
                n += chunk.len();
                Ok(())
            })
            .unwrap();
        (n, source.dimension())
    }
    let double = Array2::<f64>::zeros((4, 3));
    let single = Array2::<f32>::zeros((4, 3));
    assert_eq!(rows(&double), (4, 3));
    assert_eq!(rows(single.view()), (4, 3));
    assert_eq!(rows(Records::from(&single)), (4, 3));
}
