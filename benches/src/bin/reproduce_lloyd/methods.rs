//! The systems by name, as the paper ran them.

use std::error::Error;

use dp_core::rng::InsecureSeededRng;
use dp_core::{Budget, Epsilon, NeighboringRelation, Session};
use lloyd_dp::dplloyd::DpLloydParams;
use lloyd_dp::grid::{GridParams, Starts};
use lloyd_dp::hybrid::HybridParams;
use lloyd_dp::privgene::PrivGeneParams;
use lloyd_dp::sample_aggregate::SampleAggregateParams;
use ndarray::Array2;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use workspace_benches::data::Set;

/// How many runs stand behind a number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    /// First-center sets of `DPLloyd` (the paper: 30) and runs from each (100).
    pub(crate) starts: usize,
    pub(crate) runs_per_start: usize,
    /// Synopses of `EUGkM` (10).
    pub(crate) synopses: usize,
    /// Runs of `GkM` and `PGkM` (100).
    pub(crate) others: usize,
    /// Restarts of the baseline (30).
    pub(crate) restarts: usize,
    pub(crate) epsilons: &'static [f64],
    pub(crate) quick: bool,
}

impl Effort {
    pub(crate) const QUICK: Self = Self {
        starts: 4,
        runs_per_start: 1,
        synopses: 1,
        others: 2,
        restarts: 5,
        epsilons: &[0.05, 0.1, 1.0],
        quick: true,
    };
    pub(crate) const FULL: Self = Self {
        starts: 30,
        runs_per_start: 4,
        synopses: 5,
        others: 10,
        restarts: 30,
        epsilons: &[0.05, 0.1, 0.2, 0.4, 0.7, 1.0],
        quick: false,
    };
}

/// The systems of the figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    DpLloyd,
    Eug,
    EugGreedy,
    GridK,
    Gkm,
    Gkm3k,
    Pgkm,
    Hybrid,
    HybridAlways,
    HybridRefine,
}

impl Method {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::DpLloyd => "DPLloyd",
            Self::Eug => "EUGkM",
            Self::EugGreedy => "EUGkM, greedy",
            Self::GridK => "grid-k, greedy",
            Self::Gkm => "GkM",
            Self::Gkm3k => "GkM-3K",
            Self::Pgkm => "PGkM",
            Self::Hybrid => "Hybrid",
            Self::HybridAlways => "Hybrid, always",
            Self::HybridRefine => "hybrid-refine",
        }
    }

    /// Runs of this system per point; fewer where one takes seconds.
    pub(crate) fn runs(self, effort: Effort, set: &Set) -> usize {
        let is_large = set.n() > 100_000 || set.d() > 8;
        match self {
            Self::Pgkm if is_large => effort.others.div_ceil(3),
            Self::Eug
            | Self::EugGreedy
            | Self::GridK
            | Self::Hybrid
            | Self::HybridAlways
            | Self::HybridRefine
                if is_large =>
            {
                effort.synopses.div_ceil(2)
            }
            Self::DpLloyd => effort.starts * effort.runs_per_start,
            Self::Gkm | Self::Gkm3k | Self::Pgkm => effort.others,
            _ => effort.synopses,
        }
    }

    /// One fit at ε: scaled centers.
    pub(crate) fn fit(
        self,
        set: &Set,
        epsilon: f64,
        run: usize,
        effort: Effort,
    ) -> Result<Array2<f64>, Box<dyn Error>> {
        let budget = Budget::pure(Epsilon::new(epsilon)?);
        let mut noise = InsecureSeededRng::new(run as u64);
        let mut session = Session::new(budget, NeighboringRelation::AddRemove, &mut noise);
        // `DPLloyd` runs several times from each set of first centers.
        let start = if self == Self::DpLloyd {
            run % effort.starts
        } else {
            run
        };
        let mut public = ChaCha8Rng::seed_from_u64(1000 + start as u64);
        let (source, k) = (&set.source, set.k);
        let n = Some(set.n() as u64);
        Ok(match self {
            Self::DpLloyd => {
                let lloyd = DpLloydParams::paper(k, budget).check()?;
                lloyd.fit(source, &mut session, &mut public)?.centers
            }
            Self::Eug | Self::EugGreedy | Self::GridK => {
                let params = match self {
                    Self::GridK => GridParams::grid_k(k, budget),
                    Self::Eug => GridParams::eug(k, budget).starts(Starts::SpherePacking),
                    _ => GridParams::eug(k, budget),
                };
                let grid = params.n_hint(n).check()?;
                grid.fit(source, &mut session, &mut public)?
                    .clustering
                    .centers
            }
            Self::Gkm | Self::Gkm3k => {
                let params = match self {
                    Self::Gkm => SampleAggregateParams::gkm(k, budget),
                    _ => SampleAggregateParams::gkm_3k(k, budget),
                };
                params
                    .n_hint(n)
                    .check()?
                    .fit(source, &mut session, &mut public)?
                    .clustering
                    .centers
            }
            Self::Pgkm => {
                let search = PrivGeneParams::new(k, budget).n_hint(n).check()?;
                let fit = search.fit(source, &mut session, &mut public)?;
                fit.clustering.centers
            }
            Self::Hybrid | Self::HybridAlways | Self::HybridRefine => {
                let params = match self {
                    Self::Hybrid => HybridParams::new(k, budget),
                    Self::HybridAlways => {
                        HybridParams::new(k, budget).decision(lloyd_dp::hybrid::Decision::Always)
                    }
                    _ => HybridParams::refine(k, budget),
                };
                // The paper's start, so that Figure 5 compares like with like.
                let starts = if self == Self::HybridRefine {
                    Starts::Greedy
                } else {
                    Starts::SpherePacking
                };
                let hybrid = params.starts(starts).n_hint(n).check()?;
                hybrid
                    .fit(source, &mut session, &mut public)?
                    .clustering
                    .centers
            }
        })
    }
}
