//! Counts of the keys that occur, when there are too many keys to give each of them noise.

use dashu_ratio::RBig;

use super::{MechanismError, NOISE_BITS, drawable, rational};
use crate::guarantee::Loss;
use crate::ledger::Event;
use crate::neighboring::NeighboringRelation;
use crate::sampler::{DiscreteLaplace, scale_up};
use crate::sensitivity::L1Sensitivity;
use crate::units::{Delta, Epsilon};

/// Largest threshold.
const MOST: f64 = (1_u64 << 62) as f64;

/// Releases noisy counts of the keys that occur, and only those above a threshold: (ε, δ).
///
/// # Privacy
///
/// Proved under add-remove for units that hold one key each (other relations by conversion, in the
/// accountant). The noise is discrete Laplace of scale b = 1/ε, and a key is released iff its noisy count
/// is at least t. Let neighbors differ by a record of key κ. If κ occurs in both, the counts differ by one in one
/// place and each output's probability by at most e^ε. If κ occurs in one only, with count 1, the
/// outputs without κ differ by the factor P(1 + X < t) ∈ [1 − δ, 1], and those with κ have probability
/// P(1 + X ≥ t) = q^(t−1)/(1 + q) ≤ δ with q = e^(−1/b), t ≥ 2. The integer t is the least such.
/// For units without a key (a record that nothing keeps) nothing changes.
#[derive(Clone, Debug)]
pub struct ThresholdMechanism {
    epsilon: Epsilon,
    delta: Delta,
    threshold: i64,
    sampler: DiscreteLaplace,
}

impl ThresholdMechanism {
    /// The least noise and threshold at loss (ε, δ).
    ///
    /// # Errors
    ///
    /// [`MechanismError::NoDelta`] if δ is zero; [`MechanismError::Scale`] if 1/ε is beyond what
    /// can be drawn, or the threshold beyond what can be counted.
    pub fn calibrate(epsilon: Epsilon, delta: Delta) -> Result<Self, MechanismError> {
        if delta.is_zero() {
            return Err(MechanismError::NoDelta);
        }
        let exact = RBig::ONE / rational(epsilon.get());
        let scale = scale_up(&exact, NOISE_BITS);
        drawable(scale.to_f64().value())?;
        let refused = || MechanismError::Scale {
            scale: exact.to_f64().value(),
        };
        let sampler = DiscreteLaplace::new(scale).map_err(|_| refused())?;
        // t − 1 ≥ b·(ln(1/δ) − ln(1 + q)); b as drawn, everything rounded up, a margin for the logarithms.
        let b = sampler.scale().to_f64().value().next_up();
        let q = libm::exp(-1.0 / b);
        let steps = b * (-libm::log(delta.get()) - libm::log1p(q)) * (1.0 + 1e-12) + 1e-9;
        // A threshold that is cut off would not keep δ.
        if steps >= MOST {
            return Err(refused());
        }
        let threshold = (steps.ceil() + 1.0).clamp(2.0, MOST);
        #[expect(
            clippy::cast_possible_truncation,
            reason = "clamped to [2, 2^62] above"
        )]
        let threshold = threshold as i64;
        let threshold = crate::planted!("threshold-halved": threshold / 2; threshold);
        Ok(Self {
            epsilon,
            delta,
            threshold,
            sampler,
        })
    }

    /// The least noisy count that is released.
    #[must_use]
    pub const fn threshold(&self) -> i64 {
        self.threshold
    }

    /// Scale of the noise.
    #[must_use]
    pub fn scale(&self) -> f64 {
        self.sampler.scale().to_f64().value()
    }

    /// The loss of one run.
    #[must_use]
    pub const fn loss(&self) -> Loss {
        Loss::Approx(self.epsilon, self.delta)
    }

    /// What the ledger will say of one run; its proof is for add-remove.
    ///
    /// # Panics
    ///
    /// Never: a sensitivity of one unit is valid.
    #[must_use]
    pub fn event(&self, purpose: &str) -> Event {
        let one = L1Sensitivity::new(1).expect("one unit is a valid sensitivity");
        Event::new(
            "stability-threshold",
            one,
            NeighboringRelation::AddRemove,
            self.loss(),
        )
        .purpose(purpose)
        .with("scale", self.scale())
        .with("threshold", self.threshold)
    }

    pub(crate) const fn sampler(&self) -> &DiscreteLaplace {
        &self.sampler
    }
}
