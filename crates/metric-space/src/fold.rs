//! The parallel pass over all records that every private algorithm uses.
//!
//! Raw records are cut into blocks, each block is clipped and rounded into a small buffer that
//! stays in cache, shown to the visitor and forgotten: no copy of a chunk in another type is ever
//! made.

#[cfg(test)]
mod tests;

use ndarray::Array2;
use rayon::prelude::*;

use crate::error::ShapeError;
use crate::frame::Frame;
use crate::records::Records;
use crate::source::{RecordSource, SourceError};

/// Most records of a block.
pub const BLOCK_ROWS: usize = 1024;

/// Most values of a block: wide records come in smaller blocks.
const BLOCK_VALUES: usize = 1 << 16;

/// Parts that a chunk is cut into per thread: enough that an early one does not wait long for a
/// late one.
const PARTS_PER_THREAD: usize = 4;

/// Records of a block of `dimension` columns.
fn block_rows(dimension: usize) -> usize {
    (BLOCK_VALUES / dimension.max(1)).clamp(1, BLOCK_ROWS)
}

/// At most [`BLOCK_ROWS`] lattice records, row after row.
#[derive(Clone, Copy, Debug)]
pub struct LatticeBlock<'a> {
    /// The coordinates, `len()·dimension` of them.
    pub rows: &'a [f32],
    /// Number of columns, at least 1.
    pub dimension: usize,
    /// Index of the first record in the source.
    pub first: u64,
    /// Lattice units per one.
    units_per_one: f32,
}

impl<'a> LatticeBlock<'a> {
    /// Number of records.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len() / self.dimension
    }

    /// Is there no record? Never true of a block that a fold shows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Coordinates of record `i` of the block.
    ///
    /// # Panics
    /// If `i >= len()`.
    #[must_use]
    pub fn row(&self, i: usize) -> &'a [f32] {
        &self.rows[i * self.dimension..(i + 1) * self.dimension]
    }

    /// Coordinate `j` of record `i` in lattice units, exactly.
    ///
    /// # Panics
    /// If there is no such coordinate.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a lattice value times units per one is an integer of at most 2^22"
    )]
    pub fn units(&self, i: usize, j: usize) -> i32 {
        (self.row(i)[j] * self.units_per_one) as i32
    }
}

/// Lattice records that can be passed over as often as needed.
///
/// Algorithms are generic over this: [`FramedSource`] reads and rounds again in each pass,
/// [`LatticeRecords`] keeps the rounded records in memory. Both show the same records.
pub trait LatticeSource: Sync {
    /// The domain and lattice of the records.
    fn frame(&self) -> &Frame;

    /// Passes over all records: `make` an accumulator for each part, `visit` the part's blocks in
    /// order, `merge` the parts in order.
    ///
    /// With accumulators whose merge is exact (integers, concatenation) the result does not depend
    /// on the number of threads.
    ///
    /// # Errors
    /// [`SourceError`] if the source cannot be read or has another number of columns than the
    /// domain.
    fn fold<A: Send>(
        &self,
        make: impl Fn() -> A + Sync,
        visit: impl Fn(&mut A, &LatticeBlock<'_>) + Sync,
        merge: impl FnMut(&mut A, A),
    ) -> Result<A, SourceError>;
}

/// A source of raw records, seen through a frame.
#[derive(Debug)]
pub struct FramedSource<'a, S: ?Sized> {
    source: &'a S,
    frame: &'a Frame,
}

impl<'a, S: RecordSource + ?Sized> FramedSource<'a, S> {
    /// Sees `source` through `frame`.
    pub fn new(source: &'a S, frame: &'a Frame) -> Self {
        Self { source, frame }
    }
}

impl<S: ?Sized> Clone for FramedSource<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: ?Sized> Copy for FramedSource<'_, S> {}

impl<S: RecordSource + ?Sized> LatticeSource for FramedSource<'_, S> {
    fn frame(&self) -> &Frame {
        self.frame
    }

    fn fold<A: Send>(
        &self,
        make: impl Fn() -> A + Sync,
        visit: impl Fn(&mut A, &LatticeBlock<'_>) + Sync,
        merge: impl FnMut(&mut A, A),
    ) -> Result<A, SourceError> {
        fold(self.source, self.frame, make, visit, merge)
    }
}

/// One pass over a source of raw records; see [`LatticeSource::fold`].
///
/// # Errors
/// [`SourceError`] if the source cannot be read or has another number of columns than the domain.
///
/// # Complexity
/// One reading of the source; memory beyond the source's own chunk: a block per thread and an
/// accumulator per part, of which there are four per thread.
///
/// # Examples
/// ```
/// use metric_space::{BoxDomain, Frame, Lattice, fold};
/// use ndarray::array;
///
/// let frame = Frame::new(BoxDomain::new(vec![0.0], vec![8.0])?, Lattice::new(10)?);
/// let records = array![[0.0], [2.0], [100.0]];
/// let (count, sum) = fold(
///     &records,
///     &frame,
///     || (0_i64, 0_i64),
///     |acc, block| {
///         for i in 0..block.len() {
///             acc.0 += 1;
///             acc.1 += i64::from(block.units(i, 0));
///         }
///     },
///     |acc, part| {
///         acc.0 += part.0;
///         acc.1 += part.1;
///     },
/// )?;
/// assert_eq!((count, sum), (3, -1024 - 512 + 1024));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn fold<S: RecordSource + ?Sized, A: Send>(
    source: &S,
    frame: &Frame,
    make: impl Fn() -> A + Sync,
    visit: impl Fn(&mut A, &LatticeBlock<'_>) + Sync,
    mut merge: impl FnMut(&mut A, A),
) -> Result<A, SourceError> {
    let d = frame.dimension();
    check_source(d, source.dimension())?;
    let mut total = make();
    let mut first = 0_u64;
    source.for_each_chunk(&mut |chunk| {
        check_source(d, chunk.dimension())?;
        let parts = in_parts(chunk.len(), block_rows(d), |start, end| {
            let mut acc = make();
            let mut scratch = vec![0.0; d * block_rows(d).min(end - start)];
            for block_start in (start..end).step_by(block_rows(d)) {
                let rows = chunk.rows(block_start..(block_start + block_rows(d)).min(end));
                let scratch = &mut scratch[..rows.len() * d];
                quantize(frame, rows, scratch);
                visit(&mut acc, &block(scratch, frame, first, block_start));
            }
            acc
        });
        for part in parts {
            merge(&mut total, part);
        }
        first += chunk.len() as u64;
        Ok(())
    })?;
    Ok(total)
}

/// Runs `work` on contiguous parts of `0..n`, whole blocks each, in parallel; the results in order.
fn in_parts<A: Send>(n: usize, block: usize, work: impl Fn(usize, usize) -> A + Sync) -> Vec<A> {
    let n_blocks = n.div_ceil(block);
    let n_parts = n_blocks.min(rayon::current_num_threads() * PARTS_PER_THREAD);
    if n_parts == 1 {
        // Waking other threads would take longer than one block does.
        return vec![work(0, n)];
    }
    (0..n_parts)
        .into_par_iter()
        .map(|p| {
            let start = n_blocks * p / n_parts * block;
            let end = (n_blocks * (p + 1) / n_parts * block).min(n);
            work(start, end)
        })
        .collect()
}

fn block<'a>(rows: &'a [f32], frame: &Frame, first: u64, start: usize) -> LatticeBlock<'a> {
    LatticeBlock {
        rows,
        dimension: frame.dimension(),
        first: first + start as u64,
        units_per_one: frame.lattice().units_per_one() as f32,
    }
}

fn check_source(expected: usize, found: usize) -> Result<(), SourceError> {
    if expected == found {
        Ok(())
    } else {
        Err(SourceError::Columns { expected, found })
    }
}

/// Rounds a block whose shape was checked before.
fn quantize(frame: &Frame, rows: Records<'_>, out: &mut [f32]) {
    let shaped: Result<(), ShapeError> = frame.quantize_rows(rows, out);
    shaped.expect("columns were checked and the buffer was cut to fit");
}

/// Lattice records kept in memory: read once, passed over often. Takes `4·n·d` bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct LatticeRecords {
    frame: Frame,
    rows: Vec<f32>,
}

impl LatticeRecords {
    /// Reads and rounds all records of a source.
    ///
    /// # Errors
    /// [`SourceError`] if the source cannot be read or has another number of columns than the
    /// domain.
    pub fn read<S: RecordSource + ?Sized>(source: &S, frame: &Frame) -> Result<Self, SourceError> {
        let d = frame.dimension();
        check_source(d, source.dimension())?;
        let mut rows: Vec<f32> = Vec::new();
        source.for_each_chunk(&mut |chunk| {
            check_source(d, chunk.dimension())?;
            let before = rows.len();
            rows.resize(before + chunk.len() * d, 0.0);
            let block = block_rows(d);
            rows[before..]
                .par_chunks_mut(block * d)
                .enumerate()
                .for_each(|(b, out)| {
                    quantize(frame, chunk.rows(b * block..(b + 1) * block), out);
                });
            Ok(())
        })?;
        Ok(Self {
            frame: frame.clone(),
            rows,
        })
    }

    /// All coordinates, row after row.
    #[must_use]
    pub fn rows(&self) -> &[f32] {
        &self.rows
    }

    /// The records as an array in double precision, shape (n, d), scaled units.
    #[must_use]
    pub fn to_f64(&self) -> Array2<f64> {
        let d = self.frame.dimension();
        Array2::from_shape_fn((self.len(), d), |(i, j)| f64::from(self.rows[i * d + j]))
    }

    /// Number of records. Under add-remove privacy this is a private number.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len() / self.frame.dimension()
    }

    /// Is there no record?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

impl LatticeSource for LatticeRecords {
    fn frame(&self) -> &Frame {
        &self.frame
    }

    fn fold<A: Send>(
        &self,
        make: impl Fn() -> A + Sync,
        visit: impl Fn(&mut A, &LatticeBlock<'_>) + Sync,
        mut merge: impl FnMut(&mut A, A),
    ) -> Result<A, SourceError> {
        let d = self.frame.dimension();
        let mut total = make();
        let parts = in_parts(self.len(), block_rows(d), |start, end| {
            let mut acc = make();
            for from in (start..end).step_by(block_rows(d)) {
                let to = (from + block_rows(d)).min(end);
                visit(
                    &mut acc,
                    &block(&self.rows[from * d..to * d], &self.frame, 0, from),
                );
            }
            acc
        });
        for part in parts {
            merge(&mut total, part);
        }
        Ok(total)
    }
}
