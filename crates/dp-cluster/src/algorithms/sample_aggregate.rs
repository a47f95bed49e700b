//! `gkm`, `gkm-3k`, and `sag`, which is not private: k-means in blocks of records, averaged.

use std::collections::BTreeMap;

use dp_core::{Budget, NeighboringRelation, Session, Value};
use lloyd_dp::sample_aggregate::{
    BlockRule, CenterOrder, SampleAggregate as Checked, SampleAggregateParams,
    aggregate_not_private,
};
use metric_space::{Frame, FramedSource, RecordSource};
use rand::RngCore;

use super::failure::{failed, refused};
use super::lloyd::scaled;
use crate::algorithm::{Algorithm, DeltaNeed, Facts, FitError, Outcome};
use crate::plan::Plan;
use crate::request::{FitRequest, RequestError};

#[cfg(test)]
mod tests;

/// How the centers of a block are ordered, so that those of different blocks can be averaged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CenterOrderChoice {
    /// By the first coordinate (GUPT).
    #[default]
    FirstCoordinate,
    /// Matched to public centers: the first centers where they are given, or centers spread over the domain.
    Reference,
}

/// Settings that both orders have.
const OPTIONS: &[&str] = &["center-order", "init-centers"];

/// The order that is asked for. Public first centers serve as reference alone.
fn order(request: &FitRequest, frame: &Frame) -> Result<CenterOrder, RequestError> {
    let choice = request.options.center_order;
    match (&request.options.init_centers, choice) {
        (Some(_), Some(CenterOrderChoice::FirstCoordinate)) => Err(RequestError::Parameter {
            parameter: "init-centers",
            reason: "first centers are what centers are matched to, by the order `reference`"
                .to_owned(),
        }),
        (Some(centers), _) => Ok(CenterOrder::Reference(scaled(frame.domain(), centers))),
        (None, Some(CenterOrderChoice::Reference)) => Ok(CenterOrder::Spread),
        (None, _) => Ok(CenterOrder::FirstCoordinate),
    }
}

fn parameters(order: &CenterOrder) -> BTreeMap<String, Value> {
    BTreeMap::from([("center_order".to_owned(), order.name().into())])
}

/// One of the two private ones.
pub(crate) struct SampleAggregate {
    name: &'static str,
    summary: &'static str,
    block_rule: &'static str,
    params: fn(usize, Budget) -> SampleAggregateParams,
}

/// N^0.4 blocks.
pub(crate) const GKM: SampleAggregate = SampleAggregate {
    name: "gkm",
    summary: "k-means in N^0.4 blocks, averaged with noise (GUPT)",
    block_rule: "n^0.4",
    params: SampleAggregateParams::gkm,
};

/// Blocks of about 3k records.
pub(crate) const GKM_3K: SampleAggregate = SampleAggregate {
    name: "gkm-3k",
    summary: "k-means in blocks of about 3k records, averaged with noise",
    block_rule: "n/(3k)",
    params: SampleAggregateParams::gkm_3k,
};

impl SampleAggregate {
    fn check(&self, request: &FitRequest, frame: &Frame) -> Result<Checked, RequestError> {
        (self.params)(request.n_clusters, request.required_budget()?)
            .order(order(request, frame)?)
            .n_hint(request.n_hint)
            .check()
            .map_err(refused(self.name))
    }
}

impl Algorithm for SampleAggregate {
    fn facts(&self) -> Facts {
        Facts {
            name: self.name,
            summary: self.summary,
            private: true,
            proof: NeighboringRelation::AddRemove,
            delta: DeltaNeed::None,
            needs_size: true,
            options: OPTIONS,
        }
    }

    fn plan(&self, request: &FitRequest) -> Result<Plan, RequestError> {
        let frame = request.frame()?;
        let events = self
            .check(request, &frame)?
            .plan(&frame, request.relation)
            .map_err(refused(self.name))?;
        Ok(Plan::new(events)
            .parameters(parameters(&order(request, &frame)?))
            .note("the noise of the averages is shown for the widest ranges"))
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
            .check(request, &frame)?
            .fit(&FramedSource::new(source, &frame), session, public)
            .map_err(failed(self.name))?;
        Ok(Outcome::scaled(fit.clustering.centers)
            .parameters(parameters(&order(request, &frame)?))
            .parameter("block_rule", self.block_rule)
            .parameter("blocks", fit.n_blocks)
            .parameter("quantiles", vec![0.25, 0.75])
            .parameter("lattice_bits", frame.lattice().bits()))
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
            options: OPTIONS,
        }
    }

    fn plan(&self, request: &FitRequest) -> Result<Plan, RequestError> {
        let order = order(request, &request.frame()?)?;
        let note = "not private: nothing is spent because nothing is protected";
        Ok(Plan::new(Vec::new())
            .parameters(parameters(&order))
            .note(note))
    }

    fn fit(
        &self,
        request: &FitRequest,
        source: &dyn RecordSource,
        session: &mut Session<'_>,
        public: &mut dyn RngCore,
    ) -> Result<Outcome, FitError> {
        let frame = request.frame()?;
        let order = order(request, &frame)?;
        let centers = aggregate_not_private(
            &FramedSource::new(source, &frame),
            request.n_clusters,
            BlockRule::Power(0.4),
            &order,
            |blocks| session.secret_labels("blocks", blocks),
            public,
        )
        .map_err(failed("sag"))?;
        Ok(Outcome::scaled(centers).parameters(parameters(&order)))
    }
}
