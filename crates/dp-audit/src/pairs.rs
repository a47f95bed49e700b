//! Neighboring tables that are hard on an algorithm: small, with everything that proofs like to forget.

use dp_core::NeighboringRelation;
use dp_core::tape::Edit;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Records in rows, row after row.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    values: Vec<f64>,
    columns: usize,
}

impl Table {
    /// A table of rows with `columns` values each (at least one); what is left over is dropped.
    #[must_use]
    pub fn new(mut values: Vec<f64>, columns: usize) -> Self {
        let columns = columns.max(1);
        values.truncate(values.len() / columns * columns);
        Self { values, columns }
    }

    /// The rows, in order.
    pub fn rows(&self) -> std::slice::ChunksExact<'_, f64> {
        self.values.chunks_exact(self.columns)
    }

    /// All values, row after row.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Number of columns.
    #[must_use]
    pub const fn columns(&self) -> usize {
        self.columns
    }

    /// Number of rows.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.values.len() / self.columns
    }

    /// Is there no row?
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    fn without(&self, at: usize) -> Self {
        let mut values = self.values.clone();
        values.drain(at * self.columns..(at + 1) * self.columns);
        Self::new(values, self.columns)
    }

    fn with(&self, at: usize, row: &[f64]) -> Self {
        let mut values = self.values.clone();
        values.splice(at * self.columns..at * self.columns, row.iter().copied());
        Self::new(values, self.columns)
    }

    fn replaced(&self, at: usize, row: &[f64]) -> Self {
        let mut values = self.values.clone();
        values[at * self.columns..(at + 1) * self.columns].copy_from_slice(row);
        Self::new(values, self.columns)
    }
}

/// A data set and some of its neighbors: one recording serves them all.
#[derive(Clone, Debug)]
pub struct Group<D> {
    /// What is recorded.
    pub first: D,
    /// What is replayed, and how it differs.
    pub neighbors: Vec<(D, Edit)>,
    /// For the generators of the run: which noise, which public randomness.
    pub seed: u64,
}

/// Groups of neighboring tables under a relation; endless, and the same for the same seed.
#[derive(Clone, Debug)]
pub struct TablePairs {
    columns: usize,
    low: f64,
    high: f64,
    relation: NeighboringRelation,
    most_rows: usize,
    per_group: usize,
    seed: u64,
}

/// What the rows of a table have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// Anywhere in the domain and a little outside.
    Spread,
    /// One point, many times.
    Same,
    /// A few points, many times each: ties and duplicates.
    Few,
    /// Corners of the domain.
    Corners,
    /// Two tight groups, and some empty clusters in between.
    Groups,
    /// Infinities, NaN, zeros of both signs, the largest and smallest floats.
    Odd,
    /// All of these mixed.
    Mixed,
}

const SHAPES: [Shape; 7] = [
    Shape::Spread,
    Shape::Same,
    Shape::Few,
    Shape::Corners,
    Shape::Groups,
    Shape::Odd,
    Shape::Mixed,
];

const ODD: [f64; 10] = [
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::MAX,
    f64::MIN,
    f64::MIN_POSITIVE,
    5e-324,
    0.0,
    -0.0,
    1e-9,
];

impl TablePairs {
    /// Tables of `columns` columns whose public domain is [`low`, `high`] in each, of at most 12 rows, 4 neighbors each.
    #[must_use]
    pub const fn new(
        columns: usize,
        low: f64,
        high: f64,
        relation: NeighboringRelation,
        seed: u64,
    ) -> Self {
        Self {
            columns,
            low,
            high,
            relation,
            most_rows: 12,
            per_group: 4,
            seed,
        }
    }

    /// Sets the most rows of a table.
    #[must_use]
    pub const fn most_rows(mut self, most_rows: usize) -> Self {
        self.most_rows = most_rows;
        self
    }

    /// Sets how many neighbors each table gets.
    #[must_use]
    pub const fn per_group(mut self, per_group: usize) -> Self {
        self.per_group = per_group;
        self
    }

    /// The group of this number.
    #[must_use]
    pub fn group(&self, number: u64) -> Group<Table> {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        rng.set_stream(number);
        let replaces = self.relation == NeighboringRelation::ReplaceOne;
        let least = usize::from(replaces);
        let n = if rng.random_ratio(1, 16) {
            least
        } else {
            rng.random_range(least..=self.most_rows.max(least))
        };
        let shape = SHAPES[rng.random_range(0..SHAPES.len())];
        let first = Table::new(
            (0..n).flat_map(|_| self.row(shape, &mut rng)).collect(),
            self.columns,
        );
        let neighbors = (0..self.per_group)
            .map(|_| self.neighbor(&first, shape, &mut rng))
            .collect();
        Group {
            first,
            neighbors,
            seed: rng.random(),
        }
    }

    fn neighbor(&self, first: &Table, shape: Shape, rng: &mut ChaCha8Rng) -> (Table, Edit) {
        let n = first.len();
        // The record that differs: like the others, or as far from them as can be.
        let other = match rng.random_range(0..4) {
            0 => self.row(shape, rng),
            1 if n > 0 => {
                let like = rng.random_range(0..n);
                first
                    .rows()
                    .nth(like)
                    .map(<[f64]>::to_vec)
                    .unwrap_or_default()
            }
            2 => self.row(Shape::Odd, rng),
            _ => self.row(Shape::Corners, rng),
        };
        let place = |rng: &mut ChaCha8Rng, most: usize| match rng.random_range(0..4) {
            0 => 0,
            1 => most,
            _ => rng.random_range(0..=most),
        };
        if self.relation == NeighboringRelation::ReplaceOne {
            let at = place(rng, n - 1);
            (first.replaced(at, &other), Edit::Replaced(at as u64))
        } else if n > 0 && rng.random() {
            let at = place(rng, n - 1);
            (first.without(at), Edit::Removed(at as u64))
        } else {
            let at = place(rng, n);
            (first.with(at, &other), Edit::Inserted(at as u64))
        }
    }

    fn row(&self, shape: Shape, rng: &mut ChaCha8Rng) -> Vec<f64> {
        let width = self.high - self.low;
        let shape = if shape == Shape::Mixed {
            SHAPES[rng.random_range(0..SHAPES.len() - 1)]
        } else {
            shape
        };
        // A row of a few: all coordinates follow from one number.
        let which = rng.random_range(0..3_u8);
        let value = |rng: &mut ChaCha8Rng| match shape {
            Shape::Spread | Shape::Mixed => self.low + width * rng.random_range(-0.1..1.1),
            Shape::Same => self.low + 0.25 * width,
            Shape::Few => self.low + width * (0.5 + 0.25 * (f64::from(which) - 1.0)),
            Shape::Corners => {
                if rng.random() {
                    self.low
                } else {
                    self.high
                }
            }
            Shape::Groups => {
                let center = if which == 0 { 0.1 } else { 0.85 };
                self.low + width * (center + rng.random_range(-0.01..0.01))
            }
            Shape::Odd => ODD[rng.random_range(0..ODD.len())],
        };
        (0..self.columns).map(|_| value(rng)).collect()
    }
}

impl IntoIterator for TablePairs {
    type Item = Group<Table>;
    type IntoIter = Groups;

    fn into_iter(self) -> Groups {
        Groups {
            pairs: self,
            number: 0,
        }
    }
}

impl TablePairs {
    /// The first `count` groups.
    pub fn take(self, count: usize) -> std::iter::Take<Groups> {
        self.into_iter().take(count)
    }
}

/// The endless iterator of [`TablePairs`].
#[derive(Clone, Debug)]
pub struct Groups {
    pairs: TablePairs,
    number: u64,
}

impl Iterator for Groups {
    type Item = Group<Table>;

    fn next(&mut self) -> Option<Group<Table>> {
        let group = self.pairs.group(self.number);
        self.number += 1;
        Some(group)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn differs_as_it_says(first: &Table, second: &Table, edit: Edit) {
        let (a, b): (Vec<_>, Vec<_>) = (first.rows().collect(), second.rows().collect());
        let same = |x: &[&[f64]], y: &[&[f64]]| {
            x.len() == y.len()
                && x.iter()
                    .flat_map(|row| row.iter())
                    .map(|v| v.to_bits())
                    .eq(y.iter().flat_map(|row| row.iter()).map(|v| v.to_bits()))
        };
        let (at, skip_a, skip_b) = match edit {
            Edit::Removed(at) => (at, 1, 0),
            Edit::Inserted(at) => (at, 0, 1),
            Edit::Replaced(at) => (at, 1, 1),
        };
        let at = usize::try_from(at).expect("an index of a small table");
        assert!(same(&a[..at], &b[..at]) && same(&a[at + skip_a..], &b[at + skip_b..]));
    }

    #[test]
    fn neighbors_differ_in_one_record_and_cover_what_they_say() {
        for relation in NeighboringRelation::ALL {
            let (mut empty, mut nan, mut border, mut last) = (0, 0, 0, 0);
            for group in TablePairs::new(2, -1.0, 1.0, relation, 3).take(500) {
                empty += usize::from(group.first.is_empty());
                for (neighbor, edit) in &group.neighbors {
                    differs_as_it_says(&group.first, neighbor, *edit);
                    nan += usize::from(neighbor.values().iter().any(|x| x.is_nan()));
                    border += usize::from(neighbor.values().iter().any(|x| x.abs() >= 1.0));
                    last += usize::from(
                        *edit == Edit::Removed((group.first.len() as u64).wrapping_sub(1)),
                    );
                }
            }
            let bounded = relation == NeighboringRelation::ReplaceOne;
            assert!((empty > 10) != bounded && nan > 200 && border > 500);
            assert!(bounded || last > 100);
        }
    }

    #[test]
    fn groups_repeat_for_a_seed() {
        let pairs = TablePairs::new(1, 0.0, 1.0, NeighboringRelation::AddRemove, 5);
        let (first, again) = (pairs.group(9), pairs.group(9));
        assert_eq!(format!("{first:?}"), format!("{again:?}"));
    }
}
