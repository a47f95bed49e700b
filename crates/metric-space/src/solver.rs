//! k-means without privacy: Lloyd's iterations from k-means++ starts, on weighted points.
//!
//! Every private algorithm uses it, on what is public already or inside a mechanism of its own: on
//! the cells of a noisy synopsis, where weights may be fractional and **negative**, on blocks of a
//! sample-and-aggregate scheme, on candidates. It is also the baseline that private results are
//! measured against. All randomness is handed in.
//!
//! The pieces are there one by one: [`seed`] draws first centers, [`step`] makes one Lloyd step,
//! [`Lloyd::fit_from`] runs from given centers, [`Lloyd::fit`] keeps the best of several runs.

mod lloyd;
mod points;
mod seeding;
#[cfg(test)]
mod tests;
mod tree;

use ndarray::{Array2, ArrayView2};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use crate::error::{ShapeError, check_columns};
use points::Points;
use tree::Tree;

pub use lloyd::step;
pub use seeding::{Init, seed};

/// A set of solver parameters was refused.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LloydParamsError {
    /// At least one cluster is needed, and labels have 32 bits.
    #[error("n_clusters must lie in 1..=4294967295, got {got}")]
    Clusters {
        /// The refused number of clusters.
        got: usize,
    },
    /// At least one run is needed.
    #[error("n_restarts must be at least 1")]
    NoRestarts,
    /// The tolerance is a distance.
    #[error("tolerance must be finite and at least 0, got {got}")]
    Tolerance {
        /// The refused tolerance.
        got: f64,
    },
    /// The bound is a distance.
    #[error("bound must be finite and above 0, got {got}")]
    Bound {
        /// The refused bound.
        got: f64,
    },
}

/// Unchecked parameters; [`check`](Self::check) turns them into a [`Lloyd`].
#[derive(Clone, Debug, PartialEq)]
#[must_use = "parameters do nothing until `check` is called"]
pub struct LloydParams {
    n_clusters: usize,
    init: Init,
    n_restarts: usize,
    max_iterations: usize,
    tolerance: f64,
    bound: f64,
}

impl LloydParams {
    /// Takes the number of clusters; everything else has a default.
    pub const fn new(n_clusters: usize) -> Self {
        Self {
            n_clusters,
            init: Init::GreedyKMeansPlusPlus,
            n_restarts: 10,
            max_iterations: 300,
            tolerance: 1e-4,
            bound: 1.0,
        }
    }

    /// Sets how first centers are drawn (default: greedy k-means++).
    pub const fn init(mut self, init: Init) -> Self {
        self.init = init;
        self
    }

    /// Sets the number of runs, of which the best is kept (default 10).
    pub const fn n_restarts(mut self, n_restarts: usize) -> Self {
        self.n_restarts = n_restarts;
        self
    }

    /// Sets the most Lloyd steps of a run (default 300); 0 leaves the first centers as they are.
    pub const fn max_iterations(mut self, max_iterations: usize) -> Self {
        self.max_iterations = max_iterations;
        self
    }

    /// Sets the movement, in the points' units, below which centers count as settled (default
    /// 1e-4): a run ends when no center moves farther.
    pub const fn tolerance(mut self, tolerance: f64) -> Self {
        self.tolerance = tolerance;
        self
    }

    /// Sets the bound of the domain `[-bound, bound]^d` (default 1), into which centers are clipped
    /// if a weight is negative. Without negative weights centers are means and lie among the points
    /// anyway.
    pub const fn bound(mut self, bound: f64) -> Self {
        self.bound = bound;
        self
    }

    /// Checks every field once; nothing is checked again later.
    ///
    /// # Errors
    /// [`LloydParamsError`] names the field and carries the refused value.
    pub fn check(self) -> Result<Lloyd, LloydParamsError> {
        let Self {
            n_clusters,
            init: _,
            n_restarts,
            max_iterations: _,
            tolerance,
            bound,
        } = self;
        if n_clusters == 0 || u32::try_from(n_clusters).is_err() {
            return Err(LloydParamsError::Clusters { got: n_clusters });
        }
        if n_restarts == 0 {
            return Err(LloydParamsError::NoRestarts);
        }
        if !(tolerance >= 0.0 && tolerance.is_finite()) {
            return Err(LloydParamsError::Tolerance { got: tolerance });
        }
        if !(bound > 0.0 && bound.is_finite()) {
            return Err(LloydParamsError::Bound { got: bound });
        }
        Ok(Lloyd { params: self })
    }
}

/// Weighted k-means by Lloyd's iterations.
///
/// # Privacy
/// None: not a mechanism. Free on released data.
///
/// # Complexity
/// O(n·d·k) per step at most; up to four columns and 256 clusters, distance bounds spare most of
/// it. Runs and points are worked on in parallel; the result is the same for any number of threads.
///
/// # Examples
/// ```
/// use metric_space::{Init, LloydParams};
/// use ndarray::array;
/// use rand::SeedableRng;
///
/// let points = array![[-0.9, 0.0], [-0.7, 0.0], [0.5, 0.5], [0.5, 0.7]];
/// let weights = [1.0, 3.0, 2.0, 2.0];
/// let lloyd = LloydParams::new(2).n_restarts(3).check()?;
/// let mut rng = rand_chacha::ChaCha20Rng::seed_from_u64(1);
/// let solution = lloyd.fit(points.view(), Some(&weights), &mut rng)?;
/// assert_eq!(solution.labels[0], solution.labels[1]);
/// assert_ne!(solution.labels[0], solution.labels[2]);
/// assert!((solution.cost - 0.07).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Lloyd {
    params: LloydParams,
}

/// Centers, and what they cost on the points that they were fitted to.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Solution {
    /// Shape (k, d); always k of them, repeated if there are fewer distinct points.
    pub centers: Array2<f64>,
    /// Σ w·min‖x − c‖². With negative weights it may be negative.
    pub cost: f64,
    /// Index of the nearest center for each point.
    pub labels: Vec<u32>,
    /// Lloyd steps that the kept run took.
    pub n_iterations: usize,
}

impl Lloyd {
    /// Number of clusters.
    #[must_use]
    pub fn n_clusters(&self) -> usize {
        self.params.n_clusters
    }

    /// Fits k centers to points of shape (n, d), with n weights of any sign (without: 1 each), and
    /// keeps the run of the lowest cost.
    ///
    /// Points should be in scaled coordinates: beyond four columns, distances are compared through
    /// dot products, which lose digits far from the origin. Any values are taken: a coordinate or
    /// weight that is not finite counts as 0, no points give centers at the origin, fewer points
    /// than clusters give repeated centers. First centers are drawn among points of positive
    /// weight.
    ///
    /// # Errors
    /// [`ShapeError`] if the number of weights is not n.
    pub fn fit<R: Rng + ?Sized>(
        &self,
        points: ArrayView2<'_, f64>,
        weights: Option<&[f64]>,
        rng: &mut R,
    ) -> Result<Solution, ShapeError> {
        let (points, tree) = prepare(points, weights)?;
        // One center goes to the mean from everywhere; where the weights have none, no start is better.
        let n_runs = match self.params.n_clusters {
            1 => 1,
            _ => self.params.n_restarts,
        };
        // A generator per run, so that runs may go in any order.
        let generators: Vec<ChaCha8Rng> = (0..n_runs)
            .map(|_| ChaCha8Rng::from_rng(&mut &mut *rng))
            .collect();
        let runs: Vec<Solution> = generators
            .into_par_iter()
            .map(|mut rng| {
                let LloydParams {
                    n_clusters, init, ..
                } = self.params;
                let first = seeding::draw(&points, n_clusters, init, &mut rng);
                self.run(&points, tree.as_ref(), first)
            })
            .collect();
        // The first of equals.
        let best = runs
            .into_iter()
            .reduce(|a, b| if b.cost < a.cost { b } else { a });
        Ok(best.unwrap_or_else(|| {
            let origin = vec![0.0; self.params.n_clusters * points.dimension()];
            self.run(&points, tree.as_ref(), origin)
        }))
    }

    /// One run from given centers, shape (k, d).
    ///
    /// # Errors
    /// [`ShapeError`] if the number of weights is not n, or the centers are not k or have another
    /// number of columns.
    pub fn fit_from(
        &self,
        points: ArrayView2<'_, f64>,
        weights: Option<&[f64]>,
        centers: ArrayView2<'_, f64>,
    ) -> Result<Solution, ShapeError> {
        check_columns(points.ncols(), centers.ncols())?;
        crate::error::check_length("centers", self.params.n_clusters, centers.nrows())?;
        let (points, tree) = prepare(points, weights)?;
        let first = centers.iter().map(|&c| if c.is_finite() { c } else { 0.0 });
        Ok(self.run(&points, tree.as_ref(), first.collect()))
    }

    fn run(
        &self,
        points: &Points<'_>,
        tree: Option<&(Tree, Vec<usize>)>,
        first: Vec<f64>,
    ) -> Solution {
        let LloydParams {
            n_clusters,
            max_iterations,
            tolerance,
            bound,
            ..
        } = self.params;
        let limits = lloyd::Limits {
            max_iterations,
            tolerance,
            bound,
        };
        let run = lloyd::run(points, tree.map(|(tree, _)| tree), first, &limits);
        let labels = match tree {
            None => run.labels,
            Some((_, order)) => {
                let mut labels = vec![0; order.len()];
                for (&i, label) in order.iter().zip(run.labels) {
                    labels[i] = label;
                }
                labels
            }
        };
        Solution {
            centers: points::to_array(n_clusters, points.dimension(), run.centers),
            cost: run.cost,
            labels,
            n_iterations: run.n_iterations,
        }
    }
}

/// Points ready for any number of runs: in few columns with their tree and in its order, which also
/// brings near points together for the seeding.
type Prepared<'a> = (Points<'a>, Option<(Tree, Vec<usize>)>);

fn prepare<'a>(
    points: ArrayView2<'a, f64>,
    weights: Option<&'a [f64]>,
) -> Result<Prepared<'a>, ShapeError> {
    let mut points = Points::new(points, weights)?;
    let tree = Tree::build(&mut points);
    Ok((points, tree))
}
