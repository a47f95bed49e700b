//! True mixtures, private fits in their units, means and errors of figures.

use std::error::Error;

use dp_core::rng::InsecureSeededRng;
use dp_core::{Budget, Delta, Epsilon, NeighboringRelation, Session};
use gmm::{GaussianMixture, GmmOutcome, PrivateGmmParams};
use metric_space::{BoxDomain, Frame, FramedSource, Lattice};
use ndarray::{Array1, Array2, Array3, Axis};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

pub(crate) type Failure = Box<dyn Error>;

/// ε = 1, δ = 1e-6.
pub(crate) fn budget() -> Result<Budget, Failure> {
    Ok(Budget::approx(Epsilon::new(1.0)?, Delta::new(1e-6)?))
}

/// 2√(2 ln(8n/β)) at β = 0.05.
pub(crate) fn theory(n: usize) -> f64 {
    2.0 * (2.0 * (8.0 * n as f64 / 0.05).ln()).sqrt()
}

/// A mixture and the public bounds of its columns.
pub(crate) struct Truth {
    pub(crate) mixture: GaussianMixture,
    pub(crate) bound: f64,
}

/// A standard normal number.
pub(crate) fn normal(rng: &mut ChaCha8Rng) -> f64 {
    let radius = (-2.0 * (1.0 - rng.random::<f64>()).ln()).sqrt();
    radius * (std::f64::consts::TAU * rng.random::<f64>()).cos()
}

/// Random means whose least distance is `separation`, random covariances with eigenvalues in [1/4, 1], weights within a factor of 2.
pub(crate) fn separated(k: usize, d: usize, separation: f64, seed: u64) -> Result<Truth, Failure> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut means = Array2::from_shape_fn((k, d), |_| normal(&mut rng));
    let mut least = f64::INFINITY;
    for i in 0..k {
        for j in 0..i {
            let difference = &means.row(i) - &means.row(j);
            let distance = difference.dot(&difference).sqrt();
            least = if distance < least { distance } else { least };
        }
    }
    means *= separation / least;
    let weights = Array1::from_shape_fn(k, |_| rng.random_range(1.0..2.0));
    let mut covariances = Array3::zeros((k, d, d));
    for mut covariance in covariances.outer_iter_mut() {
        covariance.assign(&random_covariance(d, &mut rng));
    }
    let farthest = means.iter().fold(
        0.0_f64,
        |most, x| if x.abs() > most { x.abs() } else { most },
    );
    Ok(Truth {
        mixture: GaussianMixture::new(weights, means, covariances)?,
        bound: farthest + 6.0,
    })
}

/// Eigenvalues uniform in [1/4, 1], directions by Gram and Schmidt.
fn random_covariance(d: usize, rng: &mut ChaCha8Rng) -> Array2<f64> {
    let mut basis = Array2::from_shape_fn((d, d), |_| normal(rng));
    for i in 0..d {
        for j in 0..i {
            let other = basis.row(j).to_owned();
            let along = basis.row(i).dot(&other);
            basis.row_mut(i).scaled_add(-along, &other);
        }
        let length = basis.row(i).dot(&basis.row(i)).sqrt();
        basis.row_mut(i).mapv_inplace(|x| x / length);
    }
    let mut covariance = Array2::zeros((d, d));
    for direction in basis.axis_iter(Axis(0)) {
        let value = rng.random_range(0.25..1.0);
        for i in 0..d {
            for j in 0..d {
                covariance[[i, j]] += value * (direction[i] * direction[j]);
            }
        }
    }
    covariance
}

/// What a private fit gave: public numbers, and a mixture in original units, or none if it was refused.
pub(crate) struct Fit {
    pub(crate) share: f64,
    pub(crate) n_blocks: usize,
    pub(crate) mixture: Option<GaussianMixture>,
}

/// A fit with the defaults, the number of records known.
pub(crate) fn private(
    truth: &Truth,
    records: &Array2<f64>,
    seed: u64,
) -> Result<Option<GaussianMixture>, Failure> {
    let k = truth.mixture.n_components();
    let params = PrivateGmmParams::new(k, budget()?).n_hint(Some(records.nrows() as u64));
    Ok(fit_with(params, truth, records, seed)?.mixture)
}

/// A fit with these parameters.
pub(crate) fn fit_with(
    params: PrivateGmmParams,
    truth: &Truth,
    records: &Array2<f64>,
    seed: u64,
) -> Result<Fit, Failure> {
    let d = truth.mixture.dimension();
    let domain = BoxDomain::new(vec![-truth.bound; d], vec![truth.bound; d])?;
    let frame = Frame::new(domain, Lattice::default());
    let gmm = params.check()?;
    let mut noise = InsecureSeededRng::new(seed);
    let mut public = ChaCha8Rng::seed_from_u64(seed);
    let mut session = Session::new(budget()?, NeighboringRelation::AddRemove, &mut noise);
    let source = FramedSource::new(records, &frame);
    let mixture = match gmm.fit(&source, &mut session, &mut public)? {
        GmmOutcome::Refused(_) => None,
        GmmOutcome::Released { mixture, .. } => Some(GaussianMixture::new(
            mixture.weights().clone(),
            mixture.means() * truth.bound,
            mixture.covariances() * (truth.bound * truth.bound),
        )?),
    };
    Ok(Fit {
        share: gmm.tuple_share(&frame)?,
        n_blocks: gmm.n_blocks(&frame)?,
        mixture,
    })
}

/// Mean and standard error.
pub(crate) fn mean(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (n - 1.0);
    (mean, (variance / n).sqrt())
}
