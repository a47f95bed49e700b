//! [`Confidential`] values, which cannot leave by accident, and [`Release`]s, which may.

use std::fmt;

use crate::guarantee::Guarantee;
use crate::ledger::Ledger;

/// A value that depends on private data and has not been through a mechanism.
///
/// It cannot be printed or serialized; only a [`Session`](crate::Session) can look inside, to add noise.
///
/// ```compile_fail
/// let count = dp_core::Confidential::new(vec![42_i64]);
/// println!("{count}"); // a confidential value has no text
/// ```
///
/// ```compile_fail
/// let count = dp_core::Confidential::new(vec![42_i64]);
/// serde_json::to_string(&count); // and no form in a file
/// ```
#[derive(Clone)]
pub struct Confidential<T>(T);

impl<T> Confidential<T> {
    /// Marks a value as private.
    pub const fn new(value: T) -> Self {
        Self(value)
    }

    /// A deterministic function of it: still private.
    pub fn map<U>(self, transform: impl FnOnce(T) -> U) -> Confidential<U> {
        Confidential(transform(self.0))
    }

    /// Takes the value out, for the data holder's own eyes.
    ///
    /// Nothing that depends on it may be shown to anyone else: the name is long so that a reviewer
    /// stops here.
    pub fn expose_to_data_holder(self) -> T {
        self.0
    }

    /// For mechanisms alone.
    pub(crate) const fn peek(&self) -> &T {
        &self.0
    }
}

impl<T> fmt::Debug for Confidential<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Confidential(…)")
    }
}

/// A released value with the guarantee it was made under and the ledger that proves it.
#[derive(Clone, Debug, PartialEq)]
pub struct Release<T> {
    /// The value; anything computed from it alone is post-processing and costs nothing.
    pub value: T,
    /// What the release promises.
    pub guarantee: Guarantee,
    /// How the budget was spent.
    pub ledger: Ledger,
    /// Whether the noise came from a seed that somebody chose: the guarantee is void for who knows it.
    pub seeded: bool,
}

impl<T> Release<T> {
    /// Post-processing: a function of the released value, under the same guarantee.
    pub fn map<U>(self, transform: impl FnOnce(T) -> U) -> Release<U> {
        Release {
            value: transform(self.value),
            guarantee: self.guarantee,
            ledger: self.ledger,
            seeded: self.seeded,
        }
    }
}
