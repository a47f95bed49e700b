//! What every algorithm of this crate returns.

use ndarray::Array2;

/// Centers of a private clustering, in the scaled domain.
#[derive(Clone, Debug, PartialEq)]
pub struct Clustering {
    /// Centers, shape `(k, d)`, inside the scaled domain.
    pub centers: Array2<f64>,
    /// Noisy sizes of the clusters where they were released, `k` numbers, in records. They belong to
    /// the centers of the step before: the last step moved them.
    pub noisy_counts: Option<Vec<f64>>,
}
