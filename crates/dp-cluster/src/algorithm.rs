//! The algorithms by name: the trait that each implements and the table of all.
//!
//! To add one: a file in `algorithms/` with a unit struct that implements [`Algorithm`], and a line in
//! the table there. Settings of its own are lines in [`Options`](crate::request::Options).

use std::collections::BTreeMap;

use dp_core::{NeighboringRelation, Session, SpendError, Value};
use lloyd_dp::grid::GridSynopsis;
use metric_space::{RecordSource, SourceError};
use ndarray::Array2;
use rand::RngCore;

use crate::algorithms;
use crate::plan::Plan;
use crate::request::{FitRequest, RequestError};

/// What an algorithm does with δ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeltaNeed {
    /// It is pure: a δ is not spent.
    None,
    /// It has a pure form and a better one with δ.
    Optional,
    /// It has no pure form.
    Required,
}

impl DeltaNeed {
    /// The word in lists.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Optional => "optional",
            Self::Required => "required",
        }
    }
}

/// What a list of algorithms says about one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The name in flags and models.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// Whether it promises anything; the others need `--not-private`.
    pub private: bool,
    /// The relation of its own proof; under the other one the budget is converted.
    pub proof: NeighboringRelation,
    /// What it does with δ.
    pub delta: DeltaNeed,
    /// Whether it wants the number of records: without `--n-hint` it spends a share on a noisy count.
    pub needs_size: bool,
    /// The settings of [`Options`](crate::request::Options) that it has.
    pub options: &'static [&'static str],
}

/// A clustering algorithm behind a name.
///
/// # Privacy
///
/// Everything private goes through the session: the facade draws no noise and looks at no record.
pub trait Algorithm: Sync {
    /// Name, needs and settings.
    fn facts(&self) -> Facts;

    /// How the budget would be spent; reads no record.
    ///
    /// # Errors
    ///
    /// [`RequestError`] for what can be seen without data.
    fn plan(&self, request: &FitRequest) -> Result<Plan, RequestError>;

    /// Runs. `request` was checked; `public` is public randomness (first centers, projections).
    ///
    /// # Errors
    ///
    /// [`FitError`] for parameters and for a source that cannot be read; never for what records hold.
    fn fit(
        &self,
        request: &FitRequest,
        source: &dyn RecordSource,
        session: &mut Session<'_>,
        public: &mut dyn RngCore,
    ) -> Result<Outcome, FitError>;
}

/// Centers in one of two units.
#[derive(Clone, Debug, PartialEq)]
pub enum Centers {
    /// In the scaled domain, [-1, 1] per column, shape (k, d).
    Scaled(Array2<f64>),
    /// In the columns' own units, shape (k, d).
    Original(Array2<f64>),
}

/// What an algorithm hands back, all of it released or public.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// The centers; none if the mechanism answered ⊥.
    pub centers: Option<Centers>,
    /// Released counts per center, where there are any.
    pub noisy_counts: Option<Vec<f64>>,
    /// Why there are no centers and what may help, from public values.
    pub advice: Option<String>,
    /// Every parameter that was used, defaults included.
    pub parameters: BTreeMap<String, Value>,
    /// Keys that only some models have.
    pub own: OwnKeys,
    /// A grid synopsis that was released on the way.
    pub synopsis: Option<GridSynopsis>,
}

/// Keys that only some models have.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OwnKeys {
    /// The algorithm that `auto` ran.
    pub chosen: Option<String>,
    /// Mixture weights (k).
    pub weights: Option<Vec<f64>>,
    /// Covariances (k × d × d), original units.
    pub covariances: Option<Vec<Vec<Vec<f64>>>>,
    /// Name of the metric of `maxcover`.
    pub metric: Option<String>,
    /// Exponent p of `maxcover`'s objective Σ d^p.
    pub power: Option<f64>,
    /// 0-based rows of the public sites that were chosen.
    pub site_rows: Option<Vec<u64>>,
}

impl Outcome {
    /// Centers in the scaled domain, shape (k, d).
    #[must_use]
    pub fn scaled(centers: Array2<f64>) -> Self {
        Self {
            centers: Some(Centers::Scaled(centers)),
            ..Self::default()
        }
    }

    /// Centers in the columns' own units, shape (k, d).
    #[must_use]
    pub fn original(centers: Array2<f64>) -> Self {
        Self {
            centers: Some(Centers::Original(centers)),
            ..Self::default()
        }
    }

    /// ⊥, with advice from public values.
    #[must_use]
    pub fn refused(advice: impl Into<String>) -> Self {
        Self {
            advice: Some(advice.into()),
            ..Self::default()
        }
    }

    /// Adds released counts.
    #[must_use]
    pub fn noisy_counts(mut self, counts: Option<Vec<f64>>) -> Self {
        self.noisy_counts = counts;
        self
    }

    /// Adds a grid synopsis that was released on the way.
    #[must_use]
    pub fn synopsis(mut self, synopsis: GridSynopsis) -> Self {
        self.synopsis = Some(synopsis);
        self
    }

    /// Adds parameters that were used.
    #[must_use]
    pub fn parameters(mut self, parameters: BTreeMap<String, Value>) -> Self {
        self.parameters.extend(parameters);
        self
    }

    /// Adds a parameter that was used.
    #[must_use]
    pub fn parameter(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.parameters.insert(name.to_owned(), value.into());
        self
    }
}

/// A fit failed. Says nothing about records: what they hold is never a reason.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FitError {
    /// The request was refused; nothing was spent.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// The records could not be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// A spend was refused.
    #[error(transparent)]
    Spend(#[from] SpendError),
    /// What an algorithm released is no valid model: a defect of this library.
    #[error("the released model is not valid: {0}")]
    Model(#[from] crate::model::ModelError),
}

/// All algorithms, in the order in which lists show them.
pub fn all() -> impl Iterator<Item = &'static dyn Algorithm> {
    algorithms::TABLE.iter().copied()
}

/// The algorithm of a name.
///
/// # Errors
///
/// [`RequestError::Algorithm`] with the names there are.
pub fn find(name: &str) -> Result<&'static dyn Algorithm, RequestError> {
    all()
        .find(|algorithm| algorithm.facts().name == name)
        .ok_or_else(|| RequestError::Algorithm {
            got: name.to_owned(),
            known: all().map(|algorithm| algorithm.facts().name).collect(),
        })
}
