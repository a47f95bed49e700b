use super::*;

fn assumption() -> Assumption {
    Assumption {
        n_clusters: 4,
        dimension: 8,
        radius: 100.0,
        sigma_min: 0.5,
        sigma_max: 2.0,
        least_weight: 0.2,
        gamma: 1.0,
        distance: 0.1,
        failure_probability: 0.05,
    }
}

/// By hand: t = 500, h = 2√(2 ln(8n/β)) at the n that comes out.
#[test]
fn the_sizes_are_those_of_the_formulas() {
    let sizes = sizes(assumption(), 500, 20_000, 0.25).expect("feasible");
    let n = sizes.n_records as f64;
    assert!((sizes.separation - 2.0 * (2.0 * (8.0 * n / 0.05).ln()).sqrt()).abs() < 1e-2);
    assert!((sizes.ratio - 20.0).abs() < 1e-12);
    assert!((sizes.least_radius - 2.0 * sizes.separation / 20.0 * 0.5).abs() < 1e-9);
    assert!((sizes.bound - 100.0 - 2.0 * sizes.separation / 20.0 * 2.0).abs() < 1e-9);
    let present = 40.0 * (320_000.0_f64).ln();
    let near = 20.0 * 400.0 * (8.0 + 2.0 * 640_000.0_f64.ln()) / (2.0 * sizes.separation).powi(2);
    assert!((sizes.block_size as f64 - larger(present, near)).abs() <= 1.0);
    assert_eq!(sizes.limiting, Limit::Blocks);
    let (least, most) = (500 * sizes.block_size, 500 * (sizes.block_size + 1));
    assert!((least..=most).contains(&sizes.n_records), "{sizes:?}");
}

/// Each of the printed sizes is smaller than its mended one: with the printed ones the failure probabilities of the proof are exceeded.
#[test]
fn the_mended_sizes_exceed_the_printed_ones() {
    let a = assumption();
    let (k, t, w, beta, eta) = (4.0_f64, 500.0_f64, 0.2, 0.05, 0.1);
    // Presence: P(Bin(s, w) < sw/2) is at most e^(−sw/8); with the printed 4/w the bound per event is the square root of what was wanted.
    let printed = 4.0 / w * (8.0 * k * t / beta).ln();
    let bound = (-printed * w / 8.0).exp();
    assert!(bound > beta / (8.0 * k * t));
    let mended = sizes(a, 500, 20_000, 0.25).expect("feasible");
    assert!((-(mended.block_size as f64) * w / 8.0).exp() <= beta / (8.0 * k * t));
    // Weights: without a sampling term, n_i/n may be off by more than η/(2k) from w_i with probability above β/16.
    let printed = 4.0 * k * k / (1.0 * eta) * (8.0 * k / beta).ln();
    let hoeffding = 2.0 * k * (-2.0 * printed * (eta / (2.0 * k)).powi(2)).exp();
    assert!(hoeffding > beta / 16.0);
}

#[test]
fn few_blocks_leave_the_learner_or_the_weights_as_the_limit() {
    let few = sizes(assumption(), 1, 1_000_000, 1.0).expect("feasible");
    assert_eq!(few.limiting, Limit::Learner);
    let close = Assumption {
        distance: 0.001,
        ..assumption()
    };
    let sizes = sizes(close, 1, 1, 1e6).expect("feasible");
    assert_eq!(sizes.limiting, Limit::WeightSampling);
}

#[test]
fn a_learner_needs_more_for_less_budget_and_more_columns() {
    let needs = |d, rho| learner_records(d, rho, 0.05, 0.01).expect("feasible");
    assert!(needs(4, 0.001) > needs(4, 0.01) && needs(8, 0.01) > needs(4, 0.01));
    // Without noise it is sampling alone: the mean of d and half of d(d + 1) parameters over n.
    let n = needs(4, 1e12) as f64;
    let (parameters, log) = (14.0, 100.0_f64.ln());
    let tail = 1.0 + 2.0 * (log / parameters).sqrt() + 2.0 * log / parameters;
    assert!((0.5 * (14.0 * tail / n).sqrt() - 0.05).abs() < 1e-4);
}

#[test]
fn assumptions_out_of_range_are_refused() {
    let bad = |change: &dyn Fn(&mut Assumption)| {
        let mut a = assumption();
        change(&mut a);
        sizes(a, 500, 100, 1.0).is_err()
    };
    assert!(bad(&|a| a.n_clusters = 0) && bad(&|a| a.dimension = 0));
    assert!(bad(&|a| a.least_weight = 0.0) && bad(&|a| a.least_weight = 1.5));
    assert!(bad(&|a| a.gamma = f64::NAN) && bad(&|a| a.sigma_min = 3.0));
    assert!(bad(&|a| a.distance = -1.0) && bad(&|a| a.failure_probability = f64::NAN));
    assert!(sizes(assumption(), 0, 1, 1.0).is_err());
    assert!(sizes(assumption(), 1, 1, 0.0).is_err());
    assert_eq!(
        sizes(assumption(), u64::MAX, 1, 1.0).err(),
        Some(ParamsError::Infeasible)
    );
    assert!(learner_records(2, 0.0, 0.1, 0.1).is_err());
}
