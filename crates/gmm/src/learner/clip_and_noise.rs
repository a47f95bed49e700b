//! The baseline: everything at once, clipped to the domain.

use dp_core::mechanism::GaussianSpend;
use dp_core::{Event, NeighboringRelation, Session};

use super::coin_press::{f64_min, finish, reach, run_round};
use super::passes::ClusterPasses;
use super::progress::Progress;
use super::round::{Round, RoundShares};
use super::{GaussianLearner, Learned, Prior, normal_length};
use crate::error::{FitError, ParamsError};

/// One round in which differences are clipped to what the public bounds allow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClipAndNoise;

impl ClipAndNoise {
    fn round(
        dimension: usize,
        spend: GaussianSpend,
        relation: NeighboringRelation,
    ) -> Result<Round, ParamsError> {
        let shares = RoundShares::balanced(dimension, normal_length(dimension, 0.1));
        Round::new(spend, shares, None, relation)
    }
}

impl GaussianLearner for ClipAndNoise {
    fn name(&self) -> &'static str {
        "clip-and-noise"
    }

    fn plan(
        &self,
        dimension: usize,
        spend: GaussianSpend,
        relation: NeighboringRelation,
    ) -> Result<Vec<Event>, ParamsError> {
        Ok(Self::round(dimension, spend, relation)?.events())
    }

    fn learn(
        &self,
        passes: &dyn ClusterPasses,
        prior: &Prior,
        spend: GaussianSpend,
        session: &mut Session<'_>,
    ) -> Result<Learned, FitError> {
        let frame = passes.frame();
        let round = Self::round(frame.dimension(), spend, session.relation())?;
        let most = prior.sigmas.most();
        let least_of_most = most.iter().copied().fold(f64::INFINITY, f64_min);
        let centers = prior.centers.outer_iter();
        let mut clusters: Vec<Progress> = centers
            .map(|center| {
                let center = center.to_owned();
                let offset = reach(&center) / least_of_most;
                Progress::new(center, most, offset)
            })
            .collect();
        run_round(&round, passes, &mut clusters, session)?;
        Ok(finish(frame, prior, &clusters))
    }
}
