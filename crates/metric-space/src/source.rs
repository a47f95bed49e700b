//! Sources of records: chunks in order, readable again and again, so that data may be larger than
//! memory.

#[cfg(test)]
mod tests;

use ndarray::{Array2, ArrayView2};

use crate::records::Records;

/// A source could not be read. Carries no value of a record.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// The reader failed. A reader with errors of its own wraps them: `std::io::Error::other(e)`.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// A chunk's number of columns is not the domain's.
    #[error("the domain has {expected} columns, the records have {found}")]
    Columns {
        /// Columns of the domain.
        expected: usize,
        /// Columns of the records.
        found: usize,
    },
}

/// Records that can be read from the beginning as often as needed.
///
/// Two readings must yield the same records in the same order; how they are cut into chunks is
/// free.
pub trait RecordSource: Sync {
    /// Number of columns.
    fn dimension(&self) -> usize;

    /// Shows every chunk to `visit`, in order, from the first record to the last.
    ///
    /// # Errors
    /// [`SourceError`] if reading fails; an error of `visit` stops the reading and is handed on.
    fn for_each_chunk(
        &self,
        visit: &mut dyn FnMut(Records<'_>) -> Result<(), SourceError>,
    ) -> Result<(), SourceError>;
}

impl<S: RecordSource + ?Sized> RecordSource for &S {
    fn dimension(&self) -> usize {
        (**self).dimension()
    }

    fn for_each_chunk(
        &self,
        visit: &mut dyn FnMut(Records<'_>) -> Result<(), SourceError>,
    ) -> Result<(), SourceError> {
        (**self).for_each_chunk(visit)
    }
}

/// Records in memory are one chunk.
impl RecordSource for Records<'_> {
    fn dimension(&self) -> usize {
        Records::dimension(self)
    }

    fn for_each_chunk(
        &self,
        visit: &mut dyn FnMut(Records<'_>) -> Result<(), SourceError>,
    ) -> Result<(), SourceError> {
        visit(*self)
    }
}

/// An array, or a view of one, is a source of one chunk.
macro_rules! array_is_source {
    ($($array:ty),*) => {$(
        impl RecordSource for $array {
            fn dimension(&self) -> usize {
                self.ncols()
            }

            fn for_each_chunk(
                &self,
                visit: &mut dyn FnMut(Records<'_>) -> Result<(), SourceError>,
            ) -> Result<(), SourceError> {
                visit(Records::from(self.view()))
            }
        }
    )*};
}

array_is_source!(
    Array2<f32>,
    Array2<f64>,
    ArrayView2<'_, f32>,
    ArrayView2<'_, f64>
);

/// Records in memory, shown in chunks of a fixed number of rows: what a reader of a large file
/// looks like.
#[derive(Clone, Copy, Debug)]
pub struct ChunkedRecords<'a> {
    records: Records<'a>,
    chunk_rows: usize,
}

impl<'a> ChunkedRecords<'a> {
    /// Chunks of `chunk_rows` rows (at least 1).
    pub fn new(records: impl Into<Records<'a>>, chunk_rows: usize) -> Self {
        Self {
            records: records.into(),
            chunk_rows: chunk_rows.max(1),
        }
    }
}

impl RecordSource for ChunkedRecords<'_> {
    fn dimension(&self) -> usize {
        self.records.dimension()
    }

    fn for_each_chunk(
        &self,
        visit: &mut dyn FnMut(Records<'_>) -> Result<(), SourceError>,
    ) -> Result<(), SourceError> {
        (0..self.records.len())
            .step_by(self.chunk_rows)
            .try_for_each(|start| visit(self.records.rows(start..start + self.chunk_rows)))
    }
}
