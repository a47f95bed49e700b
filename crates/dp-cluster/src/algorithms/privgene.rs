//! `pgkm`, and its twin `gene`, which is not private: a genetic search for centers.

use dp_core::{Budget, NeighboringRelation, Session};
use lloyd_dp::privgene::{PrivGene, PrivGeneParams, search_not_private};
use metric_space::{FramedSource, RecordSource};
use rand::RngCore;

use super::failure::{failed, refused};
use crate::algorithm::{Algorithm, DeltaNeed, Facts, FitError, Outcome};
use crate::plan::Plan;
use crate::request::{FitRequest, RequestError};

/// Rounds of `gene`.
const GENE_ROUNDS: usize = 50;

/// With private choices.
pub(crate) struct Pgkm;

/// With exact choices.
pub(crate) struct Gene;

fn check(
    request: &FitRequest,
    budget: Budget,
    name: &'static str,
) -> Result<PrivGene, RequestError> {
    let params = PrivGeneParams::new(request.n_clusters, budget).n_hint(request.n_hint);
    let params = match request.options.iterations {
        Some(rounds) => params.n_rounds(rounds),
        None => params,
    };
    params.check().map_err(refused(name))
}

impl Algorithm for Pgkm {
    fn facts(&self) -> Facts {
        Facts {
            name: "pgkm",
            summary: "a genetic search with private selection (PrivGene)",
            private: true,
            proof: NeighboringRelation::AddRemove,
            delta: DeltaNeed::None,
            needs_size: true,
            options: &["iterations"],
        }
    }

    fn plan(&self, request: &FitRequest) -> Result<Plan, RequestError> {
        let search = check(request, request.required_budget()?, "pgkm")?;
        let events = search
            .plan(&request.frame()?, request.relation)
            .map_err(refused("pgkm"))?;
        let plan =
            Plan::new(events).note("the width of the scores is shown for the widest candidates");
        Ok(match (request.n_hint, request.options.iterations) {
            (None, None) => plan.note("rounds depend on the noisy size: 8 are shown"),
            _ => plan,
        })
    }

    fn fit(
        &self,
        request: &FitRequest,
        source: &dyn RecordSource,
        session: &mut Session<'_>,
        public: &mut dyn RngCore,
    ) -> Result<Outcome, FitError> {
        let frame = request.frame()?;
        let search = check(request, request.required_budget()?, "pgkm")?;
        let fit = search
            .fit(&FramedSource::new(source, &frame), session, public)
            .map_err(failed("pgkm"))?;
        Ok(Outcome::scaled(fit.clustering.centers)
            .parameter("candidates", 200_u64)
            .parameter("survivors", 10_u64)
            .parameter("first_shift", 0.5)
            .parameter("iterations", fit.n_rounds)
            .parameter("lattice_bits", frame.lattice().bits()))
    }
}

impl Algorithm for Gene {
    fn facts(&self) -> Facts {
        Facts {
            name: "gene",
            summary: "the search of pgkm with exact choices",
            private: false,
            proof: NeighboringRelation::AddRemove,
            delta: DeltaNeed::None,
            needs_size: false,
            options: &["iterations"],
        }
    }

    fn plan(&self, request: &FitRequest) -> Result<Plan, RequestError> {
        let mut plan = Plan::new(Vec::new());
        let rounds = request.options.iterations.unwrap_or(GENE_ROUNDS);
        plan.parameters
            .insert("iterations".to_owned(), rounds.into());
        Ok(plan.note("not private: nothing is spent because nothing is protected"))
    }

    fn fit(
        &self,
        request: &FitRequest,
        source: &dyn RecordSource,
        session: &mut Session<'_>,
        public: &mut dyn RngCore,
    ) -> Result<Outcome, FitError> {
        let frame = request.frame()?;
        let rounds = request.options.iterations.unwrap_or(GENE_ROUNDS);
        // The budget is not used: choices are exact.
        let search = check(request, session.budget(), "gene")?;
        let source = FramedSource::new(source, &frame);
        let centers =
            search_not_private(&search, &source, rounds, public).map_err(failed("gene"))?;
        Ok(Outcome::scaled(centers).parameter("iterations", rounds))
    }
}
