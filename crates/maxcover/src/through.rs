//! Σ d^p without public sites: candidates first, then Algorithm 2 on them.

use dp_core::rounding::split;
use dp_core::{Budget, Delta, Epsilon, Event, NeighboringRelation, Session};
use metric_space::{Domain, Metric, RecordSource};
use ndarray::{Array1, Axis};
use rand::RngCore;

use crate::black_box::BlackBox;
use crate::candidates::{Candidates, Source};
use crate::error::{FitError, ParamsError};
use crate::fit::{Facilities, MaxCover};
use crate::params::MaxCoverParams;
use crate::space::Space;

/// The part of the budget that goes to candidates, where they cost any.
pub const CANDIDATE_SHARE: f64 = 0.6;

/// Candidates and Algorithm 2 under one budget.
#[derive(Clone, Debug, PartialEq)]
pub struct ThroughCandidates {
    candidates: Candidates,
    maxcover: MaxCover,
}

impl ThroughCandidates {
    /// Splits the budget of `params`: [`CANDIDATE_SHARE`] for a private source, nothing for a public one.
    ///
    /// # Errors
    ///
    /// [`ParamsError`] if a parameter is out of range or the budget is too small.
    pub fn new(source: Source, limit: usize, params: MaxCoverParams) -> Result<Self, ParamsError> {
        let too_small = |_| ParamsError::BudgetTooSmall {
            purpose: "the candidates",
        };
        let budget = params.budget;
        let (mine, rest) = if source.is_private() {
            let shares = [CANDIDATE_SHARE, 1.0 - CANDIDATE_SHARE];
            let epsilons = split(budget.epsilon.get(), &shares);
            let deltas = if source.needs_delta() {
                split(budget.delta.get(), &shares)
            } else {
                vec![0.0, budget.delta.get()]
            };
            let part = |i: usize| {
                let epsilon = Epsilon::new(epsilons[i]).map_err(too_small)?;
                Ok::<_, ParamsError>(Budget::approx(
                    epsilon,
                    Delta::new(deltas[i]).map_err(too_small)?,
                ))
            };
            (part(0)?, part(1)?)
        } else {
            (budget, budget)
        };
        Ok(Self {
            candidates: Candidates::new(source, mine, limit)?,
            maxcover: params.within(rest).check()?,
        })
    }

    /// What a fit spends at most, from public facts alone.
    ///
    /// # Errors
    ///
    /// [`ParamsError`] if the budget is too small to be divided.
    pub fn plan(
        &self,
        relation: NeighboringRelation,
        dimension: usize,
    ) -> Result<Vec<Event>, ParamsError> {
        let mut events = self.candidates.plan(relation, dimension)?;
        events.extend(self.maxcover.plan(relation)?);
        Ok(events)
    }

    /// Draws candidates and runs Algorithm 2 on them.
    ///
    /// `site_rows` of the result number the candidates; they are left out, since nobody has that table.
    ///
    /// # Privacy
    ///
    /// Candidates are public or released, so they are public sites to Algorithm 2; the two compose.
    ///
    /// # Errors
    ///
    /// [`FitError`] if the session's budget does not cover the plan or the source cannot be read.
    pub fn fit<M: Metric, S: RecordSource + ?Sized>(
        &self,
        metric: &M,
        domain: &Domain,
        source: &S,
        black_box: &dyn BlackBox,
        session: &mut Session<'_>,
        public: &mut dyn RngCore,
    ) -> Result<Facilities, FitError> {
        session.admit(&self.plan(session.relation(), domain.dimension())?)?;
        // Candidates lie in the domain, so what a space refuses can be seen at a corner, before anything is spent.
        let corner = Array1::from(domain.corners().0);
        Space::new(metric, domain, corner.view().insert_axis(Axis(0)))?;
        let sites = self
            .candidates
            .draw(domain, source, session, &mut *public)?;
        let space = Space::new(metric, domain, sites.points.view())?;
        let mut fitted = self
            .maxcover
            .fit_any(&space, source, black_box, session, public)?;
        fitted.site_rows = None;
        // Free centers lie among candidates, which lie in the domain; rounding may have moved them out.
        for mut center in fitted.centers.rows_mut() {
            let mut row = center.to_vec();
            domain.clip_original(&mut row);
            center.assign(&ndarray::ArrayView1::from(&row));
        }
        Ok(fitted)
    }
}
