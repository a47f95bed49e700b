//! Balls around a point, found by a spatial index over public sites.
//!
//! The index only narrows the search: what lies in a ball is decided by the metric's own distance, so results do not depend on
//! whether there is an index. Its running time depends on the point that is asked for.

use rstar::RTree;
use rstar::primitives::GeomWithData;

use super::Metric;

/// Pictures of more columns are not indexed: a tree would visit nearly all sites.
const MAX_INDEXED_COLUMNS: usize = 6;

/// Fewer sites are scanned.
const MIN_INDEXED_SITES: usize = 64;

/// Added to squared radii: room for squares so small that they have no full precision, for which relative room is none.
const TINY: f64 = 1e-290;

/// Sites under a metric, prepared for ball queries.
pub struct BallIndex<'a, M> {
    metric: &'a M,
    sites: &'a [f64],
    columns: usize,
    tree: Option<Tree>,
}

/// A tree over the sites' pictures.
struct Tree {
    balls: Box<dyn Balls>,
    picture_columns: usize,
    /// A query wider than this scans, which is faster: a quarter of the picture's diagonal.
    widest: f64,
}

/// Spatial trees of a fixed number of columns, behind one door.
trait Balls: Send + Sync {
    fn within(&self, center: &[f64], sq_radius: f64, visit: &mut dyn FnMut(u32));
}

impl<const N: usize> Balls for RTree<GeomWithData<[f64; N], u32>> {
    fn within(&self, center: &[f64], sq_radius: f64, visit: &mut dyn FnMut(u32)) {
        for found in self.locate_within_distance(padded(center), sq_radius) {
            visit(found.data);
        }
    }
}

fn padded<const N: usize>(point: &[f64]) -> [f64; N] {
    let mut out = [0.0; N];
    for (y, &x) in out.iter_mut().zip(point) {
        *y = x;
    }
    out
}

impl<'a, M: Metric> BallIndex<'a, M> {
    /// Prepares the sites, row after row of `columns` finite numbers each.
    pub fn new(metric: &'a M, sites: &'a [f64], columns: usize) -> Self {
        Self {
            metric,
            sites,
            columns,
            tree: Self::plant(metric, sites, columns),
        }
    }

    fn plant(metric: &M, sites: &[f64], columns: usize) -> Option<Tree> {
        if columns == 0 || sites.len() / columns < MIN_INDEXED_SITES {
            return None;
        }
        let picture_columns = metric.picture_columns(columns)?;
        let mut pictures = vec![0.0; sites.len() / columns * picture_columns];
        for (site, out) in sites
            .chunks_exact(columns)
            .zip(pictures.chunks_exact_mut(picture_columns))
        {
            metric.picture(site, out);
        }
        let balls = match picture_columns {
            0 => return None,
            1 | 2 => tree::<2>(&pictures, picture_columns),
            3 => tree::<3>(&pictures, picture_columns),
            4 => tree::<4>(&pictures, picture_columns),
            5..=MAX_INDEXED_COLUMNS => tree::<MAX_INDEXED_COLUMNS>(&pictures, picture_columns),
            _ => return None,
        };
        let sq_diagonal: f64 = (0..picture_columns)
            .map(|j| {
                let column = pictures.iter().skip(j).step_by(picture_columns);
                let (lo, hi) = column.fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), &x| {
                    (if x < lo { x } else { lo }, if x > hi { x } else { hi })
                });
                (hi - lo) * (hi - lo)
            })
            .sum();
        Some(Tree {
            balls,
            picture_columns,
            widest: sq_diagonal.sqrt() / 4.0,
        })
    }

    /// The metric.
    #[must_use]
    pub const fn metric(&self) -> &'a M {
        self.metric
    }

    /// Number of sites.
    #[must_use]
    pub fn len(&self) -> usize {
        self.sites.len() / self.columns.max(1)
    }

    /// Are there no sites?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A site's coordinates.
    ///
    /// # Panics
    /// If there is no such site.
    #[must_use]
    pub fn site(&self, i: usize) -> &'a [f64] {
        &self.sites[i * self.columns..(i + 1) * self.columns]
    }

    /// Shows every site at distance at most `radius` once, with its distance, in no particular order.
    ///
    /// The picture's radius has room for rounding, so that the distance alone decides.
    pub fn within(&self, point: &[f64], radius: f64, mut visit: impl FnMut(usize, f64)) {
        let picture_radius = self.metric.picture_radius(radius, self.columns);
        match &self.tree {
            Some(tree) if picture_radius < tree.widest => {
                let mut center = [0.0; MAX_INDEXED_COLUMNS];
                let center = &mut center[..tree.picture_columns];
                self.metric.picture(point, center);
                tree.balls.within(
                    center,
                    picture_radius * picture_radius + TINY,
                    &mut |site| {
                        let site = site as usize;
                        let distance = self.metric.distance(point, self.site(site));
                        if distance <= radius {
                            visit(site, distance);
                        }
                    },
                );
            }
            _ => {
                for (i, site) in self.sites.chunks_exact(self.columns.max(1)).enumerate() {
                    let distance = self.metric.distance(point, site);
                    if distance <= radius {
                        visit(i, distance);
                    }
                }
            }
        }
    }
}

impl<M: Metric> std::fmt::Debug for BallIndex<'_, M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BallIndex")
            .field("metric", &self.metric.name())
            .field("sites", &self.len())
            .field("indexed", &self.tree.is_some())
            .finish_non_exhaustive()
    }
}

fn tree<const N: usize>(pictures: &[f64], columns: usize) -> Box<dyn Balls> {
    let places = (0_u32..).zip(pictures.chunks_exact(columns));
    let places = places.map(|(i, picture)| GeomWithData::new(padded::<N>(picture), i));
    Box::new(RTree::bulk_load(places.collect()))
}

/// The nearest site, ties to the lowest index, and its distance; `(0, ∞)` without sites.
///
/// `sites` holds rows of `columns` numbers.
#[must_use]
pub fn nearest_site<M: Metric>(
    metric: &M,
    point: &[f64],
    sites: &[f64],
    columns: usize,
) -> (usize, f64) {
    let mut best = (0, f64::INFINITY);
    for (i, site) in sites.chunks_exact(columns.max(1)).enumerate() {
        let distance = metric.distance(point, site);
        if distance < best.1 {
            best = (i, distance);
        }
    }
    best
}
