//! The released model: what `fit` writes and every other command reads.
//!
//! Its JSON form is described by `docs/model.schema.json`; [`codec`](crate::codec) reads and writes it.

use std::collections::BTreeMap;

use dp_core::{Guarantee, Ledger, Value};
use ndarray::Array2;
use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};

mod check;
#[cfg(test)]
pub(crate) mod tests;
pub use check::ModelError;

/// The format that this version writes.
pub const FORMAT_VERSION: u32 = 1;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ModelOutcome {
    /// There are centers.
    Released,
    /// The mechanism answered ⊥: the budget was spent, there are no centers.
    Refused,
}

/// A released clustering with its guarantee and the ledger that proves it.
///
/// # Shapes and units
///
/// `centers` is k × d in the columns' own units and order, inside `bounds`.
///
/// # Privacy
///
/// Everything in it was released by the mechanisms of its ledger or is public: it may be published.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// Format of the file.
    pub format_version: u32,
    /// The algorithm that was asked for.
    pub algorithm: String,
    /// The algorithm that `auto` ran.
    #[serde(default)]
    pub chosen: Option<String>,
    /// Whether there are centers.
    pub outcome: ModelOutcome,
    /// Whether the release promises anything.
    pub private: bool,
    /// Whether its randomness came from a chosen number: no guarantee against who knows it.
    pub seeded: bool,
    /// Names of the columns, in order.
    pub columns: Vec<String>,
    /// `[lo, hi]` per column.
    pub bounds: Vec<[f64; 2]>,
    /// Centers; the means of a mixture. Empty if refused.
    pub centers: Vec<Vec<f64>>,
    /// Released counts per center, where there are any.
    pub noisy_counts: Option<Vec<f64>>,
    /// Mixture weights (k).
    #[serde(default)]
    pub weights: Option<Vec<f64>>,
    /// Covariances (k × d × d), original units.
    #[serde(default)]
    pub covariances: Option<Vec<Vec<Vec<f64>>>>,
    /// Metric of `maxcover`.
    #[serde(default)]
    pub metric: Option<String>,
    /// Exponent p of `maxcover`'s objective Σ d^p.
    #[serde(default)]
    pub power: Option<f64>,
    /// 0-based rows of the public sites that were chosen.
    #[serde(default)]
    pub site_rows: Option<Vec<u64>>,
    /// What was spent; none if nothing is promised.
    pub guarantee: Option<Guarantee>,
    /// How it was spent.
    pub ledger: Ledger,
    /// Every public parameter that was used.
    pub parameters: BTreeMap<String, Value>,
}

impl Model {
    /// Number of columns d.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.columns.len()
    }

    /// Number of centers k; 0 if refused.
    #[must_use]
    pub fn n_clusters(&self) -> usize {
        self.centers.len()
    }

    /// The centers as an array, shape (k, d), original units.
    #[must_use]
    pub fn centers_array(&self) -> Array2<f64> {
        Array2::from_shape_fn((self.n_clusters(), self.dimension()), |(j, i)| {
            self.centers[j].get(i).copied().unwrap_or(f64::NAN)
        })
    }
}

/// Keys that only some models have: JSON leaves them out, binary (which cannot) writes none.
fn own<S: SerializeStruct, T: Serialize>(
    fields: &mut S,
    leave_out: bool,
    name: &'static str,
    value: Option<&T>,
) -> Result<(), S::Error> {
    if leave_out && value.is_none() {
        return fields.skip_field(name);
    }
    fields.serialize_field(name, &value)
}

impl Serialize for Model {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let plain = serializer.is_human_readable();
        let mut s = serializer.serialize_struct("Model", 18)?;
        s.serialize_field("format_version", &self.format_version)?;
        s.serialize_field("algorithm", &self.algorithm)?;
        own(&mut s, plain, "chosen", self.chosen.as_ref())?;
        s.serialize_field("outcome", &self.outcome)?;
        s.serialize_field("private", &self.private)?;
        s.serialize_field("seeded", &self.seeded)?;
        s.serialize_field("columns", &self.columns)?;
        s.serialize_field("bounds", &self.bounds)?;
        s.serialize_field("centers", &self.centers)?;
        s.serialize_field("noisy_counts", &self.noisy_counts)?;
        own(&mut s, plain, "weights", self.weights.as_ref())?;
        own(&mut s, plain, "covariances", self.covariances.as_ref())?;
        own(&mut s, plain, "metric", self.metric.as_ref())?;
        own(&mut s, plain, "power", self.power.as_ref())?;
        own(&mut s, plain, "site_rows", self.site_rows.as_ref())?;
        s.serialize_field("guarantee", &self.guarantee)?;
        s.serialize_field("ledger", &self.ledger)?;
        s.serialize_field("parameters", &self.parameters)?;
        s.end()
    }
}
