//! Privacy-loss distributions, from both sides.

use dp_core::pld::{Bound, ComposedLoss, Mechanism, Precision, calibrate};
use serde_json::Value;

use crate::{entries, number, rows};

/// What an upper bound of ours may lie above that of the oracle.
const ABOVE: f64 = 0.01;

/// Slack of the oracle itself: relative, and absolute for δ.
const ORACLE: (f64, f64) = (1e-6, 1e-12);

/// Composes a plan and holds it against the entry's brackets.
fn assert_brackets(entry: &Value, plan: &[(Mechanism, u64)]) {
    let id = entry["id"].to_string();
    let composed = |bound| {
        ComposedLoss::of(plan, bound, Precision::default()).expect("the parameters are valid")
    };
    let (upper, lower) = (composed(Bound::Upper), composed(Bound::Lower));
    let compare = |what: &str, ours: (f64, f64), row: &Value| {
        let [low, high] = ["lower", "upper"].map(|key| row[key].as_f64().expect("a number"));
        assert!(
            ours.0 >= low * (1.0 - ORACLE.0) - ORACLE.1,
            "{id} {what}: {} is below {low}",
            ours.0
        );
        assert!(
            ours.0 <= high * (1.0 + ABOVE) + ORACLE.1,
            "{id} {what}: {} is above {high}",
            ours.0
        );
        assert!(
            ours.1 <= high * (1.0 + ORACLE.0) + ORACLE.1 && ours.1 <= ours.0,
            "{id} {what}: the lower bound {} is above {high} or {}",
            ours.1,
            ours.0
        );
    };
    for row in rows(entry, "eps_for_delta") {
        let delta = row["delta"].as_f64().expect("delta");
        let ours = (upper.epsilon(delta), lower.epsilon(delta));
        compare(&format!("epsilon({delta})"), ours, row);
    }
    for row in rows(entry, "delta_for_eps") {
        let epsilon = row["eps"].as_f64().expect("eps");
        let ours = (upper.delta(epsilon), lower.delta(epsilon));
        compare(&format!("delta({epsilon})"), ours, row);
    }
}

fn uses(entry: &Value) -> u64 {
    entry["inputs"]["compositions"]
        .as_u64()
        .expect("an integer")
}

fn input(entry: &Value, key: &str) -> f64 {
    number(entry, "inputs", key)
}

#[test]
fn laplace_lies_within_the_brackets() {
    for entry in entries("pld_laplace") {
        let epsilon = input(&entry, "l1_sensitivity") / input(&entry, "scale_b");
        assert_brackets(&entry, &[(Mechanism::Laplace { epsilon }, uses(&entry))]);
    }
}

#[test]
fn discrete_laplace_lies_within_the_brackets() {
    for entry in entries("pld_discrete_laplace") {
        let mechanism = Mechanism::DiscreteLaplace {
            scale: 1.0 / input(&entry, "a"),
            sensitivity: entry["inputs"]["sensitivity"].as_u64().expect("an integer"),
        };
        assert_brackets(&entry, &[(mechanism, uses(&entry))]);
    }
}

#[test]
fn discrete_gaussian_lies_within_the_brackets() {
    for entry in entries("pld_discrete_gaussian") {
        let mechanism = Mechanism::DiscreteGaussian {
            std_dev: input(&entry, "sigma"),
            sensitivity: entry["inputs"]["sensitivity"].as_u64().expect("an integer"),
        };
        assert_brackets(&entry, &[(mechanism, uses(&entry))]);
    }
}

#[test]
fn gaussian_lies_within_the_brackets() {
    for entry in entries("pld_gaussian") {
        let mu = input(&entry, "l2_sensitivity") / input(&entry, "sigma");
        assert_brackets(&entry, &[(Mechanism::Gaussian { mu }, uses(&entry))]);
    }
}

#[test]
fn subsampled_gaussian_lies_within_the_brackets() {
    for entry in entries("pld_subsampled_gaussian") {
        let mechanism = Mechanism::SubsampledGaussian {
            sampling_probability: input(&entry, "sampling_prob"),
            mu: input(&entry, "l2_sensitivity") / input(&entry, "sigma"),
        };
        assert_brackets(&entry, &[(mechanism, uses(&entry))]);
    }
}

#[test]
fn subsampled_laplace_lies_within_the_brackets() {
    for entry in entries("pld_subsampled_laplace") {
        let mechanism = Mechanism::SubsampledLaplace {
            sampling_probability: input(&entry, "sampling_prob"),
            epsilon: input(&entry, "l1_sensitivity") / input(&entry, "scale_b"),
        };
        assert_brackets(&entry, &[(mechanism, uses(&entry))]);
    }
}

#[test]
fn unlike_mechanisms_together_lie_within_the_brackets() {
    for entry in entries("pld_mixed") {
        let rounds = entry["inputs"]["rounds"].as_u64().expect("an integer") * uses(&entry);
        let gaussian = Mechanism::Gaussian {
            mu: input(&entry, "l2_sensitivity") / input(&entry, "gaussian_sigma"),
        };
        let laplace = Mechanism::DiscreteLaplace {
            scale: 1.0 / input(&entry, "discrete_laplace_a"),
            sensitivity: entry["inputs"]["count_sensitivity"]
                .as_u64()
                .expect("an integer"),
        };
        assert_brackets(&entry, &[(gaussian, rounds), (laplace, rounds)]);
    }
}

#[test]
fn the_smallest_noise_is_that_of_the_oracle_or_smaller() {
    for entry in entries("smallest_noise") {
        let id = entry["id"].to_string();
        let (epsilon, delta) = (input(&entry, "eps"), input(&entry, "delta"));
        let (count, sensitivity) = (uses(&entry), input(&entry, "sensitivity"));
        let noise = |mechanism: fn(f64) -> Mechanism, guess: f64| {
            calibrate(
                |level| vec![(mechanism(sensitivity / level), count)],
                (epsilon, delta),
                (guess / 4.0, guess * 4.0),
                1e-4,
                Precision::default(),
            )
            .expect("the parameters are valid")
            .expect("four times the oracle's noise is enough")
        };
        let truth = number(&entry, "outputs", "gaussian_sigma");
        let ours = noise(|mu| Mechanism::Gaussian { mu }, truth);
        assert!((ours / truth - 1.0).abs() < 1e-3, "{id}: {ours} {truth}");
        // The oracle's own grid for Laplace noise is coarse, and its value pessimistic.
        let truth = number(&entry, "outputs", "laplace_b");
        let ours = noise(|epsilon| Mechanism::Laplace { epsilon }, truth);
        assert!(
            ours < truth * 1.001 && ours > truth * 0.95,
            "{id}: {ours} {truth}"
        );
    }
}
