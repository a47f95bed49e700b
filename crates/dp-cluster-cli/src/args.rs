//! The flags, as clap sees them.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::input::Policy;

mod options;
pub(crate) use options::{AlgorithmFlags, StartsArg};

/// Heading of what is no part of the request itself.
const RUN: &str = "Reading, running and writing";

/// Differentially private clustering of tables.
///
/// Several runs on the same data add up: what an attacker learns is bounded by the sum of all budgets that were
/// ever spent on it. `dp-cluster inspect A B …` shows the total of several models.
#[derive(Debug, Parser)]
#[command(name = "dp-cluster", version, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Fit(FitArgs),
    Recluster(ReclusterArgs),
    Evaluate(EvaluateArgs),
    Predict(PredictArgs),
    Inspect(InspectArgs),
    Plan(PlanArgs),
    Algorithms(AlgorithmsArgs),
    Generate(GenerateArgs),
    Completions(CompletionsArgs),
}

/// Release private centers of a table.
///
/// Exit codes: 0 released; 1 data or I/O error; 2 usage; 3 the mechanism answered that it cannot: budget was
/// spent, there are no centers, and the model is written all the same.
#[derive(Debug, Args)]
pub(crate) struct FitArgs {
    /// CSV with a header, `.csv.gz`, or `-` for stdin
    pub(crate) data: PathBuf,

    #[command(flatten)]
    pub(crate) what: RequestArgs,

    /// What becomes of a cell that is no finite number, or of a row with too few or too many cells: an error that
    /// names line and column, or, silently, the middle of the bounds (every line is then one record, whatever quotes it holds)
    #[arg(long, help_heading = RUN, value_enum, default_value_t = Invalid::Error)]
    pub(crate) invalid: Invalid,

    /// Draw all randomness from this number: for tests and research only, the release is marked `seeded`
    #[arg(long, help_heading = RUN, value_name = "N")]
    pub(crate) insecure_seed: Option<u64>,

    /// Number of threads (default: all cores); results do not depend on it
    #[arg(long, help_heading = RUN, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,

    /// Write the model; the ending says the form
    #[arg(long, help_heading = RUN, value_name = "MODEL.json|MODEL.bin")]
    pub(crate) out: Option<PathBuf>,

    /// Write the centers as CSV
    #[arg(long, help_heading = RUN, value_name = "F.csv")]
    pub(crate) centers_out: Option<PathBuf>,

    /// Write the grid synopsis, where the algorithm releases one, for `dp-cluster recluster`
    #[arg(long, help_heading = RUN, value_name = "SYNOPSIS.json|SYNOPSIS.bin")]
    pub(crate) synopsis_out: Option<PathBuf>,

    /// Print the model as JSON
    #[arg(long, help_heading = RUN)]
    pub(crate) json: bool,

    /// Say nothing on stderr but warnings and errors
    #[arg(long, help_heading = RUN, short)]
    pub(crate) quiet: bool,
}

/// What is asked for: the flags that `fit` and `plan` share.
#[derive(Debug, Args)]
pub(crate) struct RequestArgs {
    /// Number of clusters
    #[arg(long, value_name = "K")]
    pub(crate) clusters: usize,

    /// Bound ε on the privacy loss of this run, in nats
    #[arg(long, value_name = "E", allow_negative_numbers = true)]
    pub(crate) epsilon: Option<f64>,

    /// Slack δ; without it the guarantee is pure
    #[arg(long, value_name = "D", allow_negative_numbers = true)]
    pub(crate) delta: Option<f64>,

    /// Bounds of each chosen column, in its own units, from public knowledge (write `--bounds=LO,HI`); values outside
    /// are clipped to them
    #[arg(
        long,
        value_name = "LO,HI",
        allow_hyphen_values = true,
        conflicts_with = "bounds_file"
    )]
    pub(crate) bounds: Option<String>,

    /// TOML file with a table `[bounds]` of `column = [lo, hi]`; it may name more columns than are used
    #[arg(long, value_name = "F.toml")]
    pub(crate) bounds_file: Option<PathBuf>,

    /// Columns by name, in this order (default: all); a name with a comma stands in double quotes
    #[arg(long, value_name = "a,b,…")]
    columns: Vec<Names>,

    /// See `dp-cluster algorithms`
    #[arg(long, value_name = "NAME", default_value = "auto")]
    pub(crate) algorithm: String,

    /// The pairs of tables that the release must not tell apart: one row more or less, or one row replaced
    #[arg(long, value_enum, default_value_t = Relation::AddRemove)]
    pub(crate) relation: Relation,

    /// Number of rows, where it is public knowledge: under replace-one it is, under add-remove never count it
    #[arg(long, value_name = "N")]
    pub(crate) n_hint: Option<u64>,

    /// Confirm that the algorithm is not private
    #[arg(long)]
    pub(crate) not_private: bool,

    #[command(flatten)]
    pub(crate) options: AlgorithmFlags,
}

impl RequestArgs {
    /// The columns that were named.
    pub(crate) fn columns(&self) -> Option<Vec<String>> {
        let named: Vec<String> = self
            .columns
            .iter()
            .flat_map(|names| names.0.iter().cloned())
            .collect();
        (!named.is_empty()).then_some(named)
    }
}

/// Names of columns, written as a header is.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Names(Vec<String>);

impl std::str::FromStr for Names {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .trim(csv::Trim::All)
            .from_reader(text.as_bytes());
        match reader.records().next() {
            Some(Ok(names)) => Ok(Self(names.iter().map(str::to_owned).collect())),
            _ => Err("expected names of columns".to_owned()),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Relation {
    AddRemove,
    ReplaceOne,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Invalid {
    Error,
    Replace,
}

impl From<Invalid> for Policy {
    fn from(invalid: Invalid) -> Self {
        match invalid {
            Invalid::Error => Self::Refuse,
            Invalid::Replace => Self::Replace,
        }
    }
}

/// Cluster a released grid synopsis again, for any number of clusters: costs no budget.
#[derive(Debug, Args)]
pub(crate) struct ReclusterArgs {
    /// A synopsis that `fit --synopsis-out` wrote
    pub(crate) synopsis: PathBuf,

    /// Number of clusters
    #[arg(long, value_name = "K")]
    pub(crate) clusters: usize,

    /// Where k-means on the synopsis starts
    #[arg(long, value_enum, default_value_t = StartsArg::Greedy)]
    pub(crate) starts: StartsArg,

    /// Draw the starts from this number: costs nothing here, the synopsis is public
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,

    /// Write the model; the ending says the form
    #[arg(long, value_name = "MODEL.json|MODEL.bin")]
    pub(crate) out: Option<PathBuf>,

    /// Write the centers as CSV
    #[arg(long, value_name = "F.csv")]
    pub(crate) centers_out: Option<PathBuf>,

    /// Print the model as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Measure a model on data: not private, for the data holder alone.
///
/// mean_cost is the mean of the squared distance to the nearest center with each column scaled from its bounds to [-1, 1];
/// mean_cost_original is the same in the columns' own units, with the same labels. Records are taken as they are, not clipped.
/// For sites it is the mean distance to the power p in the model's metric.
#[derive(Debug, Args)]
pub(crate) struct EvaluateArgs {
    /// A model that `fit` wrote
    pub(crate) model: PathBuf,

    /// CSV with a header, `.csv.gz`, or `-` for stdin
    pub(crate) data: PathBuf,

    /// Column with known classes: adds the adjusted Rand index and the F-measure
    #[arg(long, value_name = "C")]
    pub(crate) label_column: Option<String>,

    /// As in `fit`: what becomes of a cell that is no finite number, or of a row with too few or too many cells
    #[arg(long, value_enum, default_value_t = Invalid::Error)]
    pub(crate) invalid: Invalid,

    /// The true mixture, a model with weights and covariances: adds the total variation distance
    #[arg(long, value_name = "MODEL")]
    pub(crate) truth: Option<PathBuf>,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Label each record with its center: labels of private records are private.
#[derive(Debug, Args)]
pub(crate) struct PredictArgs {
    /// A model that `fit` wrote
    pub(crate) model: PathBuf,

    /// CSV with a header, `.csv.gz`, or `-` for stdin
    pub(crate) data: PathBuf,

    /// As in `fit`: what becomes of a cell that is no finite number, or of a row with too few or too many cells
    #[arg(long, value_enum, default_value_t = Invalid::Error)]
    pub(crate) invalid: Invalid,

    /// Write the labels here instead of to stdout
    #[arg(long, value_name = "F")]
    pub(crate) out: Option<PathBuf>,
}

/// Show what models are, what they promise and how their budgets were spent.
#[derive(Debug, Args)]
pub(crate) struct InspectArgs {
    /// Models and synopses that `fit` wrote; of several on the same data the total is shown too
    #[arg(required = true)]
    pub(crate) models: Vec<PathBuf>,
}

/// Show how a budget would be spent, from public facts alone: reads no data.
#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    pub(crate) what: RequestArgs,

    /// Number of columns, where they are not named
    #[arg(long, help_heading = RUN, value_name = "D", conflicts_with = "columns")]
    pub(crate) dimension: Option<usize>,

    /// Print JSON
    #[arg(long, help_heading = RUN)]
    pub(crate) json: bool,
}

/// List the algorithms.
#[derive(Debug, Args)]
pub(crate) struct AlgorithmsArgs {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Write public synthetic data, labels last.
#[derive(Debug, Args)]
pub(crate) struct GenerateArgs {
    /// mixture: σ 0.05 around centers in [-0.7, 0.7]^d, 1 apart (fits --bounds=-1,1); blobs: σ 1 around centers in
    /// [-10, 10]^d; gauss-ball: σ 1 around centers in a ball of radius 100, 10 apart
    #[arg(long, value_enum)]
    pub(crate) kind: KindArg,

    /// Number of records
    #[arg(long, value_name = "N")]
    pub(crate) records: u64,

    /// Number of columns
    #[arg(long, value_name = "D")]
    pub(crate) dimension: usize,

    /// Number of clusters
    #[arg(long, value_name = "K")]
    pub(crate) clusters: usize,

    /// The same seed gives the same file
    #[arg(long, value_name = "S")]
    pub(crate) seed: u64,

    /// Write the records here; `.gz` compresses
    #[arg(long, value_name = "F.csv")]
    pub(crate) out: PathBuf,

    /// Write the true centers here
    #[arg(long, value_name = "F.csv")]
    pub(crate) centers_out: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum KindArg {
    Mixture,
    Blobs,
    GaussBall,
}

/// Print a completion script.
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}
