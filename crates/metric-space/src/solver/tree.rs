//! Lloyd steps in few columns: a k-d tree hands whole boxes of points to a center at once.
//!
//! Every node knows its bounding box and the weighted sum of its points. A step goes down the tree
//! with a list of candidates; a center that is farther than another one from every corner of a box
//! leaves the list, and where one is left the whole node is added to it. So a step costs about as
//! much as there are points near the borders of clusters, however far centers moved, for weights of
//! any sign.
//!
//! # Source
//! Kanungo, Mount, Netanyahu, Piatko, Silverman, Wu (2002), "An efficient k-means clustering
//! algorithm: analysis and implementation".

#[cfg(test)]
mod tests;

use rayon::prelude::*;

use super::lloyd::Sums;
use super::points::Points;
use crate::distance::squared_in;

/// Most columns: with more, boxes tell little.
const MAX_DIMENSION: usize = 4;

/// Most points of a leaf.
const LEAF: usize = 16;

/// Fewest points of a subtree that is worth a task of its own. Fixed, as is the tree, so that the
/// order of float sums does not depend on the number of threads.
const TASK: usize = 1 << 13;

/// A tree over points that stand in its order.
pub(super) enum Tree {
    One(Nodes<1>),
    Two(Nodes<2>),
    Three(Nodes<3>),
    Four(Nodes<MAX_DIMENSION>),
}

impl Tree {
    /// Brings points into the tree's order and returns the tree and, for each place, the index that
    /// its point had; nothing if the points have too many columns.
    pub(super) fn build(points: &mut Points<'_>) -> Option<(Self, Vec<usize>)> {
        let mut order: Vec<usize> = (0..points.len()).collect();
        let tree = match points.dimension() {
            1 => Self::One(Nodes::new(points, &mut order)),
            2 => Self::Two(Nodes::new(points, &mut order)),
            3 => Self::Three(Nodes::new(points, &mut order)),
            4 => Self::Four(Nodes::new(points, &mut order)),
            _ => return None,
        };
        points.reorder(&order);
        Some((tree, order))
    }

    /// Gives each of the points, which must stand in the tree's order, to its nearest center.
    pub(super) fn sums(&self, points: &Points<'_>, centers: &[f64]) -> Sums {
        match self {
            Self::One(nodes) => nodes.sums(points, centers),
            Self::Two(nodes) => nodes.sums(points, centers),
            Self::Three(nodes) => nodes.sums(points, centers),
            Self::Four(nodes) => nodes.sums(points, centers),
        }
    }
}

struct Node<const D: usize> {
    lo: [f64; D],
    hi: [f64; D],
    /// Σ w·x and Σ w.
    weighted: [f64; D],
    mass: f64,
    /// Its points stand from here to there.
    start: usize,
    end: usize,
    /// Index of the second child; the first follows the node. A leaf has none.
    second: Option<usize>,
}

/// Nodes, each before its children.
pub(super) struct Nodes<const D: usize> {
    nodes: Vec<Node<D>>,
}

impl<const D: usize> Nodes<D> {
    fn new(points: &Points<'_>, order: &mut [usize]) -> Self {
        let mut tree = Self { nodes: Vec::new() };
        if !order.is_empty() {
            let (x, _) = points.coordinates().as_chunks::<D>();
            tree.grow(x, points, order, 0);
        }
        tree
    }

    /// Appends the tree of the points in `order`, which stand from `start` on; its root's index.
    fn grow(
        &mut self,
        x: &[[f64; D]],
        points: &Points<'_>,
        order: &mut [usize],
        start: usize,
    ) -> usize {
        let index = self.nodes.len();
        let mut node = Node {
            lo: x[order[0]],
            hi: x[order[0]],
            weighted: [0.0; D],
            mass: 0.0,
            start,
            end: start + order.len(),
            second: None,
        };
        for &i in &*order {
            let w = points.weight(i);
            node.mass += w;
            for (t, &v) in x[i].iter().enumerate() {
                node.weighted[t] += w * v;
                if v < node.lo[t] {
                    node.lo[t] = v;
                }
                if v > node.hi[t] {
                    node.hi[t] = v;
                }
            }
        }
        let width = |t: usize| node.hi[t] - node.lo[t];
        let widest = (1..D).fold(0, |a, b| if width(b) > width(a) { b } else { a });
        self.nodes.push(node);
        if order.len() > LEAF {
            let half = order.len() / 2;
            // Equal coordinates by index: one tree for one set of points.
            order.select_nth_unstable_by(half, |&i, &j| {
                x[i][widest].total_cmp(&x[j][widest]).then(i.cmp(&j))
            });
            let (low, high) = order.split_at_mut(half);
            self.grow(x, points, low, start);
            let second = self.grow(x, points, high, start + half);
            self.nodes[index].second = Some(second);
        }
        index
    }

    fn sums(&self, points: &Points<'_>, centers: &[f64]) -> Sums {
        let (centers, _) = centers.as_chunks::<D>();
        let k = centers.len();
        let all: Vec<u32> = (0_u32..).take(k).collect();
        // Large subtrees first, down to tasks; nothing is added on the way but whole nodes.
        let mut pass = Pass::new(self, points, centers);
        let mut tasks = Vec::new();
        if !self.nodes.is_empty() {
            pass.candidates = all;
            pass.visit(0, 0, Some(&mut tasks));
        }
        let parts: Vec<Sums> = tasks
            .into_par_iter()
            .map(|(node, candidates)| {
                let mut pass = Pass::new(self, points, centers);
                pass.candidates = candidates;
                pass.visit(node, 0, None);
                pass.sums
            })
            .collect();
        let mut total = pass.sums;
        for part in &parts {
            total.add(part);
        }
        total
    }
}

/// One walk down a subtree.
struct Pass<'a, const D: usize> {
    nodes: &'a [Node<D>],
    x: &'a [[f64; D]],
    points: &'a Points<'a>,
    centers: &'a [[f64; D]],
    /// A stack of lists of candidates, in increasing order each.
    candidates: Vec<u32>,
    sums: Sums,
}

impl<'a, const D: usize> Pass<'a, D> {
    fn new(tree: &'a Nodes<D>, points: &'a Points<'_>, centers: &'a [[f64; D]]) -> Self {
        Self {
            nodes: &tree.nodes,
            x: points.coordinates().as_chunks::<D>().0,
            points,
            centers,
            candidates: Vec::new(),
            sums: Sums::new(centers.len(), D),
        }
    }

    /// Visits a node whose candidates are the top of the stack, from `from` on. With a list of
    /// tasks, subtrees that are small enough are put there instead.
    fn visit(&mut self, index: usize, from: usize, mut tasks: Option<&mut Vec<(usize, Vec<u32>)>>) {
        let node = &self.nodes[index];
        let to = self.candidates.len();
        if let Some(tasks) = &mut tasks
            && node.end - node.start <= TASK
        {
            tasks.push((index, self.candidates[from..].to_vec()));
            return;
        }
        let best = self.nearest_to_middle(node, from, to);
        for at in from..to {
            let j = self.candidates[at];
            if j == best || !self.is_farther_everywhere(node, j, best) {
                self.candidates.push(j);
            }
        }
        if self.candidates.len() - to == 1 {
            self.sums.add_to(best as usize, &node.weighted, node.mass);
        } else if let Some(second) = node.second {
            self.visit(index + 1, to, tasks.as_deref_mut());
            self.visit(second, to, tasks);
        } else {
            for i in node.start..node.end {
                let own = self.nearest(&self.x[i], to);
                let w = self.points.weight(i);
                self.sums.add_to(own, &self.x[i].map(|x| w * x), w);
            }
        }
        self.candidates.truncate(to);
    }

    fn nearest_to_middle(&self, node: &Node<D>, from: usize, to: usize) -> u32 {
        let middle: [f64; D] = std::array::from_fn(|t| f64::midpoint(node.lo[t], node.hi[t]));
        let (mut best, mut least) = (self.candidates[from], f64::INFINITY);
        for &j in &self.candidates[from..to] {
            let sq = squared_in(&middle, &self.centers[j as usize]);
            if sq < least {
                (best, least) = (j, sq);
            }
        }
        best
    }

    /// Is center `j` at least as far as center `best` from every point of the box? It is if it is
    /// from the corner that lies farthest in the direction from `best` to `j`.
    fn is_farther_everywhere(&self, node: &Node<D>, j: u32, best: u32) -> bool {
        let (a, b) = (&self.centers[j as usize], &self.centers[best as usize]);
        let corner = std::array::from_fn(|t| if a[t] > b[t] { node.hi[t] } else { node.lo[t] });
        squared_in(&corner, a) >= squared_in(&corner, b)
    }

    /// The nearest of the top candidates, ties to the lowest index.
    fn nearest(&self, x: &[f64; D], from: usize) -> usize {
        let (mut best, mut least) = (self.candidates[from], f64::INFINITY);
        for &j in &self.candidates[from..] {
            let sq = squared_in(x, &self.centers[j as usize]);
            if sq < least {
                (best, least) = (j, sq);
            }
        }
        best as usize
    }
}
