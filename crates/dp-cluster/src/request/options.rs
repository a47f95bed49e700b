//! Settings that only some algorithms have.

use lloyd_dp::grid::Starts;
use lloyd_dp::schedule::BudgetSchedule;
use ndarray::Array2;

use crate::algorithms::{AggregatorChoice, CenterOrderChoice, MetricChoice, SamplingChoice};

/// Declares [`Options`]: one line per setting keeps its field, its flag and the list of what was given together.
macro_rules! options {
    ($($(#[$doc:meta])* $field:ident: $type:ty => $flag:literal,)*) => {
        /// Settings that only some algorithms have; each is `None` unless the caller says otherwise.
        ///
        /// A setting that the chosen algorithm does not have is refused, never ignored.
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct Options {
            $($(#[$doc])* pub $field: Option<$type>,)*
        }

        impl Options {
            /// The names of all settings, as the command's flags have them.
            pub const NAMES: &'static [&'static str] = &[$($flag),*];

            /// The names of the settings that were given.
            pub fn given(&self) -> impl Iterator<Item = &'static str> {
                [$(self.$field.is_some().then_some($flag)),*].into_iter().flatten()
            }
        }
    };
}

options! {
    /// Number of rounds T.
    iterations: usize => "iterations",
    /// How the budget is divided over the rounds.
    schedule: BudgetSchedule => "schedule",
    /// Public first centers, shape (k, d), original units.
    init_centers: Array2<f64> => "init-centers",
    /// Where k-means on a grid synopsis starts.
    starts: Starts => "starts",
    /// How the centers of a block are ordered, so that those of different blocks can be averaged.
    center_order: CenterOrderChoice => "center-order",
    /// The private k-tuple clustering.
    aggregator: AggregatorChoice => "aggregator",
    /// Number of secret blocks.
    blocks: usize => "blocks",
    /// How records get into blocks.
    sampling: SamplingChoice => "sampling",
    /// Records per block, with replacement.
    block_size: u64 => "block-size",
    /// Assumed distance of the nearest centers in standard deviations of a cluster, scaled columns: chooses the blocks.
    separation: f64 => "separation",
    /// β: with at most this probability a published clustering, or the blocks for an assumed separation, may fail on data as assumed.
    failure_probability: f64 => "failure-probability",
    /// The least radius of a cluster that is told apart, original units of the widest column.
    scale_min: f64 => "scale-min",
    /// Public places where centers may stand, shape (m, d), original units.
    sites: Array2<f64> => "sites",
    /// The distance, original units.
    metric: MetricChoice => "metric",
    /// Exponent p of the objective Σ d^p, at least 1.
    power: f64 => "power",
    /// Where candidate centers come from when there are no sites.
    candidates: maxcover::candidates::Source => "candidates",
    /// What the covariances of a mixture may look like, in the columns' own units.
    covariance: gmm::CovarianceKind => "covariance",
    /// Least standard deviation of a component, original units, in every column.
    sigma_min: f64 => "sigma-min",
    /// Largest standard deviation of a component, original units, in every column.
    sigma_max: f64 => "sigma-max",
}
