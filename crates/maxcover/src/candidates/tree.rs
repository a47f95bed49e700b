//! Trees that go down where a noisy count says so.

use dp_core::mechanism::LaplaceMechanism;
use dp_core::{Confidential, Session};
use metric_space::Domain;
use ndarray_rand::rand_distr::StandardNormal;
use rand::{Rng, RngCore};

use super::{PURPOSE_COUNTS, PURPOSE_SUMS, cells};
use crate::coverage::Demand;
use crate::error::FitError;

/// A node: its private members and its public shape.
struct Node<T> {
    members: Vec<u32>,
    shape: T,
    /// Noisy count.
    count: f64,
}

/// A box.
type Cell = (Vec<f64>, Vec<f64>);

/// One level: cuts every node in two, counts all halves with noise, and keeps those that look occupied, the largest first.
fn descend<T>(
    demand: &Demand,
    nodes: Vec<Node<T>>,
    counts: &LaplaceMechanism,
    limit: usize,
    session: &mut Session<'_>,
    mut cut: impl FnMut(&T) -> (T, T, Box<dyn Fn(&[f64]) -> bool>),
) -> Result<Vec<Node<T>>, FitError> {
    let mut halves = Vec::with_capacity(2 * nodes.len());
    for node in nodes {
        let (below, above, is_above) = cut(&node.shape);
        let (high, low): (Vec<u32>, Vec<u32>) = node
            .members
            .into_iter()
            .partition(|&i| is_above(demand.point(i)));
        for (members, shape) in [(low, below), (high, above)] {
            halves.push(Node {
                members,
                shape,
                count: 0.0,
            });
        }
    }
    let exact = halves
        .iter()
        .map(|node| node.members.iter().map(|&i| demand.times(i)).sum());
    let noisy = session.laplace(counts, PURPOSE_COUNTS, &Confidential::new(exact.collect()))?;
    // Noise alone passes with probability 1/(2·limit).
    let least = counts.scale() * libm::log(2.0 * limit as f64);
    for (node, noisy) in halves.iter_mut().zip(noisy) {
        node.count = noisy as f64;
    }
    halves.retain(|node| node.count >= least);
    halves.sort_by(|a, b| b.count.total_cmp(&a.count));
    halves.truncate(limit);
    Ok(halves)
}

fn everybody<T>(demand: &Demand, shape: T) -> Vec<Node<T>> {
    vec![Node {
        members: demand.indices(),
        shape,
        count: 0.0,
    }]
}

/// Middles of all boxes that looked occupied, deepest first, and of the domain.
pub(super) fn partition(
    demand: &Demand,
    domain: &Domain,
    counts: &LaplaceMechanism,
    levels: u64,
    limit: usize,
    session: &mut Session<'_>,
) -> Result<Vec<Vec<f64>>, FitError> {
    let middle = |(lo, hi): &Cell| -> Vec<f64> {
        lo.iter()
            .zip(hi)
            .map(|(&l, &h)| f64::midpoint(l, h))
            .collect()
    };
    let root: Cell = domain.corners();
    let mut found = vec![middle(&root)];
    let mut nodes = everybody(demand, root);
    for _ in 0..levels {
        nodes = descend(demand, nodes, counts, limit, session, |(lo, hi): &Cell| {
            let widest = (0..lo.len())
                .max_by(|&a, &b| (hi[a] - lo[a]).total_cmp(&(hi[b] - lo[b])).then(b.cmp(&a)));
            let j = widest.unwrap_or(0);
            let at = f64::midpoint(lo[j], hi[j]);
            let (mut below, mut above) = ((lo.clone(), hi.clone()), (lo.clone(), hi.clone()));
            below.1[j] = at;
            above.0[j] = at;
            (below, above, Box::new(move |x: &[f64]| x[j] >= at))
        })?;
        found.extend(nodes.iter().map(|node| middle(&node.shape)));
    }
    found.reverse();
    Ok(found)
}

/// What a tree of hyperplanes needs.
pub(super) struct Spec<'a> {
    pub(super) counts: &'a LaplaceMechanism,
    pub(super) sums: &'a LaplaceMechanism,
    pub(super) levels: u64,
    pub(super) limit: usize,
}

/// Noisy means of the leaves of a tree of random hyperplanes.
///
/// A leaf is a node of the last level, or the last occupied node of a branch that died out.
pub(super) fn hyperplanes(
    demand: &Demand,
    domain: &Domain,
    spec: &Spec<'_>,
    session: &mut Session<'_>,
    public: &mut dyn RngCore,
) -> Result<Vec<Vec<f64>>, FitError> {
    let (lo, hi) = domain.corners();
    let middle: Vec<f64> = lo
        .iter()
        .zip(&hi)
        .map(|(&l, &h)| f64::midpoint(l, h))
        .collect();
    let half: Vec<f64> = lo.iter().zip(&hi).map(|(&l, &h)| (h - l) / 2.0).collect();
    let mut nodes = everybody(demand, ());
    for _ in 0..spec.levels {
        let deeper = descend(demand, nodes, spec.counts, spec.limit, session, |()| {
            // A direction, cut at a point that is uniform in the spread of the domain along it.
            let direction: Vec<f64> = lo
                .iter()
                .map(|_| public.sample::<f64, _>(StandardNormal))
                .collect();
            let spread: f64 = direction
                .iter()
                .zip(&half)
                .map(|(g, h)| (g * h) * (g * h))
                .sum::<f64>()
                .sqrt();
            let at = spread * (public.random::<f64>() * 2.0 - 1.0);
            let middle = middle.clone();
            let is_above = move |x: &[f64]| {
                let along = x
                    .iter()
                    .zip(&middle)
                    .zip(&direction)
                    .map(|((x, m), g)| (x - m) * g);
                along.sum::<f64>() >= at
            };
            ((), (), Box::new(is_above))
        })?;
        nodes = deeper;
    }
    let d = demand.columns();
    let mut slot_of: Vec<Option<usize>> = vec![None; demand.len()];
    for (slot, node) in nodes.iter().enumerate() {
        for &i in &node.members {
            slot_of[i as usize] = Some(slot);
        }
    }
    let place = |i: u32| slot_of[i as usize].map(|slot| (slot, &middle[..], &half[..]));
    let exact = cells::sums(demand, demand.indices(), nodes.len(), place);
    let noisy = session.laplace(spec.sums, PURPOSE_SUMS, &Confidential::new(exact))?;
    Ok(nodes
        .iter()
        .zip(noisy.chunks_exact(d))
        .map(|(node, sums)| {
            let mean = |j: usize| cells::original(sums[j] as f64 / node.count, middle[j], half[j]);
            (0..d).map(mean).collect()
        })
        .collect())
}
