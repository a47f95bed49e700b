//! The kernel in plain Rust: the reference that the SIMD paths must equal bit for bit, and the path of machines
//! without them.

use super::{PackedCenters, Scalar};

/// Labels `rows` one by one, the lanes of a group together.
pub(super) fn assign<T: Scalar>(rows: &[T], centers: &PackedCenters<T>, labels: &mut [u32]) {
    let d = centers.dimension;
    for (row, label) in rows.chunks_exact(d).zip(labels) {
        let mut best = T::INFINITY;
        *label = 0;
        let groups = centers.lines.chunks_exact(d).zip(&centers.norms);
        for ((lines, norms), first) in groups.zip((0..).step_by(T::LANES)) {
            let mut scores = *norms;
            for (&x, line) in row.iter().zip(lines) {
                for (score, &c) in scores.0.as_mut().iter_mut().zip(line.0.as_ref()) {
                    *score = c.fused(x, *score);
                }
            }
            for (&score, index) in scores.0.as_ref().iter().zip(first..) {
                // Strictly less: the lowest index keeps a tie, and NaN never wins.
                if score < best {
                    best = score;
                    *label = index;
                }
            }
        }
    }
}

/// Σ(x − c)² in `f64`, in an order of additions that is fixed and leaves room for SIMD.
pub(super) fn squared_distance<T: Scalar>(row: &[T], center: &[T]) -> f64 {
    const LANES: usize = 8;
    let mut partial = [0.0; LANES];
    let (rows, row_tail) = row.as_chunks::<LANES>();
    let (centers, center_tail) = center.as_chunks::<LANES>();
    for (xs, cs) in rows.iter().zip(centers) {
        for lane in 0..LANES {
            let difference = xs[lane].into() - cs[lane].into();
            partial[lane] += difference * difference;
        }
    }
    for ((&x, &c), sum) in row_tail.iter().zip(center_tail).zip(&mut partial) {
        let difference = x.into() - c.into();
        *sum += difference * difference;
    }
    partial.iter().sum()
}
