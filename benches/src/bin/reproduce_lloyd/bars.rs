//! The quality of `eug` against numbers that are known to be reachable, and its speed.

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use crate::methods::{Effort, Method};
use crate::output::{Output, Verdict, say, summary};
use workspace_benches::data::{Set, find, read};

/// Set, k, best known NICV without privacy, and the highest ratio at ε = 0.1, 0.5, 1.
const BARS: [(&str, usize, f64, [f64; 3]); 4] = [
    ("s1", 15, 0.00823, [2.4, 1.03, 1.01]),
    ("a3", 50, 0.003_729, [2.65, 1.28, 1.12]),
    ("unbalance", 8, 0.002_614, [5.2, 1.5, 1.2]),
    ("birch2", 100, 0.000_963, [f64::INFINITY, 1.17, 1.12]),
];

const EPSILONS: [f64; 3] = [0.1, 0.5, 1.0];

/// Most milliseconds of a fit at ε = 1, where there is a bar.
const SPEED: [(&str, f64); 2] = [("s1", 20.0), ("birch2", 1000.0)];

pub(crate) fn run(
    folder: Option<&Path>,
    effort: Effort,
    output: &mut Output,
) -> Result<(), Box<dyn Error>> {
    let runs = if effort.quick { 5 } else { 20 };
    say(&format!(
        "\nGrid synopses: NICV over the best known without privacy, mean of {runs} fits, public size"
    ));
    say(&format!(
        "{:<10} {:<16} {:>6} {:>9} {:>8} {:>7} {:>9}",
        "set", "method", "ε", "ratio", "± SE", "bar", "ms"
    ));
    for (file, k, best, most) in BARS {
        let Some(path) = find(folder, file) else {
            say(&format!("{file}: skipped, no such file (--data DIR)"));
            continue;
        };
        let set = Set::new(file, "benchmark", k, &read(&path)?.records)?;
        for (epsilon, bar) in EPSILONS.into_iter().zip(most) {
            for method in [Method::EugGreedy, Method::GridK] {
                let (mut ratios, mut times) = (Vec::new(), Vec::new());
                for run in 0..runs {
                    let begin = Instant::now();
                    let centers = method.fit(&set, epsilon, run, effort)?;
                    times.push(begin.elapsed().as_secs_f64() * 1e3);
                    ratios.push(set.nicv(&centers) / best);
                }
                times.sort_by(f64::total_cmp);
                let (mean, error) = summary(&ratios);
                let median = times[times.len() / 2];
                let name = if method == Method::EugGreedy {
                    "eug"
                } else {
                    "grid-k"
                };
                say(&format!(
                    "{file:<10} {name:<16} {epsilon:>6} {mean:>9.4} {error:>8.4} {bar:>7} {median:>9.1}"
                ));
                if method == Method::EugGreedy && bar.is_finite() {
                    let holds = mean - 2.0 * error <= bar;
                    let verdict = if holds {
                        Verdict::Reproduced
                    } else {
                        Verdict::Not
                    };
                    output.verdict(
                        verdict,
                        &format!("eug on {file} at ε = {epsilon}: at most {bar}"),
                        format!("{mean:.4} ± {error:.4}"),
                    );
                }
                if let Some((_, most)) = SPEED.iter().find(|(name, _)| *name == file)
                    && method == Method::EugGreedy
                    && epsilon >= 1.0
                {
                    let verdict = if median <= *most {
                        Verdict::Reproduced
                    } else {
                        Verdict::Not
                    };
                    output.verdict(
                        verdict,
                        &format!("eug on {file} at ε = 1 in at most {most} ms"),
                        format!("median {median:.1} ms"),
                    );
                }
            }
        }
    }
    Ok(())
}
