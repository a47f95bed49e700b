//! CoinPress alone, beside the authors' algorithm: floats, the number of records public, replace-one.

use dp_core::rng::InsecureSeededRng;
use dp_core::{Budget, Delta, Epsilon, NeighboringRelation, Rho, Session};
use gmm::learner::{CoinPressParams, GaussianLearner, Passes, Prior, Sigmas, Start, Target};
use metric_space::{BoxDomain, Frame, FramedSource, Lattice};
use nalgebra::linalg::SymmetricEigen;
use nalgebra::{DMatrix, DVector};
use ndarray::{Array1, Array2, Axis};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::truth::{Failure, mean, normal};
use workspace_benches::program::{option, say};

/// g(d, β).
fn length(d: usize, beta: f64) -> f64 {
    let (d, log) = (d as f64, -beta.ln());
    (d + 2.0 * (d * log).sqrt() + 2.0 * log).sqrt()
}

/// Shares ρ/(4(t − 1)), the last 3ρ/4.
fn shares(rho: f64, t: usize) -> Vec<f64> {
    (1..=t)
        .map(|i| match t {
            1 => rho,
            _ if i == t => 0.75 * rho,
            _ => 0.25 * rho / (t - 1) as f64,
        })
        .collect()
}

/// The authors' mean: covariance at most I, mean within `radius` of 0.
fn published_mean(
    records: &Array2<f64>,
    radius: f64,
    rho: f64,
    t: usize,
    rng: &mut ChaCha8Rng,
) -> Array1<f64> {
    let (n, d) = records.dim();
    let g = length(d, 0.01);
    let (mut center, mut r) = (Array1::<f64>::zeros(d), radius);
    for rho in shares(rho, t) {
        let (sum, root) = (r + g, (r * r + 6.0 * r + g * g).sqrt());
        let clip = if root < sum { root } else { sum };
        let mut total = Array1::zeros(d);
        for record in records.outer_iter() {
            let difference = &record - &center;
            let norm = difference.dot(&difference).sqrt();
            total.scaled_add(if norm > clip { clip / norm } else { 1.0 }, &difference);
        }
        let tau = 2.0 * clip / (n as f64 * (2.0 * rho).sqrt());
        center += &(total / n as f64).mapv(|x| x + tau * normal(rng));
        r = (1.0 / n as f64 + tau * tau).sqrt() * g;
    }
    center
}

/// The authors' covariance of records with mean 0 and covariance at most `most`²·I: noise on each entry, whitening by the release.
///
/// Their code multiplies from the left; here the factors compose, as the paper's proof has it. η is theirs: it does not cover the noise.
fn published_covariance(
    records: &Array2<f64>,
    most: f64,
    rho: f64,
    t: usize,
    rng: &mut ChaCha8Rng,
) -> Result<Array2<f64>, Failure> {
    let (n, d) = records.dim();
    let (g, size) = (length(d, 0.1), n as f64);
    let eta = (d as f64 / size).sqrt() + d as f64 / (2.0 * size);
    // y = A·x for column vectors, and A⁻¹.
    let mut whitening = DMatrix::<f64>::identity(d, d) / most;
    let mut inverse = DMatrix::<f64>::identity(d, d) * most;
    let mut answer = DMatrix::<f64>::zeros(d, d);
    for rho in shares(rho, t) {
        let mut second = DMatrix::<f64>::zeros(d, d);
        for record in records.outer_iter() {
            let mut white = &whitening * DVector::from_iterator(d, record.iter().copied());
            let norm = white.norm();
            if norm > g {
                white *= g / norm;
            }
            second.ger(1.0 / size, &white, &white, 1.0);
        }
        for i in 0..d {
            for j in i..d {
                let noisy = second[(i, j)] + g * g / (size * rho.sqrt()) * normal(rng);
                (second[(i, j)], second[(j, i)]) = (noisy, noisy);
            }
        }
        let eigen = SymmetricEigen::try_new(second, 1e-14, 10_000).ok_or("no eigenvalues")?;
        let of = |map: &dyn Fn(f64) -> f64| {
            let values = DMatrix::from_diagonal(&eigen.eigenvalues.map(map));
            &eigen.eigenvectors * values * eigen.eigenvectors.transpose()
        };
        let positive = |x: f64| if x > 0.0 { x } else { 0.0 };
        answer = &inverse * of(&positive) * inverse.transpose();
        whitening = of(&|x| 1.0 / (positive(x) + eta).sqrt()) * whitening;
        inverse *= of(&|x| (positive(x) + eta).sqrt());
    }
    Ok(Array2::from_shape_fn((d, d), |(i, j)| answer[(i, j)]))
}

/// How this project's learner runs.
#[derive(Clone, Copy)]
struct Setting {
    target: Target,
    start: Start,
    sigma_max: f64,
    public_count: Option<u64>,
    rho: f64,
    n_rounds: usize,
    relation: NeighboringRelation,
}

/// Half a width of the columns of the public domain: 0 ± 10.
const BOUND: f64 = 10.0;

/// CoinPress of this project on records in the box, around 0.
fn ours(
    records: &Array2<f64>,
    setting: Setting,
    seed: u64,
) -> Result<(Array1<f64>, Array2<f64>), Failure> {
    let d = records.ncols();
    let learner = CoinPressParams::default()
        .start(setting.start)
        .target(setting.target)
        .n_rounds(setting.n_rounds)
        .public_count(setting.public_count)
        .check()?;
    let frame = Frame::new(
        BoxDomain::new(vec![-BOUND; d], vec![BOUND; d])?,
        Lattice::default(),
    );
    let prior = Prior {
        centers: Array2::zeros((1, d)),
        sigmas: Sigmas::new(vec![1e-4 / BOUND; d], vec![setting.sigma_max / BOUND; d])?,
    };
    let mut noise = InsecureSeededRng::new(seed);
    let budget = Budget::approx(Epsilon::new(100.0)?, Delta::new(1e-6)?);
    let mut session = Session::new(budget, setting.relation, &mut noise);
    let source = FramedSource::new(records, &frame);
    let passes = Passes::new(&source);
    let learned = learner.learn(&passes, &prior, Rho::new(setting.rho)?.into(), &mut session)?;
    let covariance = learned.covariances.first().ok_or("one cluster")? * (BOUND * BOUND);
    Ok((
        learned.means.index_axis(Axis(0), 0).to_owned() * BOUND,
        covariance,
    ))
}

/// The same setting step by step further from the authors': n public and released, a replaced record and one more or less, R and the histograms.
fn ways(setting: Setting, n: usize) -> [Setting; 4] {
    let public = Setting {
        public_count: Some(n as u64),
        ..setting
    };
    let add_remove = Setting {
        relation: NeighboringRelation::AddRemove,
        ..setting
    };
    let radii = Setting {
        start: Start::Radii,
        n_rounds: CoinPressParams::default().rounds(),
        ..add_remove
    };
    [public, setting, add_remove, radii]
}

pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let runs: u64 = option(arguments, "--runs").unwrap_or(50);
    means(runs)?;
    covariances(runs)
}

fn line(what: &str, errors: [Vec<f64>; 6]) {
    let [authors, public, replace, add, radii, plain] = errors.map(|errors| mean(&errors));
    say(&format!(
        "| {what} | {:.3} ± {:.3} | {:.3} ± {:.3} | {:.2} | {:.3} | {:.3} | {:.3} | {:.3} |",
        authors.0,
        authors.1,
        public.0,
        public.1,
        public.0 / authors.0,
        replace.0,
        add.0,
        radii.0,
        plain.0
    ));
}

fn means(runs: u64) -> Result<(), Failure> {
    say(
        "mean, covariance I, |mean| ≤ R = 10√d known, 4 rounds: Mahalanobis error (ours: n public, replace-one; the ratio of these two; then n released; n released, add-remove; the same from histograms)",
    );
    say(
        "| d | rho | n | authors' | n public | ratio | n released | add-remove | from radii | without privacy |",
    );
    say("|---|---|---|---|---|---|---|---|---|---|");
    for (d, rho, n) in [
        (50, 0.1, 160),
        (50, 0.1, 250),
        (50, 0.1, 500),
        (50, 0.1, 1000),
        (50, 0.1, 2000),
        (50, 0.5, 160),
        (50, 0.5, 1000),
        (50, 0.5, 4000),
        (10, 0.1, 160),
        (10, 0.1, 500),
        (10, 0.1, 2000),
    ] {
        let radius = 10.0 * (d as f64).sqrt();
        let setting = Setting {
            target: Target::Mean,
            start: Start::Within(radius / BOUND),
            sigma_max: 1.0,
            public_count: None,
            rho,
            n_rounds: 4,
            relation: NeighboringRelation::ReplaceOne,
        };
        let mut errors: [Vec<f64>; 6] = Default::default();
        for seed in 0..runs {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let truth = Array1::from_shape_fn(d, |_| rng.random_range(-7.0..7.0));
            let records = Array2::from_shape_fn((n, d), |(_, j)| truth[j] + normal(&mut rng));
            let far = |found: &Array1<f64>| {
                let difference = found - &truth;
                difference.dot(&difference).sqrt()
            };
            errors[0].push(far(&published_mean(&records, radius, rho, 4, &mut rng)));
            for (way, errors) in ways(setting, n).into_iter().zip(&mut errors[1..5]) {
                errors.push(far(&ours(&records, way, seed)?.0));
            }
            errors[5].push(far(&records.mean_axis(Axis(0)).ok_or("records")?));
        }
        line(&format!("{d} | {rho} | {n}"), errors);
    }
    Ok(())
}

fn covariances(runs: u64) -> Result<(), Failure> {
    say(
        "covariance around a known mean, standard deviations from 1 to 1/10 (condition 100) or all 1, at most 2 known, 5 rounds: |Σ^(-1/2)·Σ̂·Σ^(-1/2) − I| (Frobenius), columns as above",
    );
    say(
        "| condition | d | rho | n | authors' | n public | ratio | n released | add-remove | from radii | without privacy |",
    );
    say("|---|---|---|---|---|---|---|---|---|---|---|");
    for (condition, d, rho, n) in [
        (1.0, 10, 0.5, 1000),
        (1.0, 10, 0.5, 4000),
        (100.0, 10, 0.5, 2000),
        (100.0, 10, 0.5, 10_000),
        (100.0, 10, 0.5, 50_000),
        (100.0, 50, 0.5, 100_000),
    ] {
        let setting = Setting {
            target: Target::Covariance,
            start: Start::Public,
            sigma_max: 2.0,
            public_count: None,
            rho,
            n_rounds: 5,
            relation: NeighboringRelation::ReplaceOne,
        };
        let sigma = |j: usize| f64::powf(condition, -0.5 * j as f64 / (d as f64 - 1.0));
        let error = |found: &Array2<f64>| {
            let entry = |((i, j), x): ((usize, usize), &f64)| {
                x / (sigma(i) * sigma(j)) - f64::from(u8::from(i == j))
            };
            let squares = found.indexed_iter().map(|at| entry(at).powi(2));
            squares.sum::<f64>().sqrt()
        };
        let mut errors: [Vec<f64>; 6] = Default::default();
        let runs = if d * n > 1_000_000 {
            runs.min(10)
        } else {
            runs
        };
        for seed in 0..runs {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let records = Array2::from_shape_fn((n, d), |(_, j)| sigma(j) * normal(&mut rng));
            errors[0].push(error(&published_covariance(
                &records, 2.0, rho, 5, &mut rng,
            )?));
            for (way, errors) in ways(setting, n).into_iter().zip(&mut errors[1..5]) {
                errors.push(error(&ours(&records, way, seed)?.1));
            }
            errors[5].push(error(&(records.t().dot(&records) / n as f64)));
        }
        line(&format!("{condition} | {d} | {rho} | {n}"), errors);
    }
    Ok(())
}
