//! Second moments on the lattice, and the axes of a noisy moment matrix.

use metric_space::LatticeSource;

use crate::dplloyd::step::clip;
use crate::error::FitError;

/// Significant bits of a coordinate in second moments: products of two stay below 2^26, so that 2^37 records can be added.
const BITS: u32 = 13;

/// Columns up to which moments are worth their d(d + 1)/2 numbers and the O(d³) time of their axes.
pub(super) const MAX_COLUMNS: usize = 128;

/// How many low bits of a coordinate are dropped where vectors are no longer than `radius`.
pub(super) const fn shift(radius: u64) -> u32 {
    (u64::BITS - radius.leading_zeros()).saturating_sub(BITS)
}

/// A bound on the length of a vector whose low bits were dropped toward zero.
pub(super) const fn coarse_radius(radius: u64, shift: u32) -> u64 {
    (radius >> shift) + 1
}

/// Σ v_i·v_j for i ≤ j, row by row, of differences to `center` clipped to `radius`: one pass.
pub(super) fn second_moments<S: LatticeSource>(
    source: &S,
    center: &[i32],
    radius: u64,
) -> Result<Vec<i64>, FitError> {
    let d = source.frame().dimension();
    let divisor = 1_i32 << shift(radius);
    let (moments, _) = source.fold(
        || (vec![0_i64; d * (d + 1) / 2], vec![0_i32; d]),
        |(moments, v), block| {
            for i in 0..block.len() {
                for (j, (x, c)) in v.iter_mut().zip(center).enumerate() {
                    *x = block.units(i, j) - c;
                }
                dp_core::planted!("vote-refine-moments-unclipped": (); clip(v, radius));
                // Division of integers rounds toward zero, which cannot lengthen the vector.
                for x in v.iter_mut() {
                    *x /= divisor;
                }
                let mut at = 0;
                for (a, &x) in v.iter().enumerate() {
                    for &y in &v[a..] {
                        moments[at] += i64::from(x) * i64::from(y);
                        at += 1;
                    }
                }
            }
        },
        |total, part| {
            for (total, part) in total.0.iter_mut().zip(part.0) {
                *total += part;
            }
        },
    )?;
    Ok(moments)
}

/// Eigenvalues and eigenvectors (rows) of a symmetric matrix, given as its upper triangle row by row; by Jacobi's rotations.
pub(super) fn axes(upper: &[f64], d: usize) -> Vec<(f64, Vec<f64>)> {
    let mut a = vec![0.0; d * d];
    let mut at = 0;
    for i in 0..d {
        for j in i..d {
            a[i * d + j] = upper[at];
            a[j * d + i] = upper[at];
            at += 1;
        }
    }
    let mut vectors = vec![0.0; d * d];
    for i in 0..d {
        vectors[i * d + i] = 1.0;
    }
    let norm: f64 = a.iter().map(|x| x * x).sum();
    // Convergence is quadratic: a handful of sweeps is the rule, the cap is for matrices that are not finite.
    for _ in 0..30 {
        let mut off = 0.0;
        for i in 0..d {
            for j in i + 1..d {
                off += a[i * d + j] * a[i * d + j];
                rotate(&mut a, &mut vectors, d, i, j);
            }
        }
        if off <= 1e-22 * norm {
            break;
        }
    }
    (0..d)
        .map(|i| (a[i * d + i], vectors[i * d..(i + 1) * d].to_vec()))
        .collect()
}

/// One rotation, which makes entry (p, q) zero.
fn rotate(a: &mut [f64], vectors: &mut [f64], d: usize, p: usize, q: usize) {
    let apq = a[p * d + q];
    if apq == 0.0 || !apq.is_finite() {
        return;
    }
    let theta = (a[q * d + q] - a[p * d + p]) / (2.0 * apq);
    let t = theta.signum() / (theta.abs() + theta.hypot(1.0));
    let t = if theta == 0.0 { 1.0 } else { t };
    let c = 1.0 / t.hypot(1.0);
    let s = t * c;
    for k in 0..d {
        let (x, y) = (a[p * d + k], a[q * d + k]);
        a[p * d + k] = c * x - s * y;
        a[q * d + k] = s * x + c * y;
    }
    for k in 0..d {
        let (x, y) = (a[k * d + p], a[k * d + q]);
        a[k * d + p] = c * x - s * y;
        a[k * d + q] = s * x + c * y;
        let (x, y) = (vectors[p * d + k], vectors[q * d + k]);
        vectors[p * d + k] = c * x - s * y;
        vectors[q * d + k] = s * x + c * y;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_put_a_matrix_together_again() {
        let d = 5;
        let upper: Vec<f64> = (0..15).map(|i| f64::from((i * 7) % 11) - 3.0).collect();
        let axes = axes(&upper, d);
        let mut at = 0;
        for i in 0..d {
            for j in i..d {
                let sum: f64 = axes
                    .iter()
                    .map(|(value, axis)| value * axis[i] * axis[j])
                    .sum();
                assert!(
                    (sum - upper[at]).abs() < 1e-9,
                    "({i}, {j}): {sum} for {}",
                    upper[at]
                );
                let dot: f64 = axes[i].1.iter().zip(&axes[j].1).map(|(x, y)| x * y).sum();
                assert!((dot - if i == j { 1.0 } else { 0.0 }).abs() < 1e-9);
                at += 1;
            }
        }
    }
}
