//! One file per algorithm, and the table of all.

use crate::algorithm::Algorithm;

mod auto;
mod dplloyd;
mod failure;
mod gmm;
mod grid;
mod hybrid;
mod ktuple;
mod lloyd;
mod maxcover;
mod privgene;
mod sample_aggregate;
mod vote_refine;

pub use ktuple::{AggregatorChoice, SamplingChoice};
pub use maxcover::MetricChoice;
pub use sample_aggregate::CenterOrderChoice;

/// In the order in which lists show them: private ones first.
pub(crate) static TABLE: &[&dyn Algorithm] = &[
    &auto::Auto,
    &dplloyd::DpLloydBest,
    &dplloyd::DpLloydPaper,
    &grid::UG,
    &grid::EUG,
    &grid::GRID_K,
    &grid::GRID_SPARSE,
    &hybrid::HYBRID,
    &hybrid::HYBRID_REFINE,
    &sample_aggregate::GKM,
    &sample_aggregate::GKM_3K,
    &privgene::Pgkm,
    &vote_refine::VoteRefine,
    &maxcover::MaxCover,
    &ktuple::KTuple,
    &gmm::Gmm,
    &lloyd::Lloyd,
    &sample_aggregate::Sag,
    &privgene::Gene,
];
