//! The one door between private data and the world.
//!
//! A [`Session`] owns the budget of a run, its ledger and the right to draw noise. Every private statistic
//! passes through one of its methods, which charges the loss, adds the noise and returns what may be
//! released. Because there is no other way, a run can be recorded and replayed on a neighboring data set:
//! see [`tape`](crate::tape).

use std::collections::BTreeMap;
use std::fmt;

use dashu_ratio::RBig;

use crate::accountant::{Accountant, SpendError};
use crate::budget::Budget;
use crate::guarantee::Guarantee;
use crate::ledger::{Event, Ledger};
use crate::mechanism::{
    AdditiveMechanism, GaussianMechanism, LaplaceMechanism, SelectionMechanism, SelectionRule,
    ThresholdMechanism,
};
use crate::neighboring::NeighboringRelation;
use crate::release::{Confidential, Release};
use crate::rng::NoiseRng;
use crate::sampler;
use crate::sensitivity::{ScoreWidth, Sensitivity};
use crate::tape::{Deck, Edit, Output, ReplayReport, Statistic, Tape};

mod charged;
mod own_loss;
mod parts;
mod secret;
pub use own_loss::OwnLoss;
pub use parts::DisjointParts;
pub use secret::SecretLabels;

/// A selection could not be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SelectionError {
    /// The spend was refused.
    #[error(transparent)]
    Spend(#[from] SpendError),
    /// There was nothing to choose from: the candidates are public, so this says nothing of the data.
    #[error("a selection needs at least one candidate with a positive weight")]
    NoCandidate,
}

/// A loss that was charged as a whole, under which several draws may follow.
///
/// For theorems that bound a whole loop at once (maximum coverage, filters): the draws name the charge
/// that pays for them, and on a tape they say what each loses by itself ([`OwnLoss`]), so that an audit can add them up as
/// the theorem does.
#[derive(Clone, Debug)]
pub struct Charge {
    event: Event,
}

/// One run: a budget, a ledger, and the right to draw noise.
pub struct Session<'rng> {
    accountant: Accountant,
    rng: &'rng mut dyn NoiseRng,
    deck: Deck,
    /// How many groups of disjoint parts there were.
    groups: u32,
}

impl<'rng> Session<'rng> {
    /// A run that may spend `budget` under `relation`, with noise from `rng`.
    pub fn new(budget: Budget, relation: NeighboringRelation, rng: &'rng mut dyn NoiseRng) -> Self {
        Self {
            accountant: Accountant::new(budget, relation),
            rng,
            deck: Deck::Off,
            groups: 0,
        }
    }

    /// Records every statistic and every output from here on. For audits on made-up data: the tape
    /// holds private values.
    #[must_use]
    pub fn recorded(mut self) -> Self {
        self.deck = Deck::Recording(Tape::default());
        self
    }

    /// Draws nothing from here on: each call returns what the tape holds and compares what it was
    /// asked with what was asked then. `edit` says how this data set differs from the recorded one.
    #[must_use]
    pub fn replayed(mut self, tape: &Tape, edit: Edit) -> Self {
        self.deck = Deck::replaying(tape.clone(), edit);
        self
    }

    /// The promised relation.
    #[must_use]
    pub const fn relation(&self) -> NeighboringRelation {
        self.accountant.relation()
    }

    /// What the whole run may spend.
    #[must_use]
    pub const fn budget(&self) -> Budget {
        self.accountant.budget()
    }

    /// What was spent so far, event by event.
    #[must_use]
    pub const fn ledger(&self) -> &Ledger {
        self.accountant.ledger()
    }

    /// What the run so far promises.
    #[must_use]
    pub fn guarantee(&self) -> Guarantee {
        self.accountant.guarantee()
    }

    /// Whether the noise comes from a seed that somebody chose.
    #[must_use]
    pub fn is_seeded(&self) -> bool {
        self.rng.is_seeded()
    }

    /// Refuses a plan that does not fit, before any data is touched; charges nothing.
    ///
    /// # Errors
    ///
    /// [`SpendError`] if the events together exceed what is left.
    pub fn admit<'e>(&self, plan: impl IntoIterator<Item = &'e Event>) -> Result<(), SpendError> {
        self.accountant.admit(plan)
    }

    /// Releases a vector of integers with discrete Laplace noise.
    ///
    /// # Privacy
    ///
    /// See [`LaplaceMechanism`]. The caller proves the sensitivity; results saturate at the ends of
    /// `i128`, which is post-processing.
    ///
    /// # Errors
    ///
    /// [`SpendError`] if the budget does not cover it; nothing is drawn then.
    pub fn laplace(
        &mut self,
        mechanism: &LaplaceMechanism,
        purpose: &str,
        statistic: &Confidential<Vec<i64>>,
    ) -> Result<Vec<i128>, SpendError> {
        let event = mechanism.event(self.relation(), purpose);
        self.noisy(&event, statistic, |rng, noise| {
            mechanism.sampler().fill(rng, noise);
        })
    }

    /// Releases a vector of integers with discrete Gaussian noise.
    ///
    /// # Privacy
    ///
    /// See [`GaussianMechanism`].
    ///
    /// # Errors
    ///
    /// [`SpendError`] if the budget does not cover it; nothing is drawn then.
    pub fn gaussian(
        &mut self,
        mechanism: &GaussianMechanism,
        purpose: &str,
        statistic: &Confidential<Vec<i64>>,
    ) -> Result<Vec<i128>, SpendError> {
        let event = mechanism.event(self.relation(), purpose);
        self.noisy(&event, statistic, |rng, noise| {
            mechanism.sampler().fill(rng, noise);
        })
    }

    /// Releases a vector of integers with either kind of noise.
    ///
    /// # Privacy
    ///
    /// See [`AdditiveMechanism`].
    ///
    /// # Errors
    ///
    /// [`SpendError`] if the budget does not cover it; nothing is drawn then.
    pub fn add_noise(
        &mut self,
        mechanism: &AdditiveMechanism,
        purpose: &str,
        statistic: &Confidential<Vec<i64>>,
    ) -> Result<Vec<i128>, SpendError> {
        match mechanism {
            AdditiveMechanism::Laplace(mechanism) => self.laplace(mechanism, purpose, statistic),
            AdditiveMechanism::Gaussian(mechanism) => self.gaussian(mechanism, purpose, statistic),
        }
    }

    /// Chooses one of several candidates by their private scores; returns its index.
    ///
    /// `base_weights` are public multiplicities for the exponential rule (candidate i stands for that
    /// many equal ones); other rules ignore them.
    ///
    /// # Privacy
    ///
    /// See [`SelectionMechanism`].
    ///
    /// # Errors
    ///
    /// [`SelectionError::Spend`] if the budget does not cover it, [`SelectionError::NoCandidate`] if
    /// there is no candidate.
    pub fn select(
        &mut self,
        mechanism: &SelectionMechanism,
        purpose: &str,
        scores: &Confidential<Vec<i64>>,
        base_weights: Option<&[u64]>,
    ) -> Result<usize, SelectionError> {
        let event = mechanism.event(self.relation(), purpose);
        self.select_as(&event, mechanism, scores, base_weights)
    }

    /// [`select`](Self::select), charged to zero-concentrated composition.
    ///
    /// # Errors
    ///
    /// As [`select`](Self::select).
    pub fn select_zcdp(
        &mut self,
        mechanism: &SelectionMechanism,
        purpose: &str,
        scores: &Confidential<Vec<i64>>,
        base_weights: Option<&[u64]>,
    ) -> Result<usize, SelectionError> {
        let event = mechanism.zcdp_event(self.relation(), purpose);
        self.select_as(&event, mechanism, scores, base_weights)
    }

    /// Chooses a point of a public grid by a private score that is constant on steps of the grid; returns its index.
    ///
    /// `steps` are the lengths of the steps, in grid points, and the scores on them; the lengths add up to the public number of points. The law is
    /// that of the exponential mechanism on all points, whatever rule the mechanism names (the ledger says so), and takes time for the
    /// steps alone.
    ///
    /// # Privacy
    ///
    /// See [`SelectionMechanism`], with the grid's points as the candidates.
    ///
    /// # Errors
    ///
    /// As [`select`](Self::select).
    pub fn choose_on_grid(
        &mut self,
        mechanism: &SelectionMechanism,
        purpose: &str,
        steps: &Confidential<Vec<(u64, i64)>>,
    ) -> Result<u64, SelectionError> {
        if steps.peek().iter().all(|&(length, _)| length == 0) {
            return Err(SelectionError::NoCandidate);
        }
        let event = mechanism.exponential().event(self.relation(), purpose);
        let width = event.sensitivity;
        let charge = self.charge(event)?;
        self.choose_on_grid_charged(&charge, mechanism, purpose, width, steps)
            .ok_or(SelectionError::NoCandidate)
    }

    fn select_as(
        &mut self,
        event: &Event,
        mechanism: &SelectionMechanism,
        scores: &Confidential<Vec<i64>>,
        base_weights: Option<&[u64]>,
    ) -> Result<usize, SelectionError> {
        if scores.peek().is_empty() {
            return Err(SelectionError::NoCandidate);
        }
        self.accountant.spend(event.clone())?;
        let rule = mechanism.rule();
        let eta = mechanism.exact_eta();
        self.choose(event, scores, |rng, scores| match rule {
            SelectionRule::Exponential => {
                sampler::exponential::select(scores, eta, base_weights, rng)
            }
            SelectionRule::PermuteAndFlip => sampler::permute_and_flip::select(scores, eta, rng),
            SelectionRule::NoisyMax => sampler::noisy_max::select(scores, eta, rng),
        })
        .ok_or(SelectionError::NoCandidate)
    }

    /// Releases the counts of the keys that occur often.
    ///
    /// # Privacy
    ///
    /// See [`ThresholdMechanism`]: each unit adds 1 to the count of one key.
    ///
    /// # Errors
    ///
    /// [`SpendError`] if the budget does not cover it; nothing is drawn then.
    pub fn threshold(
        &mut self,
        mechanism: &ThresholdMechanism,
        purpose: &str,
        counts: &Confidential<BTreeMap<Vec<i64>, i64>>,
    ) -> Result<BTreeMap<Vec<i64>, i128>, SpendError> {
        let event = mechanism.event(purpose);
        self.accountant.spend(event.clone())?;
        let counts = counts.peek();
        let least = i128::from(mechanism.threshold());
        let rng = &mut *self.rng;
        let output = self.deck.call(
            &event,
            || Statistic::Keyed(counts.clone()),
            || {
                let mut noise = vec![0; counts.len()];
                mechanism.sampler().fill(rng, &mut noise);
                // A key whose count is zero does not occur: it gets no noise and no place.
                let noisy = counts
                    .iter()
                    .zip(noise)
                    .filter(|((_, count), _)| **count > 0);
                Output::Keyed(
                    noisy
                        .map(|((key, count), noise)| {
                            (key.clone(), noise.saturating_add(i128::from(*count)))
                        })
                        .filter(|(_, noisy)| *noisy >= least)
                        .collect(),
                )
            },
        );
        Ok(output.into_keyed())
    }

    /// Charges a loss that a theorem states for several draws together.
    ///
    /// # Errors
    ///
    /// [`SpendError`] if the budget does not cover it.
    pub fn charge(&mut self, event: Event) -> Result<Charge, SpendError> {
        self.accountant.spend(event.clone())?;
        Ok(Charge { event })
    }

    /// Chooses a candidate with probability proportional to weight·exp(η·score), paid for by a charge.
    ///
    /// # Privacy
    ///
    /// The theorem behind the charge covers the draw; `width` is the width of the score changes that
    /// it assumes (for replays).
    ///
    /// Returns `None` if there is no candidate with a positive weight.
    pub fn select_charged(
        &mut self,
        charge: &Charge,
        eta: &RBig,
        width: ScoreWidth,
        scores: &Confidential<Vec<i64>>,
        base_weights: Option<&[u64]>,
    ) -> Option<usize> {
        if scores.peek().is_empty() {
            return None;
        }
        let event = Self::under(charge, "exponential", width);
        let event = own_loss::of_selection(event, eta.to_f64().value());
        self.choose(&event, scores, |rng, scores| {
            sampler::exponential::select(scores, eta, base_weights, rng)
        })
    }

    /// Flips one coin per entry with the given private probabilities, paid for by a charge; the outcomes
    /// stay private.
    ///
    /// Entry i is a fraction `(numerator, denominator)`, clamped to [0, 1].
    pub fn filter_charged(
        &mut self,
        charge: &Charge,
        probabilities: &Confidential<Vec<(u64, u64)>>,
    ) -> Confidential<Vec<bool>> {
        let event = Self::under(charge, "filter", Sensitivity::ByTheorem);
        let rng = &mut *self.rng;
        let probabilities = probabilities.peek();
        let output = self.deck.call(
            &event,
            || Statistic::Fractions(probabilities.clone()),
            || {
                Output::Coins(
                    probabilities
                        .iter()
                        .map(|&(numerator, denominator)| {
                            sampler::uniform::bernoulli_ratio(
                                u128::from(numerator.min(denominator)),
                                u128::from(denominator.max(1)),
                                rng,
                            )
                        })
                        .collect(),
                )
            },
        );
        Confidential::new(output.into_coins())
    }

    /// Secret, independent, uniform labels in `0..blocks` for records by their index, and a secret seed
    /// per block; costs nothing, because nothing of it is released.
    pub fn secret_labels(&mut self, purpose: &str, blocks: u64) -> SecretLabels {
        let rng = &mut *self.rng;
        let key = self.deck.secret(purpose, || {
            let mut key = [0; 32];
            rng.fill_bytes(&mut key);
            key
        });
        SecretLabels::new(key, blocks, self.deck.edit())
    }

    /// Ends the run: the value with its guarantee and its ledger.
    #[must_use]
    pub fn release<T>(&self, value: T) -> Release<T> {
        Release {
            value,
            guarantee: self.guarantee(),
            ledger: self.ledger().clone(),
            seeded: self.is_seeded(),
        }
    }

    /// The tape of a recorded run.
    #[must_use]
    pub fn into_tape(self) -> Option<Tape> {
        self.deck.into_tape()
    }

    /// What a replayed run did differently from the recorded one.
    #[must_use]
    pub fn into_report(self) -> Option<ReplayReport> {
        self.deck.into_report()
    }

    fn under(charge: &Charge, draw: &str, sensitivity: impl Into<Sensitivity>) -> Event {
        let mut event = charge.event.clone().with("draw", draw);
        event.sensitivity = sensitivity.into();
        event
    }

    fn choose(
        &mut self,
        event: &Event,
        scores: &Confidential<Vec<i64>>,
        draw: impl FnOnce(&mut dyn NoiseRng, &[i64]) -> Option<usize>,
    ) -> Option<usize> {
        let scores = scores.peek();
        let rng = &mut *self.rng;
        let output = self.deck.call(
            event,
            || Statistic::Integers(scores.iter().map(|&score| i128::from(score)).collect()),
            || Output::Choice(draw(rng, scores)),
        );
        output.into_choice()
    }

    fn noisy(
        &mut self,
        event: &Event,
        statistic: &Confidential<Vec<i64>>,
        draw: impl FnOnce(&mut dyn NoiseRng, &mut [i128]),
    ) -> Result<Vec<i128>, SpendError> {
        self.accountant.spend(event.clone())?;
        Ok(self.draw_noise(event, statistic, draw))
    }

    /// Adds noise that was paid for.
    fn draw_noise(
        &mut self,
        event: &Event,
        statistic: &Confidential<Vec<i64>>,
        draw: impl FnOnce(&mut dyn NoiseRng, &mut [i128]),
    ) -> Vec<i128> {
        let exact = statistic.peek();
        let rng = &mut *self.rng;
        let output = self.deck.call(
            event,
            || Statistic::Integers(exact.iter().map(|&x| i128::from(x)).collect()),
            || {
                let mut noisy = vec![0; exact.len()];
                crate::planted!(
                    "seed-reused": draw(&mut crate::rng::InsecureSeededRng::new(7), &mut noisy); draw(rng, &mut noisy)
                );
                crate::planted!(
                    "noise-truncated": noisy.iter_mut().for_each(|x| *x = (*x).clamp(-2, 2)); ()
                );
                crate::planted!(
                    "one-noise-for-all": if let Some(first) = noisy.first().copied() { noisy.fill(first) };
                    ()
                );
                for (noisy, exact) in noisy.iter_mut().zip(exact) {
                    *noisy = noisy.saturating_add(i128::from(*exact));
                }
                Output::Integers(noisy)
            },
        );
        output.into_integers()
    }
}

impl fmt::Debug for Session<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("accountant", &self.accountant)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
