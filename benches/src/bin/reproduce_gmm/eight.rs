//! Eight unit Gaussians with means in a ball of radius 100, at least 10 apart, d = 4, n = 100,000.

use gmm::GaussianMixture;
use ndarray::{Array1, Array2, Array3, Axis};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::truth::{Failure, Truth, normal, private};
use workspace_benches::program::{option, say};

const K: usize = 8;
const D: usize = 4;
const N: usize = 100_000;

pub(crate) fn truth(seed: u64) -> Result<Truth, Failure> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let means = loop {
        let mut means = Array2::zeros((K, D));
        for mut mean in means.outer_iter_mut() {
            mean.mapv_inplace(|_: f64| normal(&mut rng));
            let length = mean.dot(&mean).sqrt();
            let radius = 100.0 * rng.random::<f64>().powf(1.0 / D as f64);
            mean.mapv_inplace(|x| x * radius / length);
        }
        let apart = |i: usize, j: usize| {
            let difference = &means.row(i) - &means.row(j);
            difference.dot(&difference) >= 100.0
        };
        if (0..K).all(|i| (0..i).all(|j| apart(i, j))) {
            break means;
        }
    };
    let unit = Array3::from_shape_fn((K, D, D), |(_, i, j)| f64::from(u8::from(i == j)));
    Ok(Truth {
        mixture: GaussianMixture::new(Array1::from_elem(K, 1.0), means, unit)?,
        bound: 105.0,
    })
}

pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let runs: u64 = option(arguments, "--runs").unwrap_or(20);
    let mut refused = 0;
    // The worst of all runs: mean, variance, weight, likelihood.
    let mut worst = [0.0_f64; 4];
    for seed in 0..runs {
        let truth = truth(seed)?;
        let (records, _) = truth
            .mixture
            .sample(N, &mut ChaCha8Rng::seed_from_u64(3000 + seed));
        let Some(found) = private(&truth, &records, seed)? else {
            refused += 1;
            continue;
        };
        let mut errors = [0.0; 4];
        for (i, mean) in truth.mixture.means().outer_iter().enumerate() {
            let far = |j: usize| {
                let difference = &found.means().row(j) - &mean;
                difference.dot(&difference).sqrt()
            };
            let j = (0..K)
                .min_by(|&a, &b| far(a).total_cmp(&far(b)))
                .unwrap_or(0);
            let covariance = found.covariances().index_axis(Axis(0), j);
            let variance = covariance.diag().sum() / D as f64;
            let weight = (found.weights()[j] - truth.mixture.weights()[i]).abs();
            raise(&mut errors, [far(j), (variance - 1.0).abs(), weight, 0.0]);
        }
        let likelihood = truth.mixture.score(records.view()) - found.score(records.view());
        raise(&mut errors, [0.0, 0.0, 0.0, likelihood.abs()]);
        if arguments.iter().any(|word| word == "--each") {
            let nearest = nearest(truth.mixture.means());
            say(&format!(
                "seed {seed}: nearest means {nearest:.1} apart, errors {errors:.4?}"
            ));
        }
        raise(&mut worst, errors);
    }
    say(&format!(
        "refused: {refused}/{runs}; the worst of the other runs:"
    ));
    for ((what, bar), value) in [
        ("distance of a mean", 0.5),
        ("relative error of a component's mean variance", 0.5),
        ("error of a weight", 0.02),
        ("loss in mean log-likelihood", 0.1),
    ]
    .into_iter()
    .zip(worst)
    {
        say(&format!("| {what} | {value:.4} | bar {bar} |"));
    }
    Ok(())
}

/// The least distance between two means.
fn nearest(means: &Array2<f64>) -> f64 {
    let mut least = f64::INFINITY;
    for i in 0..K {
        for j in 0..i {
            let difference = &means.row(i) - &means.row(j);
            let distance = difference.dot(&difference).sqrt();
            least = if distance < least { distance } else { least };
        }
    }
    least
}

fn raise(most: &mut [f64; 4], values: [f64; 4]) {
    for (most, value) in most.iter_mut().zip(values) {
        if value > *most {
            *most = value;
        }
    }
}
