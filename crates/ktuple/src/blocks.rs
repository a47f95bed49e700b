//! `GenCenters`: records in secret blocks, k-means without privacy in each, one tuple of centers per block.
//!
//! # Privacy
//!
//! A transformation: nothing is released. *Disjoint* blocks: each record draws its own secret block label, independent
//! of all others and of how many there are. Given the labels, a record that is added, removed or replaced touches the
//! records of one block, hence one tuple: what is private for a replaced tuple is as private for a record under
//! either relation. *With replacement*: t·s draws from n records, n public (replace-one); Lemma 2.25 of the paper turns the
//! loss for a replaced tuple into that of a record.
//!
//! The order of records inside a block is that of the source; the randomness of a block's solver comes from a secret seed of the
//! block. Both depend on the block alone.
//!
//! # Source
//!
//! Cohen, Kaplan, Mansour, Stemmer, Tsfadia, "Differentially-Private Clustering of Easy Instances", ICML 2021,
//! Algorithm 5.4, for sampling with replacement; disjoint blocks are this crate's.

use std::fmt;

use dp_core::Session;
use dp_core::session::SecretLabels;
use metric_space::{LatticeSource, Lloyd, LloydParams, SourceError};
use ndarray::{Array2, ArrayView2};
use rand::{RngCore, SeedableRng};
use rand_chacha::ChaCha12Rng;
use rayon::prelude::*;

use crate::error::ParamsError;
use crate::tuples::Tuples;

#[cfg(test)]
mod tests;

/// How records get into blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sampling {
    /// Each record draws one of t blocks: every record is used once. The default.
    #[default]
    Disjoint,
    /// Each block draws this many records, with replacement: as published. Under replace-one only.
    WithReplacement {
        /// s, records per block.
        block_size: u64,
    },
}

impl Sampling {
    /// The name in flags and ledgers.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Disjoint => "disjoint",
            Self::WithReplacement { .. } => "with-replacement",
        }
    }
}

/// What is run on a block: any k-means algorithm, or a mixture's labeler. Need not be private.
pub trait BlockSolver: fmt::Debug + Sync {
    /// k centers of the block's records (shape (m, d), scaled, m possibly 0) in scaled coordinates, shape (k, d), or
    /// none if it failed. `rng` is secret to the block.
    fn solve(&self, records: ArrayView2<'_, f64>, rng: &mut dyn RngCore) -> Option<Array2<f64>>;
}

/// k-means++ with Lloyd's iterations.
#[derive(Clone, Debug, PartialEq)]
pub struct KMeans(Lloyd);

impl KMeans {
    /// k clusters, the best of `n_restarts` runs.
    ///
    /// # Errors
    ///
    /// [`ParamsError::Solver`] if k or `n_restarts` is out of range.
    pub fn new(n_clusters: usize, n_restarts: usize) -> Result<Self, ParamsError> {
        let params = LloydParams::new(n_clusters)
            .n_restarts(n_restarts)
            .max_iterations(50);
        Ok(Self(params.check()?))
    }
}

impl BlockSolver for KMeans {
    fn solve(&self, records: ArrayView2<'_, f64>, rng: &mut dyn RngCore) -> Option<Array2<f64>> {
        if records.nrows() < self.0.n_clusters() {
            return None;
        }
        let solution = self.0.fit(records, None, rng).ok()?;
        Some(solution.centers)
    }
}

/// The records of each block, and the secret seeds of the blocks: private.
#[derive(Debug)]
pub struct Blocks {
    rows: Vec<Vec<f32>>,
    labels: SecretLabels,
    dimension: usize,
}

impl Blocks {
    /// Deals all records into `n_blocks` blocks by secret labels of their own: one record in one block.
    ///
    /// # Errors
    ///
    /// [`SourceError`] if the records cannot be read.
    ///
    /// # Complexity
    ///
    /// One pass; memory 8·n·d bytes meanwhile, 4·n·d afterwards.
    pub fn disjoint<S: LatticeSource>(
        source: &S,
        n_blocks: usize,
        session: &mut Session<'_>,
    ) -> Result<Self, SourceError> {
        let labels = session.secret_labels("blocks", n_blocks.max(1) as u64);
        Self::labeled(source, n_blocks, labels)
    }

    /// Deals the records whose label is below `n_blocks` into blocks of that number, and leaves out the others: at most one block per record.
    ///
    /// # Errors
    ///
    /// [`SourceError`] if the records cannot be read.
    ///
    /// # Complexity
    ///
    /// As [`disjoint`](Self::disjoint).
    pub fn labeled<S: LatticeSource>(
        source: &S,
        n_blocks: usize,
        labels: SecretLabels,
    ) -> Result<Self, SourceError> {
        // Of no block, as every label that has no 32 bits; one block less than 2^32 is more than memory holds.
        const NONE: u32 = u32::MAX;
        // Piece by piece, without copies in between: the records once here and once in their blocks, never more.
        let pieces = source.fold(
            Vec::new,
            |pieces: &mut Vec<(Vec<u32>, Vec<f32>)>, block| {
                let label = |i: usize| u32::try_from(labels.label(block.first + i as u64));
                let of_rows = (0..block.len()).map(|i| label(i).unwrap_or(NONE));
                pieces.push((of_rows.collect(), block.rows.to_vec()));
            },
            Extend::extend,
        )?;
        let d = source.frame().dimension();
        let mut sizes = vec![0; n_blocks.clamp(1, NONE as usize)];
        for &label in pieces.iter().flat_map(|(of_rows, _)| of_rows) {
            if let Some(size) = sizes.get_mut(label as usize) {
                *size += 1;
            }
        }
        let mut rows: Vec<Vec<f32>> = sizes
            .into_iter()
            .map(|size| Vec::with_capacity(size * d))
            .collect();
        for (of_rows, values) in pieces {
            for (label, row) in of_rows.into_iter().zip(values.chunks_exact(d)) {
                if let Some(rows) = rows.get_mut(label as usize) {
                    rows.extend_from_slice(row);
                }
            }
        }
        Ok(Self {
            rows,
            labels,
            dimension: d,
        })
    }

    /// Draws `block_size` records for each block with replacement; all records are kept in memory meanwhile.
    ///
    /// # Errors
    ///
    /// [`SourceError`] if the records cannot be read.
    pub fn with_replacement<S: LatticeSource>(
        source: &S,
        n_blocks: usize,
        block_size: u64,
        session: &mut Session<'_>,
    ) -> Result<Self, SourceError> {
        let labels = session.secret_labels("samples", n_blocks.max(1) as u64);
        let d = source.frame().dimension();
        let all = source.fold(
            Vec::new,
            |all: &mut Vec<f32>, block| all.extend_from_slice(block.rows),
            Extend::extend,
        )?;
        let n = all.len() / d;
        let draw = |block: usize| {
            let mut rng = ChaCha12Rng::from_seed(labels.block_seed(block as u64));
            let mut rows = Vec::new();
            for _ in 0..if n == 0 { 0 } else { block_size } {
                let at = dp_core::sampler::uniform::below_u64(n as u64, &mut rng);
                let at = usize::try_from(at).unwrap_or(0);
                rows.extend_from_slice(&all[at * d..(at + 1) * d]);
            }
            rows
        };
        let rows = (0..n_blocks.max(1)).into_par_iter().map(draw).collect();
        Ok(Self {
            rows,
            labels,
            dimension: d,
        })
    }

    /// t, the number of blocks: public.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Is there no block? Never.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Solves every block, in parallel: one tuple per block, void where the solver failed or centers coincide.
    #[must_use]
    pub fn tuples(
        &self,
        solver: &dyn BlockSolver,
        frame: &metric_space::Frame,
        n_clusters: usize,
    ) -> Tuples {
        let solve = |(block, rows): (usize, &Vec<f32>)| {
            let mut rng = ChaCha12Rng::from_seed(self.labels.block_seed(block as u64));
            rng.set_stream(1); // what was drawn to fill the block is on stream 0
            let rows: Vec<f64> = rows.iter().map(|&x| f64::from(x)).collect();
            let shape = (rows.len() / self.dimension, self.dimension);
            let records = ArrayView2::from_shape(shape, &rows).ok()?;
            solver.solve(records, &mut rng)
        };
        let solutions: Vec<Option<Array2<f64>>> =
            self.rows.par_iter().enumerate().map(solve).collect();
        let mut tuples = Tuples::new(n_clusters, self.dimension, frame.lattice());
        for solution in solutions {
            match solution {
                Some(centers) => tuples.push_centers(frame, centers.view()),
                None => tuples.push_void(),
            }
        }
        tuples
    }
}
