//! Heavy cells of randomly shifted grids.

use std::collections::BTreeMap;

use dp_core::mechanism::{LaplaceMechanism, ThresholdMechanism};
use dp_core::{Confidential, Session};
use metric_space::{Domain, GaussianProjection, euclidean};
use rand::{Rng, RngCore};

use super::{GRIDS, PROJECTED_COLUMNS, PURPOSE_COUNTS, PURPOSE_SUMS, Weighted, cells};
use crate::coverage::Demand;
use crate::error::FitError;

/// Means of heavy cells, fine grids first; records near a mean leave, and the rest goes on to coarser grids.
pub(super) fn heavy_cells(
    demand: &Demand,
    domain: &Domain,
    counts: &ThresholdMechanism,
    sums: &LaplaceMechanism,
    session: &mut Session<'_>,
    public: &mut dyn RngCore,
) -> Result<Vec<Weighted>, FitError> {
    let (lo, hi) = domain.corners();
    let d = lo.len();
    let diagonal = euclidean(&lo, &hi);
    let middle: Vec<f64> = lo
        .iter()
        .zip(&hi)
        .map(|(&l, &h)| f64::midpoint(l, h))
        .collect();
    let half: Vec<f64> = lo.iter().zip(&hi).map(|(&l, &h)| (h - l) / 2.0).collect();
    let mut left = demand.indices();
    let mut found: Vec<Weighted> = Vec::new();
    for level in (1..=GRIDS).rev() {
        let side = diagonal / libm::exp2(level as f64);
        let hashed = d.min(PROJECTED_COLUMNS);
        let projection =
            (d > PROJECTED_COLUMNS).then(|| GaussianProjection::new(d, hashed, &mut *public));
        let shift: Vec<f64> = (0..hashed).map(|_| side * public.random::<f64>()).collect();
        let key = |i: u32| -> Vec<i64> {
            let x = demand.point(i);
            let mut image = vec![0.0; hashed];
            match &projection {
                // Shapes fit by construction.
                Some(projection) => drop(projection.project(x, &mut image)),
                None => image.copy_from_slice(x),
            }
            #[expect(clippy::cast_possible_truncation, reason = "a cast saturates")]
            let cell = |(y, s): (&f64, &f64)| ((y - s) / side).floor() as i64;
            image.iter().zip(&shift).map(cell).collect()
        };
        let exact = Confidential::new(cells::counts(demand, &left, key));
        let heavy = session.threshold(counts, PURPOSE_COUNTS, &exact)?;
        // Offsets are taken from the cell's middle; where cells are those of a projection, from the domain's.
        let places: BTreeMap<Vec<i64>, (usize, Vec<f64>, Vec<f64>)> = heavy
            .keys()
            .enumerate()
            .map(|(slot, cell)| {
                let of_cell = || {
                    cell.iter()
                        .zip(&shift)
                        .map(|(&c, s)| (c as f64 + 0.5) * side + s)
                        .collect()
                };
                let (anchor, width) = match projection {
                    None => (of_cell(), vec![side / 2.0; d]),
                    Some(_) => (middle.clone(), half.clone()),
                };
                (cell.clone(), (slot, anchor, width))
            })
            .collect();
        let place = |i: u32| {
            places
                .get(&key(i))
                .map(|(slot, anchor, half)| (*slot, &anchor[..], &half[..]))
        };
        let exact = cells::sums(demand, left.iter().copied(), places.len(), place);
        let noisy = session.laplace(sums, PURPOSE_SUMS, &Confidential::new(exact))?;
        let before = found.len();
        for ((cell, &count), sums) in heavy.iter().zip(noisy.chunks_exact(d)) {
            if let Some((_, anchor, half)) = places.get(cell) {
                let mean = |j: usize| {
                    cells::original(sums[j] as f64 / count.max(1) as f64, anchor[j], half[j])
                };
                let mut row: Vec<f64> = (0..d).map(mean).collect();
                domain.clip_original(&mut row);
                found.push((row, count as f64));
            }
        }
        let new = &found[before..];
        left.retain(|&i| {
            new.iter()
                .all(|(center, _)| euclidean(demand.point(i), center) > side)
        });
    }
    Ok(found)
}
