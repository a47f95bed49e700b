//! What the rules for shares, blocks and match ratios were chosen on: mixtures that no other part draws.

use gmm::{PrivateGmmParams, Split};
use ktuple::friendly::{Filter, FriendlyCore};
use ktuple::means::Aggregator;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::truth::{Failure, budget, fit_with, mean, separated, theory};
use workspace_benches::program::{option, say};

/// Seeds of mixtures and records start here; those of the other parts lie far below.
const FIRST_SEED: u64 = 7_000_000;

/// The numbers of a list with commas; a word that is no number is none: the default.
fn list<T: std::str::FromStr>(arguments: &[String], name: &str) -> Vec<Option<T>> {
    let text: String = option(arguments, name).unwrap_or_else(|| "default".to_owned());
    text.split(',').map(|word| word.parse().ok()).collect()
}

pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let runs: u64 = option(arguments, "--runs").unwrap_or(6);
    let first: u64 = FIRST_SEED + option(arguments, "--skip").unwrap_or(0);
    let (only_k, only_d) = (option(arguments, "--k"), option(arguments, "--d"));
    let ball = arguments.iter().any(|word| word == "--ball");
    let separation: Option<f64> = option(arguments, "--separation");
    say("| k, d | n | split | share | match ratio | blocks | refused | TV |");
    say("|---|---|---|---|---|---|---|---|");
    for (k, d) in [(2, 1), (2, 4), (4, 4), (4, 8), (8, 4), (8, 16)] {
        if only_k.is_some_and(|only: usize| only != k)
            || only_d.is_some_and(|only: usize| only != d)
        {
            continue;
        }
        for n in list::<usize>(arguments, "--sizes") {
            let n = n.unwrap_or(100_000);
            for split in [Split::Budget, Split::Halves] {
                if option::<String>(arguments, "--split").is_some_and(|name| name != split.name()) {
                    continue;
                }
                for share in list::<f64>(arguments, "--shares") {
                    for ratio in list::<f64>(arguments, "--ratios") {
                        let mut params = PrivateGmmParams::new(k, budget()?)
                            .n_hint(Some(n as u64))
                            .split(split)
                            .tuple_share(share);
                        if let Some(ratio) = ratio {
                            let core = FriendlyCore::new(ratio, Filter::Proportional)?;
                            params = params.aggregator(Aggregator::FriendlyCore(core));
                        }
                        let (mut found, mut refused, mut public) = (vec![], 0, String::new());
                        for seed in first..first + runs {
                            let separation = separation.unwrap_or(2.0 * theory(n));
                            let truth = if ball {
                                crate::eight::truth(seed)?
                            } else {
                                separated(k, d, separation, seed)?
                            };
                            let mut rng = ChaCha8Rng::seed_from_u64(1000 + seed);
                            let (records, _) = truth.mixture.sample(n, &mut rng);
                            let fit = fit_with(params.clone(), &truth, &records, seed)?;
                            public = format!("{:.2} | {:?} | {}", fit.share, ratio, fit.n_blocks);
                            match fit.mixture {
                                Some(mixture) => {
                                    let distance =
                                        truth.mixture.total_variation(&mixture, 20_000, &mut rng);
                                    found.push(distance.map_or(1.0, |distance| distance.value));
                                }
                                None => refused += 1,
                            }
                        }
                        let (distance, error) = mean(&found);
                        say(&format!(
                            "| {k}, {d} | {n} | {} | {public} | {refused}/{runs} | {distance:.4} ± {error:.4} |",
                            split.name()
                        ));
                    }
                }
            }
        }
    }
    Ok(())
}
