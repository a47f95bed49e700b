//! Secret labels of records: which block a record falls into, whatever the number of records.

use std::fmt;

use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

use crate::sampler::uniform;
use crate::tape::Edit;

/// Independent uniform labels in `0..blocks`, a function of a secret key and of the record's index alone.
///
/// # Privacy
///
/// Nothing here is released. Each record draws its own label, so one record touches one block whatever the
/// number of records is; a block's seed depends on the block alone.
#[derive(Clone)]
pub struct SecretLabels {
    key: [u8; 32],
    blocks: u64,
    edit: Option<Edit>,
}

impl SecretLabels {
    pub(crate) const fn new(key: [u8; 32], blocks: u64, edit: Option<Edit>) -> Self {
        Self { key, blocks, edit }
    }

    /// The number of blocks.
    #[must_use]
    pub const fn blocks(&self) -> u64 {
        self.blocks
    }

    /// The block of the record with this index.
    #[must_use]
    pub fn label(&self, index: u64) -> u64 {
        // In a replay, records that both data sets share keep their labels.
        let index = self.edit.map_or(index, |edit| edit.original_index(index));
        let mut stream = self.stream(index);
        uniform::below_u64(self.blocks.max(1), &mut stream)
    }

    /// A seed for what is drawn inside a block.
    #[must_use]
    pub fn block_seed(&self, block: u64) -> [u8; 32] {
        // Streams above 2^63 belong to blocks, those below to records.
        let mut stream = self.stream(block | 1 << 63);
        let mut seed = [0; 32];
        stream.fill_bytes(&mut seed);
        seed
    }

    fn stream(&self, number: u64) -> ChaCha12Rng {
        let mut rng = ChaCha12Rng::from_seed(self.key);
        rng.set_stream(number);
        rng
    }
}

impl fmt::Debug for SecretLabels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SecretLabels")
            .field("blocks", &self.blocks)
            .finish_non_exhaustive()
    }
}
