//! The exponential mechanism's choice, P(i) ∝ wᵢ·exp(η·sᵢ), for integer scores and a rational η.
//!
//! # How it stays exact
//!
//! Each item gets an integer hᵢ just above its weight Wᵢ = wᵢ·exp(η·(sᵢ − top))·2ᵖ, where top is the best
//! score. An integer drawn uniformly below Σhᵢ names an item i and, within its share, an r uniform on 0..hᵢ;
//! with a lazily drawn fraction U the point r + U is uniform on [0, hᵢ), and the item is taken if the point
//! lies below Wᵢ, else all is drawn anew. So P(i) ∝ hᵢ·(Wᵢ/hᵢ) = Wᵢ. All that floating point has to deliver
//! is hᵢ ≥ Wᵢ and a lower bound that shows r + 1 ≤ Wᵢ without big integers nearly always; integer sums round
//! nothing.

mod fenwick;
mod weight;

use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;
use rand::RngCore;

use self::fenwick::Fenwick;
use self::weight::Weigher;
use super::enclosure::{exp_neg, shift_up};
use super::lazy::LazyUniform;
use super::uniform::below_u128;
use crate::rng::NoiseRng;

/// Draws i with P(i) ∝ wᵢ·exp(η·sᵢ), exactly; `None` if no item has a weight above zero.
///
/// Without `base_weights` each is 1; items that a shorter list leaves out weigh nothing. Takes O(n); draw
/// repeatedly with a [`Selector`].
///
/// Source: McSherry, Talwar, "Mechanism design via differential privacy", FOCS 2007 (the law).
///
/// ```
/// use dp_core::rng::InsecureSeededRng;
/// use dp_core::sampler::exponential;
/// use dashu_ratio::RBig;
///
/// let best = exponential::select(&[0, 1000, 3], &RBig::ONE, None, &mut InsecureSeededRng::new(7));
/// assert_eq!(best, Some(1)); // another item has probability e^-997
/// ```
#[must_use]
pub fn select<R: NoiseRng + ?Sized>(
    scores: &[i64],
    eta: &RBig,
    base_weights: Option<&[u64]>,
    rng: &mut R,
) -> Option<usize> {
    Selector::new(scores, eta, base_weights).select(rng)
}

/// Repeated draws of the exponential mechanism while a few scores change or items leave.
///
/// The law of each draw is that of [`select`] with the current scores and weights. A draw takes O(log n), and
/// so does a change, but for those that call for new fixed-point weights: a score above the highest so far
/// (or below the lowest, for η < 0), or weights that have fallen by a factor of 2⁴⁰/n in all. Those take
/// O(n).
#[derive(Clone, Debug)]
pub struct Selector {
    scores: Vec<i64>,
    /// wᵢ; 0 once removed.
    base: Vec<u64>,
    weigher: Weigher,
    /// hᵢ, kept beside their sums.
    upper: Vec<u64>,
    sums: Fenwick,
    /// Widens the undecided zone: for tests.
    zone: u64,
}

impl Selector {
    /// A selector of the items `0..scores.len()`; weights as in [`select`]. Takes O(n).
    #[must_use]
    pub fn new(scores: &[i64], eta: &RBig, base_weights: Option<&[u64]>) -> Self {
        let base = match base_weights {
            None => vec![1; scores.len()],
            Some(weights) => {
                let padded = weights.iter().copied().chain(std::iter::repeat(0));
                padded.take(scores.len()).collect()
            }
        };
        let mut selector = Self {
            scores: scores.to_vec(),
            base,
            weigher: Weigher::new(eta),
            upper: Vec::new(),
            sums: Fenwick::default(),
            zone: 0,
        };
        selector.rebuild();
        selector
    }

    /// How many items there are, removed ones included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.scores.len()
    }

    /// Whether there are no items at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.scores.is_empty()
    }

    /// The current score of an item, `None` past the end.
    #[must_use]
    pub fn score(&self, item: usize) -> Option<i64> {
        self.scores.get(item).copied()
    }

    /// Takes an item out for good; nothing happens past the end.
    pub fn remove(&mut self, item: usize) {
        if item < self.base.len() {
            self.base[item] = 0;
            self.set_upper(item, 0);
        }
    }

    /// Gives an item a new score; nothing happens past the end.
    pub fn update(&mut self, item: usize, score: i64) {
        if item >= self.scores.len() || self.scores[item] == score {
            return;
        }
        self.scores[item] = score;
        if self.base[item] == 0 {
            return;
        }
        match self.weigher.upper(self.base[item], score) {
            Some(upper) => self.set_upper(item, upper),
            None => self.rebuild(),
        }
    }

    /// One draw; `None` if no item has a weight above zero. The item stays.
    #[must_use]
    pub fn select<R: NoiseRng + ?Sized>(&self, rng: &mut R) -> Option<usize> {
        self.draw(rng)
    }

    /// One draw, after which the item is removed.
    pub fn take<R: NoiseRng + ?Sized>(&mut self, rng: &mut R) -> Option<usize> {
        let item = self.draw(rng)?;
        self.remove(item);
        Some(item)
    }

    pub(crate) fn draw<R: RngCore + ?Sized>(&self, rng: &mut R) -> Option<usize> {
        if self.sums.total() == 0 {
            return None;
        }
        loop {
            let point = below_u128(self.sums.total(), rng);
            let (item, residue) = self.sums.find(point);
            let lower = Weigher::lower(self.upper[item]).saturating_sub(self.zone);
            if residue < u128::from(lower) || self.accept_exactly(item, residue, rng) {
                return Some(item);
            }
        }
    }

    /// Whether r + U < Wᵢ, for an r that the lower bound did not clear.
    #[cold]
    fn accept_exactly<R: RngCore + ?Sized>(&self, item: usize, residue: u128, rng: &mut R) -> bool {
        let gamma = self.weigher.gamma(self.scores[item]);
        let base = UBig::from(self.base[item]);
        // U < Wᵢ − r, with Wᵢ = wᵢ·exp(−γ)·2^p, to `bits` bits. The extra bits of the exponential cover the
        // factors wᵢ < 2^64 and 2^p, so that the gap stays a few units; the bounds hold anyway.
        let extra = 160;
        let drop = extra - 61 + self.weigher.lead();
        LazyUniform::new(0, 0).is_below(rng, |bits| {
            let (lo, hi) = exp_neg(&gamma, bits + extra);
            let residue = IBig::from(residue) << bits;
            let lo = IBig::from((&base * lo) >> drop);
            let hi = IBig::from(shift_up(&base * hi, drop));
            (lo - &residue, hi - &residue)
        })
    }

    fn set_upper(&mut self, item: usize, upper: u64) {
        self.sums.change(item, self.upper[item], upper);
        self.upper[item] = upper;
        // Each live item may be one or two units too heavy: while the total is far above that, next to no
        // draw is rejected.
        if self.sums.total() < (self.len() as u128) << 20 && self.sums.total() > 0 {
            self.rebuild();
        }
    }

    /// New fixed-point weights, relative to the best of the items that are left.
    fn rebuild(&mut self) {
        self.upper = self.weigher.rebase(&self.base, &self.scores);
        self.sums = Fenwick::new(&self.upper);
    }

    /// The same law with each acceptance sent to big integers: for tests.
    #[cfg(test)]
    pub(crate) fn undecided(mut self) -> Self {
        self.zone = u64::MAX;
        self
    }
}

#[cfg(test)]
mod tests;
