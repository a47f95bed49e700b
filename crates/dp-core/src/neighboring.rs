//! Which pairs of data sets a guarantee is about.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The pairs of data sets that a release must not tell apart.
///
/// There is no default: a guarantee without its relation says nothing. A *unit* is one row unless a
/// caller says otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NeighboringRelation {
    /// The data sets differ by the presence of one unit (unbounded); their size is private.
    AddRemove,
    /// Same size, one unit has other values (bounded); the size is public.
    ReplaceOne,
}

impl NeighboringRelation {
    /// Both relations, for tests and tables.
    pub const ALL: [Self; 2] = [Self::AddRemove, Self::ReplaceOne];

    /// The name in flags and files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::AddRemove => "add-remove",
            Self::ReplaceOne => "replace-one",
        }
    }

    /// How many records' worth of presence differ: 1, or 2 for a removal and an addition.
    ///
    /// A statistic in which a record's presence moves the L1 norm by at most `s` has L1 sensitivity
    /// `s * steps()`.
    #[must_use]
    pub const fn steps(self) -> u64 {
        match self {
            Self::AddRemove => 1,
            Self::ReplaceOne => 2,
        }
    }

    /// Whether the number of records is public knowledge under this relation.
    #[must_use]
    pub const fn size_is_public(self) -> bool {
        matches!(self, Self::ReplaceOne)
    }
}

impl fmt::Display for NeighboringRelation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A relation's name was not one of `add-remove` and `replace-one`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the relation must be `add-remove` or `replace-one`, got `{got}`")]
pub struct RelationError {
    /// The refused name.
    pub got: String,
}

impl FromStr for NeighboringRelation {
    type Err = RelationError;

    fn from_str(name: &str) -> Result<Self, RelationError> {
        Self::ALL
            .into_iter()
            .find(|relation| relation.name() == name)
            .ok_or_else(|| RelationError {
                got: name.to_owned(),
            })
    }
}
