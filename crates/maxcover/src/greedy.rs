//! Algorithm 1: private maximum coverage.
//!
//! Sets are picked one by one with probability ∝ exp(ε′·newly covered), and what a pick covers leaves the private set. One
//! theorem pays for all picks at once, over any number of families, because a differing element matters in one step only: the
//! one in which it is covered. The family is public: it is indexed by its sets, whatever the private elements are, and no set
//! is left out for being empty or equal to another.
//!
//! # Source
//!
//! Jones, Nguyen, Nguyen, "Differentially Private Clustering via Maximum Coverage", 2020, Algorithm 1; the analysis goes back to
//! Gupta, Ligett, McSherry, Roth, Talwar, "Differentially Private Combinatorial Optimization", SODA 2010.

use dashu_ratio::RBig;
use dp_core::sensitivity::{ScoreWidth, Sensitivity};
use dp_core::session::Charge;
use dp_core::{
    Confidential, Delta, Epsilon, Event, Loss, NeighboringRelation, Session, SpendError,
};

use crate::rate::Rate;

#[cfg(test)]
mod tests;

/// Private elements and a public family of sets: what the picks need to know of them.
pub trait Coverage {
    /// Number of sets; public.
    fn len(&self) -> usize;

    /// Has the family no sets?
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many elements each set would newly cover: private.
    fn scores(&self) -> &[i64];

    /// Covers the elements of a set.
    fn cover(&mut self, set: usize);
}

/// The right to make picks at one rate, paid for once.
#[derive(Clone, Debug)]
pub struct Picker {
    charge: Charge,
    rate: RBig,
}

/// What the ledger says of all picks together: loss (ε, δ) under add-remove.
///
/// Returns the event and ε′; `None` if there is no rate for this loss (see [`Rate::value`]).
#[must_use]
pub fn picks_event(rate: Rate, epsilon: Epsilon, delta: Delta) -> Option<(Event, f64)> {
    let value = rate.value(epsilon, delta)?;
    let event = Event::new(
        "maximum-coverage",
        Sensitivity::ByTheorem,
        NeighboringRelation::AddRemove,
        Loss::Approx(epsilon, delta),
    )
    .purpose("candidate centers")
    .with("eta", value)
    .with("rate", rate.name());
    Some((event, value))
}

impl Picker {
    /// Pays for any number of picks at rate ε′ = `rate`, of which `event` (from [`picks_event`]) says the loss.
    ///
    /// # Errors
    ///
    /// [`SpendError`] if the session's budget does not cover it.
    pub fn new(session: &mut Session<'_>, event: Event, rate: f64) -> Result<Self, SpendError> {
        Ok(Self {
            charge: session.charge(event)?,
            // A finite float is a rational; zero would choose uniformly, which is private too.
            rate: RBig::try_from(rate).unwrap_or(RBig::ZERO),
        })
    }

    /// Algorithm 1 on one family: at most `most` distinct sets, at most all of them, in the order in which they were picked.
    ///
    /// # Privacy
    ///
    /// Adding an element raises some scores by 1 and lowers none, so the changes have width 1. What was covered stays private
    /// inside `coverage`; the picks may be released.
    ///
    /// # Panics
    ///
    /// Never: a width of one is valid.
    pub fn pick<C: Coverage + ?Sized>(
        &self,
        session: &mut Session<'_>,
        coverage: &mut C,
        most: usize,
    ) -> Vec<usize> {
        let width = ScoreWidth::new(1).expect("one is a valid width");
        let mut left = dp_core::planted!(
            "maxcover-empty-sets-dropped": coverage.scores().iter().map(|&score| u64::from(score > 0)).collect();
            vec![1_u64; coverage.len()]
        );
        let mut picks = Vec::with_capacity(most.min(left.len()));
        for _ in 0..most.min(left.len()) {
            let scores = Confidential::new(coverage.scores().to_vec());
            let Some(set) =
                session.select_charged(&self.charge, &self.rate, width, &scores, Some(&left))
            else {
                break;
            };
            if let Some(weight) = left.get_mut(set) {
                *weight = 0;
            }
            coverage.cover(set);
            picks.push(set);
        }
        picks
    }
}

/// Sets given as lists of elements: maximum coverage as a problem of its own.
///
/// ```
/// use dp_core::{Budget, Delta, Epsilon, NeighboringRelation, Session, rng::InsecureSeededRng};
/// use maxcover::Rate;
/// use maxcover::greedy::{Picker, SetCoverage, picks_event};
///
/// let mut noise = InsecureSeededRng::new(1);
/// let (epsilon, delta) = (Epsilon::new(2.0)?, Delta::new(1e-6)?);
/// let mut session = Session::new(Budget::approx(epsilon, delta), NeighboringRelation::AddRemove, &mut noise);
/// let (event, rate) = picks_event(Rate::Largest, epsilon, delta).unwrap();
/// let picker = Picker::new(&mut session, event, rate)?;
/// let people = 0..600;
/// let mut coverage = SetCoverage::new(vec![(0..300).collect(), (200..600).collect(), vec![]], people);
/// assert_eq!(picker.pick(&mut session, &mut coverage, 2).len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct SetCoverage {
    sets: Vec<Vec<usize>>,
    /// The sets that hold an element.
    holders: Vec<Vec<usize>>,
    /// Whether an element is private and not covered yet.
    uncovered: Vec<bool>,
    scores: Vec<i64>,
}

impl SetCoverage {
    /// A public family over elements 0, 1, 2, …, and the private elements to cover (each counts once).
    #[must_use]
    pub fn new(mut sets: Vec<Vec<usize>>, private: impl IntoIterator<Item = usize>) -> Self {
        for set in &mut sets {
            set.sort_unstable();
            set.dedup();
        }
        let elements = sets.iter().flatten().map(|&e| e + 1).max().unwrap_or(0);
        let mut holders = vec![Vec::new(); elements];
        for (i, set) in sets.iter().enumerate() {
            for &element in set {
                holders[element].push(i);
            }
        }
        let mut uncovered = vec![false; elements];
        let mut scores = vec![0; sets.len()];
        for element in private {
            // An element that no set holds changes nothing.
            if element < elements && !uncovered[element] {
                uncovered[element] = true;
                for &set in &holders[element] {
                    scores[set] += 1;
                }
            }
        }
        Self {
            sets,
            holders,
            uncovered,
            scores,
        }
    }
}

impl Coverage for SetCoverage {
    fn len(&self) -> usize {
        self.sets.len()
    }

    fn scores(&self) -> &[i64] {
        &self.scores
    }

    fn cover(&mut self, set: usize) {
        for &element in self.sets.get(set).into_iter().flatten() {
            if std::mem::replace(&mut self.uncovered[element], false) {
                for &holder in &self.holders[element] {
                    self.scores[holder] -= 1;
                }
            }
        }
    }
}
