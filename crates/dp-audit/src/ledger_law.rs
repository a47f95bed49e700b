//! The spends of a run, added up in rationals by other code than the accountant's: at most the promise, and hardly less.

use dashu_ratio::RBig;
use dp_core::sensitivity::Sensitivity;
use dp_core::{Budget, Composition, Event, Ledger, Loss, NeighboringRelation, Value, conversion};

/// What a ledger adds up to.
#[derive(Clone, Debug, PartialEq)]
pub struct Spent {
    /// ε over the promised ε, rounded to a float.
    pub epsilon_share: f64,
    /// δ over the promised δ; 0 if none was promised. Concentrated spends use all that is left of δ.
    pub delta_share: f64,
}

/// A ledger breaks its promise, or wastes it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LawError {
    /// More was spent than promised.
    #[error("spent {epsilon_share} of epsilon and {delta_share} of delta")]
    Over {
        /// ε over the promised ε.
        epsilon_share: f64,
        /// δ over the promised δ.
        delta_share: f64,
    },
    /// Less than the wanted share of ε was spent: noise for nothing.
    #[error("spent {epsilon_share} of epsilon, less than {least}")]
    Under {
        /// ε over the promised ε.
        epsilon_share: f64,
        /// The least share that was wanted.
        least: f64,
    },
    /// An event cannot enter the sum.
    #[error("an event cannot be added up: {0}")]
    Event(String),
}

/// A Gaussian spend of which the ledger does not say enough to recompute its noise, and what checks that noise instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elsewhere {
    /// The event's mechanism.
    pub mechanism: &'static str,
    /// What checks the noise, for readers.
    pub reason: &'static str,
}

/// Adds up `ledger` and compares it with what was promised; `least` is the share of ε that must have been used.
///
/// [`check_but`] without an exception.
///
/// # Errors
///
/// [`LawError`].
pub fn check(
    ledger: &Ledger,
    relation: NeighboringRelation,
    budget: Budget,
    least: f64,
) -> Result<Spent, LawError> {
    check_but(&[], ledger, relation, budget, least)
}

/// Adds up `ledger` and compares it with what was promised; `least` is the share of ε that must have been used.
///
/// ε and δ of basic events are summed exactly; ρ of concentrated ones is summed exactly and converted once, with what is left of
/// δ: as one Gaussian where all of them are, and then each event's noise must have the surplus of variance which that takes: an event that does
/// not show its noise is an error, unless it is listed in `elsewhere`.
/// An event that was proved under add-remove counts twice (ρ four times) under replace-one.
///
/// # Errors
///
/// [`LawError`].
pub fn check_but(
    elsewhere: &[Elsewhere],
    ledger: &Ledger,
    relation: NeighboringRelation,
    budget: Budget,
    least: f64,
) -> Result<Spent, LawError> {
    let zero = || RBig::ZERO;
    let (mut epsilon, mut delta, mut rho) = (zero(), zero(), zero());
    let mut gaussian = true;
    for event in ledger.events() {
        let doubled = match (event.relation, relation) {
            (proof, promise) if proof == promise => false,
            (NeighboringRelation::AddRemove, NeighboringRelation::ReplaceOne) => true,
            _ => {
                return Err(LawError::Event(format!(
                    "{event} is proved for {}",
                    event.relation
                )));
            }
        };
        let steps = RBig::from(if doubled { 2_u8 } else { 1 });
        let times = RBig::from(event.count);
        match event.loss {
            // A pure loss that enters as a concentrated one: ρ = ε²/2.
            Loss::Pure(e) if event.composition != Composition::Basic => {
                let e = exact(e.get()) * &steps;
                rho += &e * &e / RBig::from(2_u8) * times;
            }
            Loss::Pure(e) => epsilon += exact(e.get()) * steps * times,
            Loss::Approx(e, d) => {
                let factor = if doubled { 1.0 + e.get().exp() } else { 1.0 };
                epsilon += exact(e.get()) * steps * &times;
                delta += exact(d.get()) * exact(factor) * times;
            }
            Loss::Zcdp(r) => rho += exact(r.get()) * &steps * &steps * times,
        }
        gaussian &= is_gaussian(event, elsewhere)?;
    }
    let (promised, granted) = (exact(budget.epsilon.get()), exact(budget.delta.get()));
    if rho > zero() {
        // What is left of δ, from below; ρ from above.
        let left = (&granted - &delta).to_f64().value().next_down();
        let rho = rho.to_f64().value().next_up();
        let converted = match (left > 0.0, gaussian) {
            (true, true) => conversion::epsilon_of_gaussians(rho, left),
            (true, false) => conversion::epsilon_of_rho(rho, left),
            (false, _) => f64::INFINITY,
        };
        if !converted.is_finite() {
            return Err(LawError::Over {
                epsilon_share: f64::INFINITY,
                delta_share: share(&delta, &granted),
            });
        }
        epsilon += exact(converted);
    }
    let spent = Spent {
        epsilon_share: share(&epsilon, &promised),
        delta_share: share(&delta, &granted),
    };
    // One part in 2^40 for the conversion's own outward rounding; sums of basic events have no slack.
    let slack = if rho_was_used(ledger) {
        exact(1.0 + 2_f64.powi(-40))
    } else {
        RBig::ONE
    };
    let delta_slack = exact(1.0 + 2_f64.powi(-40));
    if epsilon > promised * slack || delta > granted * delta_slack {
        return Err(LawError::Over {
            epsilon_share: spent.epsilon_share,
            delta_share: spent.delta_share,
        });
    }
    if spent.epsilon_share < least {
        return Err(LawError::Under {
            epsilon_share: spent.epsilon_share,
            least,
        });
    }
    Ok(spent)
}

fn rho_was_used(ledger: &Ledger) -> bool {
    ledger
        .events()
        .iter()
        .any(|event| event.composition != Composition::Basic)
}

/// Whether an event may stand in a sum of Gaussians; an error if it says so and its noise is too small for it, or is not known.
fn is_gaussian(event: &Event, elsewhere: &[Elsewhere]) -> Result<bool, LawError> {
    match event.composition {
        Composition::Basic => return Ok(true),
        Composition::Zcdp => return Ok(false),
        Composition::Gaussian => {}
    }
    let Loss::Zcdp(rho) = event.loss else {
        return Err(LawError::Event(format!("{event} has no rho")));
    };
    let std_dev = event.parameters.get("std_dev");
    let (Sensitivity::L2Squared(squared), Some(Value::Real(std_dev))) =
        (event.sensitivity, std_dev)
    else {
        if elsewhere.iter().any(|e| e.mechanism == event.mechanism) {
            return Ok(true);
        }
        return Err(LawError::Event(format!(
            "{event} is said to be Gaussian and does not show its noise"
        )));
    };
    // σ² − 4 ≥ Δ²/(2ρ), up to the rounding of σ to a float.
    let needed = squared as f64 / (2.0 * rho.get()) + f64::from(conversion::GAUSSIAN_SURPLUS);
    if std_dev * std_dev < needed * (1.0 - 1e-14) {
        return Err(LawError::Event(format!(
            "{event} has a variance of {}, not {needed}",
            std_dev * std_dev
        )));
    }
    Ok(true)
}

fn exact(x: f64) -> RBig {
    RBig::try_from(x).unwrap_or(RBig::ZERO)
}

fn share(part: &RBig, whole: &RBig) -> f64 {
    if *whole == RBig::ZERO {
        if *part == RBig::ZERO {
            0.0
        } else {
            f64::INFINITY
        }
    } else {
        (part / whole).to_f64().value()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dp_core::sensitivity::Sensitivity;
    use dp_core::{Delta, Epsilon, Event, Rho};

    fn event(loss: Loss) -> Event {
        Event::new(
            "m",
            Sensitivity::L1(1),
            NeighboringRelation::AddRemove,
            loss,
        )
    }

    fn budget() -> Budget {
        Budget::approx(
            Epsilon::new(1.0).expect("valid"),
            Delta::new(1e-6).expect("valid"),
        )
    }

    #[test]
    fn sums_are_exact_to_the_last_bit() {
        let third = Loss::Pure(Epsilon::new(1.0 / 3.0).expect("valid"));
        let ledger: Ledger = std::iter::repeat_n(event(third), 3).collect();
        let relation = NeighboringRelation::AddRemove;
        // Three times the float below one third is below one.
        check(&ledger, relation, budget(), 0.999).expect("fits");
        let more = Loss::Pure(Epsilon::new((1.0_f64 / 3.0).next_up()).expect("valid"));
        let ledger: Ledger = std::iter::repeat_n(event(more), 3).collect();
        assert!(matches!(
            check(&ledger, relation, budget(), 0.0),
            Err(LawError::Over { .. })
        ));
    }

    #[test]
    fn waste_doubling_and_spent_delta_are_seen() {
        let half = Loss::Pure(Epsilon::new(0.5).expect("valid"));
        let ledger: Ledger = [event(half)].into_iter().collect();
        let (add, replace) = (
            NeighboringRelation::AddRemove,
            NeighboringRelation::ReplaceOne,
        );
        assert!(matches!(
            check(&ledger, add, budget(), 0.999),
            Err(LawError::Under { .. })
        ));
        check(&ledger, replace, budget(), 0.999).expect("twice a half is all");
        // All of δ in a basic event leaves nothing to convert ρ with.
        let all = Loss::Approx(
            Epsilon::new(0.1).expect("valid"),
            Delta::new(1e-6).expect("valid"),
        );
        let rho = Loss::Zcdp(Rho::new(1e-4).expect("valid"));
        let ledger: Ledger = [event(all), event(rho)].into_iter().collect();
        assert!(matches!(
            check(&ledger, add, budget(), 0.0),
            Err(LawError::Over { .. })
        ));
    }

    #[test]
    fn a_gaussian_spend_shows_its_noise_or_is_listed() {
        let spend = budget().gaussian().expect("there is a delta");
        let gaussian = |sensitivity| {
            Event::new(
                "m",
                sensitivity,
                NeighboringRelation::AddRemove,
                Loss::Zcdp(spend.rho()),
            )
            .composed(spend.composition())
        };
        let law = |elsewhere: &[Elsewhere], event: Event| {
            let ledger: Ledger = [event].into_iter().collect();
            let relation = NeighboringRelation::AddRemove;
            check_but(elsewhere, &ledger, relation, budget(), 0.999)
        };
        let squared = Sensitivity::L2Squared(1);
        let std_dev = (1.0 / (2.0 * spend.rho().get()) + 4.0).sqrt();
        law(&[], gaussian(squared).with("std_dev", std_dev)).expect("enough noise");
        let other = |mechanism| Elsewhere {
            mechanism,
            reason: "a test",
        };
        for hidden in [
            gaussian(squared),
            gaussian(Sensitivity::ByTheorem),
            gaussian(Sensitivity::ByTheorem).with("std_dev", std_dev),
        ] {
            for elsewhere in [&[][..], &[other("another")]] {
                assert!(matches!(
                    law(elsewhere, hidden.clone()),
                    Err(LawError::Event(_))
                ));
            }
            law(&[other("m")], hidden).expect("listed");
        }
        // What does show its noise is checked all the same.
        let little = gaussian(squared).with("std_dev", 0.9 * std_dev);
        assert!(matches!(
            law(&[other("m")], little),
            Err(LawError::Event(_))
        ));
    }
}
