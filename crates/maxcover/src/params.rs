//! Parameters of private facility location, checked once.

use dp_core::mechanism::LaplaceMechanism;
use dp_core::rounding::split;
use dp_core::sensitivity::L1Sensitivity;
use dp_core::{Budget, Epsilon, Event, NeighboringRelation};
use metric_space::{Metric, Power};

use crate::error::ParamsError;
use crate::fit::MaxCover;
use crate::greedy::picks_event;
use crate::rate::Rate;
use crate::space::Space;
use crate::thresholds::{Thresholds, picks_per_threshold, quality_limit};

/// Least quality ε: thresholds grow by this part.
const LEAST_QUALITY: f64 = 1e-3;

/// Unchecked parameters of Algorithm 2; [`check`](Self::check) turns them into a [`MaxCover`].
#[derive(Clone, Debug, PartialEq)]
#[must_use = "parameters do nothing until `check` is called"]
pub struct MaxCoverParams {
    pub(crate) n_clusters: usize,
    pub(crate) budget: Budget,
    pub(crate) power: Power,
    pub(crate) quality: f64,
    pub(crate) selection_share: f64,
    pub(crate) rate: Rate,
    pub(crate) n_hint: Option<u64>,
}

impl MaxCoverParams {
    /// k centers for Σ d^p within a budget, which must have a δ.
    pub fn new(n_clusters: usize, budget: Budget, power: Power) -> Self {
        let limit = 0.9 * quality_limit(power);
        Self {
            n_clusters,
            budget,
            power,
            quality: if limit < 0.3 { limit } else { 0.3 },
            selection_share: 0.5,
            rate: Rate::default(),
            n_hint: None,
        }
    }

    /// Sets the quality ε (default 0.3, less from p = 4 on): thresholds grow by the factor 1 + ε, and all but a part ε of
    /// what k balls can cover is covered at each. Smaller is finer and has more candidates, hence more noise.
    pub const fn quality(mut self, quality: f64) -> Self {
        self.quality = quality;
        self
    }

    /// Sets the part of ε for the picks (default one half); the rest is for the histogram.
    pub const fn selection_share(mut self, share: f64) -> Self {
        self.selection_share = share;
        self
    }

    /// Sets how the rate of the picks is found (default: the largest that is valid).
    pub const fn rate(mut self, rate: Rate) -> Self {
        self.rate = rate;
        self
    }

    /// Sets the number of records as publicly known: where it is above the number of sites, the first threshold is finer.
    ///
    /// Under replace-one the number of records is public and is used without this; a hint goes before it.
    pub const fn n_hint(mut self, n_hint: u64) -> Self {
        self.n_hint = Some(n_hint);
        self
    }

    /// The same parameters within another budget.
    pub(crate) const fn within(mut self, budget: Budget) -> Self {
        self.budget = budget;
        self
    }

    /// Checks every field once.
    ///
    /// # Errors
    ///
    /// The [`ParamsError`] of the first field that is out of range.
    pub fn check(self) -> Result<MaxCover, ParamsError> {
        let Self {
            n_clusters,
            budget,
            power,
            quality,
            selection_share,
            rate: _, // valid by type
            n_hint,
        } = self;
        if n_clusters == 0 {
            return Err(ParamsError::NoClusters);
        }
        if budget.delta.is_zero() {
            return Err(ParamsError::NoDelta);
        }
        let limit = quality_limit(power);
        if !(quality >= LEAST_QUALITY && quality < limit) {
            return Err(ParamsError::Quality {
                limit,
                got: quality,
            });
        }
        if !(selection_share > 0.0 && selection_share < 1.0) {
            return Err(ParamsError::Share {
                name: "selection_share",
                got: selection_share,
            });
        }
        if n_hint == Some(0) {
            return Err(ParamsError::Count {
                name: "n_hint",
                least: 1,
                most: u64::MAX,
                got: 0,
            });
        }
        Ok(MaxCover { params: self })
    }

    /// What the picks and the histogram cost under a relation.
    pub(crate) fn spends(&self, relation: NeighboringRelation) -> Result<Spends, ParamsError> {
        let too_small = |purpose| ParamsError::BudgetTooSmall { purpose };
        let parts = split(
            self.budget.epsilon.get(),
            &[self.selection_share, 1.0 - self.selection_share],
        );
        let part = |i: usize, purpose| Epsilon::new(parts[i]).map_err(|_| too_small(purpose));
        // The theorem is for add-remove: under replace-one it gets what the conversion leaves.
        let picks = Budget::approx(part(0, "the picks")?, self.budget.delta)
            .converted(relation, NeighboringRelation::AddRemove)
            .ok_or(too_small("the picks"))?;
        let (event, rate) =
            picks_event(self.rate, picks.epsilon, picks.delta).ok_or(too_small("the picks"))?;
        let sensitivity =
            L1Sensitivity::new(relation.steps()).map_err(|_| too_small("the histogram"))?;
        let histogram = LaplaceMechanism::calibrate(sensitivity, part(1, "the histogram")?)?;
        Ok(Spends {
            picks: event,
            rate,
            histogram,
        })
    }

    /// Thresholds and picks per threshold in a space; `n_records` where that is public and there is no hint.
    pub(crate) fn schedule<M: Metric>(
        &self,
        space: &Space<'_, M>,
        n_records: Option<u64>,
    ) -> (Thresholds, usize) {
        let sites = space.n_sites();
        let known = self.n_hint.or(n_records).unwrap_or(0) as f64;
        let n = if known > sites as f64 {
            known
        } else {
            sites as f64
        };
        let thresholds = Thresholds::new(space.diameter(), n, self.power, self.quality);
        (
            thresholds,
            picks_per_threshold(self.n_clusters, self.quality).min(sites),
        )
    }
}

/// The two spends of Algorithm 2.
#[derive(Clone, Debug)]
pub(crate) struct Spends {
    pub(crate) picks: Event,
    pub(crate) rate: f64,
    pub(crate) histogram: LaplaceMechanism,
}
