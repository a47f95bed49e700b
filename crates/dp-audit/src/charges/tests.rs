use super::*;
use dp_core::mechanism::AdditiveMechanism;
use dp_core::rng::InsecureSeededRng;
use dp_core::sensitivity::{L1Sensitivity, L2Sensitivity, Sensitivity};
use dp_core::{Budget, Confidential, Delta, Epsilon, Event, Loss, NeighboringRelation, Session};

const STEPS: usize = 4;

fn epsilon(nats: f64) -> Epsilon {
    Epsilon::new(nats).expect("valid")
}

fn charge(session: &mut Session<'_>) -> dp_core::session::Charge {
    let event = Event::new(
        "theorem",
        Sensitivity::ByTheorem,
        NeighboringRelation::AddRemove,
        Loss::Pure(epsilon(1.0)),
    );
    session.charge(event).expect("fits")
}

/// A theorem that pays ε = 1 for four counts, and draws them with `each`.
fn tape(each: f64, draws: usize, sensitivity: Sensitivity) -> Tape {
    let mut rng = InsecureSeededRng::new(1);
    let budget = Budget::pure(epsilon(1.0));
    let session = Session::new(budget, NeighboringRelation::AddRemove, &mut rng);
    let mut session = session.recorded();
    let charge = charge(&mut session);
    let one = L1Sensitivity::new(1).expect("valid");
    let noise = AdditiveMechanism::laplace(one, epsilon(each)).expect("drawable");
    for _ in 0..draws {
        let count = Confidential::new(vec![5]);
        session.add_noise_charged(&charge, &noise, "count", sensitivity, &count);
    }
    session.into_tape().expect("recorded")
}

fn check(tape: &Tape) -> Result<f64, ChargeError> {
    let draws = Draws::under(tape, "theorem");
    draws.only(&["count"])?;
    let used: f64 = draws.of("count", STEPS)?.epsilons()?.iter().sum();
    within("four counts", used, 1.0, 1.0 - 1e-6)
}

#[test]
fn a_budget_that_is_divided_is_all_used() {
    let share = check(&tape(0.25, STEPS, Sensitivity::L1(1))).expect("sound");
    assert!((share - 1.0).abs() < ROUNDING);
}

#[test]
fn an_undivided_budget_a_wider_statistic_one_draw_more_and_waste_are_seen() {
    let one = Sensitivity::L1(1);
    assert!(matches!(
        check(&tape(1.0, STEPS, one)),
        Err(ChargeError::Over { used, .. }) if (used - 4.0).abs() < 1e-6
    ));
    assert!(matches!(
        check(&tape(0.25, STEPS, Sensitivity::L1(2))),
        Err(ChargeError::Over { .. })
    ));
    assert!(matches!(
        check(&tape(0.25, STEPS + 1, one)),
        Err(ChargeError::Number { found: 5, .. })
    ));
    assert!(matches!(
        check(&tape(0.2, STEPS, one)),
        Err(ChargeError::Under { .. })
    ));
    let by_theorem = tape(0.25, STEPS, Sensitivity::ByTheorem);
    assert_eq!(
        check(&by_theorem),
        Err(ChargeError::NoLoss("count".to_owned()))
    );
    let draws = Draws::under(&by_theorem, "theorem");
    assert_eq!(
        draws.only(&["sum"]),
        Err(ChargeError::Unknown("count".to_owned()))
    );
    let scales = draws.parameter("scale").expect("they are known");
    assert!(scales.iter().all(|scale| (scale - 4.0).abs() < ROUNDING));
    assert!(within("nothing", f64::NAN, 1.0, 0.0).is_err());
}

#[test]
fn concentrated_losses_add_up_as_gaussians_if_all_are() {
    let budget = Budget::approx(epsilon(1.0), Delta::new(1e-6).expect("valid"));
    let spend = budget.gaussian().expect("there is a delta");
    let parts = spend.split(&[1.0, 3.0]).expect("positive");
    let mut rng = InsecureSeededRng::new(1);
    let session = Session::new(budget, NeighboringRelation::AddRemove, &mut rng);
    let mut session = session.recorded();
    let charge = charge(&mut session);
    let squared = L2Sensitivity::from_squared(49).expect("valid");
    let plain = AdditiveMechanism::gaussian(squared, spend.rho()).expect("drawable");
    let mut noise: Vec<AdditiveMechanism> = parts
        .into_iter()
        .map(|part| AdditiveMechanism::gaussian(squared, part).expect("drawable"))
        .collect();
    noise.push(plain);
    for noise in &noise {
        let sum = Confidential::new(vec![5, 5]);
        session.add_noise_charged(&charge, noise, "sum", squared, &sum);
    }
    let tape = session.into_tape().expect("recorded");
    let all = Draws::under(&tape, "theorem").rhos().expect("concentrated");
    let two = Concentrated::sum(&all[..2]);
    within("two sums", two.epsilon(1e-6), 1.0, 1.0 - 1e-6).expect("all of it");
    assert!(two.gaussian && !Concentrated::sum(&all).gaussian);
    let most = Concentrated::most(&all);
    assert!((most.rho / spend.rho().get() - 1.0).abs() < ROUNDING);
    assert!((most.moved(2.0).rho / most.rho - 4.0).abs() < ROUNDING);
    // The same ρ without the surplus of variance does not fit.
    assert!(within("plain", all[2].epsilon(1e-6), 1.0, 0.0).is_err());
}
