use super::*;
use crate::sensitivity::{L1Sensitivity, Sensitivity};
use crate::units::{Delta, Epsilon, Rho};

fn budget(epsilon: f64, delta: f64) -> Budget {
    Budget {
        epsilon: Epsilon::new(epsilon).expect("valid"),
        delta: Delta::new(delta).expect("valid"),
    }
}

fn event(loss: Loss, relation: NeighboringRelation) -> Event {
    let one = L1Sensitivity::new(1).expect("valid");
    Event::new("test", one, relation, loss)
}

fn pure(epsilon: f64) -> Loss {
    Loss::Pure(Epsilon::new(epsilon).expect("valid"))
}

fn rho(rho: f64) -> Loss {
    Loss::Zcdp(Rho::new(rho).expect("valid"))
}

const ADD: NeighboringRelation = NeighboringRelation::AddRemove;
const REPLACE: NeighboringRelation = NeighboringRelation::ReplaceOne;

#[test]
fn spends_add_up_exactly_and_an_overdraft_changes_nothing() {
    let mut accountant = Accountant::new(budget(1.0, 0.0), ADD);
    for _ in 0..9 {
        accountant.spend(event(pure(0.1), ADD)).expect("0.9 fits");
    }
    // Ten times the number written 0.1 is a little more than 1.
    let before = accountant.ledger().clone();
    assert!(matches!(
        accountant.spend(event(pure(0.1), ADD)),
        Err(SpendError::Insufficient { .. })
    ));
    assert_eq!(*accountant.ledger(), before);
    assert!(accountant.guarantee().epsilon <= 1.0);
}

#[test]
fn equal_spends_become_one_entry_with_a_count() {
    let mut accountant = Accountant::new(budget(1.0, 0.0), ADD);
    for _ in 0..4 {
        accountant.spend(event(pure(0.25), ADD)).expect("fits");
    }
    assert_eq!(accountant.ledger().events().len(), 1);
    assert_eq!(accountant.ledger().events()[0].count, 4);
    assert!((accountant.guarantee().epsilon - 1.0).abs() < 1e-15);
}

#[test]
fn a_plan_is_refused_as_a_whole() {
    let accountant = Accountant::new(budget(1.0, 0.0), ADD);
    let plan = [event(pure(0.6), ADD), event(pure(0.6), ADD)];
    assert!(accountant.admit(&plan[..1]).is_ok());
    assert!(accountant.admit(&plan).is_err());
}

#[test]
fn the_whole_rho_of_a_budget_fits_and_no_more() {
    for (epsilon, delta) in [(0.01, 1e-9), (0.1, 1e-6), (1.0, 1e-6), (8.0, 1e-5)] {
        let budget = budget(epsilon, delta);
        let whole = budget.rho().expect("delta is positive").get();
        let mut accountant = Accountant::new(budget, ADD);
        for part in crate::rounding::split(whole, &[1.0, 2.0, 3.0]) {
            accountant.spend(event(rho(part), ADD)).expect("fits");
        }
        let guarantee = accountant.guarantee();
        assert!(guarantee.epsilon <= epsilon && guarantee.epsilon > 0.999 * epsilon);
        assert!((guarantee.delta - delta).abs() <= 0.0);
        assert!(accountant.spend(event(rho(whole * 0.01), ADD)).is_err());
    }
}

#[test]
fn without_delta_nothing_concentrated_fits() {
    let mut accountant = Accountant::new(budget(1.0, 0.0), ADD);
    assert!(accountant.spend(event(rho(1e-9), ADD)).is_err());
    assert!(budget(1.0, 0.0).rho().is_none());
}

#[test]
fn a_proof_for_add_remove_costs_twice_under_replace_one() {
    let mut accountant = Accountant::new(budget(1.0, 0.0), REPLACE);
    accountant
        .spend(event(pure(0.5), ADD))
        .expect("2 · 0.5 fits");
    assert!((accountant.guarantee().epsilon - 1.0).abs() < 1e-15);
    assert!(accountant.spend(event(pure(0.1), ADD)).is_err());
}

#[test]
fn a_proof_for_replace_one_says_nothing_under_add_remove() {
    let mut accountant = Accountant::new(budget(1.0, 0.0), ADD);
    assert!(matches!(
        accountant.spend(event(pure(0.1), REPLACE)),
        Err(SpendError::Relation { .. })
    ));
}

#[test]
fn a_converted_budget_comes_back_inside_the_promise() {
    for (epsilon, delta) in [(1e-6, 0.0), (0.3, 1e-6), (1.0, 1e-300), (20.0, 0.4)] {
        let promise = budget(epsilon, delta);
        let inner = promise.converted(REPLACE, ADD).expect("convertible");
        let mut accountant = Accountant::new(promise, REPLACE);
        let loss = if inner.delta.is_zero() {
            Loss::Pure(inner.epsilon)
        } else {
            Loss::Approx(inner.epsilon, inner.delta)
        };
        accountant.spend(event(loss, ADD)).expect("fits");
        assert!(accountant.guarantee().delta <= delta);
    }
    assert!(budget(1.0, 0.0).converted(ADD, REPLACE).is_none());
}

#[test]
fn a_reader_adds_the_ledger_up_to_the_same_guarantee() {
    let budget = budget(1.0, 1e-6);
    let mut accountant = Accountant::new(budget, ADD);
    let half = Epsilon::new(0.25).expect("valid");
    let delta = Delta::new(1e-7).expect("valid");
    accountant.spend(event(pure(0.25), ADD)).expect("fits");
    accountant
        .spend(event(Loss::Approx(half, delta), ADD))
        .expect("fits");
    accountant.spend(event(rho(1e-4), ADD)).expect("fits");
    let again = total(accountant.ledger(), ADD, 1e-6).expect("composable");
    assert_eq!(again, accountant.guarantee());
    assert!(again.epsilon > 0.5 && again.epsilon <= 1.0);
}

#[test]
fn an_event_by_theorem_keeps_its_loss() {
    let mut accountant = Accountant::new(budget(1.0, 0.0), ADD);
    let event = Event::new("theorem", Sensitivity::ByTheorem, ADD, pure(1.0));
    assert!(accountant.spend(event).is_ok());
}

#[test]
fn gaussians_alone_are_one_gaussian_and_beside_others_they_are_rho() {
    let budget = budget(1.0, 1e-6);
    let whole = budget.gaussian().expect("delta is positive");
    let parts = whole.split(&[1.0, 2.0, 3.0]).expect("positive parts");
    let mut accountant = Accountant::new(budget, ADD);
    for part in &parts {
        let event = event(Loss::Zcdp(part.rho()), ADD).composed(part.composition());
        accountant.spend(event).expect("fits");
    }
    let guarantee = accountant.guarantee();
    assert!(guarantee.epsilon <= 1.0 && guarantee.epsilon > 0.999_999);
    let again = total(accountant.ledger(), ADD, 1e-6).expect("composable");
    assert_eq!(again, guarantee);
    // The same ρ as any concentrated loss does not fit, nor does one unlike event beside Gaussian ones.
    let mut plain = Accountant::new(budget, ADD);
    assert!(plain.spend(event(Loss::Zcdp(whole.rho()), ADD)).is_err());
    let mut mixed = Accountant::new(budget, ADD);
    for part in &parts[..2] {
        let event = event(Loss::Zcdp(part.rho()), ADD).composed(part.composition());
        mixed.spend(event).expect("fits");
    }
    assert!(mixed.spend(event(Loss::Zcdp(parts[2].rho()), ADD)).is_err());
    // Under replace-one a Gaussian proved under add-remove is one of twice the μ.
    let mut doubled = Accountant::new(budget, REPLACE);
    let quarter = Rho::new(whole.rho().get() / 4.0).expect("positive");
    let event = event(Loss::Zcdp(quarter), ADD).composed(whole.composition());
    doubled.spend(event).expect("four times a quarter");
    assert!((doubled.guarantee().epsilon - guarantee.epsilon).abs() < 1e-9);
}

#[test]
fn gaussians_that_one_look_lets_in_are_within_the_grant_when_their_own_loss_is_looked_for() {
    for epsilon in [1e-4, 0.03, 0.5, 1.0, 3.0, 20.0, 90.0] {
        for delta in [1e-200, 1e-12, 1e-6, 1e-3, 0.4] {
            let Budget {
                epsilon: e,
                delta: d,
            } = budget(epsilon, delta);
            let whole = conversion::rho_for_gaussians(e, d).expect("delta is positive");
            let totals = |rho: f64| {
                let mut totals = Totals::default();
                totals.rho.add(rho);
                totals
            };
            let within = |rho: f64| totals(rho).are_gaussians_within(epsilon, delta);
            // The whole of a budget is let in at one look; from there on up to the last float that is.
            let whole = whole.get();
            assert!(within(whole), "{epsilon}, {delta}");
            let last = crate::rounding::largest_holding(whole, 2.0 * whole, within);
            let mut rho = last.expect("the whole is let in");
            assert!(rho < whole * (1.0 + 1e-9), "{epsilon}, {delta}: {rho:e}");
            for _ in 0..20 {
                let (own, _, _) = totals(rho).convert(delta);
                assert!(own <= epsilon, "{epsilon}, {delta}: {own:e}");
                rho = rho.next_down();
            }
        }
    }
}
