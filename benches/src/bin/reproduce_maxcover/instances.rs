//! Made-up demand around known centers, and public sites.

use std::error::Error;

use dp_core::rng::InsecureSeededRng;
use dp_core::{Budget, Delta, Epsilon, NeighboringRelation, Session};
use maxcover::black_box::BlackBox;
use maxcover::{Facilities, MaxCoverParams, Space};
use metric_space::{BoxDomain, Domain, Euclidean, Power};
use ndarray::Array2;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Demand in [−1, 1]² with σ = 0.05 around uniform centers, and uniform sites.
pub(crate) struct Instance {
    pub(crate) centers: Array2<f64>,
    pub(crate) records: Array2<f64>,
    pub(crate) sites: Array2<f64>,
    pub(crate) domain: Domain,
}

impl Instance {
    pub(crate) fn new(sites: usize, records: usize, k: usize, seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut uniform =
            |n: usize| Array2::from_shape_simple_fn((n, 2), || rng.random_range(-1.0..1.0));
        let (centers, sites) = (uniform(k), uniform(sites));
        let mut rng = public(seed + 1000);
        let mut demand = Array2::zeros((records, 2));
        for mut row in demand.rows_mut() {
            let center = centers.row(rng.random_range(0..k));
            // Box and Muller.
            let radius = 0.05 * (-2.0 * (1.0 - rng.random::<f64>()).ln()).sqrt();
            let (sin, cos) = rng.random_range(0.0..std::f64::consts::TAU).sin_cos();
            row[0] = (center[0] + radius * cos).clamp(-1.0, 1.0);
            row[1] = (center[1] + radius * sin).clamp(-1.0, 1.0);
        }
        let domain = Domain::from(BoxDomain::unit(2).expect("two columns"));
        Self {
            centers,
            records: demand,
            sites,
            domain,
        }
    }
}

/// Public randomness.
pub(crate) fn public(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// (ε, 10⁻⁶).
pub(crate) fn budget(epsilon: f64) -> Result<Budget, Box<dyn Error>> {
    Ok(Budget::approx(Epsilon::new(epsilon)?, Delta::new(1e-6)?))
}

/// One release.
pub(crate) fn run(
    instance: &Instance,
    k: usize,
    power: Power,
    epsilon: f64,
    black_box: &dyn BlackBox,
    seed: u64,
) -> Result<Facilities, Box<dyn Error>> {
    let space = Space::new(&Euclidean, &instance.domain, instance.sites.view())?;
    let budget = budget(epsilon)?;
    let mut noise = InsecureSeededRng::new(seed);
    let mut session = Session::new(budget, NeighboringRelation::AddRemove, &mut noise);
    let maxcover = MaxCoverParams::new(k, budget, power).check()?;
    Ok(maxcover.fit(
        &space,
        &instance.records,
        black_box,
        &mut session,
        &mut public(seed),
    )?)
}
