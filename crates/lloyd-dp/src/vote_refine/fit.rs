//! The run.

use dp_core::{Event, NeighboringRelation, Session};
use metric_space::{Frame, LatticeSource};
use rand::RngCore;

use super::candidates;
use super::params::VoteRefineParams;
use super::refine::{self, Centers};
use super::shape::Shape;
use crate::clustering::Clustering;
use crate::error::{FitError, ParamsError};

/// Checked vote-and-refine: holds parameters, no generator and no state between fits.
#[derive(Clone, Debug, PartialEq)]
pub struct VoteRefine {
    pub(super) params: VoteRefineParams,
}

/// Centers, and what was used on the way.
#[derive(Clone, Debug, PartialEq)]
pub struct VoteRefineFit {
    /// Centers and the noisy counts of the last step.
    pub clustering: Clustering,
    /// Centers before the first step, as votes alone give them: released.
    pub start: ndarray::Array2<f64>,
    /// Candidates of a round.
    pub n_candidates: usize,
}

impl VoteRefine {
    /// The parameters it was checked with.
    #[must_use]
    pub const fn params(&self) -> &VoteRefineParams {
        &self.params
    }

    /// What a fit would spend, from public facts alone. Sensitivities are shown for the largest radius; those that run
    /// are smaller, at the same losses.
    ///
    /// # Errors
    ///
    /// [`ParamsError`] if the budget is too small.
    pub fn plan(
        &self,
        frame: &Frame,
        relation: NeighboringRelation,
    ) -> Result<Vec<Event>, ParamsError> {
        let spends = self.params.spends(relation, frame.dimension())?;
        spends.events(frame, relation)
    }

    /// Runs shape, votes and refinement.
    ///
    /// # Privacy
    ///
    /// Every released number comes out of the session; see the [module](crate::vote_refine). Total: no record makes it
    /// fail, whatever its values are.
    ///
    /// # Errors
    ///
    /// [`FitError`] if the session's budget does not cover the plan, before a record is read; or if the source cannot
    /// be read.
    ///
    /// # Complexity
    ///
    /// O(G·n·m·d) time for G rounds of m candidates and O(T·n·k·d) for T steps, in 4 + G + 2T passes; O((m + k)·d) memory beyond the
    /// source's own, O(m + k·d) per thread.
    pub fn fit<S: LatticeSource>(
        &self,
        source: &S,
        session: &mut Session<'_>,
        public: &mut dyn RngCore,
    ) -> Result<VoteRefineFit, FitError> {
        let params = &self.params;
        let frame = source.frame();
        let relation = session.relation();
        let spends = params.spends(relation, frame.dimension())?;
        session.admit(&spends.events(frame, relation)?)?;
        let size = spends.sized.size(params.n_hint, source, session)?;
        let shape = Shape::release(source, session, &spends.shape, size)?;
        let voted = candidates::vote(params, source, session, &spends.rounds, &shape, public)?;
        let many = params.centers();
        let start = refine::cluster(&voted.candidates, &voted.votes, many, frame, public);
        let mut centers = Centers::new(start.clone());
        for step in &spends.first {
            centers.step(params, source, session, step)?;
        }
        centers = centers.merge(params.n_clusters, frame, public);
        for step in &spends.last {
            centers.step(params, source, session, step)?;
        }
        Ok(VoteRefineFit {
            clustering: Clustering {
                centers: centers.rows,
                noisy_counts: Some(centers.counts),
            },
            start,
            n_candidates: params.candidates(frame.dimension(), size),
        })
    }
}

impl VoteRefineParams {
    /// Centers that are carried before the merge.
    pub(super) fn centers(&self) -> usize {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a factor of at most a million, and `as` saturates"
        )]
        let many = (self.over_provision * self.n_clusters as f64).ceil() as usize;
        many.max(self.n_clusters)
    }

    /// Candidates of a round.
    pub(super) fn candidates(&self, _dimension: usize, _n: f64) -> usize {
        self.n_candidates
            .unwrap_or_else(|| (20 * self.n_clusters).clamp(100, 2000))
    }
}
