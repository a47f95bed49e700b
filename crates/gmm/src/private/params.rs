//! Parameters of a private mixture, checked once.

use dp_core::Budget;
use ktuple::friendly::{Filter, FriendlyCore};
use ktuple::means::Aggregator;

use super::PrivateGmm;
use super::division::Split;
use crate::error::ParamsError;
use crate::labelers::LabelerChoice;
use crate::learner::{ClipAndNoise, CoinPress, GaussianLearner, KarwaVadhan, Sigmas};
use crate::mixture::CovarianceKind;

/// Which learner runs on the clusters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LearnerChoice {
    /// CoinPress, the default.
    CoinPress(CoinPress),
    /// Karwa and Vadhan's, one column only.
    KarwaVadhan(KarwaVadhan),
    /// The baseline.
    ClipAndNoise(ClipAndNoise),
}

impl Default for LearnerChoice {
    fn default() -> Self {
        Self::CoinPress(CoinPress::default())
    }
}

impl LearnerChoice {
    /// The learner itself.
    #[must_use]
    pub fn learner(&self) -> &dyn GaussianLearner {
        match self {
            Self::CoinPress(learner) => learner,
            Self::KarwaVadhan(learner) => learner,
            Self::ClipAndNoise(learner) => learner,
        }
    }
}

/// FriendlyCore with match ratio 1/8: twice the crate's own default. More tuples are needed, and so blocks are smaller, but blocks that
/// differ more still agree; on generated mixtures it was ahead at every n at which either answered.
#[must_use]
pub fn default_aggregator() -> Aggregator {
    let core = FriendlyCore::new(0.125, Filter::Proportional);
    core.map_or_else(|_| Aggregator::default(), Aggregator::FriendlyCore)
}

/// Unchecked parameters of [`PrivateGmm`].
#[derive(Clone, Debug, PartialEq)]
#[must_use = "parameters do nothing until `check` is called"]
pub struct PrivateGmmParams {
    pub(super) n_clusters: usize,
    pub(super) budget: Budget,
    pub(super) kind: CovarianceKind,
    pub(super) sigmas: Option<Sigmas>,
    pub(super) aggregator: Aggregator,
    pub(super) labeler: LabelerChoice,
    pub(super) learner: LearnerChoice,
    pub(super) n_blocks: Option<usize>,
    pub(super) split: Split,
    pub(super) tuple_share: Option<f64>,
    pub(super) n_hint: Option<u64>,
}

impl PrivateGmmParams {
    /// Full covariances, bounds from the columns' widths, [FriendlyCore](default_aggregator) on k-means blocks, CoinPress, a divided budget.
    pub fn new(n_clusters: usize, budget: Budget) -> Self {
        Self {
            n_clusters,
            budget,
            kind: CovarianceKind::Full,
            sigmas: None,
            aggregator: default_aggregator(),
            labeler: LabelerChoice::default(),
            learner: LearnerChoice::default(),
            n_blocks: None,
            split: Split::Budget,
            tuple_share: None,
            n_hint: None,
        }
    }

    /// Sets what covariances may look like.
    pub const fn kind(mut self, kind: CovarianceKind) -> Self {
        self.kind = kind;
        self
    }

    /// Sets the bounds on standard deviations (default: 1/1024 and 1/2 of each column's width).
    pub fn sigmas(mut self, sigmas: Option<Sigmas>) -> Self {
        self.sigmas = sigmas;
        self
    }

    /// Sets the private k-tuple clustering.
    pub fn aggregator(mut self, aggregator: Aggregator) -> Self {
        self.aggregator = aggregator;
        self
    }

    /// Sets the labeler of the blocks.
    pub const fn labeler(mut self, labeler: LabelerChoice) -> Self {
        self.labeler = labeler;
        self
    }

    /// Sets the learner of the clusters.
    pub const fn learner(mut self, learner: LearnerChoice) -> Self {
        self.learner = learner;
        self
    }

    /// Sets t, the number of blocks (default: from the budget, and from `n_hint` if there is one).
    pub const fn n_blocks(mut self, n_blocks: Option<usize>) -> Self {
        self.n_blocks = n_blocks;
        self
    }

    /// Sets what the two stages divide: the budget (default), or the records.
    pub const fn split(mut self, split: Split) -> Self {
        self.split = split;
        self
    }

    /// Sets the share of the budget, or of the records, that the tuples get, in (0, 1) (default: from `n_hint`, else one half).
    pub const fn tuple_share(mut self, share: Option<f64>) -> Self {
        self.tuple_share = share;
        self
    }

    /// Sets the number of records as publicly known: it improves the division between the stages.
    ///
    /// Nothing counts the records, not even under replace-one, where their number is public: a plan, which reads no records, and the run that follows it divide alike.
    /// So say it there as well, or the tuples have one half.
    pub const fn n_hint(mut self, n_hint: Option<u64>) -> Self {
        self.n_hint = n_hint;
        self
    }

    /// What covariances may look like.
    #[must_use]
    pub const fn covariance_kind(&self) -> CovarianceKind {
        self.kind
    }

    /// The private k-tuple clustering.
    #[must_use]
    pub const fn tuple_aggregator(&self) -> &Aggregator {
        &self.aggregator
    }

    /// What the two stages divide.
    #[must_use]
    pub const fn stages_divide(&self) -> Split {
        self.split
    }

    /// The labeler's name.
    #[must_use]
    pub const fn labeler_name(&self) -> &'static str {
        self.labeler.name()
    }

    /// The learner's name.
    #[must_use]
    pub fn learner_name(&self) -> &'static str {
        self.learner.learner().name()
    }

    /// Checks every field once.
    ///
    /// # Errors
    ///
    /// The [`ParamsError`] of the first field that is out of range.
    pub fn check(self) -> Result<PrivateGmm, ParamsError> {
        if self.n_clusters == 0 {
            return Err(ParamsError::NoClusters);
        }
        if self.budget.delta.is_zero() {
            return Err(ParamsError::NoDelta);
        }
        for (name, got) in [
            ("n_blocks", self.n_blocks.map_or(1, |n| n as u64)),
            ("n_hint", self.n_hint.unwrap_or(1)),
        ] {
            if got == 0 {
                return Err(ParamsError::Zero { name });
            }
        }
        if let Some(got) = self.tuple_share
            && !(got > 0.0 && got < 1.0)
        {
            return Err(ParamsError::Share { got });
        }
        // The solver of blocks knows what k it can take.
        self.labeler.solver(self.n_clusters)?;
        Ok(PrivateGmm {
            params: self,
            known: None,
        })
    }
}
