//! The generated sets: tight and overlapping clusters, equal and unequal sizes, skewed columns; none of them resembles a set of the comparison
//! with peers more than its kind does.

use std::error::Error;

use dp_cluster::generate::Kind;
use ndarray::Array2;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::sets::{Origin, Set, extremes};

/// All sets with their names. The comparison with peers takes the seeds 1 to 4.
///
/// # Errors
///
/// If a set cannot be generated.
pub fn all(seed: u64) -> Result<Vec<(&'static str, Set)>, Box<dyn Error>> {
    let generated = |kind, n, d, k, half| {
        Set::new(
            Origin::Generated(kind, n, d, half),
            k,
            std::path::Path::new("."),
            seed,
        )
    };
    Ok(vec![
        ("blobs 2/15", generated(Kind::Blobs, 5_000, 2, 15, None)?),
        ("blobs 2/40", generated(Kind::Blobs, 8_000, 2, 40, None)?),
        (
            "mixture 2/12",
            generated(Kind::Mixture, 6_000, 2, 12, Some(1.0))?,
        ),
        ("unequal 2/8", unequal(seed + 1)?),
        (
            "mixture 3/20",
            generated(Kind::Mixture, 10_000, 3, 20, Some(1.0))?,
        ),
        ("blobs 4/20", generated(Kind::Blobs, 10_000, 4, 20, None)?),
        (
            "mixture 5/10",
            generated(Kind::Mixture, 10_000, 5, 10, Some(1.0))?,
        ),
        ("blobs 8/4", generated(Kind::Blobs, 1_000, 8, 4, None)?),
        (
            "mixture 10/12",
            generated(Kind::Mixture, 12_000, 10, 12, Some(1.0))?,
        ),
        ("blobs 16/50", generated(Kind::Blobs, 16_000, 16, 50, None)?),
        ("blobs 48/40", generated(Kind::Blobs, 12_000, 48, 40, None)?),
        ("skewed 6/5", overlapping(seed + 2, 40_000, 6, 5, 12, true)?),
        (
            "overlapping 16/26",
            overlapping(seed + 3, 20_000, 16, 26, 40, false)?,
        ),
    ])
}

fn normal(rng: &mut ChaCha8Rng) -> f64 {
    let (u, v): (f64, f64) = (rng.random(), rng.random());
    (-2.0 * (1.0 - u).ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

/// Three tight clusters of 2,000 records and five wide ones of 100.
fn unequal(seed: u64) -> Result<Set, Box<dyn Error>> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut centers: Vec<[f64; 2]> = Vec::new();
    while centers.len() < 8 {
        let place = [rng.random_range(-0.9..0.9), rng.random_range(-0.9..0.9)];
        let far = |other: &[f64; 2]| (other[0] - place[0]).hypot(other[1] - place[1]) > 0.3;
        if centers.iter().all(far) {
            centers.push(place);
        }
    }
    let mut values = Vec::new();
    for (i, center) in centers.iter().enumerate() {
        let (size, std_dev) = if i < 3 { (2000, 0.02) } else { (100, 0.05) };
        for _ in 0..size {
            values.extend(center.map(|c| c + std_dev * normal(&mut rng)));
        }
    }
    let records = Array2::from_shape_vec((values.len() / 2, 2), values)?;
    let truth = Array2::from_shape_fn((8, 2), |(i, j)| centers[i][j]);
    let bounds = extremes(&records);
    Set::of(records, bounds, 8, Some(truth), None)
}

/// A mixture of more groups than clusters are asked for, of log-normal sizes, that overlap, with less and less spread per
/// column; `skewed` takes each third column to the exponential.
fn overlapping(
    seed: u64,
    n: usize,
    d: usize,
    k: usize,
    n_groups: usize,
    skewed: bool,
) -> Result<Set, Box<dyn Error>> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let spread = |j: usize| {
        if skewed {
            0.8_f64.powf(j as f64)
        } else {
            0.93_f64.powf(j as f64)
        }
    };
    let groups: Vec<Vec<f64>> = (0..n_groups)
        .map(|_| (0..d).map(|j| 1.3 * spread(j) * normal(&mut rng)).collect())
        .collect();
    let weights: Vec<f64> = (0..n_groups)
        .map(|_| (1.2 * normal(&mut rng)).exp())
        .collect();
    let total: f64 = weights.iter().sum();
    let mut values = Vec::with_capacity(n * d);
    for _ in 0..n {
        let mut left = rng.random::<f64>() * total;
        let group = weights.iter().position(|weight| {
            left -= weight;
            left <= 0.0
        });
        let group = &groups[group.unwrap_or(0)];
        for (j, center) in group.iter().enumerate() {
            let x = center + spread(j) * normal(&mut rng);
            values.push(match (skewed, j % 3) {
                (true, 2) => x.exp(),
                (true, _) => x,
                (false, _) => (3.0 * x).round(),
            });
        }
    }
    let records = Array2::from_shape_vec((n, d), values)?;
    let bounds = extremes(&records);
    Set::of(records, bounds, k, None, None)
}
