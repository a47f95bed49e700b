//! The scale of each cluster from a noisy histogram of distances to its center.
//!
//! A record is in one cell of one cluster: sensitivity 1, √2 for a replaced one. Everything after the noise is post-processing.

use dp_core::mechanism::{AdditiveMechanism, GaussianSpend};
use dp_core::{Confidential, Event, NeighboringRelation, Session};
use ndarray::{Array2, ArrayView1};

use super::passes::{ClusterPasses, Moved, View};
use crate::error::{FitError, ParamsError};

const PURPOSE: &str = "records by cluster and distance";

/// Share of a cluster that may lie beyond its radius.
const BEYOND: f64 = 0.01;

/// Public radii least·2^(j/2), ascending, scaled units; the last holds the whole domain.
#[derive(Clone, Debug)]
pub(super) struct Radii(Vec<f64>);

impl Radii {
    pub(super) fn new(least: f64, diameter: f64) -> Self {
        let mut radii = Vec::new();
        let mut radius = least;
        while radius < diameter && radii.len() < 256 {
            radii.push(radius);
            radius *= core::f64::consts::SQRT_2;
        }
        radii.push(diameter);
        Self(radii)
    }

    fn cell(&self, sq_distance: f64) -> usize {
        self.0
            .partition_point(|&radius| radius * radius < sq_distance)
    }
}

/// A noisy histogram of radii.
#[derive(Clone, Debug)]
pub(super) struct RadiiRelease {
    noise: AdditiveMechanism,
    relation: NeighboringRelation,
}

/// What the histogram says of a cluster: public.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scale {
    /// Almost all records are within this distance of the center.
    pub(super) radius: f64,
    /// Records that were seen.
    pub(super) count: f64,
}

impl RadiiRelease {
    pub(super) fn new(
        spend: GaussianSpend,
        relation: NeighboringRelation,
    ) -> Result<Self, ParamsError> {
        let moved = Moved::Counts
            .sensitivity(relation)
            .map_err(|_| ParamsError::BudgetTooSmall)?;
        Ok(Self {
            noise: AdditiveMechanism::gaussian(moved, spend)?,
            relation,
        })
    }

    pub(super) fn event(&self) -> Event {
        self.noise.event(self.relation, PURPOSE)
    }

    /// Scales of all clusters around `centers`.
    pub(super) fn run(
        &self,
        passes: &dyn ClusterPasses,
        centers: &Array2<f64>,
        radii: &Radii,
        session: &mut Session<'_>,
    ) -> Result<Vec<Scale>, FitError> {
        let views: Vec<View> = centers.outer_iter().map(plain_view).collect();
        let cells = radii.0.len();
        let counts = passes.cells(&views, cells, &|_, difference| {
            radii.cell(difference.iter().map(|x| x * x).sum())
        })?;
        let noisy = session.add_noise(&self.noise, PURPOSE, &Confidential::new(counts))?;
        // Noise above this is in any cell at all once in fifty runs.
        let total = noisy.len() as f64;
        let visible = self.noise.std_dev() * libm::sqrt(2.0 * libm::log(50.0 * total));
        Ok(noisy
            .chunks_exact(cells)
            .map(|counts| scale(counts, &radii.0, visible))
            .collect())
    }
}

/// The least radius beyond which there is next to nothing to be seen.
fn scale(counts: &[i128], radii: &[f64], visible: f64) -> Scale {
    let seen = |&count: &i128| {
        let count = count as f64;
        if count > visible { count } else { 0.0 }
    };
    let count: f64 = counts.iter().map(seen).sum();
    let mut beyond = 0.0;
    // Where nothing is seen nothing is known: the whole domain.
    let mut radius = radii.last().copied().unwrap_or(1.0);
    for (&at, noisy) in radii.iter().zip(counts).rev() {
        beyond += seen(noisy);
        if beyond > BEYOND * count {
            radius = at;
            break;
        }
    }
    Scale { radius, count }
}

/// A view that does not whiten.
pub(super) fn plain_view(center: ArrayView1<'_, f64>) -> View {
    View {
        center: center.to_owned(),
        map: Array2::eye(center.len()),
    }
}
