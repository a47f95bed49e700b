//! `GenEmpiricalMeans`: a labeling algorithm on a block, one tuple of the labels' means.
//!
//! Labelers need not be private: they run inside secret blocks, and one record touches one block. A labeler that fails, or leaves a label without
//! records, contributes the void tuple, a fixed public value.
//!
//! # Source
//!
//! Cohen, Kaplan, Mansour, Stemmer, Tsfadia 2021, Algorithm 6.9 and Definition 6.5.

use std::fmt;

use ktuple::blocks::BlockSolver;
use metric_space::{Lloyd, LloydParams};
use ndarray::{Array2, ArrayView2};
use rand::RngCore;
use serde::{Deserialize, Serialize};

use crate::em::{Em, EmParams};
use crate::error::ParamsError;

mod spectral;
#[cfg(test)]
mod tests;

pub use spectral::Spectral;

/// A labeling of the records of a block by the components that they came from.
pub trait Labeler: fmt::Debug + Sync {
    /// A label below k for each record (shape `(m, d)`, scaled, m possibly 0), or none if it failed. `rng` is secret to the block.
    fn labels(&self, records: ArrayView2<'_, f64>, rng: &mut dyn RngCore) -> Option<Vec<u32>>;
}

/// Which labeler runs in the blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LabelerChoice {
    /// k-means++ with Lloyd's iterations, as in the paper's experiments.
    #[default]
    KMeans,
    /// Projection on k principal components, then single linkage.
    Spectral,
    /// Expectation maximization with full covariances.
    Em,
}

impl LabelerChoice {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::KMeans, Self::Spectral, Self::Em];

    /// The name in flags and ledgers.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::KMeans => "k-means",
            Self::Spectral => "spectral",
            Self::Em => "em",
        }
    }

    /// The solver of blocks: this labeler for k labels, then means.
    ///
    /// # Errors
    ///
    /// [`ParamsError`] if k is out of range.
    pub fn solver(self, n_clusters: usize) -> Result<Box<dyn BlockSolver>, ParamsError> {
        let refused = |_| ParamsError::NoClusters;
        Ok(match self {
            Self::KMeans => {
                let lloyd = LloydParams::new(n_clusters)
                    .n_restarts(4)
                    .max_iterations(50);
                let lloyd = lloyd.check().map_err(refused)?;
                Box::new(EmpiricalMeans::new(n_clusters, KMeansLabels(lloyd)))
            }
            Self::Spectral => Box::new(EmpiricalMeans::new(n_clusters, Spectral::new(n_clusters)?)),
            Self::Em => {
                let em = EmParams::new(n_clusters).max_iterations(50).check()?;
                Box::new(EmpiricalMeans::new(n_clusters, EmLabels(em)))
            }
        })
    }
}

/// Labels of a block, then the mean of each label.
#[derive(Clone, Debug)]
pub struct EmpiricalMeans<L> {
    n_clusters: usize,
    labeler: L,
}

impl<L: Labeler> EmpiricalMeans<L> {
    /// Means of `n_clusters` labels.
    pub const fn new(n_clusters: usize, labeler: L) -> Self {
        Self {
            n_clusters,
            labeler,
        }
    }
}

impl<L: Labeler> BlockSolver for EmpiricalMeans<L> {
    fn solve(&self, records: ArrayView2<'_, f64>, rng: &mut dyn RngCore) -> Option<Array2<f64>> {
        if records.nrows() < self.n_clusters {
            return None;
        }
        let labels = self.labeler.labels(records, rng)?;
        let mut means = Array2::zeros((self.n_clusters, records.ncols()));
        let mut counts = vec![0.0; self.n_clusters];
        for (record, label) in records.outer_iter().zip(labels) {
            let label = label as usize;
            *counts.get_mut(label)? += 1.0;
            let mut mean = means.row_mut(label);
            mean += &record;
        }
        for (mut mean, count) in means.outer_iter_mut().zip(counts) {
            if count < 1.0 {
                return None;
            }
            mean /= count;
        }
        Some(means)
    }
}

/// k-means++ with Lloyd's iterations.
#[derive(Clone, Debug)]
struct KMeansLabels(Lloyd);

impl Labeler for KMeansLabels {
    fn labels(&self, records: ArrayView2<'_, f64>, rng: &mut dyn RngCore) -> Option<Vec<u32>> {
        Some(self.0.fit(records, None, rng).ok()?.labels)
    }
}

/// The components that expectation maximization finds most responsible.
#[derive(Clone, Debug)]
struct EmLabels(Em);

impl Labeler for EmLabels {
    fn labels(&self, records: ArrayView2<'_, f64>, rng: &mut dyn RngCore) -> Option<Vec<u32>> {
        let labels = self.0.fit(records, rng).mixture.predict(records);
        labels
            .into_iter()
            .map(|label| u32::try_from(label).ok())
            .collect()
    }
}
