//! The number of records that a rule may use: a public hint, the public size, or a noisy count.

use dp_core::mechanism::AdditiveMechanism;
use dp_core::rounding::split;
use dp_core::sensitivity::L1Sensitivity;
use dp_core::{Confidential, Epsilon, NeighboringRelation, Session};
use metric_space::LatticeSource;

use crate::error::{FitError, ParamsError};

/// Share of ε that a noisy count of the records takes where a size is needed and none is public.
pub(crate) const SIZE_SHARE: f64 = 0.02;

/// ε divided into the part of the noisy count (none if a size is public) and the part that is left.
#[derive(Clone, Debug)]
pub(crate) struct SizedBudget {
    /// The mechanism of the noisy count.
    pub(crate) size: Option<AdditiveMechanism>,
    /// What is left for everything else.
    pub(crate) epsilon: Epsilon,
}

impl SizedBudget {
    /// Divides `epsilon`; with `n_hint`, or where the size is public, nothing is spent on it.
    pub(crate) fn new(
        epsilon: Epsilon,
        n_hint: Option<u64>,
        relation: NeighboringRelation,
    ) -> Result<Self, ParamsError> {
        if n_hint.is_some() || relation.size_is_public() {
            return Ok(Self {
                size: None,
                epsilon,
            });
        }
        let refused = || ParamsError::BudgetTooSmall { steps: 2 };
        let parts = split(epsilon.get(), &[SIZE_SHARE, 1.0 - SIZE_SHARE]);
        let one = L1Sensitivity::new(relation.steps()).map_err(|_| refused())?;
        let share = Epsilon::new(parts[0]).map_err(|_| refused())?;
        Ok(Self {
            size: Some(AdditiveMechanism::laplace(one, share)?),
            epsilon: Epsilon::new(parts[1]).map_err(|_| refused())?,
        })
    }

    /// The size: the hint, the noisy count (charged here), or the number of records where that is public. At least 1.
    pub(crate) fn size<S: LatticeSource>(
        &self,
        n_hint: Option<u64>,
        source: &S,
        session: &mut Session<'_>,
    ) -> Result<f64, FitError> {
        if let Some(n) = n_hint {
            return Ok(n as f64);
        }
        let count = count_records(source)?;
        let Some(mechanism) = &self.size else {
            return Ok((count as f64).clamp(1.0, f64::MAX));
        };
        let noisy = session.add_noise(
            mechanism,
            "number of records",
            &Confidential::new(vec![count]),
        )?;
        let noisy = dp_core::planted!("grid-n-in-m": count as f64; noisy[0] as f64);
        Ok(noisy.clamp(1.0, f64::MAX))
    }
}

/// The exact number of records: private under add-remove.
pub(crate) fn count_records<S: LatticeSource>(source: &S) -> Result<i64, FitError> {
    Ok(source.fold(
        || 0_i64,
        |count, block| *count += i64::try_from(block.len()).unwrap_or(i64::MAX),
        |total, part| *total += part,
    )?)
}
