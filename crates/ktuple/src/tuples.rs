//! Tuples of k points on a lattice, and the exact geometry between them.
//!
//! Distances are compared as squared integers, so that every predicate of this crate is decided exactly and is a function
//! of the tuples that it speaks of alone.

use dp_core::rounding::split;
use metric_space::{Frame, Lattice};
use ndarray::ArrayView2;

use crate::error::ParamsError;

#[cfg(test)]
mod tests;

/// Public facts about a list of tuples: all that a plan may depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TupleShape {
    /// t, the number of tuples: public.
    pub n_tuples: usize,
    /// k, the number of points in each.
    pub n_clusters: usize,
    /// d, the number of coordinates of each point.
    pub dimension: usize,
    /// The lattice of the coordinates, which lie in [-1, 1].
    pub lattice: Lattice,
}

/// Most words of four bytes that a run holds for its tuples: four gigabytes.
const MOST_WORDS: u128 = 1 << 30;

impl TupleShape {
    /// Refuses more tuples than are held: d coordinates of a word and a bound of two for each point, and a list of the records of each block.
    ///
    /// A block shows k centers only if it has k records, so data that could be answered would take more than what is refused.
    ///
    /// # Errors
    ///
    /// [`ParamsError::TooManyTuples`].
    pub const fn check_size(&self) -> Result<(), ParamsError> {
        let words = self.n_clusters as u128 * (self.dimension as u128 + 2) + 8;
        if self.n_tuples as u128 * words > MOST_WORDS {
            return Err(ParamsError::TooManyTuples {
                n_blocks: self.n_tuples as u64,
                n_clusters: self.n_clusters,
                dimension: self.dimension,
            });
        }
        Ok(())
    }
}

/// t tuples of k points each, on a public lattice in [-1, 1]^d.
///
/// The order of the points inside a tuple means nothing: they are kept in the lexicographic order of their places on a coarse grid, which tuples of the
/// same clusters nearly always share, so that comparisons of two tuples try like points first. A tuple whose points are not all different is *void*: it partitions
/// nothing and matches nothing (with k = 1 no tuple is void but one that was pushed as such). Whatever cannot be put on the lattice (a
/// coordinate that is not finite or lies outside [-1, 1]) makes the whole tuple void, a fixed public value.
///
/// # Shapes and units
///
/// Coordinates are integers in lattice units, tuple after tuple, point after point.
#[derive(Clone, Debug, PartialEq)]
pub struct Tuples {
    n_clusters: usize,
    dimension: usize,
    lattice: Lattice,
    units: Vec<i32>,
    void: Vec<bool>,
}

impl Tuples {
    /// No tuples yet, of `n_clusters` points in `dimension` columns (each at least 1).
    #[must_use]
    pub fn new(n_clusters: usize, dimension: usize, lattice: Lattice) -> Self {
        Self {
            n_clusters: n_clusters.max(1),
            dimension: dimension.max(1),
            lattice,
            units: Vec::new(),
            void: Vec::new(),
        }
    }

    /// Adds a tuple of shape (k, d) in scaled coordinates, each rounded to the lattice.
    ///
    /// Another shape, or a coordinate that is not in [-1, 1], makes it void.
    pub fn push(&mut self, points: ArrayView2<'_, f64>) {
        let fits = points.dim() == (self.n_clusters, self.dimension)
            && points.iter().all(|x| (-1.0..=1.0).contains(x));
        if !fits {
            return self.push_void();
        }
        let start = self.units.len();
        for point in points.outer_iter() {
            self.units
                .extend(point.iter().map(|&x| self.lattice.quantize(x)));
        }
        let tuple = &mut self.units[start..];
        sort_points(tuple, self.dimension, self.lattice);
        // Equal points are neighbors now.
        let distinct = (1..self.n_clusters).all(|i| {
            let at = i * self.dimension;
            tuple[at - self.dimension..at] != tuple[at..at + self.dimension]
        });
        let distinct = dp_core::planted!("tuple-equal-points-passed": true; distinct);
        self.void.push(!distinct);
    }

    /// Adds a tuple given as points in scaled coordinates inside a frame's domain, rounded as records are.
    pub fn push_centers(&mut self, frame: &Frame, centers: ArrayView2<'_, f64>) {
        let finite = centers.iter().all(|x| x.is_finite());
        if !finite || centers.dim() != (self.n_clusters, self.dimension) {
            return self.push_void();
        }
        let mut rounded = ndarray::Array2::zeros(centers.dim());
        for (center, mut out) in centers.outer_iter().zip(rounded.outer_iter_mut()) {
            let units = frame.quantize_center(&center.to_vec());
            for (x, units) in out.iter_mut().zip(units) {
                *x = frame.lattice().to_f64(i64::from(units));
            }
        }
        self.push(rounded.view());
    }

    /// Adds the void tuple: all points at the origin.
    pub fn push_void(&mut self) {
        self.units
            .resize(self.units.len() + self.n_clusters * self.dimension, 0);
        self.void.push(true);
    }

    /// Adds all tuples of `other` behind those that are here; what has another shape is added as void tuples.
    pub fn append(&mut self, other: Self) {
        if (other.n_clusters, other.dimension, other.lattice)
            == (self.n_clusters, self.dimension, self.lattice)
        {
            self.units.extend(other.units);
            self.void.extend(other.void);
        } else {
            (0..other.len()).for_each(|_| self.push_void());
        }
    }

    /// The public facts.
    #[must_use]
    pub fn shape(&self) -> TupleShape {
        TupleShape {
            n_tuples: self.len(),
            n_clusters: self.n_clusters,
            dimension: self.dimension,
            lattice: self.lattice,
        }
    }

    /// t, the number of tuples.
    #[must_use]
    pub fn len(&self) -> usize {
        self.void.len()
    }

    /// Is there no tuple?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.void.is_empty()
    }

    /// The k·d coordinates of tuple `t`, in lattice units.
    ///
    /// # Panics
    ///
    /// If there is no such tuple.
    #[must_use]
    pub fn tuple(&self, t: usize) -> &[i32] {
        let width = self.n_clusters * self.dimension;
        &self.units[t * width..(t + 1) * width]
    }

    /// The d coordinates of point `i` of tuple `t`, in lattice units.
    ///
    /// # Panics
    ///
    /// If there is no such point.
    #[must_use]
    pub fn point(&self, t: usize, i: usize) -> &[i32] {
        &self.tuple(t)[i * self.dimension..(i + 1) * self.dimension]
    }

    /// Whether tuple `t` is void.
    ///
    /// # Panics
    ///
    /// If there is no such tuple.
    #[must_use]
    pub fn is_void(&self, t: usize) -> bool {
        self.void[t]
    }
}

#[cfg(test)]
impl Tuples {
    /// The same list with another tuple in place `at`, or a void one: a neighbor.
    pub(crate) fn with_another(&self, at: usize, other: Option<ArrayView2<'_, f64>>) -> Self {
        let mut neighbor = Self::new(self.n_clusters, self.dimension, self.lattice);
        let width = self.n_clusters * self.dimension;
        neighbor.units.extend_from_slice(&self.units[..at * width]);
        neighbor.void.extend_from_slice(&self.void[..at]);
        match other {
            Some(other) => neighbor.push(other),
            None => neighbor.push_void(),
        }
        neighbor
            .units
            .extend_from_slice(&self.units[(at + 1) * width..]);
        neighbor.void.extend_from_slice(&self.void[at + 1..]);
        neighbor
    }
}

/// Bits of the grid by which points are ordered: 32 places on either side of the middle.
const ORDER_BITS: u32 = 5;

/// Sorts the points of one tuple, in place, for they are few: by their nearest points on a coarse grid, then by all their digits.
///
/// By all digits alone, centers that have a coordinate in common but for noise would be in another order in each tuple.
fn sort_points(tuple: &mut [i32], dimension: usize, lattice: Lattice) {
    let surplus = lattice.bits().saturating_sub(ORDER_BITS);
    let half = (1 << surplus) >> 1;
    let coarse = |x: &i32| (x + half) >> surplus;
    let is_behind = |a: &[i32], b: &[i32]| {
        let places = a.iter().map(coarse).cmp(b.iter().map(coarse));
        places.then_with(|| a.cmp(b)).is_gt()
    };
    for end in 1..tuple.len() / dimension {
        let mut at = end * dimension;
        while at > 0 && is_behind(&tuple[at - dimension..at], &tuple[at..at + dimension]) {
            let (before, after) = tuple.split_at_mut(at);
            before[at - dimension..].swap_with_slice(&mut after[..dimension]);
            at -= dimension;
        }
    }
}

/// ‖x − y‖² in squared lattice units, exactly: coordinates have at most 22 bits and a sign.
#[must_use]
pub(crate) fn sq_distance(x: &[i32], y: &[i32]) -> u64 {
    let terms = x.iter().zip(y).map(|(&a, &b)| {
        let difference = i64::from(a - b);
        (difference * difference).unsigned_abs()
    });
    terms.sum()
}

/// `D_i²` for each point of a tuple: the squared distance to its nearest companion; empty for k = 1.
#[must_use]
pub(crate) fn sq_gaps(tuple: &[i32], dimension: usize) -> Vec<u64> {
    let points: Vec<&[i32]> = tuple.chunks_exact(dimension).collect();
    if points.len() < 2 {
        return Vec::new();
    }
    let mut gaps = vec![u64::MAX; points.len()];
    for (i, x) in points.iter().enumerate() {
        for (j, y) in points.iter().enumerate().take(i) {
            let gap = sq_distance(x, y);
            gaps[i] = gaps[i].min(gap);
            gaps[j] = gaps[j].min(gap);
        }
    }
    gaps
}

/// Index of the point of `tuple` nearest to `x`, ties to the lowest.
#[must_use]
pub(crate) fn nearest(tuple: &[i32], x: &[i32]) -> usize {
    let points = tuple.chunks_exact(x.len().max(1)).enumerate();
    let best = points.min_by_key(|(i, point)| (sq_distance(point, x), *i));
    best.map_or(0, |(i, _)| i)
}

/// [`nearest`], quick where x is near point `guess`: within half of that point's gap no other is as near.
///
/// `sq_gaps` are those of `tuple`.
#[must_use]
pub(crate) fn nearest_from(tuple: &[i32], sq_gaps: &[u64], x: &[i32], guess: usize) -> usize {
    let d = x.len();
    match sq_gaps.get(guess) {
        Some(&gap) if 4 * sq_distance(&tuple[guess * d..(guess + 1) * d], x) < gap => guess,
        _ => nearest(tuple, x),
    }
}

/// Splits a positive number in two by a share of the first, rounded down.
pub(crate) fn share(total: f64, first: f64) -> (f64, f64) {
    let parts = split(total, &[first, 1.0 - first]);
    (parts[0], parts[1])
}
