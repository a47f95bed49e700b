//! Trees that go down where a noisy count says so.

use dp_core::mechanism::LaplaceMechanism;
use dp_core::{Confidential, Session};
use metric_space::{Domain, GaussianProjection};
use ndarray_rand::rand_distr::StandardNormal;
use rand::{Rng, RngCore};

use super::{PURPOSE_COUNTS, PURPOSE_SUMS, Weighted, cells};
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

/// On which side of a cut a record lies: a function of the record alone.
type IsAbove = Box<dyn Fn(&[f64]) -> bool>;

/// The parts of a box on both sides of a cut through its widest side, `part` of the half side off the middle; and that side with the
/// place of the cut.
fn cut((lo, hi): &Cell, part: f64) -> (Cell, Cell, usize, f64) {
    let widest =
        (0..lo.len()).max_by(|&a, &b| (hi[a] - lo[a]).total_cmp(&(hi[b] - lo[b])).then(b.cmp(&a)));
    let j = widest.unwrap_or(0);
    let at = f64::midpoint(lo[j], hi[j]) + part * (hi[j] - lo[j]) / 2.0;
    let (mut below, mut above) = ((lo.clone(), hi.clone()), (lo.clone(), hi.clone()));
    below.1[j] = at;
    above.0[j] = at;
    (below, above, j, at)
}

/// How many times ln(2·limit) noises a count must have to look occupied: at 1, noise alone would pass with probability
/// 1/(2·limit).
const LEAST_NOISES: f64 = 0.4;

/// One level: cuts every node in two, counts all halves with noise, and keeps those that look occupied, the largest first.
///
/// Nodes of which no half is kept come back to `ended`.
fn descend<T>(
    demand: &Demand,
    nodes: Vec<Node<T>>,
    counts: &LaplaceMechanism,
    limit: usize,
    session: &mut Session<'_>,
    ended: &mut Vec<Node<T>>,
    mut cut: impl FnMut(&T) -> (T, T, IsAbove),
) -> Result<Vec<Node<T>>, FitError> {
    let mut halves = Vec::with_capacity(2 * nodes.len());
    // What is left of the nodes: shapes and counts; their members are in the halves.
    let mut whole = Vec::with_capacity(nodes.len());
    for (parent, node) in nodes.into_iter().enumerate() {
        let (below, above, is_above) = cut(&node.shape);
        let (high, low): (Vec<u32>, Vec<u32>) = node
            .members
            .into_iter()
            .partition(|&i| is_above(demand.point(i)));
        for (members, shape) in [(low, below), (high, above)] {
            let node = Node {
                members,
                shape,
                count: 0.0,
            };
            halves.push((parent, node));
        }
        whole.push((node.shape, node.count));
    }
    let exact = halves
        .iter()
        .map(|(_, node)| node.members.iter().map(|&i| demand.times(i)).sum());
    let noisy = session.laplace(counts, PURPOSE_COUNTS, &Confidential::new(exact.collect()))?;
    // Noise alone passes with a chance of a few percent. Of what passes the largest go on, so that costs little, and clusters that
    // are not much larger than the noise go on too.
    let least = LEAST_NOISES * counts.scale() * libm::log(2.0 * limit as f64);
    for ((_, node), noisy) in halves.iter_mut().zip(noisy) {
        node.count = noisy as f64;
    }
    // A stable sort, so that equal counts stay in the order of the tree.
    halves.sort_by(|(_, a), (_, b)| b.count.total_cmp(&a.count));
    let occupied = halves.iter().take_while(|(_, node)| node.count >= least);
    let dropped = halves.split_off(occupied.take(limit).count());
    let mut goes_on = vec![false; whole.len()];
    for &(parent, _) in &halves {
        goes_on[parent] = true;
    }
    let mut lost: Vec<Vec<u32>> = vec![Vec::new(); whole.len()];
    for (parent, node) in dropped {
        lost[parent].extend(node.members);
    }
    let nodes = whole.into_iter().zip(lost).zip(goes_on);
    ended.extend(nodes.filter_map(|(((shape, count), members), goes_on)| {
        (!goes_on).then_some(Node {
            members,
            shape,
            count,
        })
    }));
    Ok(halves.into_iter().map(|(_, node)| node).collect())
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
        // A box that ends is in the list already.
        let ended = &mut Vec::new();
        nodes = descend(demand, nodes, counts, limit, session, ended, |cell| {
            let (below, above, j, at) = cut(cell, 0.0);
            (below, above, Box::new(move |x: &[f64]| x[j] >= at))
        })?;
        found.extend(nodes.iter().map(|node| middle(&node.shape)));
    }
    found.reverse();
    Ok(found)
}

/// What a tree needs whose leaves give means.
pub(super) struct Spec<'a> {
    pub(super) counts: &'a LaplaceMechanism,
    pub(super) sums: &'a LaplaceMechanism,
    pub(super) levels: u64,
    pub(super) limit: usize,
}

/// Noisy means and counts of the leaves of a tree of random hyperplanes: boxes in randomly turned axes, cut near the middle of their
/// widest side.
pub(super) fn hyperplanes(
    demand: &Demand,
    domain: &Domain,
    spec: &Spec<'_>,
    most_axes: usize,
    session: &mut Session<'_>,
    public: &mut dyn RngCore,
) -> Result<Vec<Weighted>, FitError> {
    let extent = Extent::of(domain);
    let axes = turned_axes(extent.half.len(), most_axes, public);
    let root = extent.along(&axes);
    leaves(demand, domain, spec, session, root, |cell| {
        // Never twice at the same place: what one cut goes through, that of the next release need not.
        let part = OFF_MIDDLE * (2.0 * public.random::<f64>() - 1.0);
        cut_along(cell, part, &axes)
    })
}

/// How far from the middle of a side a cut of [`hyperplanes`] is at most, as a part of the half side.
const OFF_MIDDLE: f64 = 0.3;

/// At most `most` orthonormal directions in d dimensions.
fn turned_axes(d: usize, most: usize, public: &mut dyn RngCore) -> Vec<Vec<f64>> {
    let mut axes: Vec<Vec<f64>> = Vec::new();
    while axes.len() < d.min(most) {
        let mut axis: Vec<f64> = (0..d)
            .map(|_| public.sample::<f64, _>(StandardNormal))
            .collect();
        for other in &axes {
            let along: f64 = axis.iter().zip(other).map(|(a, b)| a * b).sum();
            axis.iter_mut()
                .zip(other)
                .for_each(|(a, b)| *a -= along * b);
        }
        let length = axis.iter().map(|a| a * a).sum::<f64>().sqrt();
        // What is nearly in the span of the others is drawn again.
        if length > 1e-3 {
            for a in &mut axis {
                *a /= length;
            }
            axes.push(axis);
        }
    }
    axes
}

/// The parts of a box in other axes on both sides of a cut through its widest side, `part` of the half side off its middle.
fn cut_along(cell: &Cell, part: f64, axes: &[Vec<f64>]) -> (Cell, Cell, IsAbove) {
    let (below, above, j, at) = cut(cell, part);
    let direction = axes[j].clone();
    let is_above = move |x: &[f64]| {
        let along = x.iter().zip(&direction).map(|(x, g)| x * g);
        along.sum::<f64>() >= at
    };
    (below, above, Box::new(is_above))
}

/// Noisy means and counts of the leaves of a halving of the domain's image under a random projection to `reduced` columns.
pub(super) fn projected_partition(
    demand: &Demand,
    domain: &Domain,
    spec: &Spec<'_>,
    reduced: usize,
    session: &mut Session<'_>,
    public: &mut dyn RngCore,
) -> Result<Vec<Weighted>, FitError> {
    let extent = Extent::of(domain);
    let projection = GaussianProjection::new(extent.half.len(), reduced, public);
    let matrix = projection.matrix();
    let axes: Vec<Vec<f64>> = matrix.outer_iter().map(|row| row.to_vec()).collect();
    let root = extent.along(&axes);
    leaves(demand, domain, spec, session, root, |cell| {
        cut_along(cell, 0.0, &axes)
    })
}

/// Length of the domain's half widths along a direction, as if they were independent.
fn spread(direction: &[f64], half: &[f64]) -> f64 {
    let squares = direction.iter().zip(half).map(|(g, h)| (g * h) * (g * h));
    squares.sum::<f64>().sqrt()
}

struct Extent {
    middle: Vec<f64>,
    half: Vec<f64>,
}

impl Extent {
    fn of(domain: &Domain) -> Self {
        let (lo, hi) = domain.corners();
        let sides = || lo.iter().zip(&hi);
        Self {
            middle: sides().map(|(&l, &h)| f64::midpoint(l, h)).collect(),
            half: sides().map(|(&l, &h)| (h - l) / 2.0).collect(),
        }
    }

    /// A box of the domain in other axes: most of the domain lies within; what lies beyond belongs to the outermost parts.
    fn along(&self, axes: &[Vec<f64>]) -> Cell {
        let side = |axis: &Vec<f64>| {
            let center: f64 = axis.iter().zip(&self.middle).map(|(a, m)| a * m).sum();
            let spread = spread(axis, &self.half);
            (center - spread, center + spread)
        };
        axes.iter().map(side).unzip()
    }
}

/// Descends from `root` and releases a mean for each leaf, with its noisy count, the largest first.
///
/// A leaf is a node of the last level, or a node of which no half looked occupied: each record is in one leaf at most.
fn leaves<T>(
    demand: &Demand,
    domain: &Domain,
    spec: &Spec<'_>,
    session: &mut Session<'_>,
    root: T,
    mut cut: impl FnMut(&T) -> (T, T, IsAbove),
) -> Result<Vec<Weighted>, FitError> {
    let Extent { middle, half } = Extent::of(domain);
    let (mut nodes, mut ended) = (everybody(demand, root), Vec::new());
    for _ in 0..spec.levels {
        nodes = descend(
            demand,
            nodes,
            spec.counts,
            spec.limit,
            session,
            &mut ended,
            &mut cut,
        )?;
    }
    nodes.append(&mut ended);
    nodes.sort_by(|a, b| b.count.total_cmp(&a.count));
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
            // The root was not counted: alone, it gives the middle of the domain.
            let mean = |j: usize| cells::original(sums[j] as f64 / node.count, middle[j], half[j]);
            ((0..d).map(mean).collect(), node.count)
        })
        .collect())
}
