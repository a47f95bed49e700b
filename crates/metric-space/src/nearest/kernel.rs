//! The paths and the choice among them. This module and its two children are the only ones with unsafe code.
//!
//! `tile` is the algorithm, written once; `x86_64` the vectors of two types and two instruction sets that it
//! is written over.

#[cfg(target_arch = "x86_64")]
#[macro_use]
mod tile;
#[cfg(target_arch = "x86_64")]
mod x86_64;

use std::fmt;

use super::{ClusterSums, PackedCenters, portable};
#[cfg(target_arch = "x86_64")]
use x86_64::{f32_avx2, f32_avx512, f64_avx2, f64_avx512};

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
pub(super) struct Line<T: Kernel>(pub(super) T::Lanes);

impl<T: Kernel> Line<T> {
    pub(super) fn splat(value: T) -> Self {
        let mut lanes = T::NO_LANES;
        lanes.as_mut().fill(value);
        Self(lanes)
    }
}

/// What the kernel needs of a scalar.
#[expect(unnameable_types, reason = "seals `Scalar`")]
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

    /// Rows of one block: a multiple of every tile's height.
    #[must_use]
    fn block_rows(dimension: usize) -> usize {
        let fitting = BLOCK_BYTES / (dimension * size_of::<Self>());
        (fitting / TILE_MULTIPLE * TILE_MULTIPLE).clamp(TILE_MULTIPLE, MAX_BLOCK_ROWS)
    }
}

/// Bytes of rows labeled and then added. Larger blocks fetch the centers, which the sums push out of the
/// first-level cache, less often; smaller ones keep the rows in the second-level cache of any machine.
const BLOCK_BYTES: usize = 1 << 16;
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
