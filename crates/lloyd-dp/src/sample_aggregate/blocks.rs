//! Records into blocks, and k-means in each.

use dp_core::session::SecretLabels;
use metric_space::{Frame, LatticeSource, LloydParams, SourceError};
use ndarray::ArrayView2;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::order::CenterOrder;

/// Steps of Lloyd's iteration in a block: blocks are small.
const MAX_ITERATIONS: usize = 50;

/// What is done in each block.
pub(super) struct Task<'a> {
    pub(super) frame: &'a Frame,
    pub(super) n_clusters: usize,
    pub(super) order: &'a CenterOrder,
    /// The reference of the order, on the lattice; empty where there is none.
    pub(super) reference: Vec<Vec<i32>>,
    /// What a block with fewer than k records returns: public.
    pub(super) fallback: Vec<Vec<i32>>,
}

/// The centers of each block in canonical order, in lattice units: block after block, k rows of d each.
///
/// A block's result depends on its records, in their order, and on its number alone.
pub(super) fn block_centers<S: LatticeSource>(
    source: &S,
    labels: &SecretLabels,
    task: &Task<'_>,
) -> Result<Vec<i32>, SourceError> {
    let d = task.frame.dimension();
    let (block_of, rows) = source.fold(
        || (Vec::<u64>::new(), Vec::<f32>::new()),
        |(block_of, rows), block| {
            block_of.extend((0..block.len()).map(|i| labels.label(block.first + i as u64)));
            rows.extend_from_slice(block.rows);
        },
        |total, part| {
            total.0.extend(part.0);
            total.1.extend(part.1);
        },
    )?;
    let n_blocks = usize::try_from(labels.blocks()).unwrap_or(usize::MAX);
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); n_blocks];
    for (i, &block) in block_of.iter().enumerate() {
        if let Ok(block) = usize::try_from(block) {
            members[block].push(i);
        }
    }
    let width = (task.n_clusters * d).max(1);
    let mut all = vec![0_i32; n_blocks.saturating_mul(width)];
    all.par_chunks_exact_mut(width)
        .zip(&members)
        .enumerate()
        .for_each(|(block, (out, members))| {
            let points: Vec<f64> = members
                .iter()
                .flat_map(|&i| rows[i * d..(i + 1) * d].iter().map(|&x| f64::from(x)))
                .collect();
            let rng = ChaCha8Rng::from_seed(labels.block_seed(block as u64));
            let centers = task.centers(&points, members.len(), rng);
            out.iter_mut()
                .zip(centers.iter().flatten())
                .for_each(|(out, &x)| *out = x);
        });
    Ok(all)
}

impl Task<'_> {
    fn centers(&self, points: &[f64], n: usize, mut rng: ChaCha8Rng) -> Vec<Vec<i32>> {
        let fitted = (n >= self.n_clusters)
            .then(|| {
                let points = ArrayView2::from_shape((n, self.frame.dimension()), points).ok()?;
                let lloyd = LloydParams::new(self.n_clusters)
                    .n_restarts(1)
                    .max_iterations(MAX_ITERATIONS)
                    .check()
                    .ok()?;
                lloyd.fit(points, None, &mut rng).ok()
            })
            .flatten();
        let centers = match fitted {
            Some(solution) => solution
                .centers
                .rows()
                .into_iter()
                .map(|center| self.frame.quantize_center(&center.to_vec()))
                .collect(),
            None => self.fallback.clone(),
        };
        self.order.arrange(centers, &self.reference)
    }
}
