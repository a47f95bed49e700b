//! The run.

use dp_core::{Event, NeighboringRelation, Session};
use metric_space::{Frame, LatticeSource};
use rand::RngCore;

use super::candidates;
use super::mask;
use super::params::VoteRefineParams;
use super::plan::StartSpends;
use super::refine::{self, Centers};
use super::rules::Rules;
use super::shape::Shape;
use super::start;
use crate::clustering::Clustering;
use crate::error::{FitError, ParamsError};
use crate::memory::check_centers;

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
    /// What ran.
    pub rules: Rules,
}

impl VoteRefine {
    /// The parameters it was checked with.
    pub const fn params(&self) -> &VoteRefineParams {
        &self.params
    }

    /// What a fit would spend, from public facts alone. Sensitivities are shown for the largest radius; those that run
    /// are smaller, at the same losses. Without a public size the number of rounds and steps is not known yet; a usual one is shown,
    /// whose total is the same.
    ///
    /// # Errors
    ///
    /// [`ParamsError`] if the budget is too small.
    pub fn plan(
        &self,
        frame: &Frame,
        relation: NeighboringRelation,
    ) -> Result<Vec<Event>, ParamsError> {
        let params = &self.params;
        check_centers(params.n_clusters, frame.dimension())?;
        let sized = params.sized(relation)?;
        let rules = params.rules(params.n_hint.map(|n| n as f64), frame.dimension(), relation);
        let mut events = Vec::new();
        if let Some(size) = &sized.size {
            events.push(size.event(relation, "number of records"));
        }
        let spends = params.spends(&sized, &rules, frame.dimension())?;
        events.extend(spends.events(frame, relation)?);
        Ok(events)
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
        session.admit(&self.plan(frame, relation)?)?;
        let sized = params.sized(relation)?;
        let size = sized.size(params.n_hint, source, session)?;
        let rules = params.rules(Some(size), frame.dimension(), relation);
        let spends = params.spends(&sized, &rules, frame.dimension())?;
        let k = params.n_clusters;
        let (mut centers, start) = match &spends.start {
            StartSpends::Grid(epsilon) => {
                let grid = start::grid_start(k, *epsilon, size, params.grid_bias)?;
                let synopsis = grid.synopsis(source, session)?;
                let synopsis = mask::without_empty_parts(&synopsis);
                let rows = grid.solver().cluster(&synopsis, public).centers;
                let variances = start::variances(&synopsis, &rows);
                (Centers::with_variance(rows.clone(), variances), rows)
            }
            StartSpends::Votes(shape, rounds) => {
                let shape = Shape::release(source, session, shape, size)?;
                let m = rules.n_candidates;
                let voted = candidates::vote(params, source, session, rounds, m, &shape, public)?;
                let (candidates, votes) = (&voted.candidates, &voted.votes);
                let wanted = (k, rules.n_centers);
                let start = refine::cluster(candidates, votes, wanted, frame, &shape, public);
                let mut centers = Centers::new(start.clone());
                for step in &spends.first {
                    centers.step(params, source, session, step)?;
                }
                (centers.merge(k, frame, &shape, public), start)
            }
        };
        for step in &spends.last {
            centers.step(params, source, session, step)?;
        }
        Ok(VoteRefineFit {
            clustering: Clustering {
                centers: centers.rows,
                noisy_counts: Some(centers.counts),
            },
            start,
            rules,
        })
    }
}
