//! Bytes from anywhere, for fuzz targets and tests: the reader answers with records or a typed error, never a panic.

use std::io::Write;

use dp_cluster::RecordSource;

use crate::bounds::Bounds;
use crate::input::{CsvSource, Input, Policy, Selection};

/// A table of any bytes: with cells replaced by their policy every row below a header is read, however it looks.
///
/// # Panics
///
/// If the reader breaks its promise: that is what is looked for.
pub fn csv(bytes: &[u8]) {
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    file.write_all(bytes).expect("room for a temporary file");
    for policy in [Policy::Replace, Policy::Refuse] {
        let selection = Selection {
            columns: None,
            class: None,
            policy,
        };
        let Ok(source) = CsvSource::open(Input::new(file.path()), selection) else {
            continue;
        };
        let columns = source.columns().count();
        assert_eq!(source.dimension(), columns);
        let mut rows = [0, 0];
        for count in &mut rows {
            source
                .for_each_chunk(&mut |chunk| {
                    *count += chunk.len();
                    assert_eq!(chunk.dimension(), columns);
                    Ok(())
                })
                .expect("what was read once can be read again");
        }
        assert_eq!(rows[0], rows[1]);
        let array = source.into_array().expect("a small table");
        assert_eq!(array.dim(), (rows[0], columns));
    }
}

/// Bounds as an argument and as a file: what is accepted is finite and in order.
///
/// # Panics
///
/// If the parser breaks its promise: that is what is looked for.
pub fn bounds(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Ok(Bounds::Same([lo, hi])) = Bounds::parse(&text) {
        assert!(lo < hi && lo.is_finite() && hi.is_finite());
    }
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    file.write_all(bytes).expect("room for a temporary file");
    if let Ok(bounds) = Bounds::read(file.path()) {
        let Bounds::ByColumn { table, .. } = &bounds else {
            panic!("a file gives bounds by column")
        };
        let columns: Vec<String> = table.keys().cloned().collect();
        let found = bounds.of(&columns).expect("every column has bounds");
        assert!(
            found
                .iter()
                .all(|[lo, hi]| lo < hi && lo.is_finite() && hi.is_finite())
        );
    }
}
