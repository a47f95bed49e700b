//! One whole Lloyd step, in parallel.

use ndarray::{ArrayView2, Axis, s};
use rayon::prelude::*;

use super::{ClusterSums, PackedCenters, Scalar};

/// Fewest records of a chunk, the unit of parallel work.
const MIN_CHUNK: usize = 1 << 14;

/// Labels `records`, shape (n, d), and returns the sums and counts of the clusters, without storing labels.
///
/// Chunks run on rayon's current pool. Their size depends on n, d and k alone and they are merged in order, so
/// the result is the same bits for any number of threads. Rows that are not contiguous are copied chunk by chunk.
/// Time O(n·d·k). The chunks' sums together take at most about a quarter
/// of the memory of the records, or of two (k, d) arrays if that is more.
///
/// # Panics
///
/// If `records` has another number of columns than the centers.
#[must_use]
pub fn lloyd_step<T: Scalar>(
    records: ArrayView2<'_, T>,
    centers: &PackedCenters<T>,
) -> ClusterSums {
    check_columns(&records, centers);
    let parts: Vec<_> = records
        .axis_chunks_iter(Axis(0), chunk_rows(centers))
        .into_par_iter()
        .map(|chunk| {
            let mut labels = vec![0; chunk.nrows()];
            sum_chunk(chunk, centers, &mut labels)
        })
        .collect();
    merge(&parts, centers)
}

/// As [`lloyd_step`], and writes the label of each record to `labels` (n).
///
/// # Panics
///
/// If `records` has another number of columns than the centers, or another number of rows than there are labels.
pub fn lloyd_step_with_labels<T: Scalar>(
    records: ArrayView2<'_, T>,
    centers: &PackedCenters<T>,
    labels: &mut [u32],
) -> ClusterSums {
    check_columns(&records, centers);
    assert_eq!(records.nrows(), labels.len(), "one label a record");
    let chunk_rows = chunk_rows(centers);
    let parts: Vec<_> = records
        .axis_chunks_iter(Axis(0), chunk_rows)
        .into_par_iter()
        .zip(labels.par_chunks_mut(chunk_rows))
        .map(|(chunk, labels)| sum_chunk(chunk, centers, labels))
        .collect();
    merge(&parts, centers)
}

fn check_columns<T: Scalar>(records: &ArrayView2<'_, T>, centers: &PackedCenters<T>) {
    assert_eq!(
        records.ncols(),
        centers.dimension(),
        "records of another dimension than the centers"
    );
}

/// Rows of a chunk: enough of them that the sums of all chunks stay small beside the records.
fn chunk_rows<T: Scalar>(centers: &PackedCenters<T>) -> usize {
    MIN_CHUNK.max(16 * centers.n_clusters())
}

fn sum_chunk<T: Scalar>(
    chunk: ArrayView2<'_, T>,
    centers: &PackedCenters<T>,
    labels: &mut [u32],
) -> ClusterSums {
    let mut sums = ClusterSums::new(centers.n_clusters(), centers.dimension());
    if let Some(rows) = chunk.as_slice() {
        centers.assign_and_sum(rows, labels, &mut sums);
        return sums;
    }
    // Copied in small pieces, so that memory stays independent of n.
    let piece = T::block_rows(centers.dimension());
    for (start, labels) in (0..).step_by(piece).zip(labels.chunks_mut(piece)) {
        let rows = chunk.slice(s![start..start + labels.len(), ..]);
        let rows: Vec<T> = rows.iter().copied().collect();
        centers.assign_and_sum(&rows, labels, &mut sums);
    }
    sums
}

fn merge<T: Scalar>(parts: &[ClusterSums], centers: &PackedCenters<T>) -> ClusterSums {
    let mut total = ClusterSums::new(centers.n_clusters(), centers.dimension());
    for part in parts {
        total.merge(part);
    }
    total
}
