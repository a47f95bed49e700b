//! The ledger law: what the door was paid adds up to the promise, in rationals.

use dp_audit::ledger_law::{self, Elsewhere};
use dp_core::rng::InsecureSeededRng;
use dp_core::sensitivity::Sensitivity;
use dp_core::{
    Accountant, Budget, Delta, Epsilon, Event, Ledger, Loss, NeighboringRelation, Rho, Session,
    accountant,
};
use ndarray::Array2;

use crate::subjects::{Subject, budget};

/// Gaussian spends whose noise the ledger does not show.
const ELSEWHERE: &[Elsewhere] = &[Elsewhere {
    mechanism: "discrete-gaussian-per-cluster",
    reason: "each cluster's noise has a sensitivity of its own and is drawn under the charge: `theorems::charges::refine` adds it up",
}];

/// How much more than it promises a session lets a subject spend, so that not the accountant but the law refuses what is too much. The subjects have
/// their budgets from their own parameters.
const RICHER: f64 = 8.0;

/// Runs a subject on tables of several sizes and checks its ledger.
///
/// # Errors
///
/// A run that failed, or a ledger that does not add up.
pub fn subject(subject: &Subject) -> Result<(), String> {
    let named = |what: String| format!("{}: {what}", subject.name());
    let text = |error: dp_core::UnitError| named(error.to_string());
    let promise = subject.promise;
    let rich = Budget::approx(
        Epsilon::new(RICHER * promise.budget.epsilon.get()).map_err(text)?,
        Delta::new(0.5).map_err(text)?,
    );
    for n in [0, 1, 40] {
        let records = Array2::from_shape_fn((n, subject.columns), |(i, j)| {
            ((7 * i + 3 * j) % 13) as f64 / 6.0 - 1.0
        });
        let mut rng = InsecureSeededRng::new(3 + n as u64);
        let mut session = Session::new(rich, promise.relation, &mut rng);
        subject.run(&records, &mut session).map_err(named)?;
        agree(
            session.ledger(),
            promise.relation,
            promise.budget,
            subject.least_share.0,
        )
        .map_err(named)?;
    }
    Ok(())
}

/// The law holds, and the accountant adds up the same.
fn agree(
    ledger: &Ledger,
    relation: NeighboringRelation,
    budget: Budget,
    least: f64,
) -> Result<(), String> {
    let (epsilon, delta) = (budget.epsilon.get(), budget.delta.get());
    let spent = ledger_law::check_but(ELSEWHERE, ledger, relation, budget, least)
        .map_err(|error| error.to_string())?;
    let said = accountant::total(ledger, relation, delta).map_err(|error| error.to_string())?;
    let apart = |what: &str, said: f64, sum: f64| {
        if (said - sum).abs() <= 1e-9 {
            Ok(())
        } else {
            Err(format!(
                "the accountant says {said} of {what}, the sum is {sum}"
            ))
        }
    };
    apart("epsilon", said.epsilon / epsilon, spent.epsilon_share)?;
    // Concentrated spends use all that is left of δ.
    if said.rho.is_none() && delta > 0.0 {
        apart("delta", said.delta / delta, spent.delta_share)?;
    }
    Ok(())
}

/// Ledgers of each kind of loss, proved under the promised relation and under the other one, add up alike in the accountant and by the law: both what
/// an accountant lets pass, and what it says of it.
///
/// # Errors
///
/// The ledger on which they differ.
pub fn conversions() -> Result<(), String> {
    let text = |error: dp_core::UnitError| error.to_string();
    let pure = Loss::Pure(Epsilon::new(0.1).map_err(text)?);
    let approx = Loss::Approx(
        Epsilon::new(0.15).map_err(text)?,
        Delta::new(1e-7).map_err(text)?,
    );
    let zcdp = Loss::Zcdp(Rho::new(2e-4).map_err(text)?);
    let budget = budget(1.0, 1e-6);
    let relations = NeighboringRelation::ALL;
    for (proof, promise) in relations.iter().flat_map(|&a| relations.map(|b| (a, b))) {
        for losses in [
            vec![pure],
            vec![approx],
            vec![zcdp],
            vec![pure, approx],
            vec![approx, zcdp, pure],
        ] {
            let events = losses
                .iter()
                .map(|&loss| Event::new("loss", Sensitivity::ByTheorem, proof, loss));
            let mut accountant = Accountant::new(budget, promise);
            let charged = events.map(|event| accountant.spend(event));
            let charged: Result<Vec<()>, _> = charged.collect();
            let named = |what: String| format!("{losses:?} under {proof} for {promise}: {what}");
            // What is proved for replaced records alone says nothing of others.
            if proof == NeighboringRelation::ReplaceOne && promise == NeighboringRelation::AddRemove
            {
                if charged.is_ok() {
                    return Err(named("was let pass".to_owned()));
                }
                continue;
            }
            charged.map_err(|error| named(error.to_string()))?;
            agree(accountant.ledger(), promise, budget, 0.0).map_err(named)?;
            // The running sum is the reader's.
            let said = accountant.guarantee();
            let again = accountant::total(accountant.ledger(), promise, budget.delta.get());
            if again != Ok(said) {
                return Err(named("a reader adds up another guarantee".to_owned()));
            }
        }
    }
    Ok(())
}
