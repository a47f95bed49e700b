//! What a clustering costs, defined once: sums over the records, each with its nearest center.
//!
//! Costs of private records are private; nothing here adds noise. They are evaluation for the data
//! holder, or run on released data. Records count as they are, not clipped.

#[cfg(test)]
mod tests;

use ndarray::{ArrayView2, Axis};
use rayon::prelude::*;

use crate::error::{ShapeError, check_columns, check_length};
use crate::nearest::PackedCenters;
use crate::records::Records;

/// Records whose costs are added before parts are: fixed, so that the number of threads does not
/// change the last bit.
const PART_ROWS: usize = 4096;

/// A cost was asked for with arguments that do not fit together.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CostError {
    /// Shapes differ.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// Without a center there is no nearest one.
    #[error("at least 1 center and 1 column are needed")]
    NoCenters,
    /// Distances are raised to a positive power.
    #[error("power must be finite and above 0, got {got}")]
    Power {
        /// The refused power.
        got: f64,
    },
}

/// The k-means cost Σ w·min‖x − c‖², a sum.
///
/// # Shapes and units
/// `records` (n, d) and `centers` (k, d) in the same units; `weights`, if given, n numbers of any
/// sign, else 1 each. A coordinate that is not finite makes the cost NaN: see
/// [`Domain::to_scaled_record`](crate::Domain::to_scaled_record).
///
/// # Errors
/// [`CostError`] if shapes differ or there is no center.
///
/// # Complexity
/// O(n·d·k) time in parallel, memory for a few thousand records per thread.
///
/// # Examples
/// ```
/// use metric_space::{Records, k_means_cost, mean_cost};
/// use ndarray::array;
///
/// let records = array![[0.0], [1.0], [10.0]];
/// let centers = array![[0.5], [9.0]];
/// assert_eq!(k_means_cost(Records::from(&records), centers.view(), None)?, 1.5);
/// assert_eq!(mean_cost(Records::from(&records), centers.view(), None)?, 0.5);
/// # Ok::<(), metric_space::CostError>(())
/// ```
pub fn k_means_cost(
    records: Records<'_>,
    centers: ArrayView2<'_, f64>,
    weights: Option<&[f64]>,
) -> Result<f64, CostError> {
    sum_costs(records, centers, weights, |sq_distance| sq_distance)
}

/// The k-means cost divided by the sum of the weights (without weights: by n); 0 without records.
///
/// On scaled records this is the normalized intra-cluster variance (NICV) of the literature.
///
/// # Errors
/// As [`k_means_cost`].
pub fn mean_cost(
    records: Records<'_>,
    centers: ArrayView2<'_, f64>,
    weights: Option<&[f64]>,
) -> Result<f64, CostError> {
    let mass = weights.map_or(records.len() as f64, |w| w.iter().sum());
    let is_empty = records.is_empty();
    let cost = k_means_cost(records, centers, weights)?;
    Ok(if is_empty { 0.0 } else { cost / mass })
}

/// The k-median cost Σ w·min‖x − c‖.
///
/// # Errors
/// As [`k_means_cost`].
pub fn k_median_cost(
    records: Records<'_>,
    centers: ArrayView2<'_, f64>,
    weights: Option<&[f64]>,
) -> Result<f64, CostError> {
    sum_costs(records, centers, weights, f64::sqrt)
}

/// The cost Σ w·min‖x − c‖^p.
///
/// # Errors
/// As [`k_means_cost`]; [`CostError::Power`] unless `power` is finite and positive.
pub fn power_cost(
    records: Records<'_>,
    centers: ArrayView2<'_, f64>,
    weights: Option<&[f64]>,
    power: f64,
) -> Result<f64, CostError> {
    if !(power > 0.0 && power.is_finite()) {
        return Err(CostError::Power { got: power });
    }
    sum_costs(records, centers, weights, |sq_distance| {
        libm::pow(sq_distance, power / 2.0)
    })
}

/// Adds `cost(squared distance)` over all records, part by part in a fixed order.
fn sum_costs(
    records: Records<'_>,
    centers: ArrayView2<'_, f64>,
    weights: Option<&[f64]>,
    cost: impl Fn(f64) -> f64 + Sync,
) -> Result<f64, CostError> {
    check_columns(centers.ncols(), records.dimension())?;
    if let Some(weights) = weights {
        check_length("weights", records.len(), weights.len())?;
    }
    // The kernel compares dot products, whose digits go to norms that are large against distances.
    // So the origin is moved to the middle of the centers first.
    let origin = centers.mean_axis(Axis(0)).ok_or(CostError::NoCenters)?;
    let packed =
        PackedCenters::new((&centers - &origin).view()).map_err(|_| CostError::NoCenters)?;
    let d = origin.len();
    let parts: Vec<f64> = (0..records.len().div_ceil(PART_ROWS))
        .into_par_iter()
        .map(|part| {
            let start = part * PART_ROWS;
            let rows = records.rows(start..start + PART_ROWS);
            let n = rows.len();
            let mut x = vec![0.0; n * d];
            rows.copy_to_f64(&mut x);
            for row in x.chunks_exact_mut(d) {
                for (x, o) in row.iter_mut().zip(&origin) {
                    *x -= o;
                }
            }
            let (mut labels, mut sq_distances) = (vec![0; n], vec![0.0; n]);
            packed.assign_with_distance(&x, &mut labels, &mut sq_distances);
            match weights {
                None => sq_distances.iter().map(|&sq| cost(sq)).sum(),
                Some(w) => {
                    let weighted = sq_distances.iter().zip(&w[start..start + n]);
                    weighted.map(|(&sq, w)| w * cost(sq)).sum()
                }
            }
        })
        .collect();
    Ok(parts.iter().sum())
}
