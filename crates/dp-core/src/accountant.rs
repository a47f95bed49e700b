//! Adding up a ledger, exactly, and refusing what does not fit.

use crate::budget::Budget;
use crate::conversion;
use crate::guarantee::{Guarantee, Loss};
use crate::ledger::{Composition, Event, Ledger};
use crate::neighboring::NeighboringRelation;
use crate::rounding::{ExactSum, exp_up, up};
use crate::units::{Delta, Epsilon};

/// A spend was refused; nothing was charged.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SpendError {
    /// The total would exceed the budget.
    #[error(
        "the budget does not cover this: it would bring the total to epsilon = {epsilon}, \
         delta = {delta}, but epsilon = {budget_epsilon}, delta = {budget_delta} were granted"
    )]
    Insufficient {
        /// ε of the total with the refused spend.
        epsilon: f64,
        /// δ of the total with the refused spend.
        delta: f64,
        /// ε that was granted.
        budget_epsilon: f64,
        /// δ that was granted.
        budget_delta: f64,
    },
    /// The event's proof is for a relation that implies nothing about the promised one.
    #[error("a mechanism proved under {proof} promises nothing under {promise}")]
    Relation {
        /// The relation of the mechanism's proof.
        proof: NeighboringRelation,
        /// The relation that the run promises.
        promise: NeighboringRelation,
    },
    /// An approximate guarantee cannot be composed as a concentrated one.
    #[error("a loss with delta cannot enter zero-concentrated composition")]
    NotConcentrated,
}

/// Exact totals of a list of events under one relation.
#[derive(Clone, Debug, Default)]
struct Totals {
    epsilon: ExactSum,
    delta: ExactSum,
    rho: ExactSum,
    /// Whether some of `rho` is not that of a Gaussian.
    unlike: bool,
}

impl Totals {
    /// Adds an event, converted to `promise` where its proof is for the other relation.
    fn add(&mut self, event: &Event, promise: NeighboringRelation) -> Result<(), SpendError> {
        use NeighboringRelation::{AddRemove, ReplaceOne};
        let doubled = match (event.relation, promise) {
            (AddRemove, AddRemove) | (ReplaceOne, ReplaceOne) => false,
            (AddRemove, ReplaceOne) => crate::planted!("accountant-not-doubled": false; true),
            (ReplaceOne, AddRemove) => {
                return Err(SpendError::Relation {
                    proof: event.relation,
                    promise,
                });
            }
        };
        let times = event.count;
        // Added several times over instead of multiplied: a count from a file may be any number.
        let add = |sum: &mut ExactSum, repeats: u8, spend: f64| {
            for _ in 0..repeats {
                sum.add_times(times, spend);
            }
        };
        let (twice, squared) = if doubled {
            (2, crate::planted!("accountant-rho-twice": 2; 4))
        } else {
            (1, 1)
        };
        match (event.loss, event.composition) {
            (Loss::Pure(epsilon), Composition::Basic) => {
                add(&mut self.epsilon, twice, epsilon.get());
            }
            (Loss::Approx(epsilon, delta), Composition::Basic) => {
                add(&mut self.epsilon, twice, epsilon.get());
                let delta = if doubled {
                    crate::planted!(
                        "accountant-delta-factor-dropped": delta.get(); delta_under_replace_one(epsilon, delta)
                    )
                } else {
                    delta.get()
                };
                add(&mut self.delta, 1, delta);
            }
            (Loss::Zcdp(rho), composition) => {
                add(&mut self.rho, squared, rho.get());
                self.unlike |= composition != Composition::Gaussian;
            }
            (Loss::Pure(epsilon), Composition::Zcdp | Composition::Gaussian) => {
                let rho = conversion::rho_of_pure(epsilon.get());
                add(&mut self.rho, squared, rho);
                self.unlike = true;
            }
            (Loss::Approx(..), Composition::Zcdp | Composition::Gaussian) => {
                return Err(SpendError::NotConcentrated);
            }
        }
        Ok(())
    }

    /// Whether the events, with Gaussians among them, are seen to stay below (ε, δ) by one look at the profile; if not, they may still.
    ///
    /// Looking for their own ε takes sixty times as long, and every spend is checked. The margin is far above the rounding of the profile,
    /// so that the ε which [`convert`](Self::convert) finds later is within the grant, too.
    fn are_gaussians_within(&self, epsilon: f64, delta: f64) -> bool {
        if self.unlike || self.rho.is_at_most(0.0) {
            return false;
        }
        let room = self.epsilon.remaining(epsilon) * (1.0 - 2e-13) - 1e-14;
        let slack = self.delta.remaining(delta);
        room > 0.0 && conversion::delta_of_gaussians(self.rho.to_f64_up(), room) <= slack
    }

    /// ε and δ of the total, rounded up, when `granted` δ is there to convert ρ with.
    fn convert(&self, granted: f64) -> (f64, f64, Option<f64>) {
        if self.rho.is_at_most(0.0) {
            return (self.epsilon.to_f64_up(), self.delta.to_f64_up(), None);
        }
        // What the events do not need of δ is what the conversion may use.
        let slack = self.delta.remaining(granted);
        let rho = self.rho.to_f64_up();
        let converted = if slack <= 0.0 {
            f64::INFINITY
        } else if self.unlike {
            conversion::epsilon_of_rho(rho, slack)
        } else {
            conversion::epsilon_of_gaussians(rho, slack)
        };
        let mut epsilon = self.epsilon.clone();
        let total = if converted.is_finite() {
            epsilon.add(converted);
            epsilon.to_f64_up()
        } else {
            f64::INFINITY
        };
        let delta = if slack > 0.0 {
            granted
        } else {
            self.delta.to_f64_up()
        };
        (total, delta, Some(rho))
    }
}

/// Keeps a run inside its budget.
///
/// It adds up in rationals: ε and δ of basic events are summed exactly, ρ of concentrated events is
/// summed exactly and converted once with what is left of δ: as one Gaussian if all of them are Gaussian. A spend that would exceed the budget is
/// refused before anything is charged.
#[derive(Clone, Debug)]
pub struct Accountant {
    budget: Budget,
    relation: NeighboringRelation,
    ledger: Ledger,
    totals: Totals,
}

impl Accountant {
    /// An accountant that has spent nothing.
    #[must_use]
    pub fn new(budget: Budget, relation: NeighboringRelation) -> Self {
        Self {
            budget,
            relation,
            ledger: Ledger::new(),
            totals: Totals::default(),
        }
    }

    /// What may be spent in all.
    #[must_use]
    pub const fn budget(&self) -> Budget {
        self.budget
    }

    /// The relation that is promised.
    #[must_use]
    pub const fn relation(&self) -> NeighboringRelation {
        self.relation
    }

    /// What was spent so far, event by event.
    #[must_use]
    pub const fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Checks that the events fit on top of what was spent, and charges nothing.
    ///
    /// # Errors
    ///
    /// [`SpendError`] for the whole list.
    pub fn admit<'e>(&self, events: impl IntoIterator<Item = &'e Event>) -> Result<(), SpendError> {
        self.totals_with(events).map(drop)
    }

    /// Charges an event.
    ///
    /// # Errors
    ///
    /// [`SpendError`] if it does not fit; the ledger is then as it was.
    pub fn spend(&mut self, event: Event) -> Result<(), SpendError> {
        let totals = self.totals_with([&event])?;
        tracing::debug!(mechanism = %event.mechanism, loss = %event.loss, "spend");
        self.totals = totals;
        self.ledger.push(event);
        Ok(())
    }

    /// What the ledger so far adds up to.
    #[must_use]
    pub fn guarantee(&self) -> Guarantee {
        let (epsilon, delta, rho) = self.totals.convert(self.budget.delta.get());
        Guarantee {
            relation: self.relation,
            unit: "row".to_owned(),
            epsilon,
            delta,
            rho,
        }
    }

    fn totals_with<'e>(
        &self,
        events: impl IntoIterator<Item = &'e Event>,
    ) -> Result<Totals, SpendError> {
        let mut totals = self.totals.clone();
        for event in events {
            totals.add(event, self.relation)?;
        }
        let granted_epsilon = self.budget.epsilon.get();
        let granted_delta = self.budget.delta.get();
        if totals.are_gaussians_within(granted_epsilon, granted_delta) {
            return Ok(totals);
        }
        let (epsilon, delta, _) = totals.convert(granted_delta);
        // Written as what must hold, in exact sums where nothing was converted.
        let fits = epsilon <= granted_epsilon
            && totals.epsilon.is_at_most(granted_epsilon)
            && totals.delta.is_at_most(granted_delta);
        if fits {
            Ok(totals)
        } else {
            Err(SpendError::Insufficient {
                epsilon,
                delta,
                budget_epsilon: granted_epsilon,
                budget_delta: granted_delta,
            })
        }
    }
}

/// (1 + e^ε)·δ, rounded up: what an add-remove mechanism's δ becomes for a replacement.
fn delta_under_replace_one(epsilon: Epsilon, delta: Delta) -> f64 {
    up(delta.get() * (1.0 + exp_up(epsilon.get())), 4)
}

/// Adds up a ledger again, as a reader of a release would.
///
/// `granted_delta` is the release's own δ, needed where ρ is converted.
///
/// # Errors
///
/// [`SpendError`] if an event cannot be composed under `relation`.
pub fn total(
    ledger: &Ledger,
    relation: NeighboringRelation,
    granted_delta: f64,
) -> Result<Guarantee, SpendError> {
    let mut totals = Totals::default();
    for event in ledger.events() {
        totals.add(event, relation)?;
    }
    let (epsilon, delta, rho) = totals.convert(granted_delta);
    Ok(Guarantee {
        relation,
        unit: "row".to_owned(),
        epsilon,
        delta,
        rho,
    })
}

#[cfg(test)]
mod tests;
