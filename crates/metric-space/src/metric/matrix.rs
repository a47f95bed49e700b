//! Distances from a public table, such as travel times between places.

use ndarray::{Array2, ArrayView2};

use super::{Metric, MetricError};
use crate::domain::Domain;

/// A precomputed matrix of distances among m public places.
///
/// A point has one column, the 0-based row number of its place; numbers are rounded to the nearest row and moved into 0..m (what
/// is no number counts as place 0).
#[derive(Clone, Debug, PartialEq)]
pub struct MatrixMetric {
    distances: Array2<f64>,
    largest: f64,
}

impl MatrixMetric {
    /// Checks that the matrix is square and not empty, its entries are finite and not negative, its diagonal is zero and there
    /// is as far as back. The triangle inequality, which takes m³ steps, is checked by
    /// [`check_triangles`](Self::check_triangles).
    ///
    /// # Errors
    /// [`MetricError`] names the first entry that is refused.
    pub fn new(distances: Array2<f64>) -> Result<Self, MetricError> {
        let (rows, columns) = distances.dim();
        if rows != columns || rows == 0 {
            return Err(MetricError::NotSquare { rows, columns });
        }
        let mut largest = 0.0;
        for ((row, column), &got) in distances.indexed_iter() {
            if !(0.0..f64::INFINITY).contains(&got) {
                return Err(MetricError::Entry { row, column, got });
            }
            if row == column && got > 0.0 {
                return Err(MetricError::Diagonal { row, got });
            }
            let back = distances[[column, row]];
            // An entry that is no distance is reported where it stands.
            if got.total_cmp(&back).is_ne() && (got - back).abs() > 0.0 {
                return Err(MetricError::Asymmetric {
                    row,
                    column,
                    there: got,
                    back,
                });
            }
            if got > largest {
                largest = got;
            }
        }
        // −0 becomes 0, or distances would be symmetric as numbers, but not bit for bit.
        let distances = distances.mapv_into(|distance| distance + 0.0);
        Ok(Self { distances, largest })
    }

    /// Number of places m.
    #[must_use]
    pub fn places(&self) -> usize {
        self.distances.nrows()
    }

    /// Looks for a detour that is shorter than the direct way by more than a part in 10⁹.
    ///
    /// Without the triangle inequality privacy holds all the same; what is lost is the bound on the cost.
    ///
    /// # Errors
    /// [`MetricError::Triangle`] with the first such detour.
    ///
    /// # Complexity
    /// O(m³).
    pub fn check_triangles(&self) -> Result<(), MetricError> {
        let m = self.places();
        for from in 0..m {
            for via in 0..m {
                let first = self.distances[[from, via]];
                for to in 0..m {
                    let (direct, detour) = (
                        self.distances[[from, to]],
                        first + self.distances[[via, to]],
                    );
                    if direct > detour * (1.0 + 1e-9) {
                        return Err(MetricError::Triangle {
                            from,
                            to,
                            via,
                            direct,
                            detour,
                        });
                    }
                }
            }
        }
        Ok(())
    }

    fn place(&self, point: &[f64]) -> usize {
        let last = self.places() - 1;
        let row = point.first().copied().unwrap_or(0.0).round();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a cast saturates, takes NaN to 0, and the last place bounds it"
        )]
        let row = row as usize;
        row.min(last)
    }
}

impl Metric for MatrixMetric {
    fn name(&self) -> &'static str {
        "matrix"
    }

    fn columns(&self) -> Option<usize> {
        Some(1)
    }

    fn distance(&self, a: &[f64], b: &[f64]) -> f64 {
        self.distances[[self.place(a), self.place(b)]]
    }

    fn reach(&self, _domain: &Domain, _sites: ArrayView2<'_, f64>) -> f64 {
        self.largest
    }
}
