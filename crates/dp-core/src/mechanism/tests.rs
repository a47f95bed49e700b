//! What calibration refuses.

use super::{GaussianMechanism, LaplaceMechanism, MechanismError, ThresholdMechanism};
use crate::sensitivity::{L1Sensitivity, L2Sensitivity};
use crate::units::{Delta, Epsilon, Rho};

fn epsilon(nats: f64) -> Epsilon {
    Epsilon::new(nats).expect("positive")
}

#[test]
fn a_threshold_that_cannot_keep_its_delta_is_refused() {
    let delta = |delta| Delta::new(delta).expect("a probability");
    for (nats, slack) in [
        (1e-18, 1e-6),
        (1e-17, 1e-300),
        (1e-200, 0.1),
        (1e-309, 1e-6),
    ] {
        let refused = ThresholdMechanism::calibrate(epsilon(nats), delta(slack));
        assert!(
            matches!(refused, Err(MechanismError::Scale { .. })),
            "{nats}, {slack}"
        );
    }
    // Large, but as it should be: P(1 + X ≥ t) ≤ δ.
    let (nats, slack) = (1e-9, 1e-300);
    let kept = ThresholdMechanism::calibrate(epsilon(nats), delta(slack)).expect("countable");
    let log_tail = -((kept.threshold() - 1) as f64) / kept.scale() - 2_f64.ln();
    assert!(log_tail <= slack.ln() + 1e-9, "{log_tail}");
}

#[test]
fn noise_whose_variance_is_no_number_is_refused() {
    let one = L1Sensitivity::new(1).expect("positive");
    for nats in [1e-160, 1e-309, 5e-324] {
        assert!(matches!(
            LaplaceMechanism::calibrate(one, epsilon(nats)),
            Err(MechanismError::Scale { .. })
        ));
    }
    let kept = LaplaceMechanism::calibrate(one, epsilon(1e-150)).expect("drawable");
    assert!(kept.variance().is_finite());
    let one = L2Sensitivity::from_squared(u128::MAX).expect("positive");
    let rho = Rho::new(f64::MIN_POSITIVE).expect("positive");
    assert!(matches!(
        GaussianMechanism::calibrate(one, rho),
        Err(MechanismError::Scale { .. })
    ));
}
