//! Shape-checked views of raw records. No value is ever refused.

#[cfg(test)]
mod tests;

use std::ops::Range;

use ndarray::{Array2, ArrayView2, s};

/// Records in rows, shape (n, d), in single or double precision, original units.
///
/// Any values are allowed, infinities and NaN too: what becomes of them is said by
/// [`Domain`](crate::Domain). Any memory layout is allowed; rows that lie in a row are read
/// fastest.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Records<'a> {
    /// Single precision.
    F32(ArrayView2<'a, f32>),
    /// Double precision.
    F64(ArrayView2<'a, f64>),
}

impl<'a> From<ArrayView2<'a, f32>> for Records<'a> {
    fn from(rows: ArrayView2<'a, f32>) -> Self {
        Self::F32(rows)
    }
}

impl<'a> From<ArrayView2<'a, f64>> for Records<'a> {
    fn from(rows: ArrayView2<'a, f64>) -> Self {
        Self::F64(rows)
    }
}

impl<'a> From<&'a Array2<f32>> for Records<'a> {
    fn from(rows: &'a Array2<f32>) -> Self {
        Self::F32(rows.view())
    }
}

impl<'a> From<&'a Array2<f64>> for Records<'a> {
    fn from(rows: &'a Array2<f64>) -> Self {
        Self::F64(rows.view())
    }
}

impl Records<'_> {
    /// Number of records. Under add-remove privacy this is a private number.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::F32(rows) => rows.nrows(),
            Self::F64(rows) => rows.nrows(),
        }
    }

    /// Is there no record?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of columns.
    #[must_use]
    pub fn dimension(&self) -> usize {
        match self {
            Self::F32(rows) => rows.ncols(),
            Self::F64(rows) => rows.ncols(),
        }
    }

    /// The records of a range; what lies beyond the end is left out.
    #[must_use]
    pub fn rows(&self, range: Range<usize>) -> Records<'_> {
        let end = range.end.min(self.len());
        let start = range.start.min(end);
        match self {
            Self::F32(rows) => Records::F32(rows.slice(s![start..end, ..])),
            Self::F64(rows) => Records::F64(rows.slice(s![start..end, ..])),
        }
    }

    /// Copies the values to `out` in row order, in double precision; stops at the end of the
    /// shorter.
    pub fn copy_to_f64(&self, out: &mut [f64]) {
        match self {
            Self::F32(rows) => copy(rows, out),
            Self::F64(rows) => copy(rows, out),
        }
    }

    /// The records as an array of their own, double precision.
    #[must_use]
    pub fn to_f64(&self) -> Array2<f64> {
        match self {
            Self::F32(rows) => rows.mapv(f64::from),
            Self::F64(rows) => rows.to_owned(),
        }
    }
}

/// Copies in row order, whatever the layout.
fn copy<T: Copy + Into<f64>>(rows: &ArrayView2<'_, T>, out: &mut [f64]) {
    if let Some(flat) = rows.as_slice() {
        for (y, &x) in out.iter_mut().zip(flat) {
            *y = x.into();
        }
    } else {
        for (y, &x) in out.iter_mut().zip(rows.iter()) {
            *y = x.into();
        }
    }
}
