//! `gkm`, `gkm-3k`, and `sag`, which is not private: k-means in blocks of records, averaged.

use dp_core::{Budget, NeighboringRelation, Session};
use lloyd_dp::sample_aggregate::{
    BlockRule, CenterOrder, SampleAggregateParams, aggregate_not_private,
};
use metric_space::{FramedSource, RecordSource};
use rand::RngCore;

use super::failure::{failed, refused};
use crate::algorithm::{Algorithm, DeltaNeed, Facts, FitError, Outcome};
use crate::plan::Plan;
use crate::request::{FitRequest, RequestError};

/// One of the two private ones.
pub(crate) struct SampleAggregate {
    name: &'static str,
    summary: &'static str,
    params: fn(usize, Budget) -> SampleAggregateParams,
}

/// N^0.4 blocks.
pub(crate) const GKM: SampleAggregate = SampleAggregate {
    name: "gkm",
    summary: "k-means in N^0.4 blocks, averaged with noise (GUPT)",
    params: SampleAggregateParams::gkm,
};

/// Blocks of about 3k records.
pub(crate) const GKM_3K: SampleAggregate = SampleAggregate {
    name: "gkm-3k",
    summary: "k-means in blocks of about 3k records, averaged with noise",
    params: SampleAggregateParams::gkm_3k,
};

impl Algorithm for SampleAggregate {
    fn facts(&self) -> Facts {
        Facts {
            name: self.name,
            summary: self.summary,
            private: true,
            proof: NeighboringRelation::AddRemove,
            delta: DeltaNeed::None,
            needs_size: true,
            options: &[],
        }
    }

    fn plan(&self, request: &FitRequest) -> Result<Plan, RequestError> {
        let params = (self.params)(request.n_clusters, request.required_budget()?);
        let aggregate = params
            .n_hint(request.n_hint)
            .check()
            .map_err(refused(self.name))?;
        let events = aggregate
            .plan(&request.frame()?, request.relation)
            .map_err(refused(self.name))?;
        Ok(Plan::new(events).note("the noise of the averages is shown for the widest ranges"))
    }

    fn fit(
        &self,
        request: &FitRequest,
        source: &dyn RecordSource,
        session: &mut Session<'_>,
        public: &mut dyn RngCore,
    ) -> Result<Outcome, FitError> {
        let frame = request.frame()?;
        let params = (self.params)(request.n_clusters, request.required_budget()?);
        let clustering = params
            .n_hint(request.n_hint)
            .check()
            .map_err(refused(self.name))?
            .fit(&FramedSource::new(source, &frame), session, public)
            .map_err(failed(self.name))?;
        Ok(Outcome::scaled(clustering.centers).parameter("order", "first-coordinate"))
    }
}

/// The aggregate without noise.
pub(crate) struct Sag;

impl Algorithm for Sag {
    fn facts(&self) -> Facts {
        Facts {
            name: "sag",
            summary: "the average of gkm without noise, for studies of the error",
            private: false,
            proof: NeighboringRelation::AddRemove,
            delta: DeltaNeed::None,
            needs_size: false,
            options: &[],
        }
    }

    fn plan(&self, _request: &FitRequest) -> Result<Plan, RequestError> {
        let note = "not private: nothing is spent because nothing is protected";
        Ok(Plan::new(Vec::new()).note(note))
    }

    fn fit(
        &self,
        request: &FitRequest,
        source: &dyn RecordSource,
        session: &mut Session<'_>,
        public: &mut dyn RngCore,
    ) -> Result<Outcome, FitError> {
        let frame = request.frame()?;
        let centers = aggregate_not_private(
            &FramedSource::new(source, &frame),
            request.n_clusters,
            BlockRule::Power(0.4),
            &CenterOrder::FirstCoordinate,
            |blocks| session.secret_labels("blocks", blocks),
            public,
        )
        .map_err(failed("sag"))?;
        Ok(Outcome::scaled(centers).parameter("order", "first-coordinate"))
    }
}
