//! `lloyd`: k-means without privacy, the yardstick.

use std::collections::BTreeMap;

use dp_core::{NeighboringRelation, Session, Value};
use metric_space::{Domain, LatticeRecords, LloydParams, RecordSource};
use ndarray::{Array2, Axis};
use rand::RngCore;

use crate::algorithm::{Algorithm, DeltaNeed, Facts, FitError, Outcome};
use crate::plan::Plan;
use crate::request::{FitRequest, RequestError};

/// Runs from greedy k-means++ starts, of which the best is kept.
const RESTARTS: usize = 10;
/// Most steps of a run.
const ITERATIONS: usize = 300;

/// Weighted Lloyd from the best of several starts.
pub(crate) struct Lloyd;

impl Algorithm for Lloyd {
    fn facts(&self) -> Facts {
        Facts {
            name: "lloyd",
            summary: "k-means without privacy, the best of ten greedy k-means++ starts",
            private: false,
            proof: NeighboringRelation::AddRemove,
            delta: DeltaNeed::None,
            needs_size: false,
            options: &["iterations", "init-centers"],
        }
    }

    fn plan(&self, request: &FitRequest) -> Result<Plan, RequestError> {
        let plan = Plan::new(Vec::new()).parameters(parameters(request));
        Ok(plan.note("not private: nothing is spent because nothing is protected"))
    }

    fn fit(
        &self,
        request: &FitRequest,
        source: &dyn RecordSource,
        _session: &mut Session<'_>,
        public: &mut dyn RngCore,
    ) -> Result<Outcome, FitError> {
        let frame = request.frame()?;
        let records = LatticeRecords::read(source, &frame)?.to_f64();
        let solver = LloydParams::new(request.n_clusters)
            .n_restarts(RESTARTS)
            .max_iterations(request.options.iterations.unwrap_or(ITERATIONS))
            .check()
            .map_err(|error| RequestError::Parameter {
                parameter: "lloyd",
                reason: error.to_string(),
            })?;
        let solution = match &request.options.init_centers {
            Some(centers) => {
                let first = scaled(frame.domain(), centers);
                solver.fit_from(records.view(), None, first.view())
            }
            None => solver.fit(records.view(), None, public),
        };
        let solution = solution.map_err(|error| RequestError::Parameter {
            parameter: "lloyd",
            reason: error.to_string(),
        })?;
        Ok(Outcome::scaled(solution.centers).parameters(parameters(request)))
    }
}

fn parameters(request: &FitRequest) -> BTreeMap<String, Value> {
    let iterations = request.options.iterations.unwrap_or(ITERATIONS);
    let restarts = match request.options.init_centers {
        Some(_) => 1,
        None => RESTARTS,
    };
    BTreeMap::from([
        ("iterations".to_owned(), iterations.into()),
        ("restarts".to_owned(), restarts.into()),
    ])
}

/// Public centers in scaled coordinates.
pub(super) fn scaled(domain: &Domain, centers: &Array2<f64>) -> Array2<f64> {
    let mut scaled = Array2::zeros(centers.dim());
    for (center, mut out) in centers
        .axis_iter(Axis(0))
        .zip(scaled.axis_iter_mut(Axis(0)))
    {
        let mut row = vec![0.0; center.len()];
        domain.to_scaled_record(&center.to_vec(), &mut row);
        domain.clip_scaled(&mut row);
        out.assign(&ndarray::Array1::from(row));
    }
    scaled
}
