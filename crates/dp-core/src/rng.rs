//! The one door to randomness: what may produce private noise.
//!
//! Noise is only as secret as its generator. [`SecureRng`] is `ChaCha20` seeded by the operating system
//! and is what releases are made with. [`InsecureSeededRng`] is the same cipher from a number that
//! somebody knows: for tests and reproducible research, and each release made with it says so.

use std::fmt;

use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use zeroize::Zeroize;

/// A source of secret randomness. Sealed: only generators of this module can produce noise.
pub trait NoiseRng: RngCore + sealed::Sealed + Send {
    /// Whether the generator started from a seed that somebody chose.
    fn is_seeded(&self) -> bool;
}

mod sealed {
    #[expect(
        unnameable_types,
        reason = "that nobody can name it is what seals the trait above"
    )]
    pub trait Sealed {}
}

/// The operating system gave no randomness.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the operating system gave no randomness")]
pub struct EntropyError;

/// `ChaCha20` seeded by the operating system.
pub struct SecureRng(ChaCha20Rng);

impl SecureRng {
    /// Seeds a generator from the operating system.
    ///
    /// # Errors
    ///
    /// [`EntropyError`] if the operating system gives no randomness.
    pub fn from_os() -> Result<Self, EntropyError> {
        let mut seed = [0_u8; 32];
        getrandom::fill(&mut seed).map_err(|_| EntropyError)?;
        let rng = ChaCha20Rng::from_seed(seed);
        seed.zeroize();
        Ok(Self(rng))
    }
}

/// `ChaCha20` from a chosen number: for tests and reproducible research only.
///
/// A release made with it is marked `seeded`; its guarantee is void for anyone who knows the seed.
#[derive(Clone)]
pub struct InsecureSeededRng(ChaCha20Rng);

impl InsecureSeededRng {
    /// The generator of the given seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(ChaCha20Rng::seed_from_u64(seed))
    }
}

macro_rules! delegate {
    ($rng:ty, seeded: $seeded:literal) => {
        impl RngCore for $rng {
            #[inline]
            fn next_u32(&mut self) -> u32 {
                self.0.next_u32()
            }

            #[inline]
            fn next_u64(&mut self) -> u64 {
                self.0.next_u64()
            }

            fn fill_bytes(&mut self, bytes: &mut [u8]) {
                self.0.fill_bytes(bytes);
            }
        }

        impl sealed::Sealed for $rng {}

        impl NoiseRng for $rng {
            fn is_seeded(&self) -> bool {
                $seeded
            }
        }

        impl fmt::Debug for $rng {
            // The state is a secret: it is never shown.
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(concat!(stringify!($rng), "(…)"))
            }
        }
    };
}

delegate!(SecureRng, seeded: false);
delegate!(InsecureSeededRng, seeded: true);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seeded_generator_repeats_and_says_so() {
        let mut first = InsecureSeededRng::new(7);
        let mut second = InsecureSeededRng::new(7);
        assert_eq!(first.next_u64(), second.next_u64());
        assert!(first.is_seeded());
    }

    #[test]
    fn secure_generators_differ_and_show_no_state() {
        let mut first = SecureRng::from_os().expect("entropy");
        let mut second = SecureRng::from_os().expect("entropy");
        // A false alarm has probability 2^-64.
        assert_ne!(first.next_u64(), second.next_u64());
        assert!(!first.is_seeded());
        assert_eq!(format!("{first:?}"), "SecureRng(…)");
    }
}
