//! Lloyd's iterations with free centers, for Euclidean k-means.

use metric_space::{LloydParams, Power};
use ndarray::Array2;
use rand::{Rng, RngCore, SeedableRng};

use super::{BlackBox, Chosen, Problem};

/// Weighted Lloyd: centers are means of clients, not sites. For Euclidean distance and p = 2; elsewhere it still runs, but minimizes
/// another objective.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FreeLloyd {
    /// Runs from different seeds, of which the best is kept; at least 1 is made.
    pub n_restarts: usize,
}

impl Default for FreeLloyd {
    fn default() -> Self {
        Self { n_restarts: 10 }
    }
}

impl BlackBox for FreeLloyd {
    fn name(&self) -> &'static str {
        "lloyd"
    }

    fn factor(&self, _power: Power) -> Option<f64> {
        None
    }

    fn solve(&self, problem: &Problem<'_>, public: &mut dyn RngCore) -> Chosen {
        let (k, d) = (problem.n_clusters(), problem.columns());
        if problem.clients().is_empty() {
            return Chosen::Sites(problem.completed([]));
        }
        let rows = problem
            .clients()
            .iter()
            .flat_map(|&site| problem.site(site).iter().copied());
        let rows: Vec<f64> = rows.collect();
        // The solver likes coordinates around zero and about one; one factor for all columns keeps the objective.
        let middle: Vec<f64> = (0..d)
            .map(|j| rows.iter().skip(j).step_by(d).sum::<f64>() / problem.clients().len() as f64)
            .collect();
        let offsets = rows
            .iter()
            .enumerate()
            .map(|(i, x)| (x - middle[i % d]).abs());
        let widest = offsets.fold(0.0, |a, b| if b > a { b } else { a });
        let scale = if widest > 0.0 && widest.is_finite() {
            widest
        } else {
            1.0
        };
        let scaled = rows
            .iter()
            .enumerate()
            .map(|(i, x)| (x - middle[i % d]) / scale);
        let points = Array2::from_shape_vec((problem.clients().len(), d), scaled.collect());
        let lloyd = LloydParams::new(k)
            .n_restarts(self.n_restarts.max(1))
            .check();
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(public.random());
        let centers = points.ok().zip(lloyd.ok()).and_then(|(points, lloyd)| {
            let solution = lloyd
                .fit(points.view(), Some(problem.weights()), &mut rng)
                .ok()?;
            let mut centers = solution.centers;
            for ((_, j), x) in centers.indexed_iter_mut() {
                *x = *x * scale + middle[j];
            }
            Some(centers)
        });
        centers.map_or_else(|| Chosen::Sites(problem.completed([])), Chosen::Points)
    }
}
