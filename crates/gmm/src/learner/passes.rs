//! What a learner may ask of the records: two statistics of clusters around public centers, each one pass.
//!
//! # Privacy
//!
//! A record belongs to the cluster whose public center is nearest, and everything that it adds depends on it and on public
//! values alone. One record more or less therefore moves the statistics of one cluster by the record's own term:
//!
//! * cells: one count by 1;
//! * moments, with w the record's whitened difference, an integer vector of length at most G: the count by 1, the sum by w with |w|
//!   ≤ G, the products by the upper triangle of wwᵀ, of squared length ½(|w|⁴ + Σ wⱼ⁴) ≤ G⁴.
//!
//! A replaced record takes v away and adds w, in one cluster or in two: the counts move by √2 at most in length, sums by |w − v| ≤ 2G,
//! and products by |w|⁴ + |v|⁴ − 2·½[(w·v)² + Σ wⱼ²vⱼ²] ≤ 2G⁴ in squared length, the inner product being at least 0.

use dp_core::NeighboringRelation;
use dp_core::sensitivity::{L2Sensitivity, SensitivityError};
use dp_core::session::SecretLabels;
use metric_space::nearest::PackedCenters;
use metric_space::{Frame, LatticeBlock, LatticeSource, SourceError};
use ndarray::{Array1, Array2, ArrayView2};

/// G: the integer length at which whitened differences are clipped. Sums of products stay in 64 bits up to 2^35 records.
pub(crate) const CLIP_UNITS: i32 = 1 << 14;

/// How a learner looks at a cluster: public.
#[derive(Clone, Debug, PartialEq)]
pub struct View {
    /// The cluster's center, scaled coordinates, `d` numbers.
    pub center: Array1<f64>,
    /// What a difference to the center is multiplied by, shape `(d, d)`; a vector of length 1 is where clipping starts.
    pub map: Array2<f64>,
}

/// Integer moments of all clusters: private.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterMoments {
    /// `k` numbers of records.
    pub counts: Vec<i64>,
    /// `k·d` sums of whitened differences, in units of 1/G.
    pub sums: Vec<i64>,
    /// `k·d(d + 1)/2` sums of products, upper triangle row by row, in units of 1/G².
    pub products: Vec<i64>,
}

impl ClusterMoments {
    fn new(k: usize, d: usize) -> Self {
        Self {
            counts: vec![0; k],
            sums: vec![0; k * d],
            products: vec![0; k * triangle(d)],
        }
    }

    fn merge(&mut self, part: &Self) {
        let pairs = [
            (&mut self.counts, &part.counts),
            (&mut self.sums, &part.sums),
            (&mut self.products, &part.products),
        ];
        for (total, part) in pairs {
            total
                .iter_mut()
                .zip(part)
                .for_each(|(total, part)| *total += part);
        }
    }
}

/// d(d + 1)/2.
pub(crate) const fn triangle(d: usize) -> usize {
    d * (d + 1) / 2
}

/// How far one unit moves a statistic in Euclidean length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moved {
    /// Counts of clusters or of cells.
    Counts,
    /// Sums of clipped vectors.
    Sums,
    /// Sums of products of clipped vectors.
    Products,
}

impl Moved {
    /// The sensitivity under a relation: see the module.
    pub(crate) fn sensitivity(
        self,
        relation: NeighboringRelation,
    ) -> Result<L2Sensitivity, SensitivityError> {
        let length = u128::from(CLIP_UNITS.unsigned_abs());
        let (add, replace) = match self {
            Self::Counts => (1, 2),
            Self::Sums => (length.pow(2), 4 * length.pow(2)),
            Self::Products => (length.pow(4), 2 * length.pow(4)),
        };
        let add = dp_core::planted!("gmm-products-unscaled": if self == Self::Products { length.pow(2) } else { add }; add);
        let replace = dp_core::planted!("gmm-replace-is-add": add; replace);
        L2Sensitivity::from_squared(match relation {
            NeighboringRelation::AddRemove => add,
            NeighboringRelation::ReplaceOne => replace,
        })
    }
}

/// The records, as learners see them: through statistics whose sensitivities the module states.
pub trait ClusterPasses {
    /// Domain and lattice.
    fn frame(&self) -> &Frame;

    /// Numbers of records by cluster and cell, `k·cells` integers; `cell` says where a difference to a center falls (any index; the
    /// last cell takes what is beyond).
    ///
    /// # Errors
    ///
    /// [`SourceError`] if the records cannot be read.
    fn cells(
        &self,
        views: &[View],
        cells: usize,
        cell: &(dyn Fn(usize, &[f64]) -> usize + Sync),
    ) -> Result<Vec<i64>, SourceError>;

    /// Counts, sums and products of whitened and clipped differences.
    ///
    /// # Errors
    ///
    /// [`SourceError`] if the records cannot be read.
    fn moments(&self, views: &[View]) -> Result<ClusterMoments, SourceError>;
}

/// Passes over a source, or over those of its records that have certain secret labels.
#[derive(Debug)]
pub struct Passes<'a, S> {
    source: &'a S,
    part: Option<Part>,
}

impl<'a, S: LatticeSource> Passes<'a, S> {
    /// Passes over `source`.
    pub const fn new(source: &'a S) -> Self {
        Self { source, part: None }
    }

    /// Passes over the records of `source` whose label is at least `first`.
    ///
    /// # Privacy
    ///
    /// A label is a record's own, so a record takes part or does not, whatever the others are.
    pub const fn labeled(source: &'a S, labels: SecretLabels, first: u64) -> Self {
        Self {
            source,
            part: Some(Part { labels, first }),
        }
    }
}

/// Which records take part, by secret labels.
#[derive(Debug)]
struct Part {
    labels: SecretLabels,
    first: u64,
}

impl<S: LatticeSource> ClusterPasses for Passes<'_, S> {
    fn frame(&self) -> &Frame {
        self.source.frame()
    }

    fn cells(
        &self,
        views: &[View],
        cells: usize,
        cell: &(dyn Fn(usize, &[f64]) -> usize + Sync),
    ) -> Result<Vec<i64>, SourceError> {
        let Some(packed) = pack(self.frame(), views) else {
            return Ok(vec![0; views.len() * cells]);
        };
        self.source.fold(
            || vec![0_i64; views.len() * cells],
            |counts, block| {
                for_each(
                    &packed,
                    views,
                    block,
                    self.part.as_ref(),
                    |label, difference| {
                        let at = cell(label, difference).min(cells - 1);
                        counts[label * cells + at] += 1;
                    },
                );
            },
            |total, part| {
                total
                    .iter_mut()
                    .zip(part)
                    .for_each(|(total, part)| *total += part);
            },
        )
    }

    fn moments(&self, views: &[View]) -> Result<ClusterMoments, SourceError> {
        let (k, d) = (views.len(), self.frame().dimension());
        let Some(packed) = pack(self.frame(), views) else {
            return Ok(ClusterMoments::new(k, d));
        };
        let columns: Vec<Vec<f64>> = views.iter().map(columns_in_units).collect();
        let (moments, ..) = self.source.fold(
            || (ClusterMoments::new(k, d), vec![0.0; d], vec![0; d]),
            |(moments, white, units), block| {
                for_each(
                    &packed,
                    views,
                    block,
                    self.part.as_ref(),
                    |label, difference| {
                        whiten(&columns[label], difference, white);
                        clip(white, units);
                        add(moments, label, units);
                    },
                );
            },
            |total, part| total.0.merge(&part.0),
        )?;
        Ok(moments)
    }
}

/// Public centers in the form that the kernel of nearest centers needs.
fn pack(frame: &Frame, views: &[View]) -> Option<PackedCenters<f32>> {
    let floats: Vec<f32> = views
        .iter()
        .flat_map(|view| frame.center_to_f32(&view.center.to_vec()))
        .collect();
    let shaped = ArrayView2::from_shape((views.len(), frame.dimension()), &floats).ok()?;
    PackedCenters::new(shaped).ok()
}

/// Labels a block and shows the label of each record that takes part and its difference to the center.
fn for_each(
    packed: &PackedCenters<f32>,
    views: &[View],
    block: &LatticeBlock<'_>,
    part: Option<&Part>,
    mut visit: impl FnMut(usize, &[f64]),
) {
    let mut labels = vec![0; block.len()];
    packed.assign(block.rows, &mut labels);
    let mut difference = vec![0.0; block.dimension];
    for (i, &label) in labels.iter().enumerate() {
        let takes_part = |part: &Part| part.labels.label(block.first + i as u64) >= part.first;
        if !part.is_none_or(takes_part) {
            continue;
        }
        let label = label as usize;
        for ((x, &value), c) in difference
            .iter_mut()
            .zip(block.row(i))
            .zip(&views[label].center)
        {
            *x = f64::from(value) - c;
        }
        visit(label, &difference);
    }
}

/// G·map, column by column.
fn columns_in_units(view: &View) -> Vec<f64> {
    view.map
        .t()
        .iter()
        .map(|x| x * f64::from(CLIP_UNITS))
        .collect()
}

/// `white` = map·difference, from the map's columns: the same operations for every record.
fn whiten(columns: &[f64], difference: &[f64], white: &mut [f64]) {
    white.fill(0.0);
    for (column, &x) in columns.chunks_exact(white.len()).zip(difference) {
        for (w, &m) in white.iter_mut().zip(column) {
            *w += m * x;
        }
    }
}

/// Shortens to length G and rounds toward zero; the integer result is no longer than G, exactly.
fn clip(white: &[f64], units: &mut [i32]) {
    let bound = f64::from(CLIP_UNITS);
    let squared: f64 = white.iter().map(|x| x * x).sum();
    let factor = if squared > bound * bound {
        bound / squared.sqrt()
    } else {
        1.0
    };
    let factor = dp_core::planted!("gmm-clip-unused": 1.0; factor);
    for (u, &x) in units.iter_mut().zip(white) {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "toward zero is what is wanted; `as` saturates"
        )]
        let cut = (x * factor) as i32;
        *u = cut;
    }
    dp_core::planted!("gmm-clip-unused": (); shorten(units));
}

/// Takes single units off the longest coordinates until the length is at most G: the float computation above may be a last bit too long.
fn shorten(units: &mut [i32]) {
    let bound = i64::from(CLIP_UNITS) * i64::from(CLIP_UNITS);
    for unit in &mut *units {
        *unit = (*unit).clamp(-CLIP_UNITS, CLIP_UNITS);
    }
    while units
        .iter()
        .map(|&x| i64::from(x) * i64::from(x))
        .sum::<i64>()
        > bound
    {
        let mut longest = 0;
        for j in 1..units.len() {
            if units[j].abs() > units[longest].abs() {
                longest = j;
            }
        }
        units[longest] -= units[longest].signum();
    }
}

fn add(moments: &mut ClusterMoments, label: usize, units: &[i32]) {
    let d = units.len();
    moments.counts[label] += 1;
    let sums = &mut moments.sums[label * d..(label + 1) * d];
    for (sum, &x) in sums.iter_mut().zip(units) {
        *sum += i64::from(x);
    }
    let size = triangle(d);
    let mut products = &mut moments.products[label * size..(label + 1) * size];
    for (i, &x) in units.iter().enumerate() {
        let (row, rest) = products.split_at_mut(d - i);
        for (product, &y) in row.iter_mut().zip(&units[i..]) {
            *product += i64::from(x) * i64::from(y);
        }
        products = rest;
    }
}

#[cfg(test)]
mod tests;
