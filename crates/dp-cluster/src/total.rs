//! What several releases about the same data promise together.

use dp_core::rounding::ExactSum;
use dp_core::{Guarantee, Ledger, NeighboringRelation, accountant};

use crate::model::Model;

/// Releases have no common total.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TotalError {
    /// One of them promises nothing.
    #[error("a model that is not private promises nothing, and neither does any total with it")]
    NotPrivate,
    /// Together they promise nothing.
    #[error(
        "together the models promise nothing: their delta reaches 1, or their loss has no bound"
    )]
    Nothing,
}

/// The guarantee of all models together: the sums of their ε and of their δ, or their ledgers added up at the
/// sum of their δ where that gives a smaller ε.
///
/// Where relations differ the total is under replace-one, which add-remove implies at about twice the loss.
/// None without models.
///
/// # Errors
///
/// [`TotalError`] if a model promises nothing, or all together do not.
pub fn total_of(models: &[Model]) -> Result<Option<Guarantee>, TotalError> {
    let mut stated = Vec::with_capacity(models.len());
    for model in models {
        stated.push(model.guarantee.as_ref().ok_or(TotalError::NotPrivate)?);
    }
    let Some(first) = stated.first() else {
        return Ok(None);
    };
    let same = stated.iter().all(|other| other.relation == first.relation);
    let relation = if same {
        first.relation
    } else {
        NeighboringRelation::ReplaceOne
    };
    let (mut epsilon, mut delta) = (ExactSum::default(), ExactSum::default());
    for (model, stated) in models.iter().zip(stated.iter().copied()) {
        let converted = if stated.relation == relation {
            stated.clone()
        } else {
            accountant::total(&model.ledger, relation, stated.delta)
                .map_err(|_| TotalError::Nothing)?
        };
        epsilon.add(converted.epsilon);
        delta.add(converted.delta);
    }
    let (epsilon, delta) = (epsilon.to_f64_up(), delta.to_f64_up());
    if !epsilon.is_finite() || delta >= 1.0 {
        return Err(TotalError::Nothing);
    }
    let mut total = Guarantee {
        relation,
        unit: first.unit.clone(),
        epsilon,
        delta,
        rho: None,
    };
    let events = models
        .iter()
        .flat_map(|model| model.ledger.events().iter().cloned());
    if let Ok(added) = accountant::total(&events.collect::<Ledger>(), relation, delta) {
        total.rho = added.rho;
        // One conversion of the summed ρ loses less than one for each.
        if added.epsilon < total.epsilon && added.delta <= delta {
            total.epsilon = added.epsilon;
        }
    }
    Ok(Some(total))
}
