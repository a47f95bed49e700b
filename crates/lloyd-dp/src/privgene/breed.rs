//! Candidates and their children: public randomness on released values.

use metric_space::{Frame, uniform_centers};
use rand::{Rng, RngCore};

/// k centers in lattice units, row after row.
pub(super) type Candidate = Vec<i32>;

/// How children are made.
pub(super) struct Breeder<'a> {
    pub(super) frame: &'a Frame,
    pub(super) n_clusters: usize,
    pub(super) population: usize,
}

impl Breeder<'_> {
    fn quantized(&self, centers: &[f64]) -> Candidate {
        centers
            .chunks_exact(self.frame.dimension())
            .flat_map(|center| self.frame.quantize_center(center))
            .collect()
    }

    /// Uniform candidates.
    pub(super) fn first(&self, public: &mut dyn RngCore) -> Vec<Candidate> {
        (0..self.population)
            .map(|_| {
                let centers =
                    uniform_centers(self.n_clusters, self.frame.dimension(), &mut *public);
                self.quantized(&centers.iter().copied().collect::<Vec<_>>())
            })
            .collect()
    }

    /// A population of children: two random parents swap their first s centers, s ~ U{1..k−1}; then one center of each child is
    /// shifted by up to `shift` per coordinate.
    pub(super) fn next(
        &self,
        parents: &[Candidate],
        shift: f64,
        public: &mut dyn RngCore,
    ) -> Vec<Candidate> {
        let d = self.frame.dimension();
        let mut children = Vec::with_capacity(self.population + 1);
        while children.len() < self.population {
            let mut pair = [0, 0].map(|_| parents[public.random_range(0..parents.len())].clone());
            if self.n_clusters > 1 {
                let s = public.random_range(1..self.n_clusters);
                let [a, b] = &mut pair;
                a[..s * d].swap_with_slice(&mut b[..s * d]);
            }
            for child in pair {
                children.push(self.mutated(child, shift, public));
            }
        }
        children.truncate(self.population);
        children
    }

    fn mutated(&self, mut child: Candidate, shift: f64, public: &mut dyn RngCore) -> Candidate {
        let d = self.frame.dimension();
        let j = public.random_range(0..self.n_clusters);
        let center = &mut child[j * d..(j + 1) * d];
        let lattice = self.frame.lattice();
        let moved: Vec<f64> = center
            .iter()
            .map(|&units| lattice.to_f64(i64::from(units)) + public.random_range(-shift..=shift))
            .collect();
        center.copy_from_slice(&self.frame.quantize_center(&moved));
        child
    }
}
