//! Labels and sums over vectors of centers: one text for all vector types.
//!
//! A *block* is a few vectors of centers. A *tile* is R records against a block of V vectors: R × V vectors of
//! scores in registers, one fused multiply-add each per coordinate. Records are read in place and each coordinate
//! is broadcast; no product is ever written to memory. Heights R are chosen so that scores, centers and one
//! coordinate fill the registers. The rows left over pass through tiles of height one: the same
//! operations, lane by lane.

/// Coordinates handled between two updates of the addresses.
pub(super) const UNROLL: usize = 4;
/// How far ahead of the rows in work others are fetched.
const PREFETCH_BYTES: usize = 1 << 12;

/// Fetches what follows a tile of `values` at `rows` by [`PREFETCH_BYTES`], as many bytes as the tile has.
///
/// Hardware prefetching starts anew at each page and falls behind where there is little to compute.
#[inline]
pub(super) fn prefetch<T>(rows: *const T, values: usize) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    for line in (0..values * size_of::<T>()).step_by(64) {
        let ahead = rows.cast::<i8>().wrapping_add(PREFETCH_BYTES + line);
        // SAFETY: a prefetch reads nothing the program can see, and never faults, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(ahead) };
    }
}

/// The index of the first winning lane of a block; `winners` is not zero.
#[inline]
pub(super) fn label(first: usize, winners: u64) -> u32 {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "k fits in 32 bits: checked when centers were packed"
    )]
    let first = first as u32;
    first + winners.trailing_zeros()
}

/// Writes the kernel of scalar `$t` over the `Vector` and the primitives of the module it stands in.
///
/// `[V => R, …; V => R]` are the heights of tiles by the vectors of their block, the last pair that of the
/// largest block.
macro_rules! simd_path {
    ($features:literal, $t:ident, [$($v:literal => $r:literal),+; $max:literal => $rmax:literal]) => {
        const LANES: usize = size_of::<Vector>() / size_of::<$t>();
        /// Vectors in a `Line`.
        const PER_LINE: usize = <$t as Kernel>::LANES / LANES;

        /// A run of vectors of centers, by pointers into the packed centers.
        #[derive(Clone, Copy)]
        struct Block {
            /// The first coordinate of the first vector, at the start of a line.
            centers: *const $t,
            /// The norms of the first vector, at the start of a line.
            norms: *const $t,
            /// Index of the first center.
            first: usize,
            dimension: usize,
        }

        /// Labels the rows.
        #[target_feature(enable = $features)]
        pub(in super::super) fn assign(rows: &[$t], centers: &PackedCenters<$t>, labels: &mut [u32]) {
            let d = centers.dimension;
            assert!(labels.len() <= MAX_BLOCK_ROWS && rows.len() == labels.len() * d);
            let mut best = [$t::INFINITY; MAX_BLOCK_ROWS];
            labels.fill(0);
            let vectors = centers.n_clusters.div_ceil(LANES);
            for start in (0..vectors).step_by($max) {
                let line = start / PER_LINE;
                let block = Block {
                    centers: centers.lines[line * d..].as_ptr().cast(),
                    norms: centers.norms[line..].as_ptr().cast(),
                    first: start * LANES,
                    dimension: d,
                };
                // SAFETY: the block has as many vectors as the sweep takes: the most, or what is left of
                // `vectors`, each within the ⌈k / Kernel::LANES⌉ groups of lines and norms. `start` is a multiple
                // of the most, hence of the vectors of a line. Rows and labels were checked above.
                unsafe {
                    match vectors - start {
                        $($v => sweep::<$r, $v>(rows, block, &mut best, labels),)+
                        _ => sweep::<$rmax, $max>(rows, block, &mut best, labels),
                    }
                }
            }
        }

        /// All rows against one block: tiles of R rows, then tiles of one row by the same operations.
        ///
        /// # Safety
        ///
        /// `block` must have V vectors, and `rows` d values for each label.
        #[target_feature(enable = $features)]
        #[inline]
        unsafe fn sweep<const R: usize, const V: usize>(
            rows: &[$t],
            block: Block,
            best: &mut [$t; MAX_BLOCK_ROWS],
            labels: &mut [u32],
        ) {
            let n = labels.len();
            let mut row = 0;
            while row < n {
                let rows = rows[row * block.dimension..].as_ptr();
                if block.first == 0 {
                    prefetch(rows, R * block.dimension);
                }
                // SAFETY: R rows remain, or one does; the rest is the caller's promise.
                row += unsafe {
                    if n - row >= R {
                        tile::<R, V>(rows, block, &mut best[row..], &mut labels[row..]);
                        R
                    } else {
                        tile::<1, V>(rows, block, &mut best[row..], &mut labels[row..]);
                        1
                    }
                };
            }
        }

        /// R rows against V vectors.
        ///
        /// # Safety
        ///
        /// `rows` must point to R rows of `block.dimension` values, and `block` must have V vectors.
        #[target_feature(enable = $features)]
        #[inline]
        unsafe fn tile<const R: usize, const V: usize>(
            rows: *const $t,
            block: Block,
            best: &mut [$t],
            labels: &mut [u32],
        ) {
            let d = block.dimension;
            let mut scores = [[splat(0.0); V]; R];
            for v in 0..V {
                // SAFETY: norms are contiguous over groups, so vector v is LANES values further on.
                let norms = unsafe { load(block.norms.add(v * LANES)) };
                for r in 0..R {
                    scores[r][v] = norms;
                }
            }
            // SAFETY: coordinates below d, by the caller's promise.
            unsafe {
                for i in 0..d / UNROLL {
                    for j in 0..UNROLL {
                        add_products(&mut scores, rows, block, i * UNROLL + j);
                    }
                }
                for i in d / UNROLL * UNROLL..d {
                    add_products(&mut scores, rows, block, i);
                }
            }
            for r in 0..R {
                let best_so_far = splat(best[r]);
                // `min` returns its second operand when one is NaN, so NaN never gets in.
                let mut least = best_so_far;
                for v in 0..V {
                    least = min(scores[r][v], least);
                }
                // Only if some lane beats the best so far: rare once a few blocks have passed.
                if less(least, best_so_far) != 0 {
                    let value = least_lane(least);
                    let value_in_all = splat(value);
                    let mut winners = 0_u64;
                    for v in 0..V {
                        winners |= u64::from(equal(scores[r][v], value_in_all)) << (v * LANES);
                    }
                    best[r] = value;
                    labels[r] = label(block.first, winners);
                }
            }
        }

        /// Adds the products of coordinate i to the scores of a tile.
        ///
        /// # Safety
        ///
        /// As for [`tile`], and i must be less than `block.dimension`.
        #[target_feature(enable = $features)]
        #[inline]
        unsafe fn add_products<const R: usize, const V: usize>(
            scores: &mut [[Vector; V]; R],
            rows: *const $t,
            block: Block,
            i: usize,
        ) {
            let d = block.dimension;
            let mut centers = [splat(0.0); V];
            for v in 0..V {
                // Vectors of one group share the line of coordinate i; groups are d lines apart.
                let group = v / PER_LINE;
                let line = group * (d - 1) + i;
                let offset = line * <$t as Kernel>::LANES + v * LANES;
                // SAFETY: the offset is that of lane `v % PER_LINE * LANES` of line `group * d + i`.
                centers[v] = unsafe { load(block.centers.add(offset)) };
            }
            for r in 0..R {
                // SAFETY: row r has d values.
                let x = splat(unsafe { *rows.add(r * d + i) });
                for v in 0..V {
                    scores[r][v] = fused(centers[v], x, scores[r][v]);
                }
            }
        }

        /// [`ClusterSums::accumulate`], a line of sums at a time.
        #[target_feature(enable = $features)]
        pub(in super::super) fn accumulate(rows: &[$t], labels: &[u32], into: &mut ClusterSums) {
            let d = into.shape().1;
            // Without a whole line the plain loop is the faster one.
            if d < <f64 as Kernel>::LANES {
                return into.accumulate(rows, labels);
            }
            for (row, &label) in rows.chunks_exact(d).zip(labels) {
                let sum = into.count_one(label);
                let (sum, sum_tail) = sum.as_chunks_mut();
                let (row, row_tail) = row.as_chunks();
                for (sum, xs) in sum.iter_mut().zip(row) {
                    add_line(sum, xs);
                }
                for (sum, &x) in sum_tail.iter_mut().zip(row_tail) {
                    *sum += f64::from(x);
                }
            }
        }

        /// # Safety
        ///
        /// `from` must point to LANES readable values.
        #[target_feature(enable = $features)]
        #[inline]
        unsafe fn load(from: *const $t) -> Vector {
            // SAFETY: the caller's promise; a vector is LANES values, and any alignment is allowed.
            unsafe { from.cast::<Vector>().read_unaligned() }
        }
    };
}
