//! Euclidean distance and its square, as two functions with two names.

#[cfg(test)]
mod tests;

/// ‖a − b‖²; coordinates beyond the shorter of the two are ignored.
///
/// Added up in four running sums, in a fixed order: a function of the two points alone.
///
/// # Examples
/// ```
/// use metric_space::{euclidean, squared_euclidean};
///
/// assert_eq!(squared_euclidean(&[0.0, 0.0], &[3.0, 4.0]), 25.0);
/// assert_eq!(euclidean(&[0.0, 0.0], &[3.0, 4.0]), 5.0);
/// ```
#[must_use]
#[inline]
pub fn squared_euclidean(a: &[f64], b: &[f64]) -> f64 {
    let n = a.len().min(b.len());
    let (a4, a_rest) = a[..n].as_chunks::<4>();
    let (b4, b_rest) = b[..n].as_chunks::<4>();
    let mut sums = [0.0; 4];
    for (x, y) in a4.iter().zip(b4) {
        for t in 0..4 {
            let offset = x[t] - y[t];
            sums[t] += offset * offset;
        }
    }
    let rest: f64 = a_rest
        .iter()
        .zip(b_rest)
        .map(|(x, y)| (x - y) * (x - y))
        .sum();
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

/// ‖a − b‖; coordinates beyond the shorter of the two are ignored.
#[must_use]
#[inline]
pub fn euclidean(a: &[f64], b: &[f64]) -> f64 {
    squared_euclidean(a, b).sqrt()
}

/// ‖a − b‖² in a dimension that the compiler knows.
#[inline]
pub(crate) fn squared_in<const D: usize>(a: &[f64; D], b: &[f64; D]) -> f64 {
    let mut sq = 0.0;
    for t in 0..D {
        sq += (a[t] - b[t]) * (a[t] - b[t]);
    }
    sq
}
