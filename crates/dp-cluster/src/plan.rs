//! What a fit would do, from public facts alone.

use std::collections::BTreeMap;

use dp_core::{Event, Guarantee, Ledger, NeighboringRelation, SpendError, Value, accountant};

use crate::request::{FitRequest, RequestError};

/// How a request would be carried out. Costs nothing and reads no record.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// The spends, in order.
    pub events: Vec<Event>,
    /// Every parameter that would be used, defaults included.
    pub parameters: BTreeMap<String, Value>,
    /// Expected squared error of a center, scaled units, for clusters of equal size; none where no
    /// model is at hand or no public size was given.
    pub expected_sq_error: Option<f64>,
    /// What else a user should know.
    pub notes: Vec<String>,
    /// What a user should know before a budget is spent: it would be spent in vain, or an option does nothing.
    pub warnings: Vec<String>,
}

impl Plan {
    /// A plan that makes these spends.
    #[must_use]
    pub fn new(events: Vec<Event>) -> Self {
        Self {
            events,
            ..Self::default()
        }
    }

    /// Adds parameters that would be used.
    #[must_use]
    pub fn parameters(mut self, parameters: BTreeMap<String, Value>) -> Self {
        self.parameters.extend(parameters);
        self
    }

    /// Adds a remark.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// The spends as a ledger.
    #[must_use]
    pub fn ledger(&self) -> Ledger {
        self.events.iter().cloned().collect()
    }

    /// What the spends would add up to.
    ///
    /// # Errors
    ///
    /// [`SpendError`] if they do not compose under `relation`.
    pub fn guarantee(
        &self,
        relation: NeighboringRelation,
        granted_delta: f64,
    ) -> Result<Guarantee, SpendError> {
        accountant::total(&self.ledger(), relation, granted_delta)
    }
}

/// Plans a request: how [`fit`](fn@crate::fit) would spend its budget.
///
/// # Errors
///
/// [`RequestError`] for whatever [`fit`](fn@crate::fit) would refuse before reading a record.
pub fn plan(request: &FitRequest) -> Result<Plan, RequestError> {
    let algorithm = request.check()?;
    let plan = algorithm.plan(request)?;
    if let Some(epsilon) = request.epsilon {
        let budget = dp_core::Budget::approx(epsilon, request.delta);
        dp_core::Accountant::new(budget, request.relation).admit(&plan.events)?;
    }
    Ok(plan)
}
