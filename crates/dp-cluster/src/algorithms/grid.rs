//! `ug`, `eug`, `grid-k`, `grid-sparse`: k-means on noisy counts of a grid's cells.

use std::collections::BTreeMap;

use dp_core::{NeighboringRelation, Session, Value};
use lloyd_dp::error_model::{grid_sq_bias, grid_variance};
use lloyd_dp::grid::{CellRule, Grid as Checked, GridParams, Layout};
use metric_space::{Frame, FramedSource, RecordSource};
use rand::RngCore;

use super::failure::{failed, refused};
use crate::algorithm::{Algorithm, DeltaNeed, Facts, FitError, Outcome};
use crate::plan::Plan;
use crate::request::{FitRequest, RequestError};

/// One of the four.
pub(crate) struct Grid {
    name: &'static str,
    summary: &'static str,
    params: fn(usize, dp_core::Budget) -> GridParams,
    rule: CellRule,
    layout: Layout,
}

/// What decides about cells, for the report of parameters.
pub(super) fn rule_parameters(rule: CellRule, frame: &Frame) -> BTreeMap<String, Value> {
    BTreeMap::from([
        ("cell_rule".to_owned(), rule.name().into()),
        ("cell_factor".to_owned(), rule.factor().into()),
        ("lattice_bits".to_owned(), frame.lattice().bits().into()),
    ])
}

/// M = Nε/10.
pub(crate) const UG: Grid = Grid {
    name: "ug",
    summary: "k-means on a noisy grid of Nε/10 cells",
    params: GridParams::ug,
    rule: CellRule::UG,
    layout: Layout::Dense,
};

/// M = (Nε/10)^(2d/(2+d)).
pub(crate) const EUG: Grid = Grid {
    name: "eug",
    summary: "k-means on a noisy grid of (Nε/10)^(2d/(2+d)) cells",
    params: GridParams::eug,
    rule: CellRule::EUG,
    layout: Layout::Dense,
};

/// The rule that depends on k.
pub(crate) const GRID_K: Grid = Grid {
    name: "grid-k",
    summary: "k-means on a noisy grid whose cells also depend on k, by an error model; `auto` takes it where two or three columns and little budget meet",
    params: GridParams::grid_k,
    rule: CellRule::GRID_K,
    layout: Layout::Dense,
};

/// Occupied cells above a threshold.
pub(crate) const GRID_SPARSE: Grid = Grid {
    name: "grid-sparse",
    summary: "a grid of occupied cells with a stability threshold, for grids that do not fit in memory",
    params: GridParams::sparse,
    rule: CellRule::EUG,
    layout: Layout::Sparse,
};

impl Grid {
    fn check(&self, request: &FitRequest) -> Result<Checked, RequestError> {
        (self.params)(request.n_clusters, request.required_budget()?)
            .starts(request.options.starts.unwrap_or_default())
            .n_hint(request.n_hint)
            .check()
            .map_err(refused(self.name))
    }
}

impl Algorithm for Grid {
    fn facts(&self) -> Facts {
        Facts {
            name: self.name,
            summary: self.summary,
            private: true,
            proof: NeighboringRelation::AddRemove,
            delta: match self.layout {
                Layout::Dense => DeltaNeed::None,
                Layout::Sparse => DeltaNeed::Required,
            },
            needs_size: true,
            options: &["starts"],
        }
    }

    fn plan(&self, request: &FitRequest) -> Result<Plan, RequestError> {
        let frame = request.frame()?;
        let grid = self.check(request)?;
        let events = grid
            .plan(&frame, request.relation)
            .map_err(refused(self.name))?;
        let mut plan = Plan::new(events).parameters(rule_parameters(self.rule, &frame));
        let starts = grid.solver().starts();
        plan.parameters
            .insert("starts".to_owned(), starts.name().into());
        if let (Some(n), Some(epsilon)) = (request.n_hint, request.epsilon) {
            let m = grid
                .planned_cells_per_axis(n, &frame, request.relation)
                .map_err(refused(self.name))?;
            plan.parameters
                .insert("cells_per_axis".to_owned(), m.into());
            if self.layout == Layout::Dense {
                let (k, d) = (request.n_clusters, request.dimension());
                let cells = (m as f64).powf(d as f64);
                let epsilon = epsilon.get() / request.relation.steps() as f64;
                let variance = grid_variance(k, d, n as f64, epsilon, cells);
                plan.expected_sq_error = Some(variance + grid_sq_bias(k, d, cells, 1.0));
            }
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
        let grid = self.check(request)?;
        let fit = grid
            .fit(&FramedSource::new(source, &frame), session, public)
            .map_err(failed(self.name))?;
        let outcome = Outcome::scaled(fit.clustering.centers)
            .noisy_counts(fit.clustering.noisy_counts)
            .parameters(rule_parameters(self.rule, &frame))
            .parameter("starts", grid.solver().starts().name())
            .parameter("cells_per_axis", fit.synopsis.cells_per_axis())
            .parameter("cells", fit.synopsis.n_cells());
        Ok(outcome.synopsis(fit.synopsis))
    }
}
