//! Explicit SIMD: the only module with unsafe code.
//!
//! A *block* is up to four vectors of centers. A *tile* is R records against a block: R × V scores held in
//! registers, one fused multiply-add each per coordinate. Records are read in place, each coordinate broadcast;
//! no product is ever written to memory. The macro writes the same text for two types and two
//! instruction sets; what differs stands in the four small modules below it.

use std::fmt;

use super::{ClusterSums, PackedCenters, portable};

/// An instruction set with its own path.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isa {
    /// Plain Rust.
    Portable,
    /// x86-64 with AVX2 and FMA.
    Avx2,
    /// x86-64 with AVX-512F.
    Avx512,
}

impl Isa {
    /// All paths, the fastest first.
    pub const ALL: [Self; 3] = [Self::Avx512, Self::Avx2, Self::Portable];

    /// Whether this machine can run the path. The answer is cached by the standard library.
    #[must_use]
    pub fn is_available(self) -> bool {
        match self {
            Self::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => is_x86_feature_detected!("avx512f"),
            #[cfg(not(target_arch = "x86_64"))]
            Self::Avx2 | Self::Avx512 => false,
        }
    }

    /// The fastest path this machine can run.
    #[must_use]
    pub fn detect() -> Self {
        let available = Self::ALL.into_iter().find(|isa| isa.is_available());
        available.unwrap_or(Self::Portable)
    }
}

/// One cache line of lanes; aligned, since a load that straddles two lines costs two.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct Line<T: Kernel>(pub(super) T::Lanes);

impl<T: Kernel> Line<T> {
    pub(super) fn splat(value: T) -> Self {
        let mut lanes = T::NO_LANES;
        lanes.as_mut().fill(value);
        Self(lanes)
    }
}

/// What the kernel needs of a scalar. Sealed: the module is private.
pub trait Kernel: Copy + Send + Sync + 'static {
    /// `[Self; LANES]`.
    type Lanes: Copy + fmt::Debug + Send + Sync + AsRef<[Self]> + AsMut<[Self]>;
    /// Scalars in a [`Line`].
    const LANES: usize;
    /// Zeros.
    const NO_LANES: Self::Lanes;
    /// Zero.
    const ZERO: Self;
    /// Positive infinity.
    const INFINITY: Self;

    /// `self * x + y`, rounded once.
    #[must_use]
    fn fused(self, x: Self, y: Self) -> Self;
    /// −2·`self`, exact.
    #[must_use]
    fn minus_twice(self) -> Self;
    /// The nearest value of this type.
    #[must_use]
    fn from_f64(value: f64) -> Self;

    /// Labels up to [`MAX_BLOCK_ROWS`] rows.
    fn assign(isa: Isa, rows: &[Self], centers: &PackedCenters<Self>, labels: &mut [u32])
    where
        Self: super::Scalar;
    /// Adds labeled rows to `into`.
    fn accumulate(isa: Isa, rows: &[Self], labels: &[u32], into: &mut ClusterSums);

    /// Rows of one block: a multiple of every tile's height, about half a first-level cache.
    #[must_use]
    fn block_rows(dimension: usize) -> usize {
        let fitting = BLOCK_BYTES / (dimension * size_of::<Self>());
        (fitting / TILE_MULTIPLE * TILE_MULTIPLE).clamp(TILE_MULTIPLE, MAX_BLOCK_ROWS)
    }
}

/// Bytes of rows labeled and added before the next ones are touched.
const BLOCK_BYTES: usize = 1 << 16;
/// How far ahead of the rows in work others are fetched.
#[cfg(target_arch = "x86_64")]
const PREFETCH_BYTES: usize = 1 << 12;
/// Coordinates handled between two updates of the addresses.
#[cfg(target_arch = "x86_64")]
const UNROLL: usize = 4;
/// A multiple of all tile heights.
const TILE_MULTIPLE: usize = 24;
/// Bounds the scores kept on the stack.
const MAX_BLOCK_ROWS: usize = 240;

macro_rules! impl_kernel {
    ($t:ident, $lanes:literal, $avx2:ident, $avx512:ident) => {
        impl Kernel for $t {
            type Lanes = [$t; $lanes];
            const LANES: usize = $lanes;
            const NO_LANES: Self::Lanes = [0.0; $lanes];
            const ZERO: Self = 0.0;
            const INFINITY: Self = $t::INFINITY;

            #[inline]
            fn fused(self, x: Self, y: Self) -> Self {
                self.mul_add(x, y)
            }

            #[inline]
            fn minus_twice(self) -> Self {
                -2.0 * self
            }

            #[inline]
            #[allow(clippy::cast_possible_truncation, reason = "f32 rounds to nearest")]
            fn from_f64(value: f64) -> Self {
                value as $t
            }

            fn assign(isa: Isa, rows: &[$t], centers: &PackedCenters<$t>, labels: &mut [u32]) {
                match isa {
                    // SAFETY: the machine has the instructions: asked in the guard.
                    #[cfg(target_arch = "x86_64")]
                    Isa::Avx512 if isa.is_available() => unsafe {
                        $avx512::assign(rows, centers, labels);
                    },
                    // SAFETY: the machine has the instructions: asked in the guard.
                    #[cfg(target_arch = "x86_64")]
                    Isa::Avx2 if isa.is_available() => unsafe {
                        $avx2::assign(rows, centers, labels);
                    },
                    _ => portable::assign(rows, centers, labels),
                }
            }

            fn accumulate(isa: Isa, rows: &[$t], labels: &[u32], into: &mut ClusterSums) {
                match isa {
                    // SAFETY: the machine has the instructions: asked in the guard.
                    #[cfg(target_arch = "x86_64")]
                    Isa::Avx512 if isa.is_available() => unsafe {
                        $avx512::accumulate(rows, labels, into);
                    },
                    // SAFETY: the machine has the instructions: asked in the guard.
                    #[cfg(target_arch = "x86_64")]
                    Isa::Avx2 if isa.is_available() => unsafe {
                        $avx2::accumulate(rows, labels, into);
                    },
                    _ => into.accumulate(rows, labels),
                }
            }
        }
    };
}

impl_kernel!(f32, 16, f32_avx2, f32_avx512);
impl_kernel!(f64, 8, f64_avx2, f64_avx512);

/// Asks for the cache lines that a tile of `values` at `rows` will have been followed by soon.
///
/// Hardware prefetching starts anew at each page and falls behind at small k.
#[cfg(target_arch = "x86_64")]
#[inline]
fn prefetch<T>(rows: *const T, values: usize) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    for line in (0..values * size_of::<T>()).step_by(64) {
        let ahead = rows.cast::<i8>().wrapping_add(PREFETCH_BYTES + line);
        // SAFETY: a prefetch reads nothing the program can see, and never faults, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(ahead) };
    }
}

/// Writes the kernel of one type and instruction set over the `Vector` and the primitives of the module it
/// stands in. `[R1, R2, R3, R4]` are the tile heights for blocks of 1 to 4 vectors.
#[cfg(target_arch = "x86_64")]
macro_rules! simd_path {
    ($features:literal, $t:ident, $lanes:literal, [$($v:literal => $r:literal),+; $max:literal => $rmax:literal]) => {
        const LANES: usize = $lanes;
        /// Vectors in a [`Line`].
        const PER_LINE: usize = <$t as Kernel>::LANES / LANES;

        /// A run of vectors of centers, by pointers into the packed centers.
        #[derive(Clone, Copy)]
        struct Block {
            /// The first coordinate of the first vector, at the start of a line.
            centers: *const $t,
            /// The norms of the first vector, at the start of a line.
            norms: *const $t,
            /// Index of the first center.
            first: u32,
            dimension: usize,
        }

        /// Labels the rows; see the module's description.
        #[target_feature(enable = $features)]
        pub(super) fn assign(rows: &[$t], centers: &PackedCenters<$t>, labels: &mut [u32]) {
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
                    first: (start * LANES) as u32,
                    dimension: d,
                };
                // SAFETY: the block has as many vectors as the sweep takes: four, or what is left of `vectors`,
                // each in one of the ⌈k / Kernel::LANES⌉ groups of lines and norms; `start` is a multiple of
                // four, hence at the start of a line. Rows, labels and best were checked above.
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
        /// `block` must have V vectors, `rows` d values for each label, and `best` a place for each.
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
                let record = splat(best[r]);
                // `min` returns its second operand when one is NaN, so NaN never gets in.
                let mut least = record;
                for v in 0..V {
                    least = min(scores[r][v], least);
                }
                // Only if some lane beats the record so far: rare once a few blocks have passed.
                if less(least, record) != 0 {
                    let value = least_lane(least);
                    let value_in_all = splat(value);
                    let mut winners = 0_u64;
                    for v in 0..V {
                        winners |= u64::from(equal(scores[r][v], value_in_all)) << (v * LANES);
                    }
                    best[r] = value;
                    labels[r] = block.first + winners.trailing_zeros();
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
                let line = v / PER_LINE * d + i;
                let offset = line * <$t as Kernel>::LANES + v % PER_LINE * LANES;
                // SAFETY: vector v lies in line `v / PER_LINE` of coordinate i.
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
        pub(super) fn accumulate(rows: &[$t], labels: &[u32], into: &mut ClusterSums) {
            for (row, &label) in rows.chunks_exact(into.shape().1).zip(labels) {
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

#[cfg(target_arch = "x86_64")]
mod f32_avx512 {
    use std::arch::x86_64::*;

    use super::*;

    type Vector = __m512;

    simd_path!("avx512f", f32, 16, [1 => 12, 2 => 12, 3 => 8; 4 => 6]);

    #[target_feature(enable = "avx512f")]
    #[inline]
    fn add_line(sum: &mut [f64; 8], xs: &[f32; 8]) {
        // SAFETY: both arrays hold the eight values read and written.
        unsafe {
            let more = _mm512_cvtps_pd(_mm256_loadu_ps(xs.as_ptr()));
            let added = _mm512_add_pd(_mm512_loadu_pd(sum.as_ptr()), more);
            _mm512_storeu_pd(sum.as_mut_ptr(), added);
        }
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    fn splat(x: f32) -> Vector {
        _mm512_set1_ps(x)
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    fn fused(a: Vector, b: Vector, c: Vector) -> Vector {
        _mm512_fmadd_ps(a, b, c)
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    fn min(a: Vector, b: Vector) -> Vector {
        _mm512_min_ps(a, b)
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    fn less(a: Vector, b: Vector) -> u16 {
        _mm512_cmp_ps_mask::<_CMP_LT_OQ>(a, b)
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    fn equal(a: Vector, b: Vector) -> u16 {
        _mm512_cmp_ps_mask::<_CMP_EQ_OQ>(a, b)
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    fn least_lane(a: Vector) -> f32 {
        let high = _mm256_castpd_ps(_mm512_extractf64x4_pd::<1>(_mm512_castps_pd(a)));
        let a = _mm256_min_ps(_mm512_castps512_ps256(a), high);
        let a = _mm_min_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps::<1>(a));
        let a = _mm_min_ps(a, _mm_movehl_ps(a, a));
        _mm_cvtss_f32(_mm_min_ss(a, _mm_movehdup_ps(a)))
    }
}

#[cfg(target_arch = "x86_64")]
mod f64_avx512 {
    use std::arch::x86_64::*;

    use super::*;

    type Vector = __m512d;

    simd_path!("avx512f", f64, 8, [1 => 12, 2 => 12, 3 => 8; 4 => 6]);

    #[target_feature(enable = "avx512f")]
    #[inline]
    fn add_line(sum: &mut [f64; 8], xs: &[f64; 8]) {
        // SAFETY: both arrays hold the eight values read and written.
        unsafe {
            let more = _mm512_loadu_pd(xs.as_ptr());
            let added = _mm512_add_pd(_mm512_loadu_pd(sum.as_ptr()), more);
            _mm512_storeu_pd(sum.as_mut_ptr(), added);
        }
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    fn splat(x: f64) -> Vector {
        _mm512_set1_pd(x)
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    fn fused(a: Vector, b: Vector, c: Vector) -> Vector {
        _mm512_fmadd_pd(a, b, c)
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    fn min(a: Vector, b: Vector) -> Vector {
        _mm512_min_pd(a, b)
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    fn less(a: Vector, b: Vector) -> u8 {
        _mm512_cmp_pd_mask::<_CMP_LT_OQ>(a, b)
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    fn equal(a: Vector, b: Vector) -> u8 {
        _mm512_cmp_pd_mask::<_CMP_EQ_OQ>(a, b)
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    fn least_lane(a: Vector) -> f64 {
        let a = _mm256_min_pd(_mm512_castpd512_pd256(a), _mm512_extractf64x4_pd::<1>(a));
        let a = _mm_min_pd(_mm256_castpd256_pd128(a), _mm256_extractf128_pd::<1>(a));
        _mm_cvtsd_f64(_mm_min_sd(a, _mm_unpackhi_pd(a, a)))
    }
}

#[cfg(target_arch = "x86_64")]
mod f32_avx2 {
    use std::arch::x86_64::*;

    use super::*;

    type Vector = __m256;

    simd_path!("avx2,fma", f32, 8, [1 => 8; 2 => 6]);

    #[target_feature(enable = "avx2,fma")]
    #[inline]
    fn add_line(sum: &mut [f64; 8], xs: &[f32; 8]) {
        // SAFETY: both arrays hold the eight values read and written.
        unsafe {
            for half in [0, 4] {
                let more = _mm256_cvtps_pd(_mm_loadu_ps(xs.as_ptr().add(half)));
                let added = _mm256_add_pd(_mm256_loadu_pd(sum.as_ptr().add(half)), more);
                _mm256_storeu_pd(sum.as_mut_ptr().add(half), added);
            }
        }
    }

    #[target_feature(enable = "avx2,fma")]
    #[inline]
    fn splat(x: f32) -> Vector {
        _mm256_set1_ps(x)
    }

    #[target_feature(enable = "avx2,fma")]
    #[inline]
    fn fused(a: Vector, b: Vector, c: Vector) -> Vector {
        _mm256_fmadd_ps(a, b, c)
    }

    #[target_feature(enable = "avx2,fma")]
    #[inline]
    fn min(a: Vector, b: Vector) -> Vector {
        _mm256_min_ps(a, b)
    }

    #[target_feature(enable = "avx2,fma")]
    #[inline]
    fn less(a: Vector, b: Vector) -> u8 {
        _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_LT_OQ>(a, b)) as u8
    }

    #[target_feature(enable = "avx2,fma")]
    #[inline]
    fn equal(a: Vector, b: Vector) -> u8 {
        _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_EQ_OQ>(a, b)) as u8
    }

    #[target_feature(enable = "avx2,fma")]
    #[inline]
    fn least_lane(a: Vector) -> f32 {
        let a = _mm_min_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps::<1>(a));
        let a = _mm_min_ps(a, _mm_movehl_ps(a, a));
        _mm_cvtss_f32(_mm_min_ss(a, _mm_movehdup_ps(a)))
    }
}

#[cfg(target_arch = "x86_64")]
mod f64_avx2 {
    use std::arch::x86_64::*;

    use super::*;

    type Vector = __m256d;

    simd_path!("avx2,fma", f64, 4, [1 => 8; 2 => 6]);

    #[target_feature(enable = "avx2,fma")]
    #[inline]
    fn add_line(sum: &mut [f64; 8], xs: &[f64; 8]) {
        // SAFETY: both arrays hold the eight values read and written.
        unsafe {
            for half in [0, 4] {
                let more = _mm256_loadu_pd(xs.as_ptr().add(half));
                let added = _mm256_add_pd(_mm256_loadu_pd(sum.as_ptr().add(half)), more);
                _mm256_storeu_pd(sum.as_mut_ptr().add(half), added);
            }
        }
    }

    #[target_feature(enable = "avx2,fma")]
    #[inline]
    fn splat(x: f64) -> Vector {
        _mm256_set1_pd(x)
    }

    #[target_feature(enable = "avx2,fma")]
    #[inline]
    fn fused(a: Vector, b: Vector, c: Vector) -> Vector {
        _mm256_fmadd_pd(a, b, c)
    }

    #[target_feature(enable = "avx2,fma")]
    #[inline]
    fn min(a: Vector, b: Vector) -> Vector {
        _mm256_min_pd(a, b)
    }

    #[target_feature(enable = "avx2,fma")]
    #[inline]
    fn less(a: Vector, b: Vector) -> u8 {
        _mm256_movemask_pd(_mm256_cmp_pd::<_CMP_LT_OQ>(a, b)) as u8
    }

    #[target_feature(enable = "avx2,fma")]
    #[inline]
    fn equal(a: Vector, b: Vector) -> u8 {
        _mm256_movemask_pd(_mm256_cmp_pd::<_CMP_EQ_OQ>(a, b)) as u8
    }

    #[target_feature(enable = "avx2,fma")]
    #[inline]
    fn least_lane(a: Vector) -> f64 {
        let a = _mm_min_pd(_mm256_castpd256_pd128(a), _mm256_extractf128_pd::<1>(a));
        _mm_cvtsd_f64(_mm_min_sd(a, _mm_unpackhi_pd(a, a)))
    }
}
