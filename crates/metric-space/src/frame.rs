//! Domain and lattice in one checked object: raw records in, lattice coordinates out.

#[cfg(test)]
mod tests;

use crate::domain::{Domain, clip_to_unit_ball, scale};
use crate::error::{ShapeError, check_columns, check_length};
use crate::lattice::{Lattice, round_even, round_toward_zero};
use crate::records::Records;

/// Values that are moved together: they fit the first cache twice over, and short rows share one
/// loop.
const TILE_VALUES: usize = 512;

/// How raw records become lattice records.
///
/// # Shapes and units
/// Lattice records are `f32`, row after row: multiples of the lattice's step, at most 1 in absolute
/// value, exact. In a ball the Euclidean length is at most 1, exactly as well.
///
/// # Privacy
/// A lattice record is a function of its raw record alone, bit for bit, wherever the record stands
/// and whatever stands beside it.
///
/// # Examples
/// ```
/// use metric_space::{BoxDomain, Frame, Lattice, Records};
/// use ndarray::array;
///
/// let frame = Frame::new(BoxDomain::new(vec![0.0], vec![10.0])?, Lattice::default());
/// let raw = array![[5.0], [12.0], [f64::NAN]];
/// let mut rows = [0.0; 3];
/// frame.quantize_rows(Records::from(&raw), &mut rows)?;
/// assert_eq!(rows, [0.0, 1.0, 0.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Frame {
    domain: Domain,
    lattice: Lattice,
    /// The domain's middle and inverse half width, repeated for as many rows as a tile has.
    middle: Vec<f64>,
    inverse: Vec<f64>,
}

impl PartialEq for Frame {
    fn eq(&self, other: &Self) -> bool {
        self.domain == other.domain && self.lattice == other.lattice
    }
}

impl Frame {
    /// Joins a domain and a lattice.
    pub fn new(domain: impl Into<Domain>, lattice: Lattice) -> Self {
        let domain = domain.into();
        let d = domain.dimension();
        let tile_rows = (TILE_VALUES / d).max(1);
        let (middle, inverse): (Vec<f64>, Vec<f64>) = (0..d).map(|j| domain.scaling(j)).unzip();
        Self {
            domain,
            lattice,
            middle: middle.repeat(tile_rows),
            inverse: inverse.repeat(tile_rows),
        }
    }

    /// The public domain.
    #[must_use]
    pub fn domain(&self) -> &Domain {
        &self.domain
    }

    /// The public lattice.
    #[must_use]
    pub fn lattice(&self) -> Lattice {
        self.lattice
    }

    /// Number of columns.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.domain.dimension()
    }

    /// Clips raw records into the domain and rounds them to the lattice: to nearest in a box,
    /// toward zero in a ball, so that no record grows longer.
    ///
    /// A coordinate that is not finite becomes the middle of its bounds before clipping. `out`
    /// holds `n·d` values, row after row. Allocates one small buffer per call, none per row.
    ///
    /// # Errors
    /// [`ShapeError`] if the records have another number of columns than the domain, or `out`
    /// another length.
    pub fn quantize_rows(&self, rows: Records<'_>, out: &mut [f32]) -> Result<(), ShapeError> {
        let d = self.dimension();
        check_columns(d, rows.dimension())?;
        check_length("out", rows.len() * d, out.len())?;
        let tile_rows = self.middle.len() / d;
        let mut tile = vec![0.0; self.middle.len()];
        for (t, out) in out.chunks_mut(self.middle.len()).enumerate() {
            let tile = &mut tile[..out.len()];
            rows.rows(t * tile_rows..(t + 1) * tile_rows)
                .copy_to_f64(tile);
            for ((x, &m), &i) in tile.iter_mut().zip(&self.middle).zip(&self.inverse) {
                *x = scale(*x, m, i);
            }
            self.quantize_scaled(tile, out);
        }
        Ok(())
    }

    /// A scaled point (any floats) as lattice units: clipped, then rounded as records are.
    ///
    /// Entries beyond the domain's columns are ignored, missing ones give the middle, 0.
    #[must_use]
    pub fn quantize_center(&self, scaled: &[f64]) -> Vec<i32> {
        let units = self.center_to_f32(scaled);
        units.iter().map(|&x| self.lattice.units(x)).collect()
    }

    /// A scaled point (any floats) as a lattice record: the same as
    /// [`quantize_center`](Self::quantize_center), in floats.
    #[must_use]
    pub fn center_to_f32(&self, scaled: &[f64]) -> Vec<f32> {
        let mut row = scaled.to_vec();
        row.resize(self.dimension(), 0.0);
        let mut out = vec![0.0; row.len()];
        self.quantize_scaled(&mut row, &mut out);
        out
    }

    /// Whole scaled rows (not NaN-free) to lattice values; `tile` is overwritten with units.
    fn quantize_scaled(&self, tile: &mut [f64], out: &mut [f32]) {
        let units = self.lattice.scale();
        match self.domain {
            Domain::Box(_) => {
                for x in tile.iter_mut() {
                    let clipped = if x.is_nan() { 0.0 } else { x.clamp(-1.0, 1.0) };
                    *x = round_even(clipped * units);
                }
            }
            Domain::Ball(_) => {
                for row in tile.chunks_exact_mut(self.dimension()) {
                    clip_to_unit_ball(row);
                    for x in row.iter_mut() {
                        *x = round_toward_zero(x.clamp(-1.0, 1.0) * units);
                    }
                    shorten_to(row, units);
                }
            }
        }
        let step = self.lattice.step();
        for (y, &x) in out.iter_mut().zip(tile.iter()) {
            *y = exact_f32(x * step);
        }
    }
}

/// Takes single units off the longest coordinates until the integer vector's length is at most
/// `bound`.
///
/// Clipping computes a length with rounding errors, so that a vector might end up a last bit too
/// long. Squares of units are integers below 2^53 and their sum is exact, so this test is too. It
/// almost never finds anything.
fn shorten_to(row: &mut [f64], bound: f64) {
    while row.iter().map(|x| x * x).sum::<f64>() > bound * bound {
        // The first of the longest: a function of the record alone.
        let mut longest = 0;
        for j in 1..row.len() {
            if row[j].abs() > row[longest].abs() {
                longest = j;
            }
        }
        row[longest] -= 1.0_f64.copysign(row[longest]);
    }
}

/// A lattice value as `f32`.
#[expect(
    clippy::cast_possible_truncation,
    reason = "lattice values have at most 23 significant bits"
)]
#[inline]
fn exact_f32(x: f64) -> f32 {
    x as f32
}
