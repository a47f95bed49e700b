//! Public regions, known before anybody looks at a record.
//!
//! A bound on the records comes from the caller, never from the records. Every algorithm works in
//! the *scaled* domain: `[-1, 1]` in each column of a box, the unit ball for a ball.

#[cfg(test)]
mod tests;

/// A domain was refused.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DomainError {
    /// At least one column is needed.
    #[error("a domain needs at least 1 column")]
    NoColumns,
    /// Lower and upper bounds differ in number.
    #[error("got {lo} lower and {hi} upper bounds")]
    Lengths {
        /// Number of lower bounds.
        lo: usize,
        /// Number of upper bounds.
        hi: usize,
    },
    /// Bounds must be finite and in order, and their distance must be a number that has a
    /// reciprocal.
    #[error(
        "bounds of column {column} must be finite, with lo < hi and a usual distance, got [{lo}, {hi}]"
    )]
    Bounds {
        /// 0-based column.
        column: usize,
        /// The refused lower bound.
        lo: f64,
        /// The refused upper bound.
        hi: f64,
    },
    /// The center of a ball must be finite, and center ± radius too.
    #[error(
        "coordinate {column} of the ball's center must be finite, and so must the ball, got {got}"
    )]
    Center {
        /// 0-based column.
        column: usize,
        /// The refused coordinate.
        got: f64,
    },
    /// The radius must be a positive number that has a reciprocal.
    #[error("radius must be finite and above 0, got {got}")]
    Radius {
        /// The refused radius.
        got: f64,
    },
}

/// A box: one interval per column.
#[derive(Clone, Debug, PartialEq)]
pub struct BoxDomain {
    lo: Vec<f64>,
    hi: Vec<f64>,
    middle: Vec<f64>,
    half: Vec<f64>,
    inverse: Vec<f64>,
}

impl BoxDomain {
    /// Takes the bounds of each column, in the columns' own units.
    ///
    /// # Errors
    /// [`DomainError`] if there is no column, the lists differ in length, a bound is not finite,
    /// `lo >= hi`, or the width overflows or is so small that it has no finite reciprocal.
    pub fn new(lo: Vec<f64>, hi: Vec<f64>) -> Result<Self, DomainError> {
        if lo.len() != hi.len() {
            return Err(DomainError::Lengths {
                lo: lo.len(),
                hi: hi.len(),
            });
        }
        if lo.is_empty() {
            return Err(DomainError::NoColumns);
        }
        let half: Vec<f64> = lo.iter().zip(&hi).map(|(&l, &h)| (h - l) / 2.0).collect();
        let inverse: Vec<f64> = half.iter().map(|&h| 1.0 / h).collect();
        for (column, (&l, &h)) in lo.iter().zip(&hi).enumerate() {
            // The width is finite only if both bounds are.
            if !(l < h && half[column].is_finite() && inverse[column].is_finite()) {
                return Err(DomainError::Bounds {
                    column,
                    lo: l,
                    hi: h,
                });
            }
        }
        Ok(Self {
            middle: lo
                .iter()
                .zip(&hi)
                .map(|(&l, &h)| l / 2.0 + h / 2.0)
                .collect(),
            half,
            inverse,
            lo,
            hi,
        })
    }

    /// The box that is its own scaled form, `[-1, 1]` in each of `dimension` columns.
    ///
    /// # Errors
    /// [`DomainError::NoColumns`] if `dimension` is 0.
    pub fn unit(dimension: usize) -> Result<Self, DomainError> {
        Self::new(vec![-1.0; dimension], vec![1.0; dimension])
    }

    /// Lower bounds, original units.
    #[must_use]
    pub fn lo(&self) -> &[f64] {
        &self.lo
    }

    /// Upper bounds, original units.
    #[must_use]
    pub fn hi(&self) -> &[f64] {
        &self.hi
    }
}

/// A ball around a public center.
#[derive(Clone, Debug, PartialEq)]
pub struct BallDomain {
    center: Vec<f64>,
    radius: f64,
    inverse: f64,
}

impl BallDomain {
    /// Takes center and radius, in original units.
    ///
    /// # Errors
    /// [`DomainError`] if there is no column, or a number is not finite, or the radius is not
    /// positive.
    pub fn new(center: Vec<f64>, radius: f64) -> Result<Self, DomainError> {
        if center.is_empty() {
            return Err(DomainError::NoColumns);
        }
        let inverse = 1.0 / radius;
        if !(radius > 0.0 && radius.is_finite() && inverse.is_finite()) {
            return Err(DomainError::Radius { got: radius });
        }
        for (column, &got) in center.iter().enumerate() {
            if !(got + radius).is_finite() || !(got - radius).is_finite() {
                return Err(DomainError::Center { column, got });
            }
        }
        Ok(Self {
            center,
            radius,
            inverse,
        })
    }

    /// Center, original units.
    #[must_use]
    pub fn center(&self) -> &[f64] {
        &self.center
    }

    /// Radius, original units.
    #[must_use]
    pub fn radius(&self) -> f64 {
        self.radius
    }
}

/// Where records may lie, by public knowledge.
///
/// # Examples
/// ```
/// use metric_space::{BoxDomain, Domain};
///
/// let domain = Domain::from(BoxDomain::new(vec![0.0, 10.0], vec![100.0, 20.0])?);
/// let mut scaled = [0.0; 2];
/// domain.to_scaled_record(&[75.0, 40.0], &mut scaled);
/// assert_eq!(scaled, [0.5, 5.0]);
/// domain.clip_scaled(&mut scaled);
/// assert_eq!(scaled, [0.5, 1.0]);
/// assert_eq!(domain.to_original(&scaled), [75.0, 20.0]);
/// # Ok::<(), metric_space::DomainError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Domain {
    /// An interval per column; scaled: `[-1, 1]^d`.
    Box(BoxDomain),
    /// A Euclidean ball; scaled: the unit ball.
    Ball(BallDomain),
}

impl From<BoxDomain> for Domain {
    fn from(domain: BoxDomain) -> Self {
        Self::Box(domain)
    }
}

impl From<BallDomain> for Domain {
    fn from(domain: BallDomain) -> Self {
        Self::Ball(domain)
    }
}

/// Longest coordinate that takes part in a norm: its square, summed over any number of columns,
/// stays finite.
const FAR: f64 = 1e140;

impl Domain {
    /// Number of columns.
    #[must_use]
    pub fn dimension(&self) -> usize {
        match self {
            Self::Box(b) => b.lo.len(),
            Self::Ball(b) => b.center.len(),
        }
    }

    /// What is subtracted from column `j` and by what the difference is then multiplied.
    pub(crate) fn scaling(&self, j: usize) -> (f64, f64) {
        match self {
            Self::Box(b) => (b.middle[j], b.inverse[j]),
            Self::Ball(b) => (b.center[j], b.inverse),
        }
    }

    /// The record in scaled coordinates, **not** clipped: for evaluation, where records count as
    /// they are.
    ///
    /// A coordinate that is not finite becomes the middle of its bounds, 0; one beyond the range of
    /// numbers becomes the largest number. Entries of `raw` or `out` beyond the shorter of the two,
    /// or beyond the domain's columns, are ignored.
    pub fn to_scaled_record(&self, raw: &[f64], out: &mut [f64]) {
        for (j, (&x, y)) in raw.iter().zip(out).enumerate().take(self.dimension()) {
            let (middle, inverse) = self.scaling(j);
            *y = scale(x, middle, inverse).clamp(-f64::MAX, f64::MAX);
        }
    }

    /// Moves a scaled record into the scaled domain: each coordinate of a box on its own, a ball
    /// radially.
    ///
    /// Not-a-number becomes 0. What lies inside is returned as it came.
    pub fn clip_scaled(&self, scaled: &mut [f64]) {
        match self {
            Self::Box(_) => {
                for x in scaled {
                    *x = if x.is_nan() { 0.0 } else { x.clamp(-1.0, 1.0) };
                }
            }
            Self::Ball(_) => clip_to_unit_ball(scaled),
        }
    }

    /// A scaled point in original units, inside the domain even after rounding: `lo ≤ x ≤ hi` holds
    /// exactly.
    #[must_use]
    pub fn to_original(&self, scaled: &[f64]) -> Vec<f64> {
        let mut inside = scaled.to_vec();
        self.clip_scaled(&mut inside);
        match self {
            Self::Box(b) => inside
                .iter()
                .enumerate()
                .map(|(j, &s)| (b.middle[j] + s * b.half[j]).clamp(b.lo[j], b.hi[j]))
                .collect(),
            Self::Ball(b) => {
                // Rounding may push a point of the sphere just outside: pull it in until it is not.
                let mut pull = 1.0;
                for _ in 0..64 {
                    let x: Vec<f64> = (b.center.iter().zip(&inside))
                        .map(|(&c, &s)| c + s * pull * b.radius)
                        .collect();
                    if self.contains(&x) {
                        return x;
                    }
                    pull = 1.0 - 2.0 * (1.0 - pull) - f64::EPSILON;
                }
                b.center.clone()
            }
        }
    }

    /// Largest distance between two points of the scaled domain: `2·√d` for a box, 2 for a ball.
    #[must_use]
    pub fn diameter_scaled(&self) -> f64 {
        match self {
            Self::Box(b) => 2.0 * (b.lo.len() as f64).sqrt(),
            Self::Ball(_) => 2.0,
        }
    }

    /// Lowest and highest value of each column in original units: of the box, or of the box around
    /// the ball.
    #[must_use]
    pub fn corners(&self) -> (Vec<f64>, Vec<f64>) {
        match self {
            Self::Box(b) => (b.lo.clone(), b.hi.clone()),
            Self::Ball(b) => {
                let low = b.center.iter().map(|c| c - b.radius);
                let high = b.center.iter().map(|c| c + b.radius);
                (low.collect(), high.collect())
            }
        }
    }

    /// Moves a record (original units) into the domain: each coordinate of a box on its own, a ball
    /// radially.
    ///
    /// A coordinate that is not finite becomes the middle of its bounds first. What lies inside a
    /// box is returned bit for bit. Missing columns give the middle, further ones are cut off.
    pub fn clip_original(&self, record: &mut Vec<f64>) {
        record.resize(self.dimension(), f64::NAN);
        match self {
            Self::Box(b) => {
                for (j, x) in record.iter_mut().enumerate() {
                    *x = if x.is_finite() {
                        x.clamp(b.lo[j], b.hi[j])
                    } else {
                        b.middle[j]
                    };
                }
            }
            Self::Ball(b) => {
                for (x, &middle) in record.iter_mut().zip(&b.center) {
                    if !x.is_finite() {
                        *x = middle;
                    }
                }
                if !self.contains(record) {
                    let mut scaled = vec![0.0; record.len()];
                    self.to_scaled_record(record, &mut scaled);
                    *record = self.to_original(&scaled);
                }
            }
        }
    }

    /// Is this point (original units) inside? Not, if it has another number of columns or is not
    /// finite.
    #[must_use]
    pub fn contains(&self, original: &[f64]) -> bool {
        if original.len() != self.dimension() {
            return false;
        }
        match self {
            Self::Box(b) => {
                let bounds = b.lo.iter().zip(&b.hi);
                (original.iter().zip(bounds)).all(|(x, (lo, hi))| lo <= x && x <= hi)
            }
            Self::Ball(b) => {
                let offsets = original.iter().zip(&b.center);
                let sq: f64 = offsets.map(|(x, c)| ((x - c) * b.inverse).powi(2)).sum();
                sq <= 1.0
            }
        }
    }
}

/// `(x − middle)·inverse`, the middle (0) where `x` is not finite. May be infinite, is never NaN.
#[inline]
pub(crate) fn scale(x: f64, middle: f64, inverse: f64) -> f64 {
    let scaled = (x - middle) * inverse;
    if x.abs() < f64::INFINITY { scaled } else { 0.0 }
}

/// Shrinks `x` radially to length at most 1 (up to rounding of the last bit); NaN becomes 0.
///
/// Coordinates beyond 1e140 are cut there first, so that no length overflows.
pub(crate) fn clip_to_unit_ball(x: &mut [f64]) {
    let mut sq = 0.0;
    for v in x.iter_mut() {
        let cut = v.clamp(-FAR, FAR);
        *v = if cut.is_nan() { 0.0 } else { cut };
        sq += *v * *v;
    }
    if sq > 1.0 {
        let shrink = 1.0 / sq.sqrt();
        for v in x {
            *v *= shrink;
        }
    }
}
