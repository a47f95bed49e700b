//! What several releases about the same data promise together.

use dp_core::rounding::ExactSum;
use dp_core::{Guarantee, Ledger, NeighboringRelation, accountant};

use crate::model::Model;
use crate::synopsis::Synopsis;

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

/// What a release says of itself.
#[derive(Clone, Copy, Debug)]
pub struct Statement<'a> {
    /// What was spent; none if the release is not private.
    pub guarantee: Option<&'a Guarantee>,
    /// How it was spent.
    pub ledger: &'a Ledger,
}

impl<'a> From<&'a Model> for Statement<'a> {
    fn from(model: &'a Model) -> Self {
        Self {
            guarantee: model.guarantee.as_ref(),
            ledger: &model.ledger,
        }
    }
}

impl<'a> From<&'a Synopsis> for Statement<'a> {
    fn from(synopsis: &'a Synopsis) -> Self {
        Self {
            guarantee: Some(&synopsis.guarantee),
            ledger: &synopsis.ledger,
        }
    }
}

/// The guarantee of all releases together: the sums of their ε and of their δ, or their ledgers added up at the
/// sum of their δ where that gives a smaller ε.
///
/// Where relations differ the total is under replace-one, which add-remove implies at about twice the loss.
/// None without releases. Models that were made of one synopsis count once each, which is safe but more than was spent: leave out all but one.
///
/// # Errors
///
/// [`TotalError`] if a release promises nothing, or all together do not.
pub fn total_of(releases: &[Statement<'_>]) -> Result<Option<Guarantee>, TotalError> {
    let mut stated = Vec::with_capacity(releases.len());
    for release in releases {
        stated.push(release.guarantee.ok_or(TotalError::NotPrivate)?);
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
    for (release, stated) in releases.iter().zip(stated.iter().copied()) {
        let converted = if stated.relation == relation {
            stated.clone()
        } else {
            accountant::total(release.ledger, relation, stated.delta)
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
    let events = releases
        .iter()
        .flat_map(|release| release.ledger.events().iter().cloned());
    if let Ok(added) = accountant::total(&events.collect::<Ledger>(), relation, delta) {
        total.rho = added.rho;
        // One conversion of the summed ρ loses less than one for each.
        if added.epsilon < total.epsilon && added.delta <= delta {
            total.epsilon = added.epsilon;
        }
    }
    Ok(Some(total))
}
