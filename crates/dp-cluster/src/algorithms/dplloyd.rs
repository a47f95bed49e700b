//! `dplloyd` and `dplloyd-paper`: a fixed number of Lloyd iterations with noisy counts and sums.

use std::collections::BTreeMap;

use dp_core::sensitivity::Sensitivity;
use dp_core::{Event, Loss, NeighboringRelation, Session, Value};
use lloyd_dp::dplloyd::{DpLloyd, DpLloydParams};
use lloyd_dp::error_model::dplloyd_paper_mse;
use lloyd_dp::init::Init;
use lloyd_dp::schedule::BudgetSchedule;
use metric_space::{Frame, FramedSource, RecordSource};
use rand::RngCore;

use super::failure::{failed, refused};
use crate::algorithm::{Algorithm, DeltaNeed, Facts, FitError, Outcome};
use crate::plan::Plan;
use crate::request::{FitRequest, RequestError};

const OPTIONS: &[&str] = &["iterations", "schedule", "init-centers"];

/// The best variant.
pub(crate) struct DpLloydBest;

/// As published.
pub(crate) struct DpLloydPaper;

impl Algorithm for DpLloydBest {
    fn facts(&self) -> Facts {
        Facts {
            name: "dplloyd",
            summary: "noisy Lloyd steps on differences clipped to a public radius; the best variant",
            private: true,
            proof: NeighboringRelation::AddRemove,
            delta: DeltaNeed::Optional,
            needs_size: false,
            options: OPTIONS,
        }
    }

    fn plan(&self, request: &FitRequest) -> Result<Plan, RequestError> {
        let base = DpLloydParams::new(request.n_clusters, request.required_budget()?);
        plan(request, base, Shape::Best)
    }

    fn fit(
        &self,
        request: &FitRequest,
        source: &dyn RecordSource,
        session: &mut Session<'_>,
        public: &mut dyn RngCore,
    ) -> Result<Outcome, FitError> {
        let base = DpLloydParams::new(request.n_clusters, request.required_budget()?);
        fit(request, base, Shape::Best, source, session, public)
    }
}

impl Algorithm for DpLloydPaper {
    fn facts(&self) -> Facts {
        Facts {
            name: "dplloyd-paper",
            summary: "noisy Lloyd steps as Su et al. (2016) published them, with Laplace noise",
            private: true,
            proof: NeighboringRelation::AddRemove,
            delta: DeltaNeed::None,
            needs_size: false,
            options: OPTIONS,
        }
    }

    fn plan(&self, request: &FitRequest) -> Result<Plan, RequestError> {
        let base = DpLloydParams::paper(request.n_clusters, request.required_budget()?);
        plan(request, base, Shape::Paper)
    }

    fn fit(
        &self,
        request: &FitRequest,
        source: &dyn RecordSource,
        session: &mut Session<'_>,
        public: &mut dyn RngCore,
    ) -> Result<Outcome, FitError> {
        let base = DpLloydParams::paper(request.n_clusters, request.required_budget()?);
        fit(request, base, Shape::Paper, source, session, public)
    }
}

/// Which of the two, for defaults and for the report of parameters.
#[derive(Clone, Copy, PartialEq)]
enum Shape {
    Best,
    Paper,
}

impl Shape {
    const fn name(self) -> &'static str {
        match self {
            Self::Best => "dplloyd",
            Self::Paper => "dplloyd-paper",
        }
    }

    const fn iterations(self) -> usize {
        match self {
            Self::Best => 8,
            Self::Paper => 5,
        }
    }
}

/// Settings with their defaults filled in.
struct Settings {
    iterations: usize,
    schedule: BudgetSchedule,
}

impl Settings {
    fn new(request: &FitRequest, shape: Shape) -> Self {
        Self {
            iterations: request.options.iterations.unwrap_or(shape.iterations()),
            schedule: request.options.schedule.unwrap_or_default(),
        }
    }

    fn parameters(&self, request: &FitRequest, shape: Shape) -> BTreeMap<String, Value> {
        let has_delta = !request.delta.is_zero();
        let (noise, sums, split) = match shape {
            Shape::Best if has_delta => ("discrete-gaussian", "bounded-radius", "optimal"),
            Shape::Best => ("discrete-laplace", "bounded-radius", "optimal"),
            Shape::Paper => ("discrete-laplace", "origin", "joint"),
        };
        let mut parameters = BTreeMap::from([
            ("iterations".to_owned(), self.iterations.into()),
            ("schedule".to_owned(), self.schedule.name().into()),
            ("noise".to_owned(), noise.into()),
            ("sums".to_owned(), sums.into()),
            ("split".to_owned(), split.into()),
        ]);
        let init = match &request.options.init_centers {
            Some(centers) => {
                let rows = centers.outer_iter().map(|row| Value::from(row.to_vec()));
                parameters.insert("init_centers".to_owned(), Value::List(rows.collect()));
                "given"
            }
            None => "sphere-packing",
        };
        parameters.insert("init".to_owned(), init.into());
        if let Ok(frame) = request.frame() {
            let bits = frame.lattice().bits();
            parameters.insert("lattice_bits".to_owned(), bits.into());
        }
        parameters
    }
}

fn check(
    request: &FitRequest,
    base: DpLloydParams,
    shape: Shape,
    settings: &Settings,
) -> Result<DpLloyd, RequestError> {
    let init = match &request.options.init_centers {
        Some(centers) => Init::Given(centers.clone()),
        None => Init::SpherePacking,
    };
    base.n_iterations(settings.iterations)
        .schedule(settings.schedule)
        .init(init)
        .n_hint(request.n_hint)
        .check()
        .map_err(refused(shape.name()))
}

fn plan(request: &FitRequest, base: DpLloydParams, shape: Shape) -> Result<Plan, RequestError> {
    let settings = Settings::new(request, shape);
    let frame = request.frame()?;
    let events = check(request, base, shape, &settings)?
        .plan(&frame, request.relation)
        .map_err(refused(shape.name()))?;
    let (k, d) = (request.n_clusters, request.dimension());
    let mut plan = Plan::new(events).parameters(settings.parameters(request, shape));
    if let Some(n) = request.n_hint {
        let n = n as f64;
        plan.expected_sq_error = if let (Shape::Paper, Some(epsilon)) = (shape, request.epsilon) {
            Some(dplloyd_paper_mse(
                k,
                d,
                n,
                epsilon.get(),
                settings.iterations,
            ))
        } else {
            sums_sq_error(&plan.events, request, &frame)
        };
    }
    Ok(plan)
}

/// The squared error of a center from the noise of the last sums, over the records of a cluster of usual size.
pub(super) fn sums_sq_error(events: &[Event], request: &FitRequest, frame: &Frame) -> Option<f64> {
    let step = frame.lattice().step();
    let units = noise_variance(events.last()?)?;
    let size = request.n_hint? as f64 / request.n_clusters as f64;
    Some(request.dimension() as f64 * units * step * step / (size * size))
}

/// Variance of the noise on each coordinate that an event adds, in squared lattice units.
fn noise_variance(event: &Event) -> Option<f64> {
    match (event.sensitivity, event.loss) {
        (Sensitivity::L1(bound), Loss::Pure(epsilon)) => {
            Some(2.0 * (bound as f64 / epsilon.get()).powi(2))
        }
        (Sensitivity::L2Squared(squared), Loss::Zcdp(rho)) => {
            Some(squared as f64 / (2.0 * rho.get()))
        }
        _ => None,
    }
}

fn fit(
    request: &FitRequest,
    base: DpLloydParams,
    shape: Shape,
    source: &dyn RecordSource,
    session: &mut Session<'_>,
    public: &mut dyn RngCore,
) -> Result<Outcome, FitError> {
    let settings = Settings::new(request, shape);
    let frame = request.frame()?;
    let clustering = check(request, base, shape, &settings)?
        .fit(&FramedSource::new(source, &frame), session, public)
        .map_err(failed(shape.name()))?;
    Ok(Outcome::scaled(clustering.centers)
        .noisy_counts(clustering.noisy_counts)
        .parameters(settings.parameters(request, shape)))
}
