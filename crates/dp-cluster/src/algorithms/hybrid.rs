//! `hybrid` and `hybrid-refine`: a grid with half of ε, one `DPLloyd` iteration with the other half.

use dp_core::{Budget, NeighboringRelation, Session};
use lloyd_dp::error_model::dplloyd_paper_mse;
use lloyd_dp::grid::CellRule;
use lloyd_dp::hybrid::{Branch, Hybrid as Checked, HybridParams};
use metric_space::{FramedSource, RecordSource};
use rand::RngCore;

use super::dplloyd::sums_sq_error;
use super::failure::{failed, refused};
use super::grid::rule_parameters;
use crate::algorithm::{Algorithm, DeltaNeed, Facts, FitError, Outcome};
use crate::plan::Plan;
use crate::request::{FitRequest, RequestError};

/// One of the two.
pub(crate) struct Hybrid {
    name: &'static str,
    summary: &'static str,
    delta: DeltaNeed,
    refinement: &'static str,
    params: fn(usize, Budget) -> HybridParams,
}

/// Refines if the paper's model says so.
pub(crate) const HYBRID: Hybrid = Hybrid {
    name: "hybrid",
    summary: "eug with half of ε and one noisy Lloyd step, or eug with all of it, as an error model says",
    delta: DeltaNeed::None,
    refinement: "origin",
    params: HybridParams::new,
};

/// Refines always.
pub(crate) const HYBRID_REFINE: Hybrid = Hybrid {
    name: "hybrid-refine",
    summary: "eug with half of ε, then always one noisy Lloyd step within a radius",
    delta: DeltaNeed::Optional,
    refinement: "bounded-radius",
    params: HybridParams::refine,
};

impl Hybrid {
    fn check(&self, request: &FitRequest) -> Result<Checked, RequestError> {
        (self.params)(request.n_clusters, request.required_budget()?)
            .starts(request.options.starts.unwrap_or_default())
            .n_hint(request.n_hint)
            .check()
            .map_err(refused(self.name))
    }
}

impl Algorithm for Hybrid {
    fn facts(&self) -> Facts {
        Facts {
            name: self.name,
            summary: self.summary,
            private: true,
            proof: NeighboringRelation::AddRemove,
            delta: self.delta,
            needs_size: true,
            options: &["starts"],
        }
    }

    fn plan(&self, request: &FitRequest) -> Result<Plan, RequestError> {
        let frame = request.frame()?;
        let hybrid = self.check(request)?;
        let events = hybrid
            .plan(&frame, request.relation)
            .map_err(refused(self.name))?;
        let mut plan = Plan::new(events).parameters(rule_parameters(CellRule::EUG, &frame));
        plan.parameters
            .insert("refinement".to_owned(), self.refinement.into());
        if let (Some(n), Some(epsilon)) = (request.n_hint, request.epsilon) {
            let (k, d) = (request.n_clusters, request.dimension());
            let branch = hybrid.branch(n as f64, d, request.relation);
            plan.parameters
                .insert("branch".to_owned(), branch.name().into());
            if branch == Branch::Refined {
                plan.expected_sq_error = if self.name == HYBRID.name {
                    let half = epsilon.get() / request.relation.steps() as f64 / 2.0;
                    Some(dplloyd_paper_mse(k, d, n as f64, half, 1))
                } else {
                    sums_sq_error(&plan.events, request, &frame)
                };
            }
        } else {
            plan =
                plan.note("which branch runs depends on the noisy size: the refined one is shown");
        }
        Ok(plan)
    }

    fn fit(
        &self,
        request: &FitRequest,
        source: &dyn RecordSource,
        session: &mut Session<'_>,
        public: &mut dyn RngCore,
    ) -> Result<Outcome, FitError> {
        let frame = request.frame()?;
        let fit = self
            .check(request)?
            .fit(&FramedSource::new(source, &frame), session, public)
            .map_err(failed(self.name))?;
        let starts = request.options.starts.unwrap_or_default();
        let outcome = Outcome::scaled(fit.clustering.centers)
            .noisy_counts(fit.clustering.noisy_counts)
            .parameters(rule_parameters(CellRule::EUG, &frame))
            .parameter("refinement", self.refinement)
            .parameter("starts", starts.name())
            .parameter("branch", fit.branch.name())
            .parameter("cells_per_axis", fit.synopsis.cells_per_axis());
        Ok(outcome.synopsis(fit.synopsis))
    }
}
