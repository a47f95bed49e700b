//! Private selection of one of several candidates by integer scores.

use dashu_ratio::RBig;

use super::rational;
use crate::guarantee::Loss;
use crate::ledger::{Composition, Event};
use crate::neighboring::NeighboringRelation;
use crate::sensitivity::ScoreWidth;
use crate::units::{Epsilon, Rho};

/// How a candidate is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SelectionRule {
    /// With probability proportional to exp(η·score) (McSherry and Talwar 2007). Bounded range, so ρ = ε²/8
    /// in concentrated composition.
    Exponential,
    /// Candidates in random order, each accepted with probability exp(η·(score − best)) (McKenna and Sheldon
    /// 2020): never worse in expectation. Not bounded-range: ρ = ε²/2.
    PermuteAndFlip,
    /// The largest score after discrete Laplace noise of scale 1/η, ties to the lowest index: ρ = ε²/2.
    NoisyMax,
}

impl SelectionRule {
    const fn name(self) -> &'static str {
        match self {
            Self::Exponential => "exponential",
            Self::PermuteAndFlip => "permute-and-flip",
            Self::NoisyMax => "noisy-max",
        }
    }
}

/// Chooses a candidate with a high score at a pure loss ε.
///
/// # Privacy
///
/// η = ε/w, where w is the width of an interval that holds the changes of all scores between
/// neighbors. A shift that is common to all scores cancels in each of the three rules, so only the
/// width counts: for scores that all move one way by at most s (counts, costs under add-remove) w = s, and
/// the textbook ε/(2s) is for changes of either sign, w = 2s.
///
/// *Exponential*: with all changes in [a, a + w], the weight of the output changes by at most e^(η(a+w)),
/// the normalizer by at least e^(ηa); the quotient is at most e^(ηw), and likewise below. The log ratio of the
/// two laws ranges over an interval of length ηw, hence ρ = (ηw)²/8 (Cesar and Rogers 2021).
///
/// *Noisy max*: fix the noise of all but candidate i. i wins iff its noise reaches an integer threshold, which
/// moves by at most w between neighbors; discrete Laplace noise of scale 1/η reaches a threshold
/// w higher with probability at least e^(−ηw) times as large.
///
/// *Permute and flip* equals adding exponential noise and taking the maximum (Ding et al. 2021), to which the same
/// argument applies.
#[derive(Clone, Debug)]
pub struct SelectionMechanism {
    rule: SelectionRule,
    width: ScoreWidth,
    epsilon: Epsilon,
    eta: RBig,
}

impl SelectionMechanism {
    /// The sharpest selection at loss `epsilon` for scores whose changes have this width.
    #[must_use]
    pub fn calibrate(rule: SelectionRule, width: ScoreWidth, epsilon: Epsilon) -> Self {
        let eta = rational(epsilon.get()) / RBig::from(width.get());
        let eta = crate::planted!("selection-charged-a-quarter": eta * RBig::from(4_u8); eta);
        Self {
            rule,
            width,
            epsilon,
            eta,
        }
    }

    /// The rule.
    #[must_use]
    pub const fn rule(&self) -> SelectionRule {
        self.rule
    }

    /// The same loss and factor under the exponential rule.
    pub(crate) fn exponential(&self) -> Self {
        Self {
            rule: SelectionRule::Exponential,
            ..self.clone()
        }
    }

    /// The factor η on the scores.
    #[must_use]
    pub fn eta(&self) -> f64 {
        self.eta.to_f64().value()
    }

    /// The loss of one run.
    #[must_use]
    pub const fn loss(&self) -> Loss {
        Loss::Pure(self.epsilon)
    }

    /// The loss of one run in concentrated composition: ε²/8 for the exponential rule, ε²/2 for the others.
    ///
    /// None where ε is so small that its square is no number.
    #[must_use]
    pub fn rho(&self) -> Option<Rho> {
        let epsilon = self.epsilon.get();
        let factor = match self.rule {
            SelectionRule::Exponential => 8.0,
            SelectionRule::PermuteAndFlip | SelectionRule::NoisyMax => 2.0,
        };
        Rho::new((epsilon * epsilon / factor).next_up()).ok()
    }

    /// What the ledger will say of one run.
    #[must_use]
    pub fn event(&self, relation: NeighboringRelation, purpose: &str) -> Event {
        Event::new(self.rule.name(), self.width, relation, self.loss())
            .purpose(purpose)
            .with("eta", self.eta())
    }

    /// The same under zero-concentrated composition, with the smaller loss that is valid there.
    #[must_use]
    pub fn zcdp_event(&self, relation: NeighboringRelation, purpose: &str) -> Event {
        let loss = self.rho().map_or(self.loss(), Loss::Zcdp);
        Event::new(self.rule.name(), self.width, relation, loss)
            .composed(Composition::Zcdp)
            .purpose(purpose)
            .with("eta", self.eta())
    }

    pub(crate) const fn exact_eta(&self) -> &RBig {
        &self.eta
    }
}
