use super::*;
use crate::budget::Budget;
use crate::guarantee::Loss;
use crate::mechanism::{GaussianMechanism, LaplaceMechanism};
use crate::neighboring::NeighboringRelation;
use crate::sensitivity::{L1Sensitivity, L2Sensitivity};
use crate::units::{Delta, Epsilon, Rho};

fn epsilon(nats: f64) -> Epsilon {
    Epsilon::new(nats).expect("valid")
}

fn near(found: f64, expected: f64) -> bool {
    (found / expected - 1.0).abs() < 1e-9
}

fn event(sensitivity: impl Into<Sensitivity>) -> Event {
    let loss = Loss::Pure(epsilon(1.0));
    Event::new("theorem", sensitivity, NeighboringRelation::AddRemove, loss)
}

fn laplace() -> AdditiveMechanism {
    let bound = L1Sensitivity::new(3).expect("valid");
    AdditiveMechanism::Laplace(LaplaceMechanism::calibrate(bound, epsilon(0.5)).expect("drawable"))
}

#[test]
fn laplace_noise_loses_by_the_l1_bound_of_each_norm() {
    // Scale 6, four coordinates.
    for (sensitivity, expected) in [
        (Sensitivity::L1(3), 0.5),
        (Sensitivity::L1(12), 2.0),
        (Sensitivity::LInf(3), 2.0),
        (Sensitivity::L2Squared(9), 1.0),
    ] {
        let found = OwnLoss::of(&of_noise(event(sensitivity), &laplace(), 4));
        let Some(OwnLoss::Pure(found)) = found else {
            panic!("{found:?}")
        };
        assert!(near(found, expected), "{found} for {expected}");
    }
}

#[test]
fn gaussian_noise_loses_by_the_l2_bound_with_or_without_its_surplus() {
    let squared = L2Sensitivity::from_squared(50).expect("valid");
    let rho = Rho::new(0.5).expect("valid");
    let plain = GaussianMechanism::calibrate(squared, rho).expect("drawable");
    let plain = AdditiveMechanism::Gaussian(plain);
    for (sensitivity, expected) in [
        (Sensitivity::L2Squared(50), 0.5),
        (Sensitivity::L2Squared(200), 2.0),
        (Sensitivity::L1(10), 1.0),
        (Sensitivity::LInf(5), 1.0),
    ] {
        let found = OwnLoss::of(&of_noise(event(sensitivity), &plain, 4));
        let Some(OwnLoss::Zcdp(found)) = found else {
            panic!("{found:?}")
        };
        assert!(near(found, expected), "{found} for {expected}");
    }
    let budget = Budget::approx(epsilon(1.0), Delta::new(1e-6).expect("valid"));
    let spend = budget.gaussian().expect("there is a delta");
    let counted = GaussianMechanism::calibrate(squared, spend).expect("drawable");
    let counted = AdditiveMechanism::Gaussian(counted);
    let found = OwnLoss::of(&of_noise(event(squared), &counted, 4));
    let Some(OwnLoss::Gaussian(found)) = found else {
        panic!("{found:?}")
    };
    assert!(near(found, spend.rho().get()), "{found}");
}

#[test]
fn selections_lose_the_rate_times_the_width() {
    let found = of_selection(event(Sensitivity::Width(4)), 0.25);
    assert_eq!(OwnLoss::of(&found), Some(OwnLoss::Pure(1.0)));
}

#[test]
fn what_a_theorem_alone_bounds_has_no_loss_of_its_own() {
    let noise = of_noise(event(Sensitivity::ByTheorem), &laplace(), 4);
    let selection = of_selection(event(Sensitivity::ByTheorem), 0.25);
    assert_eq!((OwnLoss::of(&noise), OwnLoss::of(&selection)), (None, None));
    // The noise itself is known still.
    assert!(noise.parameters.contains_key("scale") && selection.parameters.contains_key("eta"));
}
