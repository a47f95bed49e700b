//! Figures 2 and 6: generated sets, k and d from 2 to 10, N = 10,000, ε = 1; NICV above the baseline.

use std::error::Error;

use crate::methods::{Effort, Method};
use crate::output::{Output, Point, summary};
use crate::shapes;
use workspace_benches::data::{Set, mixture};

const N: usize = 10_000;

pub(crate) fn run(effort: Effort, output: &mut Output) -> Result<(), Box<dyn Error>> {
    let steps: &[usize] = if effort.quick {
        &[2, 6, 10]
    } else {
        &[2, 3, 4, 5, 6, 7, 8, 9, 10]
    };
    let methods = [
        Method::DpLloyd,
        Method::Eug,
        Method::EugGreedy,
        Method::GridK,
        Method::Gkm,
        Method::Gkm3k,
        Method::Pgkm,
        Method::Hybrid,
        Method::HybridRefine,
    ];
    let mut points = Vec::new();
    for &d in steps {
        for &k in steps {
            let (records, _) = mixture(N, d, k, (100 * d + k) as u64);
            let set = Set::new(&format!("d={d}"), "generated", k, &records)?;
            let baseline = set.baseline(effort.restarts)?.nicv;
            for method in methods {
                // A quarter of the runs of the six sets: there are 81 sets.
                let runs = if effort.quick {
                    1
                } else {
                    (method.runs(effort, &set) / 4).clamp(2, 30)
                };
                let mut values = Vec::new();
                for run in 0..runs {
                    values.push(set.nicv(&method.fit(&set, 1.0, run, effort)?) - baseline);
                }
                let (mean, std_error) = summary(&values);
                points.push(Point {
                    set: set.name.clone(),
                    method: method.name().to_owned(),
                    x: k as f64,
                    mean,
                    std_error,
                    runs,
                });
            }
        }
    }
    let of = |names: &[Method]| -> Vec<Point> {
        let listed = |point: &&Point| names.iter().any(|method| method.name() == point.method);
        points.iter().filter(listed).cloned().collect()
    };
    output.figure(
        "figure2",
        "Figure 2: NICV above the baseline",
        "k",
        &of(&methods[..7]),
    )?;
    let sixth = [
        Method::DpLloyd,
        Method::Eug,
        Method::Hybrid,
        Method::HybridRefine,
    ];
    output.figure(
        "figure6",
        "Figure 6: the hybrid above the baseline",
        "k",
        &of(&sixth),
    )?;
    shapes::sweep(&points, output);
    Ok(())
}
