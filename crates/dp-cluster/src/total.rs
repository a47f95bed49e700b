//! What several releases about the same data promise together.

use dp_core::{Guarantee, Ledger, NeighboringRelation, accountant};

use crate::model::Model;

/// Releases have no common total.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TotalError {
    /// One of them promises nothing.
    #[error("a model that is not private promises nothing, and neither does any total with it")]
    NotPrivate,
    /// They protect against different pairs of data sets.
    #[error("models under {first} and {second} have no common total; state one relation for all")]
    Relations {
        /// Relation of the first model.
        first: NeighboringRelation,
        /// Another one.
        second: NeighboringRelation,
    },
    /// Together they promise nothing.
    #[error("together the models' delta reaches 1: they promise nothing")]
    Nothing,
}

/// The guarantee of all models together, by basic composition of their guarantees, or by adding up their
/// ledgers at the sum of their δ where that gives a smaller ε.
///
/// # Errors
///
/// [`TotalError`] if a model promises nothing or relations differ.
pub fn total_of(models: &[Model]) -> Result<Option<Guarantee>, TotalError> {
    let mut parts = Vec::with_capacity(models.len());
    for model in models {
        parts.push(model.guarantee.as_ref().ok_or(TotalError::NotPrivate)?);
    }
    let Some(first) = parts.first() else {
        return Ok(None);
    };
    if let Some(other) = parts.iter().find(|part| part.relation != first.relation) {
        return Err(TotalError::Relations {
            first: first.relation,
            second: other.relation,
        });
    }
    let relation = first.relation;
    let sum = |values: &dyn Fn(&Guarantee) -> f64| {
        let mut exact = dp_core::rounding::ExactSum::default();
        for part in &parts {
            exact.add(values(part));
        }
        exact.to_f64_up()
    };
    let epsilon = sum(&|part| part.epsilon);
    let delta = sum(&|part| part.delta);
    if delta >= 1.0 {
        return Err(TotalError::Nothing);
    }
    let together: Ledger = models
        .iter()
        .flat_map(|model| model.ledger.events().iter().cloned())
        .collect();
    let mut total = Guarantee {
        relation,
        unit: first.unit.clone(),
        epsilon,
        delta,
        rho: None,
    };
    if let Ok(added) = accountant::total(&together, relation, delta) {
        total.rho = added.rho;
        // One conversion of the summed ρ loses less than one for each.
        if added.epsilon < total.epsilon && added.delta <= delta {
            total.epsilon = added.epsilon;
        }
    }
    Ok(Some(total))
}
