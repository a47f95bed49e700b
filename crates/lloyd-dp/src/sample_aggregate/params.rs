//! Parameters of sample and aggregate, checked once.

use dp_core::Budget;

use super::fit::SampleAggregate;
use super::order::CenterOrder;
use crate::error::ParamsError;
use crate::memory::check_clusters;

/// Most blocks: a noisy size may be huge, and every block takes memory.
pub const MAX_BLOCKS: u64 = 1 << 20;

/// Most numbers in the centers of all blocks, 256 MiB: a noisy size must not decide how much memory is taken.
const MAX_NUMBERS: u64 = 1 << 26;

/// Most numbers in the centers of one block.
const MAX_NUMBERS_PER_BLOCK: u64 = 1 << 22;

/// Most blocks for k clusters in d columns: a public number.
pub(super) fn most_blocks(n_clusters: usize, d: usize) -> Result<u64, ParamsError> {
    let numbers = (n_clusters as u64).saturating_mul(d as u64).max(1);
    if numbers > MAX_NUMBERS_PER_BLOCK {
        return Err(ParamsError::CenterMemory {
            numbers,
            most: MAX_NUMBERS_PER_BLOCK,
        });
    }
    Ok((MAX_NUMBERS / numbers).min(MAX_BLOCKS))
}

/// How many blocks, at most [`MAX_BLOCKS`], and at most as many as have centers of 256 MiB together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BlockRule {
    /// N to this power (`GkM`: 0.4).
    Power(f64),
    /// N/(factor·k): blocks of about factor·k records (`GkM-3K`: 3).
    SizeFactor(f64),
    /// This many.
    Fixed(u64),
}

impl BlockRule {
    /// The number of blocks for a public or noisy size, at least 1.
    #[must_use]
    pub fn blocks(self, n: f64, n_clusters: usize) -> u64 {
        let blocks = match self {
            Self::Power(power) => n.powf(power),
            Self::SizeFactor(factor) => n / (factor * n_clusters as f64),
            Self::Fixed(blocks) => return blocks.clamp(1, MAX_BLOCKS),
        };
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "`as` saturates, and a NaN becomes 0"
        )]
        let blocks = blocks.floor() as u64;
        blocks.clamp(1, MAX_BLOCKS)
    }
}

/// Unchecked parameters of sample and aggregate; [`check`](Self::check) turns them into a [`SampleAggregate`].
#[derive(Clone, Debug, PartialEq)]
#[must_use = "parameters do nothing until `check` is called"]
pub struct SampleAggregateParams {
    pub(super) n_clusters: usize,
    pub(super) budget: Budget,
    pub(super) blocks: BlockRule,
    pub(super) order: CenterOrder,
    pub(super) quantiles: [f64; 2],
    pub(super) n_hint: Option<u64>,
}

impl SampleAggregateParams {
    /// `GkM`: N^0.4 blocks, quartiles, centers ordered by their first coordinate.
    pub const fn gkm(n_clusters: usize, budget: Budget) -> Self {
        Self {
            n_clusters,
            budget,
            blocks: BlockRule::Power(0.4),
            order: CenterOrder::FirstCoordinate,
            quantiles: [0.25, 0.75],
            n_hint: None,
        }
    }

    /// `GkM-3K`: blocks of about 3k records.
    pub fn gkm_3k(n_clusters: usize, budget: Budget) -> Self {
        Self {
            blocks: BlockRule::SizeFactor(3.0),
            ..Self::gkm(n_clusters, budget)
        }
    }

    /// Sets how many blocks there are.
    pub const fn blocks(mut self, blocks: BlockRule) -> Self {
        self.blocks = blocks;
        self
    }

    /// Sets how the centers of a block are ordered.
    pub fn order(mut self, order: CenterOrder) -> Self {
        self.order = order;
        self
    }

    /// Sets the two quantiles of the blocks' centers that bound a coordinate's range (default 0.25, 0.75).
    pub const fn quantiles(mut self, quantiles: [f64; 2]) -> Self {
        self.quantiles = quantiles;
        self
    }

    /// Sets the public number of records; without it 2 % of ε go to a noisy count under add-remove.
    pub const fn n_hint(mut self, n_hint: Option<u64>) -> Self {
        self.n_hint = n_hint;
        self
    }

    /// Most blocks in d columns.
    pub(super) fn most_blocks(&self, d: usize) -> Result<u64, ParamsError> {
        most_blocks(self.n_clusters, d)
    }

    /// Checks every field once.
    ///
    /// # Errors
    ///
    /// The [`ParamsError`] of the first field that is out of range.
    pub fn check(self) -> Result<SampleAggregate, ParamsError> {
        let Self {
            n_clusters,
            budget: _, // checked when it was made
            blocks,
            order,
            quantiles,
            n_hint,
        } = &self;
        check_clusters(*n_clusters)?;
        match *blocks {
            BlockRule::Power(got) if !(got > 0.0 && got <= 1.0) => {
                return Err(ParamsError::Blocks { got });
            }
            BlockRule::SizeFactor(got) if !(got > 0.0 && got.is_finite()) => {
                return Err(ParamsError::Blocks { got });
            }
            BlockRule::Fixed(got) if !(1..=MAX_BLOCKS).contains(&got) => {
                return Err(ParamsError::Blocks { got: got as f64 });
            }
            _ => {}
        }
        if let CenterOrder::Reference(centers) = order
            && (centers.nrows() != *n_clusters || !centers.iter().all(|x| x.is_finite()))
        {
            return Err(ParamsError::Reference {
                expected: *n_clusters,
            });
        }
        let [low, high] = *quantiles;
        if !(0.0 <= low && low < high && high <= 1.0) {
            return Err(ParamsError::Quantiles { low, high });
        }
        if *n_hint == Some(0) {
            return Err(ParamsError::SizeHint);
        }
        Ok(SampleAggregate { params: self })
    }
}
