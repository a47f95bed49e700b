//! Flags that only some algorithms have. A new one is a field here, a line in `into_options`, and a line in
//! the library's `Options`.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use dp_cluster::gmm::CovarianceKind;
use dp_cluster::lloyd_dp::grid::Starts;
use dp_cluster::{
    AggregatorChoice, BudgetSchedule, CandidateSource, CenterOrderChoice, MetricChoice, Options,
    SamplingChoice,
};

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

    /// What centers of different blocks are averaged by: their order by the first column, or the nearest of public centers
    /// (those of --init-centers, or spread over the bounds)
    #[arg(long, value_enum)]
    center_order: Option<CenterOrderArg>,

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

    /// Assumed distance of the nearest centers in standard deviations of a cluster, each column scaled by its bounds, clusters
    /// of equal size: chooses the blocks of `ktuple`, or says how many rows it would take
    #[arg(long, value_name = "D", allow_negative_numbers = true)]
    separation: Option<f64>,

    /// Probability with which --separation, --aggregator averages or noisy-centers may fail on rows as assumed (default 0.05)
    #[arg(long, value_name = "B", allow_negative_numbers = true)]
    failure_probability: Option<f64>,

    /// The least radius of a cluster that is told apart, in the units of the widest column
    #[arg(long, value_name = "R")]
    scale_min: Option<f64>,

    /// CSV of public places where centers may stand, with the same column names, original units
    #[arg(long, value_name = "SITES.csv")]
    sites: Option<PathBuf>,

    /// The distance: euclidean, l1, linf, haversine (columns latitude, longitude in degrees; meters), or matrix:FILE (a
    /// square CSV without a header over public places; the data has one column `place`, a 0-based row number)
    #[arg(long, value_name = "METRIC")]
    metric: Option<MetricArg>,

    /// Exponent p of the objective, the sum of distances to the power of p: 1 for k-medians, 2 for k-means
    #[arg(long, value_name = "P")]
    power: Option<f64>,

    /// Where candidate centers come from when there are no sites
    #[arg(long, value_enum)]
    candidates: Option<CandidatesArg>,

    /// What the covariances of a mixture may look like, in the columns' own units
    #[arg(long, value_enum)]
    covariance: Option<CovarianceArg>,

    /// Least standard deviation of a component, in the columns' own units (default: 1/1024 of each column's width)
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    sigma_min: Option<f64>,

    /// Largest standard deviation of a component, in the columns' own units (default: half of each column's width)
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    sigma_max: Option<f64>,
}

/// The names of [`CovarianceKind`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CovarianceArg {
    Full,
    Diagonal,
    Spherical,
    Tied,
}

impl From<CovarianceArg> for CovarianceKind {
    fn from(covariance: CovarianceArg) -> Self {
        match covariance {
            CovarianceArg::Full => Self::Full,
            CovarianceArg::Diagonal => Self::Diagonal,
            CovarianceArg::Spherical => Self::Spherical,
            CovarianceArg::Tied => Self::Tied,
        }
    }
}

/// A distance by name; a matrix stands in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum MetricArg {
    Named(String),
    Matrix(PathBuf),
}

impl std::str::FromStr for MetricArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.strip_prefix("matrix:") {
            Some(path) if !path.is_empty() => Ok(Self::Matrix(path.into())),
            None if MetricChoice::of_name(text).is_some() => Ok(Self::Named(text.to_owned())),
            _ => Err("expected euclidean, l1, linf, haversine or matrix:FILE".to_owned()),
        }
    }
}

/// The names of [`CandidateSource`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CandidatesArg {
    Lattice,
    Uniform,
    Lsh,
    Partition,
    Tree,
}

impl From<CandidatesArg> for CandidateSource {
    fn from(candidates: CandidatesArg) -> Self {
        match candidates {
            CandidatesArg::Lattice => Self::Lattice,
            CandidatesArg::Uniform => Self::Uniform,
            CandidatesArg::Lsh => Self::Lsh,
            CandidatesArg::Partition => Self::Partition,
            CandidatesArg::Tree => Self::Tree,
        }
    }
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

/// The names of [`CenterOrderChoice`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CenterOrderArg {
    FirstCoordinate,
    Reference,
}

impl From<CenterOrderArg> for CenterOrderChoice {
    fn from(order: CenterOrderArg) -> Self {
        match order {
            CenterOrderArg::FirstCoordinate => Self::FirstCoordinate,
            CenterOrderArg::Reference => Self::Reference,
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
            center_order: self.center_order.map(CenterOrderChoice::from),
            aggregator: self.aggregator.map(AggregatorChoice::from),
            blocks: self.blocks,
            sampling: self.sampling.map(SamplingChoice::from),
            block_size: self.block_size,
            separation: self.separation,
            failure_probability: self.failure_probability,
            scale_min: self.scale_min,
            sites: self.sites.as_ref().map(|_| ndarray::Array2::zeros((0, 0))),
            metric: self.metric.as_ref().map(|metric| match metric {
                MetricArg::Named(name) => MetricChoice::of_name(name).unwrap_or_default(),
                MetricArg::Matrix(_) => MetricChoice::Matrix(ndarray::Array2::zeros((0, 0))),
            }),
            power: self.power,
            candidates: self.candidates.map(CandidateSource::from),
            covariance: self.covariance.map(CovarianceKind::from),
            sigma_min: self.sigma_min,
            sigma_max: self.sigma_max,
        }
    }

    /// The columns of the data where a setting says so: a matrix of distances knows places alone.
    pub(crate) fn columns(&self) -> Option<Vec<String>> {
        self.has_matrix().then(|| vec!["place".to_owned()])
    }

    /// The files that the settings name.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        let matrix = match &self.metric {
            Some(MetricArg::Matrix(path)) => Some(path),
            _ => None,
        };
        let files = [self.init_centers.as_ref(), self.sites.as_ref(), matrix];
        files.into_iter().flatten().map(PathBuf::as_path)
    }

    /// Whether distances come from a table, which bounds its places itself.
    pub(crate) const fn has_matrix(&self) -> bool {
        matches!(self.metric, Some(MetricArg::Matrix(_)))
    }

    /// All settings; `columns` says the order in files.
    pub(crate) fn with_files(&self, columns: &[String]) -> Result<Options, Failure> {
        let init_centers = match &self.init_centers {
            Some(path) => Some(input::read_small(path, columns)?),
            None => None,
        };
        let sites = match &self.sites {
            Some(path) => Some(input::read_small(path, columns)?),
            None => None,
        };
        let mut options = self.without_files();
        if let Some(MetricArg::Matrix(path)) = &self.metric {
            options.metric = Some(MetricChoice::Matrix(input::read_matrix(path)?));
        }
        Ok(Options {
            init_centers,
            sites,
            ..options
        })
    }
}
