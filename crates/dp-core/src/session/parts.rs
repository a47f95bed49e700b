//! Parallel composition: parts of a run that read disjoint sets of records, each at the price of the dearest.

use crate::accountant::{Accountant, SpendError};
use crate::budget::Budget;
use crate::guarantee::Loss;
use crate::ledger::{Event, Value};
use crate::neighboring::NeighboringRelation;
use crate::sensitivity::Sensitivity;
use crate::tape::{Deck, Part};

use super::Session;

/// Name of the ledger's one entry for all parts.
const NAME: &str = "disjoint-parts";

/// Parts that were charged together: each may spend the whole charge, because a record is in one of them.
///
/// # Privacy
///
/// Each record draws its part by a secret label of its own, independent of all others ([`Session::secret_labels`]), and a part looks at its
/// records and at what was released before. Fix the labels: a record that is added, removed or replaced changes the records of one part, which is
/// (ε, δ)-private; the other parts run on the same records. Laws that are (ε, δ)-close for every choice of labels are so on average. Proof: `docs/proofs/accounting.md`.
///
/// That parts are disjoint is the caller's to prove; replays report a record that moves statistics of two
/// ([`Difference::Parts`](crate::tape::Difference::Parts)).
#[derive(Debug)]
pub struct DisjointParts {
    budget: Budget,
    group: u32,
    entered: u32,
}

impl DisjointParts {
    /// The ledger's entry for parts that spend at most `budget` each, as `plans` say.
    ///
    /// # Errors
    ///
    /// [`SpendError`] if a plan exceeds `budget`.
    pub fn event(
        budget: Budget,
        relation: NeighboringRelation,
        plans: &[Vec<Event>],
    ) -> Result<Event, SpendError> {
        let loss = Loss::Approx(budget.epsilon, budget.delta);
        let mut event = Event::new(NAME, Sensitivity::ByTheorem, relation, loss)
            .purpose("parts of the records, each at this price")
            .with("parts", plans.len());
        for (number, plan) in (1_u32..).zip(plans) {
            Accountant::new(budget, relation).admit(plan)?;
            let spends: Vec<Value> = plan.iter().map(|spend| spend.to_string().into()).collect();
            event = event.with(format!("part_{number}"), Value::List(spends));
        }
        Ok(event)
    }
}

impl Session<'_> {
    /// Charges for parts of disjoint records, by an event of [`DisjointParts::event`]: once, whatever their number.
    ///
    /// # Errors
    ///
    /// [`SpendError`] if the budget does not cover it.
    pub fn disjoint_parts(&mut self, event: Event) -> Result<DisjointParts, SpendError> {
        let budget = match event.loss {
            Loss::Approx(epsilon, delta) => Budget::approx(epsilon, delta),
            Loss::Pure(epsilon) => Budget::pure(epsilon),
            Loss::Zcdp(_) => return Err(SpendError::NotConcentrated),
        };
        self.accountant.spend(event)?;
        self.groups += 1;
        Ok(DisjointParts {
            budget,
            group: self.groups,
            entered: 0,
        })
    }

    /// Runs the next part with a session of its own, which may spend what was charged for all.
    ///
    /// # Privacy
    ///
    /// See [`DisjointParts`]: `run` must read the records of this part alone.
    pub fn part<T>(
        &mut self,
        parts: &mut DisjointParts,
        run: impl FnOnce(&mut Session<'_>) -> T,
    ) -> T {
        parts.entered += 1;
        let part = Part {
            group: parts.group,
            number: parts.entered,
        };
        let mut deck = std::mem::replace(&mut self.deck, Deck::Off);
        let outer = deck.enter(Some(part));
        let mut inner = Session {
            accountant: Accountant::new(parts.budget, self.relation()),
            rng: &mut *self.rng,
            deck,
            groups: self.groups,
        };
        let result = run(&mut inner);
        let Session { deck, groups, .. } = inner;
        (self.deck, self.groups) = (deck, groups);
        self.deck.enter(outer);
        result
    }
}

#[cfg(test)]
mod tests;
