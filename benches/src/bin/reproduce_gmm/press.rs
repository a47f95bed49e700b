//! CoinPress alone, beside the authors' algorithm: floats, the number of records public, replace-one.

use dp_core::rng::InsecureSeededRng;
use dp_core::{Budget, Delta, Epsilon, NeighboringRelation, Session};
use gmm::learner::{CoinPressParams, GaussianLearner, Passes, Prior, Sigmas, Start, Target};
use metric_space::{BoxDomain, Frame, FramedSource, Lattice};
use ndarray::{Array1, Array2, Axis};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::truth::{Failure, mean, normal};
use crate::{option, say};

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

/// One part of CoinPress of this project on records in the box ±`bound`.
fn ours(
    records: &Array2<f64>,
    bound: f64,
    sigma_max: f64,
    target: Target,
    (rho, t): (f64, usize),
    relation: NeighboringRelation,
    seed: u64,
) -> Result<(Array1<f64>, Array2<f64>), Failure> {
    let d = records.ncols();
    let learner = CoinPressParams::default()
        .start(Start::Public)
        .target(target)
        .n_rounds(t)
        .check()?;
    let frame = Frame::new(
        BoxDomain::new(vec![-bound; d], vec![bound; d])?,
        Lattice::default(),
    );
    let prior = Prior {
        centers: Array2::zeros((1, d)),
        sigmas: Sigmas::new(vec![1e-4 / bound; d], vec![sigma_max / bound; d])?,
    };
    let mut noise = InsecureSeededRng::new(seed);
    let budget = Budget::approx(Epsilon::new(100.0)?, Delta::new(1e-6)?);
    let mut session = Session::new(budget, relation, &mut noise);
    let source = FramedSource::new(records, &frame);
    let learned = learner.learn(&Passes::new(&source), &prior, rho, &mut session)?;
    let covariance = learned.covariances.first().ok_or("one cluster")? * (bound * bound);
    Ok((
        learned.means.index_axis(Axis(0), 0).to_owned() * bound,
        covariance,
    ))
}

pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let runs: u64 = option(arguments, "--runs").unwrap_or(50);
    say("mean, covariance I, |mean| ≤ 10√d known, 4 rounds: Mahalanobis error");
    say("| d | rho | n | authors' | ours, replace-one | ours, add-remove | without privacy |");
    say("|---|---|---|---|---|---|---|");
    for (d, rho, n) in [
        (50, 0.1, 160),
        (50, 0.1, 500),
        (50, 0.5, 1000),
        (50, 0.5, 4000),
        (10, 0.1, 500),
    ] {
        let radius = 10.0 * (d as f64).sqrt();
        let mut errors = [vec![], vec![], vec![], vec![]];
        for seed in 0..runs {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let truth = Array1::from_shape_fn(d, |_| rng.random_range(-7.0..7.0));
            let records = Array2::from_shape_fn((n, d), |(_, j)| truth[j] + normal(&mut rng));
            let far = |found: &Array1<f64>| {
                let difference = found - &truth;
                difference.dot(&difference).sqrt()
            };
            errors[0].push(far(&published_mean(&records, radius, rho, 4, &mut rng)));
            for (at, relation) in [
                (1, NeighboringRelation::ReplaceOne),
                (2, NeighboringRelation::AddRemove),
            ] {
                let found = ours(&records, 10.0, 1.0, Target::Mean, (rho, 4), relation, seed)?.0;
                errors[at].push(far(&found));
            }
            errors[3].push(far(&records.mean_axis(Axis(0)).ok_or("records")?));
        }
        let [a, b, c, e] = errors.map(|errors| mean(&errors).0);
        say(&format!(
            "| {d} | {rho} | {n} | {a:.3} | {b:.3} | {c:.3} | {e:.3} |"
        ));
    }
    say(
        "covariance around a known mean, condition number 100, sigma_max twice the largest: |Σ^(-1/2)·Σ̂·Σ^(-1/2) − I| (Frobenius), without privacy beside",
    );
    say("| d | rho | n | ours, add-remove | without privacy |");
    say("|---|---|---|---|---|");
    for (d, rho, n) in [
        (10, 0.5, 2000),
        (10, 0.5, 10_000),
        (10, 0.5, 50_000),
        (50, 0.5, 100_000),
    ] {
        let (mut errors, mut plain) = (vec![], vec![]);
        for seed in 0..runs.min(10) {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let sigma = |j: usize| 10_f64.powf(-(j as f64) / (d as f64 - 1.0));
            let records = Array2::from_shape_fn((n, d), |(_, j)| sigma(j) * normal(&mut rng));
            let relation = NeighboringRelation::AddRemove;
            let found = ours(
                &records,
                10.0,
                2.0,
                Target::Covariance,
                (rho, 5),
                relation,
                seed,
            )?
            .1;
            let error = |found: &Array2<f64>| {
                let entry = |((i, j), x): ((usize, usize), &f64)| {
                    x / (sigma(i) * sigma(j)) - f64::from(u8::from(i == j))
                };
                found
                    .indexed_iter()
                    .map(|at| entry(at).powi(2))
                    .sum::<f64>()
                    .sqrt()
            };
            errors.push(error(&found));
            plain.push(error(&(records.t().dot(&records) / n as f64)));
        }
        say(&format!(
            "| {d} | {rho} | {n} | {:.3} | {:.3} |",
            mean(&errors).0,
            mean(&plain).0
        ));
    }
    Ok(())
}
