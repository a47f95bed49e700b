//! The schedules of Huang et al. on labeled sets: F-measure at equal ε.

use std::error::Error;
use std::path::Path;

use dp_core::rng::InsecureSeededRng;
use dp_core::{Budget, Epsilon, NeighboringRelation, Session};
use lloyd_dp::dplloyd::{DpLloydParams, Split};
use lloyd_dp::schedule::BudgetSchedule;
use metric_space::evaluation::Contingency;
use metric_space::squared_euclidean;
use ndarray::Array2;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::methods::Effort;
use crate::output::{Output, Point, say, summary};
use crate::shapes;
use workspace_benches::data::{Set, find, mixture, read};

/// Iterations of every schedule: the paper compares at several; ten is its example.
const ITERATIONS: usize = 10;

pub(crate) fn run(
    folder: Option<&Path>,
    effort: Effort,
    output: &mut Output,
) -> Result<(), Box<dyn Error>> {
    let mut sets = Vec::new();
    for (name, file) in [
        ("iris", "iris"),
        ("wine", "wine"),
        ("seeds", "seeds"),
        ("glass", "glass"),
        ("breast cancer", "breast_cancer"),
        ("digits", "digits"),
        ("letter", "letter"),
        ("shuttle", "shuttle"),
    ] {
        let Some(path) = find(folder, file) else {
            say(&format!("{name}: skipped, no such file (--data DIR)"));
            continue;
        };
        let table = read(&path)?;
        sets.push(labeled(
            name,
            &table.records,
            table.classes.unwrap_or_default(),
        )?);
    }
    let (records, classes) = mixture(50_000, 5, 5, 7);
    sets.push(labeled("mixture", &records, classes)?);
    let epsilons: &[f64] = if effort.quick {
        &[1.0, 10.0]
    } else {
        &[0.5, 1.0, 2.0, 5.0, 10.0]
    };
    let runs = if effort.quick { 5 } else { 40 };
    let mut points = Vec::new();
    for set in &sets {
        for &epsilon in epsilons {
            for (shape, split) in [("", Split::Joint), (", split", Split::Optimal)] {
                for schedule in BudgetSchedule::ALL {
                    let mut values = Vec::new();
                    for run in 0..runs {
                        values.push(f_measure(set, schedule, split, epsilon, run)?);
                    }
                    let (mean, std_error) = summary(&values);
                    points.push(Point {
                        set: set.name.clone(),
                        method: format!("{}{shape}", schedule.name()),
                        x: epsilon,
                        mean,
                        std_error,
                        runs: values.len(),
                    });
                }
            }
        }
    }
    output.figure(
        "schedules",
        "Schedules: F-measure, T = 10",
        "epsilon",
        &points,
    )?;
    shapes::schedules(&points, output);
    Ok(())
}

fn labeled(name: &str, records: &Array2<f64>, classes: Vec<usize>) -> Result<Set, Box<dyn Error>> {
    let k = classes.iter().max().map_or(1, |most| most + 1);
    let mut set = Set::new(name, "labeled", k, records)?;
    set.classes = Some(classes);
    Ok(set)
}

fn f_measure(
    set: &Set,
    schedule: BudgetSchedule,
    split: Split,
    epsilon: f64,
    run: u64,
) -> Result<f64, Box<dyn Error>> {
    let budget = Budget::pure(Epsilon::new(epsilon)?);
    let mut noise = InsecureSeededRng::new(run);
    let mut session = Session::new(budget, NeighboringRelation::AddRemove, &mut noise);
    let lloyd = DpLloydParams::paper(set.k, budget)
        .split(split)
        .schedule(schedule)
        .n_iterations(ITERATIONS)
        .n_hint(Some(set.n() as u64))
        .check()?;
    let centers = lloyd
        .fit(
            &set.source,
            &mut session,
            &mut ChaCha8Rng::seed_from_u64(run),
        )?
        .centers;
    let mut table = Contingency::new(set.k);
    let rows: Vec<Vec<f64>> = centers.rows().into_iter().map(|row| row.to_vec()).collect();
    for (record, &class) in set
        .scaled
        .rows()
        .into_iter()
        .zip(set.classes.iter().flatten())
    {
        let record = record.to_vec();
        let nearest = (0..rows.len()).min_by(|&a, &b| {
            squared_euclidean(&record, &rows[a]).total_cmp(&squared_euclidean(&record, &rows[b]))
        });
        table.add(class, u32::try_from(nearest.unwrap_or(0))?);
    }
    Ok(table.f_measure().unwrap_or(f64::NAN))
}
