//! The instances of Section 7: a uniform mixture of k unit spherical Gaussians at ±R·e_i; success is that every sample's nearest
//! output center is its own Gaussian's.
//!
//! Tuples by k-means++ in blocks where that is affordable, else from their own law: the center of a cluster is the mean of the samples
//! that a block has of it, binomially many, hence Gaussian given their number. `both-ways` runs one cell both ways.

use std::error::Error;

use dp_core::rng::InsecureSeededRng;
use dp_core::{Budget, Delta, Epsilon, NeighboringRelation, Session};
use ktuple::averages::Axes;
use ktuple::friendly::FriendlyCore;
use ktuple::paper::{NoisyComposition, PrivateKAverages, PrivateKNoisyCenters};
use ktuple::{Aggregate, TupleAggregator, TupleShape, TupleSpend, Tuples};
use metric_space::{Init, Lattice, Lloyd, LloydParams};
use ndarray::{Array2, ArrayView1};
use ndarray_rand::rand_distr::StandardNormal;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use crate::ball::{distance, normal};

/// β of the experiments.
pub(crate) const FAILURE_PROBABILITY: f64 = 0.05;

/// Runs of a first look.
const LOOKS: u64 = 4;

/// Bytes that the tuples of runs at the same time may take.
const MEMORY: usize = 16 << 30;

/// Tuples that share a generator.
const PIECE: usize = 1 << 12;

/// ε = 1, δ = e^-28.
pub(crate) fn budget() -> Result<Budget, Box<dyn Error>> {
    let delta = Delta::new((-28.0_f64).exp())?;
    Ok(Budget::approx(Epsilon::new(1.0)?, delta))
}

/// A cell of a table.
#[derive(Clone, Copy)]
pub(crate) struct Cell {
    pub(crate) k: usize,
    pub(crate) d: usize,
    pub(crate) radius: f64,
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
    pub(crate) fn bound(self) -> f64 {
        1024.0 * self.k as f64 * (self.d as f64).sqrt()
    }

    pub(crate) fn shape(self, n_tuples: usize) -> Result<TupleShape, Box<dyn Error>> {
        Ok(TupleShape {
            n_tuples,
            n_clusters: self.k,
            dimension: self.d,
            lattice: Lattice::new(22)?,
        })
    }

    /// The smallest number of tuples that an algorithm says it needs.
    pub(crate) fn needed(self, algorithm: &dyn TupleAggregator) -> Result<usize, Box<dyn Error>> {
        let needed = algorithm.tuples_needed(self.shape(0)?, budget()?)?;
        Ok(usize::try_from(needed)?)
    }
}

/// The three algorithms at their proved parameters, by a letter.
pub(crate) fn algorithm_of(
    cell: Cell,
    letter: char,
) -> Result<Box<dyn TupleAggregator>, Box<dyn Error>> {
    let noisy = |separation: f64| {
        let basic = NoisyComposition::Basic;
        PrivateKNoisyCenters::new(separation, FAILURE_PROBABILITY, basic)
    };
    let basic = NoisyComposition::Basic;
    Ok(match letter {
        'f' => Box::new(FriendlyCore::default()),
        'n' => Box::new(noisy(PrivateKNoisyCenters::wide_separation(
            budget()?,
            cell.k,
            FAILURE_PROBABILITY,
        ))?),
        's' => Box::new(noisy(PrivateKNoisyCenters::steady_separation(
            budget()?,
            cell.shape(0)?,
            FAILURE_PROBABILITY,
            basic,
        )?)?),
        _ => Box::new(PrivateKAverages::new(
            0.1 / cell.bound(),
            FAILURE_PROBABILITY,
            Axes::Own,
        )?),
    })
}

/// How tuples are made.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Source {
    /// k-means++ and Lloyd on s samples.
    Blocks,
    /// Means of the samples of each Gaussian, from their law.
    Law,
}

/// t tuples of s samples each.
#[derive(Clone, Copy)]
pub(crate) struct Trial {
    pub(crate) t: usize,
    pub(crate) s: usize,
    pub(crate) source: Source,
}

/// The number of samples of one Gaussian in a block: binomial, by its table; s/k where that is so large that it hardly varies.
enum Members {
    Table(Vec<f64>),
    Even(f64),
}

impl Members {
    fn new(k: usize, s: usize) -> Self {
        if s > 200 * k {
            return Self::Even(s as f64 / k as f64);
        }
        let p = 1.0 / k as f64;
        let mut mass = (1.0 - p).powi(i32::try_from(s).unwrap_or(i32::MAX));
        let mut sum = 0.0;
        let table = (0..=s).map(|m| {
            sum += mass;
            mass *= (s - m) as f64 / (m + 1) as f64 * p / (1.0 - p);
            sum
        });
        Self::Table(table.collect())
    }

    fn draw(&self, rng: &mut ChaCha8Rng) -> f64 {
        match self {
            Self::Even(members) => *members,
            Self::Table(sums) => {
                let uniform: f64 = rng.random();
                sums.partition_point(|&sum| sum < uniform) as f64
            }
        }
    }
}

/// A tuple from its law, scaled, written to `centers`.
fn draw(
    cell: Cell,
    means: &Array2<f64>,
    members: &Members,
    centers: &mut Array2<f64>,
    rng: &mut ChaCha8Rng,
) {
    let to_unit = 1.0 / cell.bound();
    for (i, mut center) in centers.outer_iter_mut().enumerate() {
        let of_it = members.draw(rng);
        // Without samples of this Gaussian, k-means puts the center among those of another.
        let (at, spread) = if of_it > 0.0 {
            (i, 1.0 / of_it.sqrt())
        } else {
            (rng.random_range(0..cell.k), 1.0)
        };
        for (x, mean) in center.iter_mut().zip(means.row(at)) {
            let normal: f64 = rng.sample(StandardNormal);
            *x = (mean + spread * normal) * to_unit;
        }
    }
}

/// The centers that k-means++ finds in s samples, scaled.
fn solve(
    cell: Cell,
    s: usize,
    means: &Array2<f64>,
    solver: &Lloyd,
    rng: &mut ChaCha8Rng,
) -> Array2<f64> {
    let bound = cell.bound();
    let mut records = Array2::zeros((s, cell.d));
    for mut record in records.outer_iter_mut() {
        let mean = means.row(rng.random_range(0..cell.k));
        for ((x, m), z) in record.iter_mut().zip(mean).zip(normal(cell.d, rng)) {
            *x = (m + z) / bound;
        }
    }
    let solution = solver.fit(records.view(), None, rng);
    solution.map_or_else(
        |_| Array2::zeros((cell.k, cell.d)),
        |solution| solution.centers,
    )
}

/// The tuples of a run.
fn tuples(cell: Cell, trial: Trial, seed: u64) -> Result<Tuples, Box<dyn Error>> {
    let means = cell.means();
    let members = Members::new(cell.k, trial.s);
    let solver = LloydParams::new(cell.k)
        .init(Init::KMeansPlusPlus)
        .n_restarts(1)
        .max_iterations(30)
        .tolerance(1e-9)
        .check()?;
    let lattice = Lattice::new(22)?;
    let size = match trial.source {
        Source::Law => PIECE,
        Source::Blocks => 16,
    };
    let piece = |piece: usize| {
        let key = seed ^ (piece as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut rng = ChaCha8Rng::seed_from_u64(key);
        let mut tuples = Tuples::new(cell.k, cell.d, lattice);
        let mut centers = Array2::zeros((cell.k, cell.d));
        for _ in piece * size..((piece + 1) * size).min(trial.t) {
            match trial.source {
                Source::Law => draw(cell, &means, &members, &mut centers, &mut rng),
                Source::Blocks => centers = solve(cell, trial.s, &means, &solver, &mut rng),
            }
            tuples.push(centers.view());
        }
        tuples
    };
    let mut all = Tuples::new(cell.k, cell.d, lattice);
    let pieces: Vec<usize> = (0..trial.t.div_ceil(size)).collect();
    // Some at a time, so that no more than one copy of all is ever kept.
    for some in pieces.chunks(64) {
        let made: Vec<Tuples> = some.par_iter().map(|&at| piece(at)).collect();
        for part in made {
            all.append(part);
        }
    }
    Ok(all)
}

/// Whether 1,000 new samples all go to their own center.
fn succeeds(cell: Cell, answer: &Aggregate, seed: u64) -> bool {
    let Aggregate::Centers(centers) = answer else {
        return false;
    };
    let centers = centers.mapv(|x| x * cell.bound());
    let means = cell.means();
    let nearest = |point: ArrayView1<'_, f64>| {
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

/// Runs that succeeded, of those that were made.
#[derive(Clone, Copy)]
pub(crate) struct Verdict {
    pub(crate) good: u64,
    pub(crate) done: u64,
    pub(crate) passed: bool,
}

/// Whether at least 90 % of `runs` succeed (of four: three); ends as soon as that is out of reach.
///
/// As many runs at once as there are threads and [`MEMORY`] has room for; those after the end are not counted, so that the verdict
/// does not depend on how many that are.
pub(crate) fn verdict(
    algorithm: &dyn TupleAggregator,
    cell: Cell,
    trial: Trial,
    runs: u64,
    seed: u64,
) -> Result<Verdict, Box<dyn Error>> {
    let needed = if runs == LOOKS {
        LOOKS - 1
    } else {
        (9 * runs).div_ceil(10)
    };
    // Tuples, and their copy in order, in four bytes a number.
    let bytes = 8 * cell.k * cell.d * trial.t;
    let room = (MEMORY / bytes.max(1)).clamp(1, rayon::current_num_threads());
    let (mut good, mut done) = (0, 0);
    while done < runs && good + runs - done >= needed {
        let some = done..(done + room as u64).min(runs);
        let results: Result<Vec<bool>, String> = some
            .into_par_iter()
            .map(|run| {
                let good = once(algorithm, cell, trial, seed + 1000 * run);
                good.map_err(|error| error.to_string())
            })
            .collect();
        for success in results? {
            if good + runs - done >= needed {
                good += u64::from(success);
                done += 1;
            }
        }
    }
    Ok(Verdict {
        good,
        done,
        passed: good >= needed,
    })
}

/// Whether one run succeeds.
fn once(
    algorithm: &dyn TupleAggregator,
    cell: Cell,
    trial: Trial,
    seed: u64,
) -> Result<bool, Box<dyn Error>> {
    let budget = budget()?;
    let tuples = tuples(cell, trial, seed)?;
    let mut noise = InsecureSeededRng::new(seed + 1);
    let mut public = ChaCha8Rng::seed_from_u64(seed + 2);
    let mut session = Session::new(budget, NeighboringRelation::ReplaceOne, &mut noise);
    let spend = TupleSpend::direct(budget);
    let answer = algorithm.aggregate(&tuples, spend, &mut session, &mut public)?;
    Ok(succeeds(cell, &answer, seed + 3))
}

/// What a search found: the setting, its runs, and those of the setting below, if there is one.
pub(crate) type Found = Option<(usize, Verdict, Option<Verdict>)>;

/// The first of an ascending list of settings at which at least 90 % of `runs` succeed: from `start` up or down by looks of four
/// runs in doubling steps and by halving, then confirmed with all runs, at the one below too.
pub(crate) fn first_good(
    settings: usize,
    start: usize,
    runs: u64,
    at: impl Fn(usize, u64, u64) -> Result<Verdict, Box<dyn Error>>,
) -> Result<Found, Box<dyn Error>> {
    let look = |i: usize| -> Result<bool, Box<dyn Error>> { Ok(at(i, LOOKS, 7)?.passed) };
    let (mut here, mut step) = (start.min(settings - 1), 1);
    let mut high = if look(here)? {
        // Down to one that fails, then halve.
        let mut low = loop {
            if here == 0 {
                break None;
            }
            let next = here.saturating_sub(step);
            step *= 2;
            if !look(next)? {
                break Some(next);
            }
            here = next;
        };
        while let Some(bad) = low
            && here - bad > 1
        {
            let middle = bad.midpoint(here);
            if look(middle)? {
                here = middle;
            } else {
                low = Some(middle);
            }
        }
        here
    } else {
        let mut bad = here;
        let mut good = loop {
            if bad + 1 == settings {
                return Ok(None);
            }
            let next = (bad + step).min(settings - 1);
            step *= 2;
            if look(next)? {
                break next;
            }
            bad = next;
        };
        while good - bad > 1 {
            let middle = bad.midpoint(good);
            if look(middle)? {
                good = middle;
            } else {
                bad = middle;
            }
        }
        good
    };
    let all = |i: usize| at(i, runs, 100_007);
    let mut below = None;
    let mut found = all(high)?;
    while !found.passed {
        if high + 1 == settings {
            return Ok(None);
        }
        below = Some(found);
        high += 1;
        found = all(high)?;
    }
    // A look may have been unlucky.
    while below.is_none() && high > 0 {
        let under = all(high - 1)?;
        if under.passed {
            (high, found) = (high - 1, under);
        } else {
            below = Some(under);
        }
    }
    Ok(Some((high, found, below)))
}
