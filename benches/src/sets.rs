//! The rows of the table: sets from files and from the generator.

use std::error::Error;
use std::path::Path;

use dp_cluster::generate::{Generator, Kind};
use metric_space::{BoxDomain, Domain, LloydParams, Records, mean_cost};
use ndarray::{Array2, ArrayView1, Axis};

use crate::data;

/// Where a row's records come from.
#[derive(Clone, Copy, Debug)]
pub enum Origin {
    /// A file, and the best NICV that is known without privacy.
    File(&'static str, f64),
    /// The generator: law, n, d, and half of the width of public bounds (none: exact extremes).
    Generated(Kind, usize, usize, Option<f64>),
}

/// A set, ready for fits and for measuring.
#[derive(Debug)]
pub struct Set {
    /// Clusters that are asked for.
    pub k: usize,
    /// Original units, shape (n, d).
    pub records: Array2<f64>,
    /// Public bounds, one pair a column.
    pub bounds: Vec<[f64; 2]>,
    domain: Domain,
    scaled: Array2<f64>,
    /// NICV that ratios are taken of.
    pub best: f64,
    /// The true centers, original units, where the set was generated.
    pub truth: Option<Array2<f64>>,
}

impl Set {
    /// Reads or generates; `seed` is for the generator.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or nothing can be generated.
    pub fn new(origin: Origin, k: usize, folder: &Path, seed: u64) -> Result<Self, Box<dyn Error>> {
        Ok(match origin {
            Origin::File(name, best) => {
                let plain = folder.join(format!("{name}.csv"));
                let path = if plain.exists() {
                    plain
                } else {
                    folder.join(format!("{name}.csv.gz"))
                };
                let records = data::read(&path)?.records;
                let bounds = extremes(&records);
                Self::of(records, bounds, k, None, Some(best))?
            }
            Origin::Generated(kind, n, d, half) => {
                let mut generator = Generator::new(kind, k, d, seed)?;
                let truth = generator.centers().clone();
                let (records, _) = generator.next_records(n);
                let bounds = half.map_or_else(|| extremes(&records), |half| vec![[-half, half]; d]);
                Self::of(records, bounds, k, Some(truth), None)?
            }
        })
    }

    /// A set from records: without a known best cost, that of Lloyd's iterations from the true centers counts.
    ///
    /// # Errors
    ///
    /// If the bounds or k do not fit the records.
    pub fn of(
        records: Array2<f64>,
        bounds: Vec<[f64; 2]>,
        k: usize,
        truth: Option<Array2<f64>>,
        best: Option<f64>,
    ) -> Result<Self, Box<dyn Error>> {
        let (lo, hi) = bounds.iter().map(|&[lo, hi]| (lo, hi)).unzip();
        let domain = Domain::from(BoxDomain::new(lo, hi)?);
        let scaled = to_scaled(&domain, &records);
        let best = match (best, &truth) {
            (Some(best), _) => best,
            (None, Some(truth)) => {
                let from = to_scaled(&domain, truth);
                let lloyd = LloydParams::new(k).check()?;
                lloyd.fit_from(scaled.view(), None, from.view())?.cost / scaled.nrows() as f64
            }
            (None, None) => {
                use rand::SeedableRng;
                let lloyd = LloydParams::new(k).n_restarts(10).check()?;
                let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(1);
                lloyd.fit(scaled.view(), None, &mut rng)?.cost / scaled.nrows() as f64
            }
        };
        Ok(Self {
            k,
            records,
            bounds,
            domain,
            scaled,
            best,
            truth,
        })
    }

    /// NICV of centers (original units) over the best one.
    #[must_use]
    pub fn ratio(&self, centers: &[Vec<f64>]) -> f64 {
        let centers = to_scaled(&self.domain, &from_rows(centers, self.records.ncols()));
        let cost = mean_cost(Records::from(&self.scaled), centers.view(), None);
        cost.map_or(f64::NAN, |cost| cost / self.best)
    }

    /// The largest distance of a true center to the nearest released one, original units.
    #[must_use]
    pub fn worst_error(&self, centers: &[Vec<f64>]) -> Option<f64> {
        let nearest = |truth: ArrayView1<'_, f64>| {
            let distances = centers.iter().map(|center| {
                truth
                    .iter()
                    .zip(center)
                    .map(|(a, b)| (a - b) * (a - b))
                    .sum::<f64>()
                    .sqrt()
            });
            distances.reduce(smaller)
        };
        let errors = self.truth.as_ref()?.outer_iter().filter_map(nearest);
        errors.reduce(|a, b| if b > a { b } else { a })
    }
}

fn smaller(a: f64, b: f64) -> f64 {
    if b < a { b } else { a }
}

fn from_rows(rows: &[Vec<f64>], d: usize) -> Array2<f64> {
    Array2::from_shape_fn((rows.len(), d), |(i, j)| rows[i][j])
}

fn to_scaled(domain: &Domain, records: &Array2<f64>) -> Array2<f64> {
    let mut scaled = Array2::zeros(records.raw_dim());
    let mut row = vec![0.0; records.ncols()];
    for (record, mut out) in records.outer_iter().zip(scaled.outer_iter_mut()) {
        domain.to_scaled_record(&record.to_vec(), &mut row);
        out.assign(&ArrayView1::from(&row));
    }
    scaled
}

/// Exact extremes of each column, which count as public here.
#[must_use]
pub fn extremes(records: &Array2<f64>) -> Vec<[f64; 2]> {
    let columns = records.axis_iter(Axis(1));
    columns
        .map(|column| {
            let low = column.iter().copied().reduce(smaller).unwrap_or(0.0);
            let high = column
                .iter()
                .copied()
                .reduce(|a, b| if b > a { b } else { a });
            let high = high.unwrap_or(1.0);
            // A constant column needs some width.
            [low, if high > low { high } else { low + 1.0 }]
        })
        .collect()
}

impl Set {
    /// The same set with bounds `factor` times as wide: what a user gives who knows little of the data.
    ///
    /// # Errors
    ///
    /// None for a positive factor.
    pub fn widened(&self, factor: f64) -> Result<Self, Box<dyn Error>> {
        let wide = self.bounds.iter().map(|&[low, high]| {
            let (middle, half) = (f64::midpoint(low, high), (high - low) / 2.0);
            [middle - factor * half, middle + factor * half]
        });
        let best = self.best / (factor * factor);
        let (records, truth) = (self.records.clone(), self.truth.clone());
        Self::of(records, wide.collect(), self.k, truth, Some(best))
    }

    /// Scaled records as CSV without a header, for peers.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn write_scaled(&self, path: &Path) -> Result<(), Box<dyn Error>> {
        let mut csv = csv::Writer::from_path(path)?;
        for record in self.scaled.outer_iter() {
            csv.write_record(record.iter().map(ToString::to_string))?;
        }
        csv.flush()?;
        Ok(())
    }
}
