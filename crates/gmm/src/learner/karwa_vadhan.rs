//! Karwa and Vadhan's learner for one column: scale and place by histograms, then clipped moments.

use dp_core::mechanism::{AdditiveMechanism, GaussianSpend};
use dp_core::{Confidential, Event, NeighboringRelation, Session};
use ndarray::Array1;

use super::coin_press::{finish, run_round};
use super::passes::{ClusterPasses, Moved, View};
use super::progress::Progress;
use super::radii::{Radii, RadiiRelease, plain_view};
use super::round::{Round, RoundShares};
use super::{GaussianLearner, Learned, Prior};
use crate::error::{FitError, ParamsError};

const NAME: &str = "karwa-vadhan";
const PURPOSE: &str = "records by cluster and place";

/// Shares of ρ: radii, places, moments.
const SHARES: [f64; 3] = [0.15, 0.15, 0.7];

/// Cells of the histogram of places, over the radius on either side.
const PLACES: usize = 16;

/// One column: a noisy histogram of distances to the center gives the scale, one of places within that distance the mode, and moments clipped
/// around the mode the answer.
///
/// # Source
///
/// Karwa, Vadhan 2018, Algorithms 1 to 4. Different here: distances are to the released center instead of within pairs of records (one more record
/// would shift all pairs), histograms have Gaussian noise over public cells of a bounded domain (no threshold and no δ).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KarwaVadhan;

struct Noise {
    radii: RadiiRelease,
    places: AdditiveMechanism,
    round: Round,
    relation: NeighboringRelation,
}

impl KarwaVadhan {
    fn noise(
        dimension: usize,
        spend: GaussianSpend,
        relation: NeighboringRelation,
    ) -> Result<Noise, ParamsError> {
        if dimension != 1 {
            return Err(ParamsError::OneColumn {
                learner: NAME,
                got: dimension,
            });
        }
        let parts = super::divided(spend, &SHARES)?;
        let moved = Moved::Counts
            .sensitivity(relation)
            .map_err(|_| ParamsError::BudgetTooSmall)?;
        let shares = RoundShares::balanced(1, super::normal_length(1, 0.1));
        Ok(Noise {
            radii: RadiiRelease::new(parts[0], relation)?,
            places: AdditiveMechanism::gaussian(moved, parts[1])?,
            round: Round::new(parts[2], shares, None, relation)?,
            relation,
        })
    }
}

impl GaussianLearner for KarwaVadhan {
    fn name(&self) -> &'static str {
        NAME
    }

    fn plan(
        &self,
        dimension: usize,
        spend: GaussianSpend,
        relation: NeighboringRelation,
    ) -> Result<Vec<Event>, ParamsError> {
        let noise = Self::noise(dimension, spend, relation)?;
        let mut events = vec![
            noise.radii.event(),
            noise.places.event(noise.relation, PURPOSE),
        ];
        events.extend(noise.round.events());
        Ok(events)
    }

    fn learn(
        &self,
        passes: &dyn ClusterPasses,
        prior: &Prior,
        spend: GaussianSpend,
        session: &mut Session<'_>,
    ) -> Result<Learned, FitError> {
        let frame = passes.frame();
        let noise = Self::noise(frame.dimension(), spend, session.relation())?;
        let least = prior.sigmas.least()[0];
        let radii = Radii::new(least, frame.domain().diameter_scaled());
        let scales = noise.radii.run(passes, &prior.centers, &radii, session)?;
        let views: Vec<View> = prior.centers.outer_iter().map(plain_view).collect();
        let half = PLACES as f64 / 2.0;
        let counts = passes.cells(&views, PLACES, &|cluster, difference| {
            let place = half * (difference[0] / scales[cluster].radius + 1.0);
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "cut to the cells there are; `as` saturates"
            )]
            let place = place.clamp(0.0, PLACES as f64 - 1.0) as usize;
            place
        })?;
        let noisy = session.add_noise(&noise.places, PURPOSE, &Confidential::new(counts))?;
        let mut clusters: Vec<Progress> = Vec::new();
        for ((center, scale), counts) in prior
            .centers
            .outer_iter()
            .zip(&scales)
            .zip(noisy.chunks_exact(PLACES))
        {
            let most = counts
                .iter()
                .enumerate()
                .max_by_key(|&(i, &count)| (count, PLACES - i));
            let mode = most.map_or(half, |(i, _)| i as f64 + 0.5);
            let place = center[0] + scale.radius * (mode / half - 1.0);
            // Clipping starts at the radius, now around the mode.
            let sigma = scale.radius / super::normal_length(1, 0.1);
            clusters.push(Progress::new(Array1::from_elem(1, place), &[sigma], 0.0));
        }
        run_round(&noise.round, passes, &mut clusters, session)?;
        Ok(finish(frame, prior, &clusters))
    }
}
