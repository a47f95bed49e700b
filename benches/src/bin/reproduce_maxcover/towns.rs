//! Public sites, and demand that lives at them as in the paper (D among V): in towns of unequal size, or at equal distances.

use std::error::Error;

use dp_core::rng::InsecureSeededRng;
use dp_core::{Epsilon, NeighboringRelation, Session};
use maxcover::black_box::{BlackBox, Chosen, FasterPam, LocalSearch, Problem};
use maxcover::gupta::GuptaLocalSearch;
use maxcover::{MaxCoverParams, Space, cost};
use metric_space::metric::nearest_site;
use metric_space::{BoxDomain, ClosureMetric, Domain, Euclidean, Metric, Power};
use ndarray::{Array2, Axis};
use rand::Rng;

use crate::instances::{budget, public};

/// Towns in [−1, 1]².
const TOWNS: usize = 40;

/// Draws of random sites per release.
const BLIND: u32 = 20;

/// An instance whose demand may be large: records are sites, so few are distinct.
pub(crate) struct Settled {
    metric: Box<dyn Metric>,
    sites: Array2<f64>,
    records: Array2<f64>,
    /// Records per site.
    weights: Vec<f64>,
    domain: Domain,
}

/// What a method adds to the best known cost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Excess {
    pub(crate) ours: f64,
    pub(crate) gupta: f64,
    /// k sites drawn without a look at the demand: what no method should exceed.
    pub(crate) blind: f64,
}

impl Settled {
    /// Towns of unequal size in the plane.
    pub(crate) fn towns(
        n_sites: usize,
        n_records: usize,
        seed: u64,
    ) -> Result<Self, Box<dyn Error>> {
        let mut rng = public(seed);
        let mut uniform =
            |n: usize| Array2::from_shape_simple_fn((n, 2), || rng.random_range(-1.0..1.0));
        let (towns, sites) = (uniform(TOWNS), uniform(n_sites));
        let flat: Vec<f64> = sites.iter().copied().collect();
        let mut rng = public(seed + 1000);
        let mut weights = vec![0.0; n_sites];
        let mut records = Array2::zeros((n_records, 2));
        for mut record in records.rows_mut() {
            // The town of rank r is drawn with a chance that falls with r; a tenth of the people live anywhere.
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "between 0 and the number of towns"
            )]
            let rank = (TOWNS as f64 * rng.random::<f64>().powi(2)) as usize;
            let town = towns.row(rank.min(TOWNS - 1));
            let scatter = if rng.random_bool(0.1) { 1.0 } else { 0.1 };
            let home = [0, 1].map(|j| {
                (town[j] + scatter * (rng.random::<f64>() - rng.random::<f64>())).clamp(-1.0, 1.0)
            });
            let (site, _) = nearest_site(&Euclidean, &home, &flat, 2);
            weights[site] += 1.0;
            record.assign(&sites.row(site));
        }
        Ok(Self {
            metric: Box::new(Euclidean),
            sites,
            records,
            weights,
            domain: Domain::from(BoxDomain::unit(2)?),
        })
    }

    /// Sites at distance 1 from each other, and k clusters that live at one site each: on such spaces no private algorithm has an
    /// error below k·ln(n/k)/ε in order (Gupta et al. 2010). The optimum is 0, a cluster that is not found costs all of its records.
    /// Sizes go evenly over the scales from 1 to `largest`, so that at any level of noise some are about as large as it.
    pub(crate) fn equidistant(
        n_sites: usize,
        k: usize,
        largest: f64,
        seed: u64,
    ) -> Result<Self, Box<dyn Error>> {
        let mut rng = public(seed);
        let (mut weights, mut records) = (vec![0.0; n_sites], Vec::new());
        let places = rand::seq::index::sample(&mut rng, n_sites, k);
        for (rank, place) in places.into_iter().enumerate() {
            let size = largest.powf((rank as f64 + rng.random::<f64>()) / k as f64);
            weights[place] = size.round();
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a whole number of records"
            )]
            records.extend(std::iter::repeat_n(place as f64, weights[place] as usize));
        }
        let apart = |a: &[f64], b: &[f64]| if a == b { 0.0 } else { 1.0 };
        Ok(Self {
            metric: Box::new(ClosureMetric::new("equal distances", 1.0, apart)?),
            sites: Array2::from_shape_fn((n_sites, 1), |(i, _)| i as f64),
            records: Array2::from_shape_vec((records.len(), 1), records)?,
            weights,
            domain: Domain::from(BoxDomain::new(vec![0.0], vec![n_sites as f64 - 1.0])?),
        })
    }

    fn cost(&self, rows: &[usize]) -> f64 {
        let centers = self.sites.select(Axis(0), rows);
        let each = self.sites.rows().into_iter().zip(&self.weights);
        each.filter(|(_, weight)| **weight > 0.0)
            .map(|(site, weight)| {
                let site = site.insert_axis(Axis(0));
                weight * cost(&self.metric, Power::MEDIANS, site, centers.view())
            })
            .sum()
    }

    /// The least cost that two local searches find on the whole demand, without privacy.
    pub(crate) fn best(&self, k: usize) -> Result<f64, Box<dyn Error>> {
        let flat: Vec<f64> = self.sites.iter().copied().collect();
        let mut best = f64::INFINITY;
        let many = FasterPam {
            n_restarts: 20,
            ..FasterPam::default()
        };
        let searches: [&dyn BlackBox; 2] = [&many, &LocalSearch::single()];
        for search in searches {
            let weights = self.weights.iter().copied().enumerate();
            let problem = Problem::new(
                &self.metric,
                Power::MEDIANS,
                &flat,
                self.sites.ncols(),
                k,
                weights,
            );
            let Chosen::Sites(rows) = search.solve(&problem, &mut public(1)) else {
                return Err("sites were expected".into());
            };
            let found = self.cost(&rows);
            if found < best {
                best = found;
            }
        }
        Ok(best)
    }

    /// One release by each method at (ε, 10⁻⁶) and at ε.
    pub(crate) fn excess(
        &self,
        k: usize,
        epsilon: f64,
        best: f64,
        seed: u64,
    ) -> Result<Excess, Box<dyn Error>> {
        let space = Space::new(&self.metric, &self.domain, self.sites.view())?;
        let budget = budget(epsilon)?;
        let mut noise = InsecureSeededRng::new(seed);
        let mut session = Session::new(budget, NeighboringRelation::AddRemove, &mut noise);
        let ours = MaxCoverParams::new(k, budget, Power::MEDIANS)
            .check()?
            .fit(
                &space,
                &self.records,
                &FasterPam::default(),
                &mut session,
                &mut public(seed),
            )?;
        let mut session = Session::new(budget, NeighboringRelation::AddRemove, &mut noise);
        let search = GuptaLocalSearch::new(k, Epsilon::new(epsilon)?, Power::MEDIANS)?;
        let gupta = search.fit(&space, &self.records, &mut session, &mut public(seed))?;
        let mut random = public(seed + 5000);
        let blind: f64 = (0..BLIND)
            .map(|_| {
                let rows = rand::seq::index::sample(&mut random, self.sites.nrows(), k);
                self.cost(&rows.into_vec()) / f64::from(BLIND)
            })
            .sum();
        Ok(Excess {
            ours: self.cost(&ours.site_rows.unwrap_or_default()) - best,
            gupta: self.cost(&gupta) - best,
            blind: blind - best,
        })
    }
}
