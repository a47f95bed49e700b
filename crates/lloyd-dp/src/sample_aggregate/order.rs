//! A canonical order of the centers of a block, so that centers of different blocks can be averaged.

use ndarray::Array2;

/// How the k centers of a block are ordered: by a rule that looks at nothing but them and public values.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum CenterOrder {
    /// By the first coordinate, ties by the next ones (GUPT).
    #[default]
    FirstCoordinate,
    /// Matched to public centers that are spread over the domain (sphere packing, drawn from public randomness), as to a
    /// [`Reference`](Self::Reference).
    Spread,
    /// Matched to these public or released centers (scaled, shape (k, d)): the closest pair first, then the closest of what
    /// is left, and so on.
    Reference(Array2<f64>),
}

impl CenterOrder {
    /// The name in models: `first-coordinate`, `spread` or `reference`.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::FirstCoordinate => "first-coordinate",
            Self::Spread => "spread",
            Self::Reference(_) => "reference",
        }
    }

    /// The centers of a block, given in lattice units, in canonical order.
    pub(super) fn arrange(
        &self,
        mut centers: Vec<Vec<i32>>,
        reference: &[Vec<i32>],
    ) -> Vec<Vec<i32>> {
        match self {
            Self::FirstCoordinate => {
                centers.sort_unstable();
                centers
            }
            Self::Spread | Self::Reference(_) => {
                let mut pairs: Vec<(i64, usize, usize)> = Vec::with_capacity(centers.len().pow(2));
                for (place, target) in reference.iter().enumerate() {
                    for (from, center) in centers.iter().enumerate() {
                        pairs.push((sq_distance(target, center), place, from));
                    }
                }
                pairs.sort_unstable();
                let mut placed: Vec<Option<usize>> = vec![None; reference.len()];
                let mut used = vec![false; centers.len()];
                for (_, place, from) in pairs {
                    if placed[place].is_none() && !used[from] {
                        placed[place] = Some(from);
                        used[from] = true;
                    }
                }
                placed
                    .into_iter()
                    .zip(reference)
                    .map(|(from, target)| {
                        from.map_or_else(|| target.clone(), |i| centers[i].clone())
                    })
                    .collect()
            }
        }
    }
}

/// Squared distance in squared lattice units, exactly below 2^63.
fn sq_distance(a: &[i32], b: &[i32]) -> i64 {
    a.iter().zip(b).fold(0_i64, |sum, (a, b)| {
        let difference = i64::from(*a) - i64::from(*b);
        sum.saturating_add(difference * difference)
    })
}
