//! What ran, as data: [`Event`]s in order, from which anyone can add up the guarantee again.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::guarantee::Loss;
use crate::neighboring::NeighboringRelation;
use crate::sensitivity::Sensitivity;

mod value;
pub use value::Value;

/// How an event enters the total.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Composition {
    /// Its ε and δ are added to those of the other basic events.
    Basic,
    /// Its ρ is added to that of the other concentrated events (a pure ε counts as ε²/2), and the sum
    /// is converted once.
    Zcdp,
    /// Discrete Gaussian noise, whose ρ is μ²/2: where every concentrated event of a ledger is of this
    /// kind, the sum of ρ is converted by the exact privacy profile of one Gaussian, which is tighter than
    /// any conversion of ρ. Beside other concentrated events it counts as one of them.
    Gaussian,
}

/// One spend: everything that a reader needs to check its loss.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Name of the mechanism, for example `discrete-laplace`.
    pub mechanism: Cow<'static, str>,
    /// Public parameters (scale, purpose, …). Never a value that depends on the data.
    pub parameters: BTreeMap<Cow<'static, str>, Value>,
    /// The sensitivity that the loss was computed for.
    pub sensitivity: Sensitivity,
    /// The relation that sensitivity and loss are stated for.
    pub relation: NeighboringRelation,
    /// Loss of one run of the mechanism.
    pub loss: Loss,
    /// How many times it ran like this, one after another.
    pub count: u64,
    /// How it enters the total.
    pub composition: Composition,
}

impl Event {
    /// An event that ran once, with no parameters yet.
    #[must_use]
    pub fn new(
        mechanism: impl Into<Cow<'static, str>>,
        sensitivity: impl Into<Sensitivity>,
        relation: NeighboringRelation,
        loss: Loss,
    ) -> Self {
        Self {
            mechanism: mechanism.into(),
            parameters: BTreeMap::new(),
            sensitivity: sensitivity.into(),
            relation,
            loss,
            count: 1,
            composition: match loss {
                Loss::Pure(_) | Loss::Approx(..) => Composition::Basic,
                Loss::Zcdp(_) => Composition::Zcdp,
            },
        }
    }

    /// Adds a public parameter.
    #[must_use]
    pub fn with(mut self, name: impl Into<Cow<'static, str>>, value: impl Into<Value>) -> Self {
        self.parameters.insert(name.into(), value.into());
        self
    }

    /// Says in a few words what the spend was for.
    #[must_use]
    pub fn purpose(self, text: &str) -> Self {
        self.with("purpose", text)
    }

    /// Sets how many times the mechanism runs like this.
    #[must_use]
    pub const fn times(mut self, count: u64) -> Self {
        self.count = count;
        self
    }

    /// Chooses how the event enters the total.
    #[must_use]
    pub const fn composed(mut self, composition: Composition) -> Self {
        self.composition = composition;
        self
    }

    /// Whether two events differ in nothing but how often they ran.
    fn is_like(&self, other: &Self) -> bool {
        self.mechanism == other.mechanism
            && self.parameters == other.parameters
            && self.sensitivity == other.sensitivity
            && self.relation == other.relation
            && self.loss == other.loss
            && self.composition == other.composition
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} × {}: {}", self.count, self.mechanism, self.loss)
    }
}

/// The list of all spends of a run, in order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Ledger {
    events: Vec<Event>,
}

impl Ledger {
    /// An empty ledger.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The events in order.
    #[must_use]
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// Adds an event; a repetition of the last one raises its count instead.
    pub fn push(&mut self, event: Event) {
        match self.events.last_mut() {
            Some(last) if last.is_like(&event) && last.count.checked_add(event.count).is_some() => {
                last.count += event.count;
            }
            _ => self.events.push(event),
        }
    }
}

impl FromIterator<Event> for Ledger {
    fn from_iter<I: IntoIterator<Item = Event>>(events: I) -> Self {
        let mut ledger = Self::new();
        for event in events {
            ledger.push(event);
        }
        ledger
    }
}
