//! The released object.

use ndarray::Array2;
use serde::{Deserialize, Serialize};

use super::rule::MAX_CELLS_PER_AXIS;

/// Noisy counts of the cells of a grid over the scaled domain: a released value, from which anything may be computed.
///
/// Counts stay as the mechanism gave them, negative ones included: cutting them off would make sums too large.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct GridSynopsis {
    dimension: usize,
    cells_per_axis: u64,
    noise_scale: f64,
    counts: CellCounts,
}

/// Which counts there are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CellCounts {
    /// One per cell, the first axis the slowest.
    Dense(Vec<i64>),
    /// Cells whose noisy count reached the threshold: interval per axis, and count.
    Sparse(Vec<(Vec<u64>, i64)>),
}

/// A synopsis does not hold together.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SynopsisError {
    /// No columns, or no cells, or too many.
    #[error(
        "a synopsis has at least 1 column and between 1 and {MAX_CELLS_PER_AXIS} cells per axis"
    )]
    Shape,
    /// The scale of its noise is no positive number.
    #[error("the scale of the noise must be finite and above 0, got {got}")]
    Scale {
        /// The refused scale.
        got: f64,
    },
    /// Not as many counts as cells.
    #[error("{cells} cells need as many counts, got {counts}")]
    Counts {
        /// Cells per axis to the power of the number of columns.
        cells: u64,
        /// Counts.
        counts: usize,
    },
    /// A cell that the grid does not have.
    #[error(
        "a cell has {dimension} intervals below {cells_per_axis}, each cell at most once and in order"
    )]
    Cell {
        /// Columns.
        dimension: usize,
        /// Cells per axis.
        cells_per_axis: u64,
    },
}

/// The form in files, before it is checked.
#[derive(Deserialize)]
struct Unchecked {
    dimension: usize,
    cells_per_axis: u64,
    noise_scale: f64,
    counts: CellCounts,
}

impl TryFrom<Unchecked> for GridSynopsis {
    type Error = SynopsisError;

    fn try_from(unchecked: Unchecked) -> Result<Self, SynopsisError> {
        let Unchecked {
            dimension,
            cells_per_axis,
            noise_scale,
            counts,
        } = unchecked;
        Self::new(dimension, cells_per_axis, noise_scale, counts)
    }
}

impl GridSynopsis {
    /// A checked synopsis.
    ///
    /// # Errors
    ///
    /// [`SynopsisError`] says what does not fit.
    pub fn new(
        dimension: usize,
        cells_per_axis: u64,
        noise_scale: f64,
        counts: CellCounts,
    ) -> Result<Self, SynopsisError> {
        if dimension == 0 || !(1..=MAX_CELLS_PER_AXIS).contains(&cells_per_axis) {
            return Err(SynopsisError::Shape);
        }
        if !(noise_scale > 0.0 && noise_scale.is_finite()) {
            return Err(SynopsisError::Scale { got: noise_scale });
        }
        match &counts {
            CellCounts::Dense(counts) => {
                let cells = number_of_cells(cells_per_axis, dimension);
                if cells != Some(counts.len() as u64) {
                    return Err(SynopsisError::Counts {
                        cells: cells.unwrap_or(u64::MAX),
                        counts: counts.len(),
                    });
                }
            }
            CellCounts::Sparse(cells) => {
                let inside = |cell: &[u64]| {
                    cell.len() == dimension && cell.iter().all(|&i| i < cells_per_axis)
                };
                if !cells.iter().all(|(cell, _)| inside(cell))
                    || !cells.is_sorted_by(|a, b| a.0 < b.0)
                {
                    return Err(SynopsisError::Cell {
                        dimension,
                        cells_per_axis,
                    });
                }
            }
        }
        Ok(Self {
            dimension,
            cells_per_axis,
            noise_scale,
            counts,
        })
    }

    /// Number of columns.
    #[must_use]
    pub const fn dimension(&self) -> usize {
        self.dimension
    }

    /// Cells per axis m.
    #[must_use]
    pub const fn cells_per_axis(&self) -> u64 {
        self.cells_per_axis
    }

    /// Scale b of the noise on a count; its variance is about 2b².
    #[must_use]
    pub const fn noise_scale(&self) -> f64 {
        self.noise_scale
    }

    /// The noisy counts.
    #[must_use]
    pub const fn counts(&self) -> &CellCounts {
        &self.counts
    }

    /// How many cells have a count.
    #[must_use]
    pub fn n_cells(&self) -> usize {
        match &self.counts {
            CellCounts::Dense(counts) => counts.len(),
            CellCounts::Sparse(cells) => cells.len(),
        }
    }

    /// Centers of the cells that have a count, in the scaled domain, shape (M, d), and their noisy counts.
    ///
    /// # Panics
    ///
    /// Never: d coordinates are written for each cell.
    #[must_use]
    pub fn weighted_cells(&self) -> (Array2<f64>, Vec<f64>) {
        let d = self.dimension;
        let m = self.cells_per_axis;
        let middle = |interval: u64| (2 * interval + 1) as f64 / m as f64 - 1.0;
        let mut centers = Vec::with_capacity(self.n_cells() * d);
        let weights = match &self.counts {
            CellCounts::Dense(counts) => {
                let mut cell = vec![0_u64; d];
                for _ in counts {
                    centers.extend(cell.iter().map(|&interval| middle(interval)));
                    advance(&mut cell, m);
                }
                counts.iter().map(|&count| count as f64).collect()
            }
            CellCounts::Sparse(cells) => {
                for (cell, _) in cells {
                    centers.extend(cell.iter().map(|&interval| middle(interval)));
                }
                cells.iter().map(|&(_, count)| count as f64).collect()
            }
        };
        let centers = Array2::from_shape_vec((self.n_cells(), d), centers)
            .expect("d coordinates were written for each cell");
        (centers, weights)
    }
}

/// The next cell in order, the last axis the fastest.
fn advance(cell: &mut [u64], m: u64) {
    for interval in cell.iter_mut().rev() {
        *interval += 1;
        if *interval < m {
            return;
        }
        *interval = 0;
    }
}

/// m^d, if it is a number.
pub(super) fn number_of_cells(per_axis: u64, dimension: usize) -> Option<u64> {
    per_axis.checked_pow(u32::try_from(dimension).ok()?)
}
