//! Differentially private clustering: private centers of a table, with the ledger that proves how the
//! budget was spent.
//!
//! This crate joins the others: algorithms by name, the released [`Model`] and its two forms in files,
//! [`plan`](fn@plan), evaluation and synthetic data. It draws no noise and looks at no record itself.
//!
//! # Choosing an algorithm
//!
//! | you have | use |
//! |---|---|
//! | no reason to choose | `auto`, the command's default: it says what it picked and why |
//! | four columns or more, with or without δ | `vote-refine` |
//! | public first centers, or a schedule of your own | `dplloyd` |
//! | two to four columns, a pure budget, or several k for one price | `grid-k`, `eug` (see [`recluster`]) |
//! | up to a dozen columns, a pure budget | `hybrid-refine` |
//! | many columns of which few cells are occupied, and δ | `grid-sparse` |
//! | well separated clusters, δ, and enough records | `ktuple`: refuses instead of guessing |
//! | the same, and weights and covariances are wanted | `gmm` |
//! | public places to choose from, or another distance than Euclid's | `maxcover` |
//! | results to compare with Su et al. (2016) | `dplloyd-paper` |
//! | public data, or a yardstick | `lloyd` (not private) |
//!
//! # Example
//!
//! ```
//! use dp_cluster::{Budget, Delta, Epsilon, FitRequest, NeighboringRelation, fit, rng::SecureRng};
//! use ndarray::Array2;
//!
//! // Ages of 1,000 people, around 30 and 70; that ages lie in [0, 100] is public knowledge.
//! let records = Array2::from_shape_fn((1000, 1), |(i, _)| if i % 2 == 0 { 30.0 } else { 70.0 });
//! let columns = vec!["age".to_owned()];
//! let budget = Budget::approx(Epsilon::new(1.0)?, Delta::new(1e-6)?);
//! let relation = NeighboringRelation::AddRemove;
//! let request = FitRequest::new("auto", columns, vec![[0.0, 100.0]], 2, relation).budget(budget);
//!
//! let (mut noise, mut public) = (SecureRng::from_os()?, SecureRng::from_os()?);
//! let model = fit(&request, &records, &mut noise, &mut public)?.model;
//! let guarantee = model.guarantee.as_ref().ok_or("a private algorithm")?;
//! assert!(guarantee.epsilon <= 1.0 && guarantee.delta <= 1e-6);
//! assert_eq!(model.centers.len(), 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **Several releases about the same people add up**: the total is the sum of their ledgers, see
//! [`total_of`].
#![forbid(unsafe_code)]

pub mod algorithm;
mod algorithms;
pub mod codec;
pub mod evaluate;
mod fit;
pub mod generate;
pub mod model;
pub mod plan;
pub mod request;
pub mod synopsis;
mod total;

pub use algorithm::FitError;
pub use evaluate::{evaluate, predict, total_variation};
pub use fit::{Fitted, fit};
pub use model::{Model, ModelOutcome};
pub use plan::{Plan, plan};
pub use request::{FitRequest, Options, RequestError};
pub use synopsis::{Synopsis, recluster};
pub use total::{Statement, TotalError, total_of};

pub use ::maxcover::{self, candidates::Source as CandidateSource};
pub use algorithms::{AggregatorChoice, CenterOrderChoice, MetricChoice, SamplingChoice};
pub use dp_core::{
    self, Budget, Delta, Epsilon, Event, Guarantee, Ledger, NeighboringRelation, Value, rng,
};
pub use gmm;
pub use ktuple;
pub use lloyd_dp::{self, schedule::BudgetSchedule};
pub use metric_space::{self, RecordSource, Records, SourceError};
