//! Prefix sums of integers under single changes (Fenwick 1994).

/// Sums of `u64` values in `u128`, which 2⁶⁴ items can't overflow.
#[derive(Clone, Debug, Default)]
pub(super) struct Fenwick {
    /// Entry i (from 1) holds the sum of the values in (i − lowbit(i), i].
    tree: Vec<u128>,
    total: u128,
}

impl Fenwick {
    pub(super) fn new(values: &[u64]) -> Self {
        let mut tree = vec![0_u128; values.len() + 1];
        for (i, &value) in (1..).zip(values) {
            tree[i] += u128::from(value);
            let parent = i + lowbit(i);
            if parent < tree.len() {
                tree[parent] += tree[i];
            }
        }
        Self {
            total: values.iter().map(|&value| u128::from(value)).sum(),
            tree,
        }
    }

    pub(super) const fn total(&self) -> u128 {
        self.total
    }

    /// Turns the value at `index` from `old`, which it must be, into `new`.
    pub(super) fn change(&mut self, index: usize, old: u64, new: u64) {
        self.total = self.total - u128::from(old) + u128::from(new);
        let mut i = index + 1;
        while i < self.tree.len() {
            self.tree[i] = self.tree[i] - u128::from(old) + u128::from(new);
            i += lowbit(i);
        }
    }

    /// The index whose share of 0..total holds `point`, and how far into the share it lies.
    ///
    /// `point` must lie below the total. A value of zero has no share.
    pub(super) fn find(&self, point: u128) -> (usize, u128) {
        let mut rest = point;
        let mut found = 0;
        let mut step = 1 << (usize::BITS - 1 - self.tree.len().leading_zeros());
        while step > 0 {
            let next = found + step;
            if next < self.tree.len() && self.tree[next] <= rest {
                rest -= self.tree[next];
                found = next;
            }
            step >>= 1;
        }
        (found, rest)
    }
}

const fn lowbit(i: usize) -> usize {
    i & i.wrapping_neg()
}

#[cfg(test)]
mod tests;
