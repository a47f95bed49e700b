//! The crate's errors, gathered for readers. None of them ever carries a value of a record.

pub use crate::cost::CostError;
pub use crate::domain::DomainError;
pub use crate::lattice::LatticeError;
pub use crate::nearest::NearestError;
pub use crate::solver::LloydParamsError;
pub use crate::source::SourceError;

/// Arrays that belong together differ in shape.
///
/// A mistake of the calling program: shapes are public, so nothing private is in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ShapeError {
    /// The number of columns is not the expected one.
    #[error("expected {expected} columns, got {found}")]
    Columns {
        /// Columns of the domain, or of the other array.
        expected: usize,
        /// Columns that were handed in.
        found: usize,
    },
    /// A buffer or a list of weights has the wrong length.
    #[error("`{what}` must have {expected} entries, got {found}")]
    Length {
        /// The argument.
        what: &'static str,
        /// The length that fits the other arguments.
        expected: usize,
        /// The length that was handed in.
        found: usize,
    },
}

/// Refuses arrays whose numbers of columns differ.
pub(crate) fn check_columns(expected: usize, found: usize) -> Result<(), ShapeError> {
    if expected == found {
        Ok(())
    } else {
        Err(ShapeError::Columns { expected, found })
    }
}

/// Refuses a slice of the wrong length.
pub(crate) fn check_length(
    what: &'static str,
    expected: usize,
    found: usize,
) -> Result<(), ShapeError> {
    if expected == found {
        Ok(())
    } else {
        Err(ShapeError::Length {
            what,
            expected,
            found,
        })
    }
}
