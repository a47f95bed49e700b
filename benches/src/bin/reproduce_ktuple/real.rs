//! Sets that are not easy: ⊥ or a good answer, never garbage; and the clock.

use std::error::Error;
use std::path::PathBuf;
use std::time::Instant;

use dp_core::rng::InsecureSeededRng;
use dp_core::{Budget, Delta, Epsilon, NeighboringRelation, Session};
use ktuple::friendly::FriendlyCore;
use ktuple::means::{KMeansOutcome, PrivateKMeansParams};
use ktuple::paper::{NoisyComposition, PrivateKNoisyCenters};
use ktuple::{TupleAggregator, TupleSpend, Tuples};
use metric_space::{BoxDomain, Frame, FramedSource, Lattice, LloydParams, k_means_cost};
use ndarray::Array2;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use workspace_benches::program::{option, say};

/// Numeric columns of a CSV with a header, label columns left out.
fn read(path: &std::path::Path) -> Result<Array2<f64>, Box<dyn Error>> {
    let text = std::fs::read_to_string(path)?;
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().ok_or("an empty file")?.split(',').collect();
    let kept: Vec<usize> = (0..header.len())
        .filter(|&j| !["label", "class", "letter", "lettr"].contains(&header[j].trim()))
        .collect();
    let mut values = Vec::new();
    let mut n = 0;
    for line in lines.filter(|line| !line.is_empty()) {
        let cells: Vec<&str> = line.split(',').collect();
        for &j in &kept {
            values.push(cells[j].trim().parse()?);
        }
        n += 1;
    }
    Ok(Array2::from_shape_vec((n, kept.len()), values)?)
}

pub(crate) fn run(arguments: &[String]) -> Result<(), Box<dyn Error>> {
    let data: PathBuf = option(arguments, "--data").ok_or("--data DIR")?;
    let runs: u64 = option(arguments, "--runs").unwrap_or(20);
    say("| set | k | epsilon | blocks | refused | released | worst cost ratio |");
    say("|---|---|---|---|---|---|---|");
    // Public bounds as the sets' descriptions give them.
    for (name, k, bounds) in [
        ("s3", 15, [0.0, 1_000_000.0]),
        ("s1", 15, [0.0, 1_000_000.0]),
        ("letter", 26, [0.0, 15.0]),
    ] {
        let records = read(&data.join(format!("{name}.csv")))?;
        let d = records.ncols();
        let frame = Frame::new(
            BoxDomain::new(vec![bounds[0]; d], vec![bounds[1]; d])?,
            Lattice::default(),
        );
        let scaled = records
            .mapv(|x| (x - f64::midpoint(bounds[0], bounds[1])) * 2.0 / (bounds[1] - bounds[0]));
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let best = LloydParams::new(k)
            .n_restarts(20)
            .check()?
            .fit(scaled.view(), None, &mut rng)?
            .cost;
        for epsilon in [1.0, 4.0, 16.0] {
            let budget = Budget::approx(Epsilon::new(epsilon)?, Delta::new(1e-6)?);
            for blocks in [None, Some(40), Some(120), Some(400)] {
                let algorithm = PrivateKMeansParams::new(k, budget)
                    .n_blocks(blocks)
                    .check()?;
                let Ok(used) = algorithm.n_blocks(&frame, NeighboringRelation::AddRemove) else {
                    continue;
                };
                if algorithm
                    .plan(&frame, NeighboringRelation::AddRemove)
                    .is_err()
                {
                    continue;
                }
                let (mut refused, mut released, mut worst) = (0, 0, 0.0);
                for run in 0..runs {
                    let mut noise = InsecureSeededRng::new(3000 + run);
                    let mut session =
                        Session::new(budget, NeighboringRelation::AddRemove, &mut noise);
                    let source = FramedSource::new(&records, &frame);
                    match algorithm.fit(&source, &mut session, &mut rng)? {
                        KMeansOutcome::Refused(_) => refused += 1,
                        KMeansOutcome::Released { centers, .. } => {
                            released += 1;
                            let ratio =
                                k_means_cost((&scaled).into(), centers.view(), None)? / best;
                            worst = if ratio > worst { ratio } else { worst };
                        }
                    }
                }
                say(&format!(
                    "| {name} | {k} | {epsilon} | {used} | {refused} | {released} | {worst:.2} |"
                ));
            }
        }
    }
    Ok(())
}

/// t tuples around k places of [-1, 1]^d.
fn friendly(t: usize, k: usize, d: usize) -> Tuples {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let places = Array2::from_shape_fn((k, d), |_| rng.random_range(-0.9..0.9));
    let mut tuples = Tuples::new(k, d, Lattice::default());
    for _ in 0..t {
        let turn = rng.random_range(0..k);
        let tuple = Array2::from_shape_fn((k, d), |(i, j)| {
            places[((i + turn) % k, j)] + rng.random_range(-1e-4..1e-4)
        });
        tuples.push(tuple.view());
    }
    tuples
}

pub(crate) fn speed() -> Result<(), Box<dyn Error>> {
    let budget = Budget::approx(Epsilon::new(1.0)?, Delta::new(1e-6)?);
    say("| what | t | k | d | seconds |");
    say("|---|---|---|---|---|");
    let clock =
        |name: &str, algorithm: &dyn TupleAggregator, t: usize| -> Result<(), Box<dyn Error>> {
            let tuples = friendly(t, 8, 16);
            let mut noise = InsecureSeededRng::new(1);
            let mut public = ChaCha8Rng::seed_from_u64(2);
            let mut session = Session::new(budget, NeighboringRelation::ReplaceOne, &mut noise);
            let start = Instant::now();
            algorithm.aggregate(
                &tuples,
                TupleSpend::direct(budget),
                &mut session,
                &mut public,
            )?;
            say(&format!(
                "| {name} | {t} | 8 | 16 | {:.2} |",
                start.elapsed().as_secs_f64()
            ));
            Ok(())
        };
    let noisy = PrivateKNoisyCenters::new(100.0, 0.05, NoisyComposition::Basic)?;
    clock("test and noisy centers", &noisy, 100_000)?;
    let averages = ktuple::paper::PrivateKAverages::new(1e-4, 0.05, ktuple::averages::Axes::Own)?;
    clock("test and averages", &averages, 100_000)?;
    clock("FriendlyCore", &FriendlyCore::default(), 2_000)
}
