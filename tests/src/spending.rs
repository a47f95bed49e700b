//! The ledger law: what the door was paid adds up to the promise, in rationals.

use dp_audit::ledger_law;
use dp_core::Session;
use dp_core::rng::InsecureSeededRng;
use ndarray::Array2;

use crate::subjects::Subject;

/// Runs a subject on tables of several sizes and checks its ledger.
///
/// # Errors
///
/// A run that failed, or a ledger that does not add up.
pub fn subject(subject: &Subject) -> Result<(), String> {
    let named = |what: String| format!("{}: {what}", subject.name());
    for n in [0, 1, 40] {
        let records = Array2::from_shape_fn((n, subject.columns), |(i, j)| {
            ((7 * i + 3 * j) % 13) as f64 / 6.0 - 1.0
        });
        let mut rng = InsecureSeededRng::new(3 + n as u64);
        let promise = subject.promise;
        let mut session = Session::new(promise.budget, promise.relation, &mut rng);
        subject.run(&records, &mut session).map_err(named)?;
        let spent = ledger_law::check(
            session.ledger(),
            promise.relation,
            promise.budget,
            subject.least_share.0,
        )
        .map_err(|error| named(error.to_string()))?;
        // The accountant must say the same.
        let said = session.guarantee().epsilon / promise.budget.epsilon.get();
        if (said - spent.epsilon_share).abs() > 1e-9 {
            return Err(named(format!(
                "the accountant says {said}, the sum is {}",
                spent.epsilon_share
            )));
        }
    }
    Ok(())
}
