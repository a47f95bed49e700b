//! Weighted points as the solver holds them: row-major, finite, at most copied once.

use std::borrow::Cow;

use ndarray::{Array2, ArrayView2};

use crate::error::{ShapeError, check_length};

/// Points and weights; borrowed where they are contiguous and finite already.
pub(super) struct Points<'a> {
    n: usize,
    dimension: usize,
    coordinates: Cow<'a, [f64]>,
    weights: Option<Cow<'a, [f64]>>,
    has_negative_weight: bool,
}

impl<'a> Points<'a> {
    pub(super) fn new(
        points: ArrayView2<'a, f64>,
        weights: Option<&'a [f64]>,
    ) -> Result<Self, ShapeError> {
        let (n, dimension) = points.dim();
        let coordinates = match points.to_slice() {
            Some(flat) => finite(flat),
            None => Cow::Owned(points.iter().map(|&x| finite_or_zero(x)).collect()),
        };
        if let Some(weights) = weights {
            check_length("weights", n, weights.len())?;
        }
        Ok(Self {
            n,
            dimension,
            coordinates,
            has_negative_weight: weights.is_some_and(|w| w.iter().any(|&w| w < 0.0)),
            weights: weights.map(finite),
        })
    }

    pub(super) fn len(&self) -> usize {
        self.n
    }

    pub(super) fn dimension(&self) -> usize {
        self.dimension
    }

    /// Row after row.
    pub(super) fn coordinates(&self) -> &[f64] {
        &self.coordinates
    }

    pub(super) fn row(&self, i: usize) -> &[f64] {
        &self.coordinates[i * self.dimension..(i + 1) * self.dimension]
    }

    pub(super) fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }

    pub(super) fn weight(&self, i: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |w| w[i])
    }

    /// Puts the point of index `order[i]` at place `i`.
    pub(super) fn reorder(&mut self, order: &[usize]) {
        let rows = order.iter().flat_map(|&i| self.row(i).iter().copied());
        self.coordinates = Cow::Owned(rows.collect());
        if let Some(weights) = &mut self.weights {
            *weights = Cow::Owned(order.iter().map(|&i| weights[i]).collect());
        }
    }

    pub(super) fn has_negative_weight(&self) -> bool {
        self.has_negative_weight
    }
}

fn finite(values: &[f64]) -> Cow<'_, [f64]> {
    if values.iter().all(|x| x.is_finite()) {
        Cow::Borrowed(values)
    } else {
        Cow::Owned(values.iter().map(|&x| finite_or_zero(x)).collect())
    }
}

fn finite_or_zero(x: f64) -> f64 {
    if x.is_finite() { x } else { 0.0 }
}

/// Row-major values as an array of shape (k, d).
pub(super) fn to_array(k: usize, d: usize, values: Vec<f64>) -> Array2<f64> {
    Array2::from_shape_vec((k, d), values).expect("the solver makes k rows of d values")
}
