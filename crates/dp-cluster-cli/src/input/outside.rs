//! Counts records outside of bounds on their way to whoever reads them.

use std::sync::atomic::{AtomicU64, Ordering};

use dp_cluster::{RecordSource, Records, SourceError};
use ndarray::ArrayView2;

/// A source that counts; every reading counts anew.
pub(crate) struct Outside<'a> {
    source: &'a dyn RecordSource,
    bounds: &'a [[f64; 2]],
    count: AtomicU64,
}

impl<'a> Outside<'a> {
    pub(crate) const fn new(source: &'a dyn RecordSource, bounds: &'a [[f64; 2]]) -> Self {
        Self {
            source,
            bounds,
            count: AtomicU64::new(0),
        }
    }

    /// Records of the last reading with a coordinate outside of its bounds.
    pub(crate) fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }
}

impl RecordSource for Outside<'_> {
    fn dimension(&self) -> usize {
        self.source.dimension()
    }

    fn for_each_chunk(
        &self,
        visit: &mut dyn FnMut(Records<'_>) -> Result<(), SourceError>,
    ) -> Result<(), SourceError> {
        let mut count = 0;
        self.source.for_each_chunk(&mut |records| {
            count += match records {
                Records::F32(rows) => outside(&rows, self.bounds),
                Records::F64(rows) => outside(&rows, self.bounds),
                // Tables are read in double precision.
                _ => 0,
            };
            visit(records)
        })?;
        self.count.store(count, Ordering::Relaxed);
        Ok(())
    }
}

/// What is no number is no value outside either: it counts as the middle.
fn outside<T: Copy + Into<f64>>(rows: &ArrayView2<'_, T>, bounds: &[[f64; 2]]) -> u64 {
    let is_outside = |(&x, &[lo, hi]): (&T, &[f64; 2])| x.into() < lo || x.into() > hi;
    let rows = rows.outer_iter();
    rows.filter(|row| row.iter().zip(bounds).any(is_outside))
        .count() as u64
}
