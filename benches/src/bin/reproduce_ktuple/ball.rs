//! Unit spherical Gaussians with means uniform in a ball of radius 100, at least 10 apart: every mean within 0.5 of the truth.

use std::error::Error;
use std::time::Instant;

use dp_core::rng::InsecureSeededRng;
use dp_core::{Budget, Delta, Epsilon, NeighboringRelation, Session};
use ktuple::TupleShape;
use ktuple::friendly::{Filter, FriendlyCore};
use ktuple::means::{Aggregator, KMeansOutcome, PrivateKMeansParams};
use ktuple::planner::closest;
use metric_space::{BoxDomain, Frame, FramedSource, Lattice};
use ndarray::{Array2, ArrayView1};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use workspace_benches::program::{option, say};

/// Public bounds of each column.
const BOUND: f64 = 105.0;

/// k means in the ball, no two closer than 10.
pub(crate) fn means_in_ball(k: usize, d: usize, rng: &mut ChaCha8Rng) -> Array2<f64> {
    loop {
        let mut means = Array2::zeros((k, d));
        for mut mean in means.outer_iter_mut() {
            mean.assign(&ndarray::Array1::from(normal(d, rng)));
            let length = mean.dot(&mean).sqrt();
            let radius = 100.0 * rng.random::<f64>().powf(1.0 / d as f64);
            mean.mapv_inplace(|x| x * radius / length);
        }
        let apart = (0..k).all(|i| (0..i).all(|j| distance(means.row(i), means.row(j)) >= 10.0));
        if apart {
            return means;
        }
    }
}

/// d standard normal numbers.
pub(crate) fn normal(d: usize, rng: &mut ChaCha8Rng) -> Vec<f64> {
    let pair = |rng: &mut ChaCha8Rng| {
        let radius = (-2.0 * (1.0 - rng.random::<f64>()).ln()).sqrt();
        let (sin, cos) = (std::f64::consts::TAU * rng.random::<f64>()).sin_cos();
        [radius * cos, radius * sin]
    };
    (0..d.div_ceil(2)).flat_map(|_| pair(rng)).take(d).collect()
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "array views are small and go by value, as ndarray has it"
)]
pub(crate) fn distance(a: ArrayView1<'_, f64>, b: ArrayView1<'_, f64>) -> f64 {
    a.iter()
        .zip(b)
        .map(|(x, y)| (x - y).powi(2))
        .sum::<f64>()
        .sqrt()
}

/// n records of the mixture, row by row.
fn records(means: &Array2<f64>, n: usize, rng: &mut ChaCha8Rng) -> Array2<f32> {
    let (k, d) = means.dim();
    let mut records = Array2::zeros((n, d));
    for mut record in records.outer_iter_mut() {
        let mean = means.row(rng.random_range(0..k));
        for ((x, m), z) in record.iter_mut().zip(mean).zip(normal(d, rng)) {
            #[expect(clippy::cast_possible_truncation, reason = "data in single precision")]
            let value = (m + z) as f32;
            *x = value;
        }
    }
    records
}

pub(crate) fn run(arguments: &[String]) -> Result<(), Box<dyn Error>> {
    let runs: u64 = option(arguments, "--runs").unwrap_or(100);
    let seed: u64 = option(arguments, "--seed").unwrap_or(20_000);
    let sizes: Vec<usize> = option::<String>(arguments, "--records")
        .unwrap_or_else(|| "100000".into())
        .split(',')
        .filter_map(|n| n.parse().ok())
        .collect();
    let dimensions: Vec<usize> =
        option::<usize>(arguments, "--dimension").map_or(vec![8, 32], |d| vec![d]);
    let relation: NeighboringRelation =
        option(arguments, "--relation").unwrap_or(NeighboringRelation::AddRemove);
    let budget = Budget::approx(Epsilon::new(1.0)?, Delta::new(1e-6)?);
    let ratio: Option<f64> = option(arguments, "--match-ratio");
    let hint: bool = option(arguments, "--hint").unwrap_or(false);
    say(
        "| d | n | relation | γ | blocks | all means within 0.5 | refused | median worst error | largest | seconds a fit |",
    );
    say("|---|---|---|---|---|---|---|---|---|---|");
    for d in dimensions {
        let frame = Frame::new(
            BoxDomain::new(vec![-BOUND; d], vec![BOUND; d])?,
            Lattice::default(),
        );
        for &n in &sizes {
            let mut params = PrivateKMeansParams::new(8, budget);
            let shape = TupleShape {
                n_tuples: 0,
                n_clusters: 8,
                dimension: d,
                lattice: Lattice::default(),
            };
            let core = match ratio {
                Some(ratio) => FriendlyCore::new(ratio, Filter::Proportional)?,
                // As the command does.
                None if hint => closest(n as u64, shape, params.tuple_budget()?)?,
                None => FriendlyCore::default(),
            };
            params = params
                .aggregator(Aggregator::FriendlyCore(core))
                .n_blocks(option(arguments, "--blocks"))
                .n_hint(hint.then_some(n as u64));
            if let Some(share) = option(arguments, "--tuple-share") {
                params = params.tuple_share(share);
            }
            let algorithm = params.check()?;
            let (mut good, mut refused, mut errors, mut seconds) = (0, 0, Vec::new(), 0.0);
            for run in 0..runs {
                let mut rng = ChaCha8Rng::seed_from_u64(seed + run);
                let means = means_in_ball(8, d, &mut rng);
                let records = records(&means, n, &mut rng);
                let mut noise = InsecureSeededRng::new(seed + 1_000_000 + run);
                let mut session = Session::new(budget, relation, &mut noise);
                let start = Instant::now();
                let outcome =
                    algorithm.fit(&FramedSource::new(&records, &frame), &mut session, &mut rng)?;
                seconds += start.elapsed().as_secs_f64();
                let KMeansOutcome::Released { centers, .. } = outcome else {
                    refused += 1;
                    errors.push(f64::INFINITY);
                    continue;
                };
                let centers = centers.mapv(|x| x * BOUND);
                let worst = means.outer_iter().map(|mean| {
                    let errors = centers.outer_iter().map(|center| distance(mean, center));
                    errors.fold(f64::INFINITY, |a, b| if b < a { b } else { a })
                });
                let worst = worst.fold(0.0, |a, b| if b > a { b } else { a });
                good += u32::from(worst < 0.5);
                errors.push(worst);
            }
            errors.sort_by(f64::total_cmp);
            say(&format!(
                "| {d} | {n} | {relation} | 1/{:.1} | {} | {good} of {runs} | {refused} | {:.3} | {:.3} | {:.2} |",
                1.0 / core.match_ratio(),
                algorithm.n_blocks(&frame, relation)?,
                errors[errors.len() / 2],
                errors[errors.len() - 1],
                seconds / runs as f64
            ));
        }
    }
    Ok(())
}
