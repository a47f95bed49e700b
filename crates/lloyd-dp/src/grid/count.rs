//! Exact counts of the cells: one pass.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, Ordering};

use metric_space::{LatticeBlock, LatticeSource, SourceError};

/// Where cells are: `per_axis` equal intervals on each axis of the scaled domain.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cells {
    pub(super) per_axis: u64,
    /// Lattice units per one.
    one: i64,
}

impl Cells {
    pub(super) fn new(per_axis: u64, one: i64) -> Self {
        Self { per_axis, one }
    }

    /// The interval of a coordinate in lattice units, exactly: ⌊(u + 1)·m/2⌋ in the scaled domain, the last one closed.
    fn interval(self, units: i32) -> u64 {
        let offset = (i64::from(units) + self.one).unsigned_abs();
        (offset * self.per_axis / (2 * self.one).unsigned_abs()).min(self.per_axis - 1)
    }

    /// The number of a record's cell, the first axis the slowest.
    fn index(self, block: &LatticeBlock<'_>, i: usize) -> u64 {
        (0..block.dimension).fold(0, |index, j| {
            index * self.per_axis + self.interval(block.units(i, j))
        })
    }

    fn key(self, block: &LatticeBlock<'_>, i: usize) -> Vec<i64> {
        (0..block.dimension)
            .map(|j| i64::try_from(self.interval(block.units(i, j))).unwrap_or(i64::MAX))
            .collect()
    }
}

/// Counts of all cells. One table for all threads: sums of integers do not depend on their order, and a table of
/// millions of cells must not be there once per thread.
pub(super) fn dense<S: LatticeSource>(
    source: &S,
    cells: Cells,
    n_cells: usize,
) -> Result<Vec<i64>, SourceError> {
    let table: Vec<AtomicI64> = (0..n_cells).map(|_| AtomicI64::new(0)).collect();
    source.fold(
        Vec::new,
        |indices: &mut Vec<u64>, block| {
            indices.clear();
            indices.extend((0..block.len()).map(|i| cells.index(block, i)));
            // Records of one cell together: a crowded cell is touched once per block, not once per record.
            indices.sort_unstable();
            for run in indices.chunk_by(|a, b| a == b) {
                if let Ok(index) = usize::try_from(run[0]) {
                    let count = i64::try_from(run.len()).unwrap_or(i64::MAX);
                    table[index].fetch_add(count, Ordering::Relaxed);
                }
            }
        },
        |_, _| {},
    )?;
    Ok(table.into_iter().map(AtomicI64::into_inner).collect())
}

/// Counts of the occupied cells, by their intervals.
pub(super) fn sparse<S: LatticeSource>(
    source: &S,
    cells: Cells,
) -> Result<BTreeMap<Vec<i64>, i64>, SourceError> {
    source.fold(
        BTreeMap::new,
        |counts: &mut BTreeMap<Vec<i64>, i64>, block| {
            for i in 0..block.len() {
                *counts.entry(cells.key(block, i)).or_insert(0) += 1;
            }
        },
        |total, part| {
            for (key, count) in part {
                *total.entry(key).or_insert(0) += count;
            }
        },
    )
}
