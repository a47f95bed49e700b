//! Section 7 of the paper: a uniform mixture of k unit spherical Gaussians at ±R·e_i; success is that every sample's nearest output
//! center is its own Gaussian's.
//!
//! Tuples by k-means in blocks where that is affordable, else from their own law: the mean of a block's share of a Gaussian is
//! Gaussian. `--cell` runs one small cell both ways.

use std::error::Error;

use dp_core::rng::InsecureSeededRng;
use dp_core::{Budget, Delta, Epsilon, NeighboringRelation, Session};
use ktuple::averages::Axes;
use ktuple::friendly::FriendlyCore;
use ktuple::paper::{NoisyComposition, PrivateKAverages, PrivateKNoisyCenters};
use ktuple::partition::{Formulas, Subsampling, TestCall, Union};
use ktuple::{Aggregate, TupleAggregator, TupleShape, TupleSpend, Tuples};
use metric_space::{Init, Lattice, LloydParams};
use ndarray::Array2;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use crate::ball::{distance, normal};
use crate::{option, say};

const FAILURE_PROBABILITY: f64 = 0.05;

fn budget() -> Result<Budget, Box<dyn Error>> {
    Ok(Budget::approx(
        Epsilon::new(1.0)?,
        Delta::new((-28.0_f64).exp())?,
    ))
}

/// A cell of a table.
#[derive(Clone, Copy)]
struct Cell {
    k: usize,
    d: usize,
    radius: f64,
}

impl Cell {
    /// ±R·e_1, ±R·e_2, …
    fn means(self) -> Array2<f64> {
        let at = |i: usize, j: usize| match (i / 2 == j, i % 2) {
            (true, 0) => self.radius,
            (true, _) => -self.radius,
            _ => 0.0,
        };
        Array2::from_shape_fn((self.k, self.d), |(i, j)| at(i, j))
    }

    /// Λ = 2^10·k·√d, a public bound that does not depend on R.
    fn bound(self) -> f64 {
        1024.0 * self.k as f64 * (self.d as f64).sqrt()
    }
}

/// Tuples, samples per tuple, and how many runs succeeded.
type Found = (usize, usize, u64);

/// An algorithm and its letter.
type Lettered = (char, Box<dyn TupleAggregator>);

/// How tuples are made.
#[derive(Clone, Copy, PartialEq)]
enum Source {
    /// k-means++ and Lloyd on s samples.
    Blocks,
    /// Means of s/k samples each, from their law.
    Law,
}

/// t tuples of blocks of s samples.
fn tuples(
    cell: Cell,
    t: usize,
    s: usize,
    source: Source,
    seed: u64,
) -> Result<Tuples, Box<dyn Error>> {
    let means = cell.means();
    let bound = cell.bound();
    let solver = LloydParams::new(cell.k)
        .init(Init::KMeansPlusPlus)
        .n_restarts(1)
        .max_iterations(30)
        .tolerance(1e-9)
        .check()?;
    let one = |block: usize| -> Array2<f64> {
        let mut rng =
            ChaCha8Rng::seed_from_u64(seed ^ (block as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        match source {
            Source::Law => {
                let spread = (cell.k as f64 / s as f64).sqrt();
                let mut centers = means.clone();
                for mut center in centers.outer_iter_mut() {
                    for (x, z) in center.iter_mut().zip(normal(cell.d, &mut rng)) {
                        *x = (*x + spread * z) / bound;
                    }
                }
                centers
            }
            Source::Blocks => {
                let mut records = Array2::zeros((s, cell.d));
                for mut record in records.outer_iter_mut() {
                    let mean = means.row(rng.random_range(0..cell.k));
                    for ((x, m), z) in record.iter_mut().zip(mean).zip(normal(cell.d, &mut rng)) {
                        *x = (m + z) / bound;
                    }
                }
                let solution = solver.fit(records.view(), None, &mut rng);
                solution.map_or_else(
                    |_| Array2::zeros((cell.k, cell.d)),
                    |solution| solution.centers,
                )
            }
        }
    };
    let mut tuples = Tuples::new(cell.k, cell.d, Lattice::new(22)?);
    for start in (0..t).step_by(1 << 16) {
        let part: Vec<Array2<f64>> = (start..(start + (1 << 16)).min(t))
            .into_par_iter()
            .map(one)
            .collect();
        for centers in part {
            tuples.push(centers.view());
        }
    }
    Ok(tuples)
}

/// Whether 1,000 new samples all go to their own center.
fn succeeds(cell: Cell, answer: &Aggregate, seed: u64) -> bool {
    let Aggregate::Centers(centers) = answer else {
        return false;
    };
    let centers = centers.mapv(|x| x * cell.bound());
    let means = cell.means();
    let nearest = |point: ndarray::ArrayView1<'_, f64>| {
        let all = centers.outer_iter().enumerate();
        let best = all.min_by(|a, b| distance(point, a.1).total_cmp(&distance(point, b.1)));
        best.map_or(0, |(i, _)| i)
    };
    let own: Vec<usize> = means.outer_iter().map(nearest).collect();
    let mut distinct = own.clone();
    distinct.sort_unstable();
    distinct.dedup();
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    distinct.len() == cell.k
        && (0..1000).all(|_| {
            let i = rng.random_range(0..cell.k);
            let noise = ndarray::Array1::from(normal(cell.d, &mut rng));
            nearest((&means.row(i) + &noise).view()) == own[i]
        })
}

/// How many of `runs` succeed.
fn successes(
    algorithm: &dyn TupleAggregator,
    cell: Cell,
    (t, s, source): (usize, usize, Source),
    runs: u64,
    seed: u64,
) -> Result<u64, Box<dyn Error>> {
    let budget = budget()?;
    let mut good = 0;
    for run in 0..runs {
        let seed = seed + 1000 * run;
        let tuples = tuples(cell, t, s, source, seed)?;
        let mut noise = InsecureSeededRng::new(seed + 1);
        let mut public = ChaCha8Rng::seed_from_u64(seed + 2);
        let mut session = Session::new(budget, NeighboringRelation::ReplaceOne, &mut noise);
        let answer = algorithm.aggregate(
            &tuples,
            TupleSpend::direct(budget),
            &mut session,
            &mut public,
        )?;
        good += u64::from(succeeds(cell, &answer, seed + 3));
    }
    Ok(good)
}

/// The cheapest (tuples, samples per tuple) with at least 90 % success, over public grids.
fn search(
    algorithm: &dyn TupleAggregator,
    cell: Cell,
    tries: &[(usize, usize)],
    source: Source,
    runs: u64,
) -> Result<Option<Found>, Box<dyn Error>> {
    for &(t, s) in tries {
        // Three runs show what is hopeless.
        if successes(algorithm, cell, (t, s, source), 3, 7)? < 2 {
            continue;
        }
        let good = successes(algorithm, cell, (t, s, source), runs, 100_007)?;
        if 10 * good >= 9 * runs {
            return Ok(Some((t, s, good)));
        }
    }
    Ok(None)
}

fn shown(found: Option<Found>, runs: u64) -> String {
    found.map_or_else(
        || "none of the sizes tried".to_owned(),
        |(t, s, good)| format!("t = {t}, s = {s}: {} samples ({good} of {runs})", t * s),
    )
}

pub(crate) fn sizes() -> Result<(), Box<dyn Error>> {
    let call = TestCall::of_algorithm(1.0, (-28.0_f64).exp(), FAILURE_PROBABILITY);
    say("| sub-sampling | l | smallest n | m | epsilon_1 | l at n | eta bound / delta |");
    say("|---|---|---|---|---|---|---|");
    for (subsampling, union) in [
        (Subsampling::Printed, Union::Printed),
        (Subsampling::Printed, Union::Joint),
        (Subsampling::Tight, Union::Printed),
        (Subsampling::Tight, Union::Joint),
        (Subsampling::Experiments, Union::Experiments),
    ] {
        let least = Formulas { subsampling, union }.least_tuples(call)?;
        say(&format!(
            "| {subsampling:?} | {union:?} | {} | {} | {:.4} | {:.2} | {:.2} |",
            least.n_tuples,
            least.plan.n_drawn,
            least.plan.epsilon_drawn,
            least.plan.n_outside,
            least.plan.total_delta(0.5) / (-28.0_f64).exp(),
        ));
    }
    Ok(())
}

pub(crate) fn run(arguments: &[String]) -> Result<(), Box<dyn Error>> {
    let runs: u64 = option(arguments, "--runs").unwrap_or(30);
    let only: Option<usize> = option(arguments, "--test");
    // The mended scale is wider than the printed one: a larger separation makes up for it.
    let widen: f64 = option(arguments, "--widen").unwrap_or(1.0);
    let algorithms: String = option(arguments, "--algorithms").unwrap_or_else(|| "fnc".into());
    let tests: [(usize, Vec<Cell>); 3] = [
        (
            1,
            (5..=9)
                .map(|log| Cell {
                    k: 2,
                    d: 1,
                    radius: f64::from(1 << log),
                })
                .collect(),
        ),
        (
            2,
            [2, 4, 6, 8]
                .map(|k| Cell {
                    k,
                    d: 4,
                    radius: 512.0 * k as f64,
                })
                .to_vec(),
        ),
        (
            3,
            [4, 8, 12, 16]
                .map(|d| Cell {
                    k: 2,
                    d,
                    radius: 256.0 * (d as f64).sqrt(),
                })
                .to_vec(),
        ),
    ];
    let budget = budget()?;
    say("| test | k | d | R | FriendlyCore | NoisyCenters | Averages |");
    say("|---|---|---|---|---|---|---|");
    for (test, cells) in tests {
        if only.is_some_and(|only| only != test) {
            continue;
        }
        for cell in cells {
            let shape = TupleShape {
                n_tuples: 0,
                n_clusters: cell.k,
                dimension: cell.d,
                lattice: Lattice::new(22)?,
            };
            let mut row = vec![format!(
                "| {test} | {} | {} | {:.0} ",
                cell.k, cell.d, cell.radius
            )];
            for (letter, algorithm) in algorithms_of(cell, budget, widen)? {
                let needed = usize::try_from(algorithm.tuples_needed(shape, budget)?)?;
                if !algorithms.contains(letter) {
                    row.push(format!("not run; needs t = {needed}"));
                    continue;
                }
                let found = match letter {
                    'f' => {
                        let sizes = [4, 6, 8, 12, 16, 24, 32, 64]
                            .map(|s| (needed + needed / 8, s * cell.k));
                        search(&*algorithm, cell, &sizes, Source::Blocks, runs)?
                    }
                    'n' => {
                        let sizes: Vec<(usize, usize)> =
                            (2..=30).map(|log| (needed, cell.k << log)).collect();
                        search(&*algorithm, cell, &sizes, Source::Law, runs)?
                    }
                    _ => {
                        let most = option(arguments, "--most-tuples").unwrap_or(20_000_000);
                        let sizes: Vec<(usize, usize)> = (0..14)
                            .map(|log| (500_000 * cell.k * cell.d) << log)
                            .take_while(|&t| t * cell.k * cell.d <= most)
                            .map(|t| (t, 15 * cell.k))
                            .collect();
                        search(&*algorithm, cell, &sizes, Source::Law, runs)?
                    }
                };
                row.push(shown(found, runs));
            }
            say(&format!("{} |", row.join(" | ")));
        }
    }
    Ok(())
}

/// The three algorithms of a cell at their proved parameters.
fn algorithms_of(cell: Cell, budget: Budget, widen: f64) -> Result<Vec<Lettered>, Box<dyn Error>> {
    let wide = widen * PrivateKNoisyCenters::wide_separation(budget, cell.k, FAILURE_PROBABILITY);
    let least = 0.1 / cell.bound();
    Ok(vec![
        ('f', Box::new(FriendlyCore::default())),
        (
            'n',
            Box::new(PrivateKNoisyCenters::new(
                wide,
                FAILURE_PROBABILITY,
                NoisyComposition::Basic,
            )?),
        ),
        (
            'c',
            Box::new(PrivateKAverages::new(
                least,
                FAILURE_PROBABILITY,
                Axes::Own,
            )?),
        ),
    ])
}

/// FriendlyCore at small separations, and one cell both ways.
pub(crate) fn separations(arguments: &[String]) -> Result<(), Box<dyn Error>> {
    let runs: u64 = option(arguments, "--runs").unwrap_or(30);
    let budget = budget()?;
    say("| k | d | R | tuples from | FriendlyCore | NoisyCenters, largest s tried 2^30·k |");
    say("|---|---|---|---|---|---|");
    for radius in [4.0, 8.0, 16.0, 32.0] {
        let cell = Cell { k: 2, d: 4, radius };
        let shape = TupleShape {
            n_tuples: 0,
            n_clusters: cell.k,
            dimension: cell.d,
            lattice: Lattice::new(22)?,
        };
        for (source, name) in [(Source::Blocks, "blocks"), (Source::Law, "their law")] {
            let core = FriendlyCore::default();
            let needed = usize::try_from(core.tuples_needed(shape, budget)?)?;
            let sizes = [8, 16, 32, 64, 128, 256, 512].map(|s| (needed + needed / 8, s * cell.k));
            let found = search(&core, cell, &sizes, source, runs)?;
            let other = if source == Source::Law {
                let algorithms = algorithms_of(cell, budget, 1.0)?;
                let noisy = &algorithms[1].1;
                let needed = usize::try_from(noisy.tuples_needed(shape, budget)?)?;
                let sizes: Vec<(usize, usize)> =
                    (2..=30).map(|log| (needed, cell.k << log)).collect();
                shown(search(&**noisy, cell, &sizes, source, runs)?, runs)
            } else {
                "-".into()
            };
            say(&format!(
                "| {} | {} | {radius} | {name} | {} | {other} |",
                cell.k,
                cell.d,
                shown(found, runs)
            ));
        }
    }
    Ok(())
}
