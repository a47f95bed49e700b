//! The integer lattice on which every private statistic lives.
//!
//! Coordinates of the scaled domain are multiples of `2^-bits`. Such a value with at most 22 bits
//! has an exact `f32`, and sums of its units are exact integers: the same for any order of the
//! records, any block size, any number of threads.

#[cfg(test)]
mod tests;

/// Bits that a lattice has unless the caller says otherwise: a step of about 10⁻⁶ of the domain's
/// half width.
pub const DEFAULT_BITS: u32 = 20;

/// Most bits of a lattice: `2^22` units and their sign fit the 24-bit mantissa of an `f32`.
pub const MAX_BITS: u32 = 22;

/// A lattice was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LatticeError {
    /// The number of bits is out of range.
    #[error("lattice bits must lie in 1..={MAX_BITS}, got {got}")]
    Bits {
        /// The refused number of bits.
        got: u32,
    },
}

/// Fixed-point rounding of scaled coordinates with step `2^-bits`.
///
/// # Examples
/// ```
/// use metric_space::Lattice;
///
/// let lattice = Lattice::new(3)?;
/// assert_eq!(lattice.units_per_one(), 8);
/// assert_eq!(lattice.quantize(0.7), 6);
/// assert_eq!(lattice.quantize_toward_zero(0.7), 5);
/// assert_eq!(lattice.to_f64(6), 0.75);
/// # Ok::<(), metric_space::LatticeError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Lattice {
    bits: u32,
}

impl Default for Lattice {
    fn default() -> Self {
        Self { bits: DEFAULT_BITS }
    }
}

impl Lattice {
    /// A lattice with step `2^-bits`.
    ///
    /// # Errors
    /// [`LatticeError::Bits`] unless `bits` lies in `1..=22`.
    pub const fn new(bits: u32) -> Result<Self, LatticeError> {
        if bits >= 1 && bits <= MAX_BITS {
            Ok(Self { bits })
        } else {
            Err(LatticeError::Bits { got: bits })
        }
    }

    /// Number of bits.
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.bits
    }

    /// Units between 0 and 1, `2^bits`: the bound of a coordinate in units.
    #[must_use]
    pub const fn units_per_one(self) -> i64 {
        1 << self.bits
    }

    /// The distance of neighboring lattice values, `2^-bits`.
    #[must_use]
    pub fn step(self) -> f64 {
        1.0 / self.scale()
    }

    /// Units per one as a float.
    pub(crate) fn scale(self) -> f64 {
        f64::from(1_u32 << self.bits)
    }

    /// The nearest lattice point of `x`, clipped to `[-1, 1]`, in units; ties to the even one. NaN
    /// gives 0.
    #[must_use]
    pub fn quantize(self, x: f64) -> i32 {
        to_units(round_even(self.clipped(x)))
    }

    /// The lattice point next to `x`, clipped to `[-1, 1]`, on the side of 0: never longer than
    /// `x`. NaN gives 0.
    #[must_use]
    pub fn quantize_toward_zero(self, x: f64) -> i32 {
        to_units(round_toward_zero(self.clipped(x)))
    }

    /// The coordinate of a number of units; exact for any sum of fewer than 2^53 units.
    #[must_use]
    pub fn to_f64(self, units: i64) -> f64 {
        units as f64 * self.step()
    }

    /// The units of a lattice value that is stored as a float. Exact for lattice values.
    #[must_use]
    pub fn units(self, value: f32) -> i32 {
        to_units(f64::from(value) * self.scale())
    }

    fn clipped(self, x: f64) -> f64 {
        if x.is_nan() {
            0.0
        } else {
            x.clamp(-1.0, 1.0) * self.scale()
        }
    }
}

/// Cuts a float of at most `2^22` to an integer.
#[expect(
    clippy::cast_possible_truncation,
    reason = "callers clip to 2^22 units, and `as` saturates"
)]
fn to_units(x: f64) -> i32 {
    x as i32
}

/// Rounds `|x| ≤ 2^22` to the nearest integer, ties to even.
///
/// Adding 1.5·2^52 leaves no room for a fraction; unlike `round_ties_even` this needs no
/// instruction beyond addition, so that loops of it become vector code on every machine.
#[inline]
pub(crate) fn round_even(x: f64) -> f64 {
    const NO_FRACTION: f64 = 6_755_399_441_055_744.0;
    (x + NO_FRACTION) - NO_FRACTION
}

/// Rounds `|x| ≤ 2^22` toward zero, by the same means.
#[inline]
pub(crate) fn round_toward_zero(x: f64) -> f64 {
    let length = x.abs();
    let nearest = round_even(length);
    let down = if nearest > length {
        nearest - 1.0
    } else {
        nearest
    };
    // Adding zero turns −0 into +0: one lattice point, one float.
    down.copysign(x) + 0.0
}
