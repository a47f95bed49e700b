//! What is audited: every private algorithm and variant, on tiny inputs.

use dp_audit::replay::Promise;
use dp_core::tape::Statistic;
use dp_core::{Budget, Delta, Epsilon, Event, NeighboringRelation, Session, accountant};
use ndarray::Array2;

mod cover;
mod facade;
mod lloyd;
mod mixtures;
mod small;
mod tuples;

pub(crate) use lloyd::frame as lattice_frame;

/// Everything that the audit knows how to run.
///
/// # Errors
///
/// The name of an algorithm of the facade for which there are no neighbors here, or a request that is refused.
pub fn all() -> Result<Vec<Subject>, String> {
    let mut subjects = facade::subjects()?;
    subjects.extend(lloyd::subjects());
    subjects.extend(cover::subjects());
    subjects.extend(tuples::subjects());
    subjects.extend(mixtures::subjects());
    Ok(subjects)
}

/// What the black box attacks: one small instance of each algorithm, relation and kind of promise (pure or not).
///
/// # Errors
///
/// As [`all`].
pub fn attacked() -> Result<Vec<Subject>, String> {
    let mut kinds = std::collections::BTreeSet::new();
    let mut attacked = Vec::new();
    for subject in all()? {
        let promise = subject.promise;
        let kind = (
            subject.algorithm,
            promise.relation.name(),
            promise.budget.delta.is_zero() || small::ignores_delta(subject.algorithm),
        );
        if kinds.insert(kind) {
            attacked.push(small::of(&subject)?.unwrap_or(subject));
        }
    }
    Ok(attacked)
}

type Run = dyn Fn(&Array2<f64>, &mut Session<'_>) -> Result<(), String> + Send + Sync;
type Theorem = dyn Fn(&Event, &Statistic, &Statistic) -> Result<(), String> + Send + Sync;

/// An algorithm with its settings, under one relation.
pub struct Subject {
    /// Name of the algorithm; several settings share one.
    pub algorithm: &'static str,
    /// What sets this one apart.
    pub settings: String,
    /// What it may spend, and on which neighbors.
    pub promise: Promise,
    /// Columns of its tables; the public domain is [-1, 1] in each.
    pub columns: usize,
    /// Most rows of a generated table.
    pub most_rows: usize,
    /// The least share of ε that a run must use, and why where it is below 0.999.
    pub least_share: (f64, &'static str),
    /// How much longer than a usual run it takes: it gets that many fewer runs of the black box.
    pub cost: usize,
    /// Records in the corner that the black box looks at, one of which changes.
    pub crowd: usize,
    /// Why nothing that the black box may see tells these neighbors apart, where that is so.
    pub unseen: Option<&'static str>,
    /// Why it is not replayed, where that is so.
    pub unreplayed: Option<&'static str>,
    run: Box<Run>,
    theorem: Option<Box<Theorem>>,
}

impl Subject {
    pub(crate) fn new(
        algorithm: &'static str,
        settings: String,
        promise: Promise,
        columns: usize,
        run: impl Fn(&Array2<f64>, &mut Session<'_>) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        Self {
            algorithm,
            settings,
            promise,
            columns,
            most_rows: 12,
            least_share: (FULL_SHARE, ""),
            cost: 1,
            crowd: 2,
            unseen: None,
            unreplayed: None,
            run: Box::new(run),
            theorem: None,
        }
    }

    fn most_rows(mut self, most_rows: usize) -> Self {
        self.most_rows = most_rows;
        self
    }

    fn least_share(mut self, share: f64, reason: &'static str) -> Self {
        self.least_share = (share, reason);
        self
    }

    fn cost(mut self, cost: usize) -> Self {
        self.cost = cost;
        self
    }

    fn crowd(mut self, crowd: usize) -> Self {
        self.crowd = crowd;
        self
    }

    fn unreplayed(mut self, reason: &'static str) -> Self {
        self.unreplayed = Some(reason);
        self
    }

    /// How statistics must behave whose bound is a theorem.
    fn theorem(
        mut self,
        check: impl Fn(&Event, &Statistic, &Statistic) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        self.theorem = Some(Box::new(check));
        self
    }

    /// Algorithm, settings and relation.
    #[must_use]
    pub fn name(&self) -> String {
        format!(
            "{} ({}, {})",
            self.algorithm, self.settings, self.promise.relation
        )
    }

    /// One run; public randomness is the same each time.
    ///
    /// # Errors
    ///
    /// What the algorithm said.
    pub fn run(&self, records: &Array2<f64>, session: &mut Session<'_>) -> Result<(), String> {
        (self.run)(records, session)
    }

    /// Checks a pair of statistics whose bound is a theorem.
    ///
    /// # Errors
    ///
    /// What is wrong; also if there is no such check for this algorithm.
    pub fn check_theorem(
        &self,
        event: &Event,
        recorded: &Statistic,
        replayed: &Statistic,
    ) -> Result<(), String> {
        match &self.theorem {
            Some(check) => check(event, recorded, replayed),
            None => Err(format!(
                "{event} has a bound by theorem that nothing checks"
            )),
        }
    }
}

impl std::fmt::Debug for Subject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name())
    }
}

/// The least share of ε that a run must use which answers in full: what is not spent is noise for nothing.
const FULL_SHARE: f64 = 0.999;

/// Checks that an answer was paid for in full; only ⊥ may leave a part of the budget.
fn paid_in_full(session: &Session<'_>, promised: Budget) -> Result<(), String> {
    // At the promised δ: the session may allow more.
    let total = accountant::total(session.ledger(), session.relation(), promised.delta.get());
    let total = total.map_err(|error| error.to_string())?;
    let share = total.epsilon / promised.epsilon.get();
    if share >= FULL_SHARE {
        Ok(())
    } else {
        Err(format!(
            "an answer that is not ⊥ was paid for with {share} of epsilon"
        ))
    }
}

/// (ε, δ), known to be valid.
#[must_use]
pub fn budget(epsilon: f64, delta: f64) -> Budget {
    Budget::approx(
        Epsilon::new(epsilon).expect("a positive constant"),
        Delta::new(delta).expect("a constant below 1"),
    )
}

fn promises(budget: Budget) -> [Promise; 2] {
    NeighboringRelation::ALL.map(|relation| Promise { budget, relation })
}
