//! The sets: scaled by their exact smallest and largest values, which count as public here.

use std::error::Error;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use metric_space::{BoxDomain, Frame, Lattice, LatticeRecords, LloydParams, Records, mean_cost};
use ndarray::Array2;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A set, ready for fits and for measuring.
#[derive(Debug)]
pub struct Set {
    /// In tables.
    pub name: String,
    /// Where the records come from.
    pub origin: String,
    /// Clusters that are asked for.
    pub k: usize,
    /// Scaled records, shape (n, d).
    pub scaled: Array2<f64>,
    /// The same on the lattice.
    pub source: LatticeRecords,
    /// The true class of each record, where the file has one.
    pub classes: Option<Vec<usize>>,
}

/// The best centers of many runs without privacy.
#[derive(Debug)]
pub struct Baseline {
    /// Scaled, shape (k, d).
    pub centers: Array2<f64>,
    /// Their mean squared distance to the records.
    pub nicv: f64,
    /// Records per cluster, the smallest first.
    pub sizes: Vec<usize>,
}

/// A file: records, and their classes where there is a column `label`.
#[derive(Debug)]
pub struct Table {
    /// Original units, shape (n, d).
    pub records: Array2<f64>,
    /// One class per record.
    pub classes: Option<Vec<usize>>,
}

/// What a folder holds.
#[derive(Debug)]
pub struct Sets {
    /// Sets that were found.
    pub found: Vec<Set>,
    /// Names of files that were not.
    pub missing: Vec<&'static str>,
}

impl Set {
    /// Scales records by their exact extremes, which count as public.
    ///
    /// # Errors
    ///
    /// If the records do not fit a domain.
    pub fn new(
        name: &str,
        origin: &str,
        k: usize,
        records: &Array2<f64>,
    ) -> Result<Self, Box<dyn Error>> {
        let extreme = |column: ndarray::ArrayView1<'_, f64>, wanted: std::cmp::Ordering| {
            column
                .iter()
                .copied()
                .reduce(|a, b| if b.total_cmp(&a) == wanted { b } else { a })
                .unwrap_or(0.0)
        };
        let low: Vec<f64> = records
            .columns()
            .into_iter()
            .map(|c| extreme(c, std::cmp::Ordering::Less))
            .collect();
        let high = records
            .columns()
            .into_iter()
            .map(|c| extreme(c, std::cmp::Ordering::Greater));
        // A constant column needs some width.
        let high = high
            .zip(&low)
            .map(|(high, low)| if high > *low { high } else { low + 1.0 })
            .collect();
        let frame = Frame::new(BoxDomain::new(low, high)?, Lattice::default());
        let mut scaled = Array2::zeros(records.raw_dim());
        for (record, mut out) in records.rows().into_iter().zip(scaled.rows_mut()) {
            let mut row = vec![0.0; record.len()];
            frame.domain().to_scaled_record(&record.to_vec(), &mut row);
            out.assign(&ndarray::ArrayView1::from(&row));
        }
        Ok(Self {
            name: name.to_owned(),
            origin: origin.to_owned(),
            k,
            source: LatticeRecords::read(records, &frame)?,
            scaled,
            classes: None,
        })
    }

    /// Records.
    #[must_use]
    pub fn n(&self) -> usize {
        self.scaled.nrows()
    }

    /// Columns.
    #[must_use]
    pub fn d(&self) -> usize {
        self.scaled.ncols()
    }

    /// Mean squared distance to the nearest center in scaled coordinates.
    #[must_use]
    pub fn nicv(&self, centers: &Array2<f64>) -> f64 {
        mean_cost(Records::from(&self.scaled), centers.view(), None).unwrap_or(f64::NAN)
    }

    /// The best of many runs without privacy.
    ///
    /// # Errors
    ///
    /// If a file cannot be read, or its records cannot be clustered.
    pub fn baseline(&self, restarts: usize) -> Result<Baseline, Box<dyn Error>> {
        let lloyd = LloydParams::new(self.k).n_restarts(restarts).check()?;
        let solution = lloyd.fit(self.scaled.view(), None, &mut ChaCha8Rng::seed_from_u64(1))?;
        let mut sizes = vec![0; self.k];
        for &label in &solution.labels {
            sizes[label as usize] += 1;
        }
        sizes.sort_unstable();
        Ok(Baseline {
            centers: solution.centers,
            nicv: solution.cost / self.n() as f64,
            sizes,
        })
    }
}

/// Reads a CSV file with a header, gzipped or not; a column `label` is kept apart.
///
/// # Errors
///
/// If a file cannot be read, or its records cannot be clustered.
pub fn read(path: &Path) -> Result<Table, Box<dyn Error>> {
    let file = File::open(path)?;
    let reader: Box<dyn Read> = if path.extension().is_some_and(|ending| ending == "gz") {
        Box::new(flate2::read::MultiGzDecoder::new(file))
    } else {
        Box::new(file)
    };
    let mut csv = csv::Reader::from_reader(reader);
    let label = csv.headers()?.iter().position(|name| name == "label");
    let d = csv.headers()?.len() - usize::from(label.is_some());
    let (mut values, mut names, mut classes) = (Vec::new(), Vec::new(), Vec::new());
    for record in csv.records() {
        for (i, field) in record?.iter().enumerate() {
            if Some(i) == label {
                let known = names.iter().position(|name| name == field);
                classes.push(known.unwrap_or_else(|| {
                    names.push(field.to_owned());
                    names.len() - 1
                }));
            } else {
                values.push(field.parse()?);
            }
        }
    }
    let records = Array2::from_shape_vec((values.len() / d, d), values)?;
    Ok(Table {
        records,
        classes: label.map(|_| classes),
    })
}

/// The file of a name, gzipped or not.
#[must_use]
pub fn find(folder: Option<&Path>, name: &str) -> Option<PathBuf> {
    let folder = folder?;
    let names = [format!("{name}.csv"), format!("{name}.csv.gz")];
    names
        .into_iter()
        .map(|name| folder.join(name))
        .find(|path| path.exists())
}

/// Clusters with equal chances around sphere-packed centers in [−1, 1]^d, σ = 0.1/k^(1/d) per coordinate at most, clipped.
#[must_use]
pub fn mixture(n: usize, d: usize, k: usize, seed: u64) -> (Array2<f64>, Vec<usize>) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let centers = metric_space::sphere_packing(k, d, &mut rng);
    let sigma = 0.3 / (k as f64).powf(1.0 / d as f64);
    let classes: Vec<usize> = (0..n).map(|_| rng.random_range(0..k)).collect();
    // The sum of twelve uniform numbers is normal enough.
    let bell = |rng: &mut ChaCha8Rng| (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0;
    let records = Array2::from_shape_fn((n, d), |(i, j)| {
        (centers[[classes[i], j]] + sigma * bell(&mut rng)).clamp(-1.0, 1.0)
    });
    (records, classes)
}

/// The paper's six sets and a generated one.
///
/// # Errors
///
/// If a file cannot be read, or its records cannot be clustered.
pub fn sets(folder: Option<&Path>) -> Result<Sets, Box<dyn Error>> {
    let mut sets = Sets {
        found: Vec::new(),
        missing: Vec::new(),
    };
    for (name, file, k, origin) in [
        ("S1", "s1", 15, "the paper's set"),
        (
            "Gowalla",
            "gowalla_visits",
            5,
            "a stand-in: user-place visits of the test split, worldwide",
        ),
        (
            "TIGER",
            "cal_road_nodes",
            2,
            "a stand-in: road nodes of California",
        ),
        (
            "Image",
            "house_rgb",
            3,
            "a stand-in: another copy of the image, 33,925 of 34,112 vectors",
        ),
        ("Lifesci", "lifesci", 3, "the paper's set"),
    ] {
        match find(folder, file) {
            Some(path) => sets
                .found
                .push(Set::new(name, origin, k, &read(&path)?.records)?),
            None => sets.missing.push(name),
        }
    }
    let adult = Path::new(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../docs/examples/adult.csv"
    ));
    sets.found.push(Set::new(
        "Adult",
        "the paper's set",
        5,
        &read(adult)?.records,
    )?);
    let (records, _) = mixture(10_000, 2, 8, 42);
    sets.found.push(Set::new(
        "Mixture",
        "generated: eight clusters in two columns",
        8,
        &records,
    )?);
    Ok(sets)
}
