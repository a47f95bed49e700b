//! Flags that only some algorithms have. A new one is a field here, a line in `into_options`, and a line in
//! the library's `Options`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use dp_cluster::lloyd_dp::grid::Starts;
use dp_cluster::{AggregatorChoice, BudgetSchedule, Options, SamplingChoice};

use crate::failure::Failure;
use crate::input;

/// Settings that only some algorithms have.
#[derive(Debug, Args)]
#[command(next_help_heading = "Settings of some algorithms")]
pub(crate) struct AlgorithmFlags {
    /// Number of rounds
    #[arg(long, value_name = "T")]
    iterations: Option<usize>,

    /// How the budget is divided over the rounds
    #[arg(long, value_enum)]
    schedule: Option<Schedule>,

    /// CSV of public first centers, original units
    #[arg(long, value_name = "F.csv")]
    init_centers: Option<PathBuf>,

    /// Where k-means on a grid synopsis starts
    #[arg(long, value_enum)]
    starts: Option<StartsArg>,

    /// The private k-tuple clustering
    #[arg(long, value_enum)]
    aggregator: Option<AggregatorArg>,

    /// Number of secret blocks
    #[arg(long, value_name = "T")]
    blocks: Option<usize>,

    /// How records get into blocks
    #[arg(long, value_enum)]
    sampling: Option<SamplingArg>,

    /// Records per block, with --sampling with-replacement
    #[arg(long, value_name = "S")]
    block_size: Option<u64>,

    /// The least radius of a cluster that is told apart, in the units of the widest column
    #[arg(long, value_name = "R")]
    scale_min: Option<f64>,
}

/// The names of [`AggregatorChoice`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AggregatorArg {
    FriendlyCore,
    Averages,
    NoisyCenters,
}

impl From<AggregatorArg> for AggregatorChoice {
    fn from(aggregator: AggregatorArg) -> Self {
        match aggregator {
            AggregatorArg::FriendlyCore => Self::FriendlyCore,
            AggregatorArg::Averages => Self::Averages,
            AggregatorArg::NoisyCenters => Self::NoisyCenters,
        }
    }
}

/// The names of [`SamplingChoice`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SamplingArg {
    Disjoint,
    WithReplacement,
}

impl From<SamplingArg> for SamplingChoice {
    fn from(sampling: SamplingArg) -> Self {
        match sampling {
            SamplingArg::Disjoint => Self::Disjoint,
            SamplingArg::WithReplacement => Self::WithReplacement,
        }
    }
}

/// The names of [`Starts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StartsArg {
    Greedy,
    SpherePacking,
}

impl From<StartsArg> for Starts {
    fn from(starts: StartsArg) -> Self {
        match starts {
            StartsArg::Greedy => Self::Greedy,
            StartsArg::SpherePacking => Self::SpherePacking,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Schedule {
    Uniform,
    Halving,
    Arithmetic,
    Trisection,
}

impl AlgorithmFlags {
    /// The settings without what stands in files: enough to refuse a flag before anything is read.
    pub(crate) fn without_files(&self) -> Options {
        Options {
            iterations: self.iterations,
            schedule: self.schedule.map(|schedule| match schedule {
                Schedule::Uniform => BudgetSchedule::Uniform,
                Schedule::Halving => BudgetSchedule::Halving,
                Schedule::Arithmetic => BudgetSchedule::Arithmetic,
                Schedule::Trisection => BudgetSchedule::Trisection,
            }),
            // Its presence is what counts here.
            init_centers: self
                .init_centers
                .as_ref()
                .map(|_| ndarray::Array2::zeros((0, 0))),
            starts: self.starts.map(Starts::from),
            aggregator: self.aggregator.map(AggregatorChoice::from),
            blocks: self.blocks,
            sampling: self.sampling.map(SamplingChoice::from),
            block_size: self.block_size,
            scale_min: self.scale_min,
        }
    }

    /// All settings; `columns` says the order in files.
    pub(crate) fn with_files(&self, columns: &[String]) -> Result<Options, Failure> {
        let init_centers = match &self.init_centers {
            Some(path) => Some(input::read_small(path, columns)?),
            None => None,
        };
        Ok(Options {
            init_centers,
            ..self.without_files()
        })
    }
}
