//! Ten clinics among public sites for private homes, and a map of the release alone.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use dp_core::rng::InsecureSeededRng;
use dp_core::{NeighboringRelation, Session};
use maxcover::black_box::FasterPam;
use maxcover::{MaxCoverParams, Space};
use metric_space::{BoxDomain, Domain, Haversine, Power};
use ndarray::Array2;
use rand::Rng;

use crate::instances::{budget, public};
use crate::map::map;

/// A made-up town: south, west, north, east in degrees.
pub(crate) const TOWN: [f64; 4] = [48.0, 11.4, 48.2, 11.7];

/// Writes `sites.csv`, `homes.csv` and `clinics.svg` into a folder.
pub(crate) fn run(out: &Path) -> Result<(), Box<dyn Error>> {
    let [south, west, north, east] = TOWN;
    let mut rng = public(4);
    let mut place = || [rng.random_range(south..north), rng.random_range(west..east)];
    let sites: Vec<[f64; 2]> = (0..400).map(|_| place()).collect();
    let towns: Vec<[f64; 2]> = (0..14).map(|_| place()).collect();
    let mut rng = public(5);
    let homes: Vec<[f64; 2]> = (0..20_000)
        .map(|i| {
            let [lat, lon] = towns[i % towns.len()];
            let mut near = || (0..6).map(|_| rng.random_range(-0.5..0.5)).sum::<f64>() * 0.012;
            [lat + near(), lon + 1.5 * near()]
        })
        .collect();
    fs::create_dir_all(out)?;
    for (name, rows) in [("sites.csv", &sites), ("homes.csv", &homes)] {
        let mut text = String::from("latitude,longitude\n");
        for [lat, lon] in rows {
            writeln!(text, "{lat:.5},{lon:.5}")?;
        }
        fs::write(out.join(name), text)?;
    }
    let array = |rows: &[[f64; 2]]| Array2::from_shape_fn((rows.len(), 2), |(i, j)| rows[i][j]);
    let domain = Domain::from(BoxDomain::new(vec![south, west], vec![north, east])?);
    let (sites, homes) = (array(&sites), array(&homes));
    let space = Space::new(&Haversine, &domain, sites.view())?;
    let budget = budget(1.0)?;
    let mut noise = InsecureSeededRng::new(1);
    let mut session = Session::new(budget, NeighboringRelation::AddRemove, &mut noise);
    let maxcover = MaxCoverParams::new(10, budget, Power::MEDIANS).check()?;
    let clinics = maxcover.fit(
        &space,
        &homes,
        &FasterPam::default(),
        &mut session,
        &mut public(6),
    )?;
    fs::write(out.join("clinics.svg"), map(&sites, &clinics)?)?;
    Ok(())
}
