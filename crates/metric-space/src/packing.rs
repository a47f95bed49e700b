//! First centers that are independent of every record: sphere packing, and uniform draws.
//!
//! # Source
//! Su, Cao, Li, Bertino, Jin (2016), "Differentially Private K-Means Clustering", §4.1.1.

#[cfg(test)]
mod tests;

use ndarray::Array2;
use rand::Rng;

use crate::distance::squared_euclidean;

/// Points in a row that may not fit before a radius counts as too large.
const MAX_FAILURES: usize = 100;

/// The search ends when the largest radius is known to this fraction.
const REL_TOL: f64 = 1e-2;

/// Coordinate differences that one call may take, over all radii: a few seconds.
const MAX_WORK: u64 = 4_000_000_000;

/// `k` points in `[-1, 1]^d`, drawn independently and uniformly.
pub fn uniform_centers<R: Rng + ?Sized>(k: usize, d: usize, rng: &mut R) -> Array2<f64> {
    Array2::from_shape_simple_fn((k, d), || rng.random_range(-1.0..=1.0))
}

/// `k` points in `[-1, 1]^d` that keep apart: random ones, each at least `a` from the border and
/// `2a` from the others, for about the largest `a` for which random placing succeeds.
///
/// A point that does not fit is drawn again; 100 in a row that do not fit make a radius too large;
/// the largest radius is found by bisection to one percent.
///
/// # Privacy
/// Depends on `k`, `d` and the generator alone, all public: costs nothing.
///
/// # Complexity
/// Points are found through buckets of their first three coordinates, so that few columns cost O(k)
/// distances per radius, up to the 100 failures; many columns cost O(k²·d). Four thousand million
/// coordinate differences are taken at most; where they do not suffice (thousands of points in
/// hundreds of columns) the best packing so far is returned, at worst uniform points, which are far
/// apart by themselves in many columns.
///
/// # Examples
/// ```
/// use metric_space::sphere_packing;
/// use rand::SeedableRng;
///
/// let mut rng = rand_chacha::ChaCha20Rng::seed_from_u64(1);
/// let centers = sphere_packing(5, 2, &mut rng);
/// assert_eq!(centers.dim(), (5, 2));
/// assert!(centers.iter().all(|c| c.abs() < 1.0));
/// ```
pub fn sphere_packing<R: Rng + ?Sized>(k: usize, d: usize, rng: &mut R) -> Array2<f64> {
    if k == 0 || d == 0 {
        return Array2::zeros((k, d));
    }
    let mut work = MAX_WORK;
    // Radius 0 takes any points. Radius 1 leaves the origin alone, which is all that a single point
    // needs.
    let (mut fits, mut too_large) = (0.0, 1.0);
    let mut best = None;
    while too_large - fits > REL_TOL * too_large && work > 0 {
        let radius = f64::midpoint(fits, too_large);
        match place(k, d, radius, &mut work, rng) {
            Some(points) => {
                fits = radius;
                best = Some(points);
            }
            None => too_large = radius,
        }
    }
    best.and_then(|points| Array2::from_shape_vec((k, d), points).ok())
        .unwrap_or_else(|| uniform_centers(k, d, rng))
}

/// One attempt to place all points at this radius; `work` is counted down, 0 ends the attempt.
fn place<R: Rng + ?Sized>(
    k: usize,
    d: usize,
    radius: f64,
    work: &mut u64,
    rng: &mut R,
) -> Option<Vec<f64>> {
    let inner = 1.0 - radius;
    let apart_sq = 4.0 * radius * radius;
    let mut buckets = Buckets::new(k, d, radius);
    let mut points: Vec<f64> = Vec::new();
    let mut point = vec![0.0; d];
    for _ in 0..k {
        let mut failures = 0;
        loop {
            for x in &mut point {
                *x = rng.random_range(-inner..=inner);
            }
            if buckets.is_free(&point, &points, apart_sq, work) {
                break;
            }
            failures += 1;
            if failures == MAX_FAILURES || *work == 0 {
                return None;
            }
        }
        buckets.insert(&point, points.len());
        points.extend_from_slice(&point);
    }
    Some(points)
}

/// Placed points by their first coordinates, in cells no narrower than a sphere: what is near lies
/// in a cell that touches.
struct Buckets {
    /// Cells per axis.
    n_cells: usize,
    /// Axes that count, at most 3.
    n_axes: usize,
    /// Where each point of a cell begins in the flat list of points.
    cells: Vec<Vec<usize>>,
}

impl Buckets {
    fn new(k: usize, d: usize, radius: f64) -> Self {
        let n_axes = d.min(3);
        // No more cells than about 4 per point: finer ones save nothing.
        let most = libm::pow(4.0 * k as f64, 1.0 / n_axes as f64) + 1.0;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a small positive number"
        )]
        let n_cells = (1.0 / radius).clamp(1.0, most) as usize;
        let n = (0..n_axes).fold(1, |n, _| n * n_cells);
        Self {
            n_cells,
            n_axes,
            cells: vec![Vec::new(); n],
        }
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a coordinate in [-1, 1] gives a small number that is not negative"
    )]
    fn cell(&self, x: f64) -> usize {
        ((f64::midpoint(x, 1.0) * self.n_cells as f64) as usize).min(self.n_cells - 1)
    }

    fn insert(&mut self, point: &[f64], start: usize) {
        let axes = point[..self.n_axes].iter();
        let index = axes.fold(0, |index, &x| index * self.n_cells + self.cell(x));
        self.cells[index].push(start);
    }

    /// Is no placed point nearer than allowed?
    fn is_free(&self, point: &[f64], points: &[f64], apart_sq: f64, work: &mut u64) -> bool {
        let d = point.len();
        let axis = |a: usize| {
            if a >= self.n_axes {
                return 0..=0;
            }
            let cell = self.cell(point[a]);
            cell.saturating_sub(1)..=(cell + 1).min(self.n_cells - 1)
        };
        // An axis that does not count has one cell.
        let extent = |a: usize| if a < self.n_axes { self.n_cells } else { 1 };
        for i in axis(0) {
            for j in axis(1) {
                for l in axis(2) {
                    for &start in &self.cells[(i * extent(1) + j) * extent(2) + l] {
                        if *work == 0 || nearer(point, &points[start..start + d], apart_sq, work) {
                            return false;
                        }
                    }
                }
            }
        }
        true
    }
}

/// Is ‖a − b‖² below the bound? Stops as soon as it is not, and counts what it did.
fn nearer(a: &[f64], b: &[f64], bound: f64, work: &mut u64) -> bool {
    let mut sq = 0.0;
    for (a, b) in a.chunks(16).zip(b.chunks(16)) {
        *work = work.saturating_sub(a.len() as u64);
        sq += squared_euclidean(a, b);
        if sq >= bound {
            return false;
        }
    }
    true
}
