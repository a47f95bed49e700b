//! The vectors that the kernel is written over.
//!
//! `min(a, b)` is `b` when either is NaN, and comparisons with NaN are false, by the instructions' definition.

#![allow(
    clippy::wildcard_imports,
    reason = "a list of intrinsics would only repeat the code; not `expect`, since the lint skips test builds"
)]

/// Gives each function the target features, which plain functions inherit when inlined and closures would not.
macro_rules! featured {
    ($features:literal: $(fn $name:ident($($argument:ident: $type:ty),*) $(-> $out:ty)? $body:block)+) => {
        $(
            #[target_feature(enable = $features)]
            #[inline]
            fn $name($($argument: $type),*) $(-> $out)? $body
        )+
    };
}

pub(super) mod f32_avx512 {
    use std::arch::x86_64::*;

    use super::super::tile::{UNROLL, label, prefetch};
    use super::super::{ClusterSums, Kernel, MAX_BLOCK_ROWS, PackedCenters};

    type Vector = __m512;

    simd_path!("avx512f", f32, [1 => 12, 2 => 12, 3 => 8; 4 => 6]);

    featured! { "avx512f":
        fn add_line(sum: &mut [f64; 8], xs: &[f32; 8]) {
            // SAFETY: both arrays hold the eight values read and written.
            unsafe {
                let more = _mm512_cvtps_pd(_mm256_loadu_ps(xs.as_ptr()));
                let added = _mm512_add_pd(_mm512_loadu_pd(sum.as_ptr()), more);
                _mm512_storeu_pd(sum.as_mut_ptr(), added);
            }
        }

        fn splat(x: f32) -> Vector {
            _mm512_set1_ps(x)
        }

        fn fused(a: Vector, b: Vector, c: Vector) -> Vector {
            _mm512_fmadd_ps(a, b, c)
        }

        fn min(a: Vector, b: Vector) -> Vector {
            _mm512_min_ps(a, b)
        }

        fn less(a: Vector, b: Vector) -> u32 {
            u32::from(_mm512_cmp_ps_mask::<_CMP_LT_OQ>(a, b))
        }

        fn equal(a: Vector, b: Vector) -> u32 {
            u32::from(_mm512_cmp_ps_mask::<_CMP_EQ_OQ>(a, b))
        }

        fn least_lane(a: Vector) -> f32 {
            let high = _mm256_castpd_ps(_mm512_extractf64x4_pd::<1>(_mm512_castps_pd(a)));
            let a = _mm256_min_ps(_mm512_castps512_ps256(a), high);
            let a = _mm_min_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps::<1>(a));
            let a = _mm_min_ps(a, _mm_movehl_ps(a, a));
            _mm_cvtss_f32(_mm_min_ss(a, _mm_movehdup_ps(a)))
        }
    }
}

pub(super) mod f64_avx512 {
    use std::arch::x86_64::*;

    use super::super::tile::{UNROLL, label, prefetch};
    use super::super::{ClusterSums, Kernel, MAX_BLOCK_ROWS, PackedCenters};

    type Vector = __m512d;

    simd_path!("avx512f", f64, [1 => 12, 2 => 12, 3 => 8; 4 => 6]);

    featured! { "avx512f":
        fn add_line(sum: &mut [f64; 8], xs: &[f64; 8]) {
            // SAFETY: both arrays hold the eight values read and written.
            unsafe {
                let more = _mm512_loadu_pd(xs.as_ptr());
                let added = _mm512_add_pd(_mm512_loadu_pd(sum.as_ptr()), more);
                _mm512_storeu_pd(sum.as_mut_ptr(), added);
            }
        }

        fn splat(x: f64) -> Vector {
            _mm512_set1_pd(x)
        }

        fn fused(a: Vector, b: Vector, c: Vector) -> Vector {
            _mm512_fmadd_pd(a, b, c)
        }

        fn min(a: Vector, b: Vector) -> Vector {
            _mm512_min_pd(a, b)
        }

        fn less(a: Vector, b: Vector) -> u32 {
            u32::from(_mm512_cmp_pd_mask::<_CMP_LT_OQ>(a, b))
        }

        fn equal(a: Vector, b: Vector) -> u32 {
            u32::from(_mm512_cmp_pd_mask::<_CMP_EQ_OQ>(a, b))
        }

        fn least_lane(a: Vector) -> f64 {
            let a = _mm256_min_pd(_mm512_castpd512_pd256(a), _mm512_extractf64x4_pd::<1>(a));
            let a = _mm_min_pd(_mm256_castpd256_pd128(a), _mm256_extractf128_pd::<1>(a));
            _mm_cvtsd_f64(_mm_min_sd(a, _mm_unpackhi_pd(a, a)))
        }
    }
}

pub(super) mod f32_avx2 {
    use std::arch::x86_64::*;

    use super::super::tile::{UNROLL, label, prefetch};
    use super::super::{ClusterSums, Kernel, MAX_BLOCK_ROWS, PackedCenters};

    type Vector = __m256;

    simd_path!("avx2,fma", f32, [1 => 8; 2 => 6]);

    featured! { "avx2,fma":
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

        fn splat(x: f32) -> Vector {
            _mm256_set1_ps(x)
        }

        fn fused(a: Vector, b: Vector, c: Vector) -> Vector {
            _mm256_fmadd_ps(a, b, c)
        }

        fn min(a: Vector, b: Vector) -> Vector {
            _mm256_min_ps(a, b)
        }

        fn less(a: Vector, b: Vector) -> u32 {
            _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_LT_OQ>(a, b)).cast_unsigned()
        }

        fn equal(a: Vector, b: Vector) -> u32 {
            _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_EQ_OQ>(a, b)).cast_unsigned()
        }

        fn least_lane(a: Vector) -> f32 {
            let a = _mm_min_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps::<1>(a));
            let a = _mm_min_ps(a, _mm_movehl_ps(a, a));
            _mm_cvtss_f32(_mm_min_ss(a, _mm_movehdup_ps(a)))
        }
    }
}

pub(super) mod f64_avx2 {
    use std::arch::x86_64::*;

    use super::super::tile::{UNROLL, label, prefetch};
    use super::super::{ClusterSums, Kernel, MAX_BLOCK_ROWS, PackedCenters};

    type Vector = __m256d;

    simd_path!("avx2,fma", f64, [1 => 8; 2 => 6]);

    featured! { "avx2,fma":
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

        fn splat(x: f64) -> Vector {
            _mm256_set1_pd(x)
        }

        fn fused(a: Vector, b: Vector, c: Vector) -> Vector {
            _mm256_fmadd_pd(a, b, c)
        }

        fn min(a: Vector, b: Vector) -> Vector {
            _mm256_min_pd(a, b)
        }

        fn less(a: Vector, b: Vector) -> u32 {
            _mm256_movemask_pd(_mm256_cmp_pd::<_CMP_LT_OQ>(a, b)).cast_unsigned()
        }

        fn equal(a: Vector, b: Vector) -> u32 {
            _mm256_movemask_pd(_mm256_cmp_pd::<_CMP_EQ_OQ>(a, b)).cast_unsigned()
        }

        fn least_lane(a: Vector) -> f64 {
            let a = _mm_min_pd(_mm256_castpd256_pd128(a), _mm256_extractf128_pd::<1>(a));
            _mm_cvtsd_f64(_mm_min_sd(a, _mm_unpackhi_pd(a, a)))
        }
    }
}
