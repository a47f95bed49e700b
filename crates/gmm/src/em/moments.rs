//! Weighted counts, sums and second moments of the components: one pass of expectation.
//!
//! Records are taken in blocks: per block one matrix product a component whitens it, one adds its weighted second
//! moments. Partial sums are merged in the order of the blocks, so that the number of threads does not change a bit.

use ndarray::linalg::general_mat_mul;
use ndarray::{Array1, Array2, Array3, ArrayView2, Axis, Slice};
use rayon::prelude::*;

use crate::mixture::{GaussianMixture, log_sum_exp};

/// Records of a block: with d = 16 its copies stay in the first-level cache's neighbor.
const BLOCK: usize = 512;

/// Blocks that are summed one after another before a merge.
const BLOCKS_PER_PART: usize = 16;

/// Weighted moments around fixed reference points, which keeps digits where means are far from the origin.
#[derive(Clone, Debug)]
pub(super) struct Moments {
    weights: Array1<f64>,
    sums: Array2<f64>,
    squares: Array3<f64>,
    reference: Array2<f64>,
    log_likelihood: f64,
    n: f64,
}

impl Moments {
    fn new(reference: &Array2<f64>) -> Self {
        let (k, d) = reference.dim();
        Self {
            weights: Array1::zeros(k),
            sums: Array2::zeros((k, d)),
            squares: Array3::zeros((k, d, d)),
            reference: reference.clone(),
            log_likelihood: 0.0,
            n: 0.0,
        }
    }

    fn merge(&mut self, part: &Self) {
        self.weights += &part.weights;
        self.sums += &part.sums;
        self.squares += &part.squares;
        self.log_likelihood += part.log_likelihood;
        self.n += part.n;
    }

    /// (k, d).
    pub(super) fn shape(&self) -> (usize, usize) {
        self.sums.dim()
    }

    /// Total weight per component.
    pub(super) const fn weights(&self) -> &Array1<f64> {
        &self.weights
    }

    /// Mean and covariance of a component; none if it has next to no weight.
    pub(super) fn component(&self, component: usize) -> Option<(Array1<f64>, Array2<f64>)> {
        let weight = self.weights[component];
        if weight <= 1e-10 || weight.is_nan() {
            return None;
        }
        let offset = &self.sums.row(component) / weight;
        let mut covariance = &self.squares.index_axis(Axis(0), component) / weight;
        for ((i, j), x) in covariance.indexed_iter_mut() {
            *x -= offset[i] * offset[j];
        }
        let mean = &self.reference.row(component) + &offset;
        let finite = mean.iter().chain(&covariance).all(|x| x.is_finite());
        finite.then_some((mean, covariance))
    }

    /// Moments of hard labels around the given centers.
    pub(super) fn of_labels(
        records: ArrayView2<'_, f64>,
        labels: &[u32],
        centers: &Array2<f64>,
    ) -> Self {
        let mut moments = Self::new(centers);
        for (record, &label) in records.rows().into_iter().zip(labels) {
            let label = label as usize;
            let difference = &record - &centers.row(label);
            if !difference.iter().all(|x| x.is_finite()) {
                continue;
            }
            moments.weights[label] += 1.0;
            let mut sum = moments.sums.row_mut(label);
            sum += &difference;
            let mut square = moments.squares.index_axis_mut(Axis(0), label);
            for ((i, j), x) in square.indexed_iter_mut() {
                *x += difference[i] * difference[j];
            }
        }
        moments
    }
}

/// One expectation: weighted moments under the mixture's responsibilities, and the mean log-likelihood.
pub(super) fn expectation(
    records: ArrayView2<'_, f64>,
    mixture: &GaussianMixture,
) -> (Moments, f64) {
    let whitening: Vec<Array2<f64>> = mixture.whitening();
    let shifts = mixture.shifts();
    let parts: Vec<ArrayView2<'_, f64>> = records
        .axis_chunks_iter(Axis(0), BLOCK * BLOCKS_PER_PART)
        .collect();
    let mut total = Moments::new(mixture.means());
    // A wave at a time: memory stays at a few accumulators however many records there are.
    for wave in parts.chunks(4 * rayon::current_num_threads()) {
        let sums: Vec<Moments> = wave
            .par_iter()
            .map(|part| {
                let mut moments = Moments::new(mixture.means());
                let mut scratch = Scratch::new(mixture.n_components(), mixture.dimension());
                for block in part.axis_chunks_iter(Axis(0), BLOCK) {
                    scratch.add_block(block, mixture, &whitening, &shifts, &mut moments);
                }
                moments
            })
            .collect();
        for part in &sums {
            total.merge(part);
        }
    }
    let mean = if total.n > 0.0 {
        total.log_likelihood / total.n
    } else {
        0.0
    };
    (total, mean)
}

/// Buffers of one thread.
struct Scratch {
    white: Array2<f64>,
    joint: Array2<f64>,
    centered: Array2<f64>,
    weighted: Array2<f64>,
}

impl Scratch {
    fn new(k: usize, d: usize) -> Self {
        Self {
            white: Array2::zeros((BLOCK, d)),
            joint: Array2::zeros((BLOCK, k)),
            centered: Array2::zeros((BLOCK, d)),
            weighted: Array2::zeros((BLOCK, d)),
        }
    }

    fn add_block(
        &mut self,
        block: ArrayView2<'_, f64>,
        mixture: &GaussianMixture,
        whitening: &[Array2<f64>],
        shifts: &[Array1<f64>],
        moments: &mut Moments,
    ) {
        let (rows, k) = (block.nrows(), mixture.n_components());
        for component in 0..k {
            let mut white = self.white.slice_axis_mut(Axis(0), Slice::from(..rows));
            general_mat_mul(1.0, &block, &whitening[component].t(), 0.0, &mut white);
            let constant = mixture.log_constant(component);
            for (white, joint) in white
                .rows()
                .into_iter()
                .zip(self.joint.column_mut(component))
            {
                let squared: f64 = white
                    .iter()
                    .zip(&shifts[component])
                    .map(|(a, b)| (a - b) * (a - b))
                    .sum();
                *joint = constant - 0.5 * squared;
            }
        }
        for mut joint in self.joint.rows_mut().into_iter().take(rows) {
            let total = joint.as_slice().map_or(f64::NAN, log_sum_exp);
            if total.is_finite() {
                moments.log_likelihood += total;
                moments.n += 1.0;
                joint.mapv_inplace(|x| (x - total).exp());
            } else {
                // No component reaches this record, or it is no number: it has no weight anywhere.
                joint.fill(0.0);
            }
        }
        for component in 0..k {
            let mean = mixture.means().row(component);
            let mut centered = self.centered.slice_axis_mut(Axis(0), Slice::from(..rows));
            let mut weighted = self.weighted.slice_axis_mut(Axis(0), Slice::from(..rows));
            let mut sum = moments.sums.row_mut(component);
            let mut weight_sum = 0.0;
            let weights = self.joint.column(component);
            for (((record, mut centered), mut weighted), &weight) in block
                .rows()
                .into_iter()
                .zip(centered.rows_mut())
                .zip(weighted.rows_mut())
                .zip(weights)
            {
                weight_sum += weight;
                for (((x, m), (c, w)), s) in record
                    .iter()
                    .zip(mean)
                    .zip(centered.iter_mut().zip(weighted.iter_mut()))
                    .zip(sum.iter_mut())
                {
                    // A record without weight may hold values that are not finite.
                    *c = if weight > 0.0 { x - m } else { 0.0 };
                    *w = weight * *c;
                    *s += *w;
                }
            }
            moments.weights[component] += weight_sum;
            let mut square = moments.squares.index_axis_mut(Axis(0), component);
            general_mat_mul(1.0, &weighted.t(), &centered, 1.0, &mut square);
        }
    }
}
