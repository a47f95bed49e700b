//! Total variation against n, and how close together components may be.

use gmm::{Em, EmParams, GaussianMixture};
use ndarray::Array2;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::errors::Errors;
use crate::truth::{Failure, Truth, budget, mean, normal, private, separated, theory};
use workspace_benches::program::{option, say};

/// Draws per distance: its standard error is below 0.5 / √DRAWS.
const DRAWS: usize = 40_000;

fn distance(truth: &Truth, found: &GaussianMixture, seed: u64) -> f64 {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let distance = truth.mixture.total_variation(found, DRAWS, &mut rng);
    distance.map_or(1.0, |distance| distance.value)
}

/// Gaussian noise on each record, enough for the record alone, then EM: Section 7's naive way.
fn naive(
    em: &Em,
    records: &Array2<f64>,
    bound: f64,
    rng: &mut ChaCha8Rng,
) -> Result<GaussianMixture, Failure> {
    let budget = budget()?;
    let diameter = 2.0 * bound * (records.ncols() as f64).sqrt();
    let rho = budget.rho().ok_or("there is a delta")?.get();
    let std_dev = diameter / (2.0 * rho).sqrt();
    let noisy = records.mapv(|x| x + std_dev * normal(rng));
    Ok(em.fit(noisy.view(), rng).mixture)
}

pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let runs: u64 = option(arguments, "--runs").unwrap_or(20);
    let most: usize = option(arguments, "--most").unwrap_or(200_000);
    let (only_k, only_d) = (option(arguments, "--k"), option(arguments, "--d"));
    say("| k, d | n | TV private | refused | TV EM | TV naive | ratio |");
    say("|---|---|---|---|---|---|---|");
    // The worst component of each run, means over runs; both tables follow from the same fits.
    let mut parameters = vec![
        "| k, d | n | by | mean | covariance | weight | adjusted Rand index |".to_owned(),
        "|---|---|---|---|---|---|---|".to_owned(),
    ];
    for (k, d) in [(2, 1), (2, 4), (4, 8), (8, 16)] {
        if only_k.is_some_and(|only: usize| only != k)
            || only_d.is_some_and(|only: usize| only != d)
        {
            continue;
        }
        for n in [10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000] {
            if n > most {
                continue;
            }
            let em = EmParams::new(k).tolerance(1e-5).check()?;
            let (mut ours, mut theirs, mut naives, mut refused) = (vec![], vec![], vec![], 0);
            let (mut our_errors, mut their_errors) = (vec![], vec![]);
            for seed in 0..runs {
                let truth = separated(k, d, 2.0 * theory(n), seed)?;
                let mut rng = ChaCha8Rng::seed_from_u64(1000 + seed);
                let (records, labels) = truth.mixture.sample(n, &mut rng);
                let errors =
                    |found: &GaussianMixture| Errors::new(&truth.mixture, found, &records, &labels);
                match private(&truth, &records, seed)? {
                    Some(found) => {
                        ours.push(distance(&truth, &found, seed));
                        our_errors.push(errors(&found));
                    }
                    None => refused += 1,
                }
                let found = em.fit(records.view(), &mut rng).mixture;
                theirs.push(distance(&truth, &found, seed));
                their_errors.push(errors(&found));
                if seed < 3 && n <= 100_000 {
                    let found = naive(&em, &records, truth.bound, &mut rng)?;
                    naives.push(distance(&truth, &found, seed));
                }
            }
            for (by, errors) in [("private", &our_errors), ("EM", &their_errors)] {
                parameters.push(format!(
                    "| {k}, {d} | {n} | {by} | {} |",
                    Errors::cells(errors)
                ));
            }
            let (ours, theirs, naives) = (mean(&ours), mean(&theirs), mean(&naives));
            say(&format!(
                "| {k}, {d} | {n} | {:.4} ± {:.4} | {refused}/{runs} | {:.4} ± {:.4} | {:.3} | {:.2} |",
                ours.0,
                ours.1,
                theirs.0,
                theirs.1,
                naives.0,
                ours.0 / theirs.0
            ));
        }
    }
    for line in &parameters {
        say(line);
    }
    Ok(())
}

pub(crate) fn separations(arguments: &[String]) -> Result<(), Failure> {
    let runs: u64 = option(arguments, "--runs").unwrap_or(10);
    let n = 100_000;
    say(&format!("n = {n}: the theorem's h is {:.2}", theory(n)));
    say("| k, d | separation | TV ≤ 0.1 | refused |");
    say("|---|---|---|---|");
    for (k, d) in [(2, 1), (2, 4), (4, 8), (8, 16)] {
        for separation in [3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 12.0, 16.0, 24.0] {
            let (mut good, mut refused) = (0, 0);
            for seed in 0..runs {
                let truth = separated(k, d, separation, seed)?;
                let (records, _) = truth
                    .mixture
                    .sample(n, &mut ChaCha8Rng::seed_from_u64(2000 + seed));
                match private(&truth, &records, seed)? {
                    Some(found) if distance(&truth, &found, seed) <= 0.1 => good += 1,
                    Some(_) => {}
                    None => refused += 1,
                }
            }
            say(&format!(
                "| {k}, {d} | {separation} | {good}/{runs} | {refused}/{runs} |"
            ));
            if 10 * good >= 9 * runs {
                break;
            }
        }
    }
    Ok(())
}
