//! Values of a line with how often each occurs.
//!
//! A cluster of millions of points has few different lattice values along an axis: the quality of grid points and sums are as
//! quick on counts as they would be slow on sorted lists.

/// Values in ascending order, each with the number of times it occurs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    counts: Vec<(i64, u64)>,
    len: u64,
}

impl Counted {
    /// Counts values, in any order.
    ///
    /// # Complexity
    ///
    /// O(n) where the values' span is at most a few times n, else O(n log n).
    pub fn new(values: impl Iterator<Item = i64> + Clone) -> Self {
        let (mut low, mut high, mut len) = (i64::MAX, i64::MIN, 0_u64);
        for x in values.clone() {
            low = low.min(x);
            high = high.max(x);
            len += 1;
        }
        if len == 0 {
            return Self::default();
        }
        let counts = if high.abs_diff(low) / 4 <= len {
            by_table(values, low, high)
        } else {
            by_sorting(values)
        };
        Self { counts, len }
    }

    /// How many values there are.
    #[must_use]
    pub const fn len(&self) -> u64 {
        self.len
    }

    /// Whether there are no values.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Values and counts, ascending.
    pub fn iter(&self) -> std::slice::Iter<'_, (i64, u64)> {
        self.counts.iter()
    }

    /// The q smallest values, or all.
    #[must_use]
    pub fn smallest(&self, q: u64) -> Self {
        Self::first(self.counts.iter().copied(), q)
    }

    /// The q largest values, or all.
    #[must_use]
    pub fn largest(&self, q: u64) -> Self {
        let mut largest = Self::first(self.counts.iter().rev().copied(), q);
        largest.counts.reverse();
        largest
    }

    /// With `missing` more values, −`bound` and `bound` in turn; all others lie in between or there.
    pub(super) fn padded(mut self, bound: i64, missing: u64) -> Self {
        let (low, high) = (missing.div_ceil(2), missing / 2);
        match self.counts.first_mut() {
            Some(first) if first.0 == -bound => first.1 += low,
            _ => self.counts.insert(0, (-bound, low)),
        }
        match self.counts.last_mut() {
            Some(last) if last.0 == bound => last.1 += high,
            _ => self.counts.push((bound, high)),
        }
        self.counts.retain(|&(_, n)| n > 0);
        self.len += missing;
        self
    }

    fn first(counts: impl Iterator<Item = (i64, u64)>, q: u64) -> Self {
        let mut first = Self::default();
        for (x, n) in counts {
            let taken = n.min(q - first.len);
            if taken == 0 {
                break;
            }
            first.counts.push((x, taken));
            first.len += taken;
        }
        first
    }
}

impl<'a> IntoIterator for &'a Counted {
    type Item = &'a (i64, u64);
    type IntoIter = std::slice::Iter<'a, (i64, u64)>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

fn by_table(values: impl Iterator<Item = i64>, low: i64, high: i64) -> Vec<(i64, u64)> {
    let span = usize::try_from(high.abs_diff(low)).unwrap_or(0);
    let mut table = vec![0_u64; span + 1];
    for x in values {
        let at = usize::try_from(x.abs_diff(low)).unwrap_or(0);
        table[at.min(span)] += 1;
    }
    let counted = (low..).zip(table);
    counted.filter(|&(_, n)| n > 0).collect()
}

fn by_sorting(values: impl Iterator<Item = i64>) -> Vec<(i64, u64)> {
    let mut sorted: Vec<i64> = values.collect();
    sorted.sort_unstable();
    let runs = sorted.chunk_by(|a, b| a == b);
    runs.map(|run| (run[0], run.len() as u64)).collect()
}
