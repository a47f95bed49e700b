//! k-means on a synopsis: post-processing, for any number of clusters, as often as one likes.
#![expect(
    clippy::needless_pass_by_value,
    reason = "array views are small and go by value, as ndarray has it"
)]

use metric_space::solver::{Init as Seeding, LloydParams, seed};
use metric_space::{Lloyd, Solution, sphere_packing};
use ndarray::{Array2, ArrayView2};
use rand::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::synopsis::GridSynopsis;
use crate::clustering::Clustering;
use crate::error::ParamsError;
use crate::memory::check_clusters;

mod swap;

/// Where runs on a synopsis start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Starts {
    /// Greedy k-means++ on the cells whose count stands out of the noise; the best run is then improved by swaps.
    #[default]
    Greedy,
    /// Sphere packing, 30 starts: the paper's (Su et al. 2016, Section 4.1.1).
    SpherePacking,
}

impl Starts {
    /// Both, in the order of the documentation.
    pub const ALL: [Self; 2] = [Self::Greedy, Self::SpherePacking];

    /// The name in flags and files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Greedy => "greedy",
            Self::SpherePacking => "sphere-packing",
        }
    }

    /// The starts of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|starts| starts.name() == name)
    }
}

/// Lloyd steps after which a swap must have paid: all but one center were settled before.
const TRIAL_ITERATIONS: usize = 8;

/// Unchecked parameters of [`SynopsisSolver`].
#[derive(Clone, Debug, PartialEq)]
#[must_use = "parameters do nothing until `check` is called"]
pub struct SynopsisSolverParams {
    n_clusters: usize,
    starts: Starts,
    n_starts: usize,
    n_swaps: usize,
    seed_threshold: f64,
    max_iterations: usize,
}

impl SynopsisSolverParams {
    /// Greedy starts, as many as are worth their time.
    pub const fn new(n_clusters: usize) -> Self {
        Self {
            n_clusters,
            starts: Starts::Greedy,
            n_starts: 16,
            n_swaps: match n_clusters {
                0..4 => 8,
                4..64 => 2 * n_clusters,
                _ => 128,
            },
            seed_threshold: 2.0,
            max_iterations: 60,
        }
    }

    /// As published: 30 starts by sphere packing, no swaps.
    pub const fn paper(n_clusters: usize) -> Self {
        Self {
            starts: Starts::SpherePacking,
            n_starts: 30,
            n_swaps: 0,
            ..Self::new(n_clusters)
        }
    }

    /// Sets where the runs start; with sphere packing also everything else as published.
    pub const fn starts(self, starts: Starts) -> Self {
        match starts {
            Starts::Greedy => Self::new(self.n_clusters),
            Starts::SpherePacking => Self::paper(self.n_clusters),
        }
    }

    /// Sets the number of starts (default 16), of which the best on the synopsis is kept.
    pub const fn n_starts(mut self, n_starts: usize) -> Self {
        self.n_starts = n_starts;
        self
    }

    /// Sets how many times a center may be tried elsewhere (default 2k, but 8 to 128).
    pub const fn n_swaps(mut self, n_swaps: usize) -> Self {
        self.n_swaps = n_swaps;
        self
    }

    /// Sets the number of standard deviations of the noise below which a cell is no first center in every other start, and
    /// none where a center is swapped to (default 2).
    pub const fn seed_threshold(mut self, seed_threshold: f64) -> Self {
        self.seed_threshold = seed_threshold;
        self
    }

    /// Sets the most Lloyd steps of a run (default 60): with negative weights they need not descend.
    pub const fn max_iterations(mut self, max_iterations: usize) -> Self {
        self.max_iterations = max_iterations;
        self
    }

    /// Checks every field once.
    ///
    /// # Errors
    ///
    /// The [`ParamsError`] of the first field that is out of range.
    pub fn check(self) -> Result<SynopsisSolver, ParamsError> {
        check_clusters(self.n_clusters)?;
        if self.n_starts == 0 {
            return Err(ParamsError::NoStarts);
        }
        if !(self.seed_threshold >= 0.0 && self.seed_threshold.is_finite()) {
            return Err(ParamsError::SeedThreshold {
                got: self.seed_threshold,
            });
        }
        let lloyd = |max_iterations| {
            LloydParams::new(self.n_clusters)
                .max_iterations(max_iterations)
                .check()
                .map_err(|_| ParamsError::NoClusters)
        };
        Ok(SynopsisSolver {
            lloyd: lloyd(self.max_iterations)?,
            trial: lloyd(self.max_iterations.min(TRIAL_ITERATIONS))?,
            params: self,
        })
    }
}

/// k-means on a synopsis, with weights of any sign.
///
/// # Privacy
///
/// Post-processing of a released value: costs nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct SynopsisSolver {
    params: SynopsisSolverParams,
    lloyd: Lloyd,
    /// For swaps.
    trial: Lloyd,
}

impl SynopsisSolver {
    /// The parameters it was checked with.
    pub const fn params(&self) -> &SynopsisSolverParams {
        &self.params
    }

    /// Number of clusters.
    #[must_use]
    pub const fn n_clusters(&self) -> usize {
        self.params.n_clusters
    }

    /// Where the runs start.
    #[must_use]
    pub const fn starts(&self) -> Starts {
        self.params.starts
    }

    /// The best centers found, relative to the synopsis, and the noisy counts of their cells.
    ///
    /// Total: a synopsis without positive counts gives some centers in the domain.
    ///
    /// # Complexity
    ///
    /// O(M·k·d) per Lloyd step of a start and per swap, M cells.
    ///
    /// # Panics
    ///
    /// Never: there is a start, and the shapes of its centers fit.
    pub fn cluster(&self, synopsis: &GridSynopsis, public: &mut dyn RngCore) -> Clustering {
        let (cells, weights) = synopsis.weighted_cells();
        // One center goes to the mean from everywhere, and has nowhere better to be swapped to; where noise leaves no mean, neither helps.
        let (n_starts, n_swaps) = match self.params.n_clusters {
            1 => (1, 0),
            _ => (self.params.n_starts, self.params.n_swaps),
        };
        let generators: Vec<ChaCha8Rng> = (0..n_starts)
            .map(|_| ChaCha8Rng::from_rng(&mut &mut *public))
            .collect();
        let (centers, counts) = if cells.nrows() == 0 {
            let k = self.params.n_clusters;
            (
                sphere_packing(k, synopsis.dimension(), &mut &mut *public),
                vec![0.0; k],
            )
        } else {
            let visible = visible(synopsis, &weights, self.params.seed_threshold);
            // A threshold hides small clusters, no threshold shows noise: half of the starts each.
            let all = visible_all(&weights);
            let runs: Vec<Solution> = generators
                .into_par_iter()
                .enumerate()
                .filter_map(|(i, mut rng)| {
                    let candidates = if i % 2 == 0 { &visible } else { &all };
                    self.run(cells.view(), &weights, candidates, &mut rng)
                })
                .collect();
            let best = runs.into_iter().min_by(|a, b| a.cost.total_cmp(&b.cost));
            let best = best.expect("there is a start, and shapes fit by construction");
            let best = self.improve(cells.view(), &weights, &visible, best, n_swaps, public);
            let mut counts = vec![0.0; self.params.n_clusters];
            for (&label, weight) in best.labels.iter().zip(&weights) {
                counts[label as usize] += weight;
            }
            (best.centers, counts)
        };
        Clustering {
            centers,
            noisy_counts: Some(counts),
        }
    }

    fn run(
        &self,
        cells: ArrayView2<'_, f64>,
        weights: &[f64],
        visible: &[f64],
        rng: &mut ChaCha8Rng,
    ) -> Option<Solution> {
        let k = self.params.n_clusters;
        let first: Array2<f64> = match self.params.starts {
            Starts::Greedy => {
                seed(cells, Some(visible), k, Seeding::GreedyKMeansPlusPlus, rng).ok()?
            }
            Starts::SpherePacking => sphere_packing(k, cells.ncols(), rng),
        };
        self.lloyd.fit_from(cells, Some(weights), first.view()).ok()
    }

    fn improve(
        &self,
        cells: ArrayView2<'_, f64>,
        weights: &[f64],
        visible: &[f64],
        best: Solution,
        n_swaps: usize,
        public: &mut dyn RngCore,
    ) -> Solution {
        let mut best = best;
        let mut improved = false;
        for _ in 0..n_swaps {
            let Some(centers) = swap::swapped(cells, visible, best.centers.view(), public) else {
                break;
            };
            if let Ok(next) = self.trial.fit_from(cells, Some(weights), centers.view())
                && next.cost < best.cost
            {
                best = next;
                improved = true;
            }
        }
        if improved
            && let Ok(settled) = self
                .lloyd
                .fit_from(cells, Some(weights), best.centers.view())
            && settled.cost < best.cost
        {
            best = settled;
        }
        best
    }
}

/// Weights for first centers: counts above `threshold` standard deviations of their noise; all positive ones if none is.
fn visible(synopsis: &GridSynopsis, weights: &[f64], threshold: f64) -> Vec<f64> {
    let least = threshold * synopsis.noise_scale() * 2_f64.sqrt();
    let visible: Vec<f64> = weights
        .iter()
        .map(|&w| if w > least { w } else { 0.0 })
        .collect();
    if visible.iter().any(|&w| w > 0.0) {
        visible
    } else {
        visible_all(weights)
    }
}

/// Every positive count.
fn visible_all(weights: &[f64]) -> Vec<f64> {
    weights.iter().map(|&w| w.clamp(0.0, f64::MAX)).collect()
}
