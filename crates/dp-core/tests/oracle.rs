//! Closed forms against an oracle of 60-digit values.
//!
//! `data/accounting.json` was computed with mpmath and with public accountants. Each exact value must be
//! met to 1e-9 relative, and from the side of more loss.

use dp_core::composition::{ApproxLoss, advanced};
use dp_core::conversion::{
    delta_of_rho, epsilon_of_rho, epsilon_of_rho_classic, rho_of_gaussian, rho_of_pure,
};
use dp_core::gaussian_calibration::{
    delta_of_gaussian, epsilon_of_gaussian, gaussian_profile, std_dev_for,
};
use dp_core::{Delta, Epsilon};
use serde_json::Value;

const TOLERANCE: f64 = 1e-9;

/// The entries of one kind; there must be some, or a test would pass on nothing.
fn entries(kind: &str) -> Vec<Value> {
    let text = include_str!("data/accounting.json");
    let oracle: Value = serde_json::from_str(text).expect("the oracle is JSON");
    let found: Vec<Value> = oracle["entries"]
        .as_array()
        .expect("entries")
        .iter()
        .filter(|entry| entry["kind"] == kind)
        .cloned()
        .collect();
    assert!(!found.is_empty(), "no entry of kind {kind}");
    found
}

fn number(entry: &Value, group: &str, key: &str) -> f64 {
    entry[group][key].as_f64().expect("a number")
}

fn rows<'a>(entry: &'a Value, key: &str) -> &'a [Value] {
    entry["outputs"][key].as_array().expect("rows")
}

/// `ours` is no smaller than `truth`, up to the rounding of the oracle itself, and at most 1e-9 above.
#[track_caller]
fn assert_meets(ours: f64, truth: f64, what: &str) {
    assert!(
        ours >= truth * (1.0 - 2.0 * f64::EPSILON),
        "{what}: {ours} is below {truth}"
    );
    assert!(
        ours <= truth * (1.0 + TOLERANCE) + f64::MIN_POSITIVE,
        "{what}: {ours} is above {truth} by {}",
        ours / truth - 1.0
    );
}

#[test]
fn gaussian_profiles_meet_the_oracle() {
    for entry in entries("exact_gaussian") {
        let id = entry["id"].to_string();
        let std_dev = number(&entry, "inputs", "sigma");
        let sensitivity = number(&entry, "inputs", "l2_sensitivity");
        let compositions = number(&entry, "inputs", "compositions");
        // k releases are one with σ/√k; the square root's rounding is the test's own.
        let single = compositions <= 1.0;
        let std_dev = std_dev / libm::sqrt(compositions);
        for row in rows(&entry, "delta_for_eps") {
            let (epsilon, truth) = (row["eps"].as_f64().expect("eps"), row["value"].as_f64());
            let truth = truth.expect("value");
            let ours = delta_of_gaussian(std_dev, sensitivity, epsilon);
            if single {
                assert_meets(ours, truth, &id);
            } else {
                assert!((ours / truth - 1.0).abs() < TOLERANCE, "{id}");
            }
            let low = gaussian_profile(sensitivity / std_dev, epsilon).low;
            assert!(
                low <= truth * (1.0 + 1e-13) && low >= truth * (1.0 - TOLERANCE),
                "{id}"
            );
        }
        for row in rows(&entry, "eps_for_delta") {
            let (delta, truth) = (row["delta"].as_f64().expect("delta"), row["value"].as_f64());
            let truth = truth.expect("value");
            let ours = epsilon_of_gaussian(std_dev, sensitivity, delta);
            if single {
                assert_meets(ours, truth, &id);
            } else {
                assert!((ours / truth - 1.0).abs() < TOLERANCE, "{id}");
            }
        }
    }
}

#[test]
fn gaussian_noise_meets_the_oracle() {
    for entry in entries("gaussian_sigma") {
        let epsilon = Epsilon::new(number(&entry, "inputs", "eps")).expect("valid");
        let delta = Delta::new(number(&entry, "inputs", "delta")).expect("valid");
        let sensitivity = number(&entry, "inputs", "l2_sensitivity");
        let ours = std_dev_for(epsilon, delta, sensitivity).expect("delta is above 0");
        let truth = number(&entry, "outputs", "sigma_exact");
        assert_meets(ours, truth, &entry["id"].to_string());
    }
}

#[test]
fn concentrated_conversions_meet_the_oracle() {
    for entry in entries("zcdp_convert") {
        let id = entry["id"].to_string();
        let rho = number(&entry, "inputs", "rho");
        for row in rows(&entry, "eps_for_delta") {
            let delta = row["delta"].as_f64().expect("delta");
            // The oracle's own optimum is computed in doubles: it may lie a few units above ours.
            let truth = row["eps_cks_alpha_optimised"].as_f64().expect("eps");
            let ours = epsilon_of_rho(rho, delta);
            assert!(
                (ours / truth - 1.0).abs() < TOLERANCE,
                "{id}: {ours} {truth}"
            );
            assert!(ours >= truth * (1.0 - 1e-14), "{id}: {ours} {truth}");
            let classic = row["eps_classic"].as_f64().expect("eps");
            assert_meets(epsilon_of_rho_classic(rho, delta), classic, &id);
        }
        for row in rows(&entry, "delta_for_eps") {
            let truth = row["delta_opendp"].as_f64().expect("delta");
            let ours = delta_of_rho(rho, row["eps"].as_f64().expect("eps"));
            // opendp's ρ is one rounding off ours, and its δ rounds up by more than ours does.
            assert!(
                (ours / truth - 1.0).abs() < TOLERANCE || truth < 1e-300,
                "{id}: {ours} {truth}"
            );
        }
    }
    for entry in entries("zcdp_from_pure") {
        let ours = rho_of_pure(number(&entry, "inputs", "eps"));
        let truth = number(&entry, "outputs", "rho");
        assert_meets(ours, truth, &entry["id"].to_string());
    }
    for entry in entries("zcdp_from_gaussian") {
        let (std_dev, sensitivity) = (
            number(&entry, "inputs", "sigma"),
            number(&entry, "inputs", "l2_sensitivity"),
        );
        let truth = number(&entry, "outputs", "rho");
        assert_meets(
            rho_of_gaussian(std_dev, sensitivity),
            truth,
            &entry["id"].to_string(),
        );
    }
}

#[test]
fn advanced_composition_meets_the_oracle() {
    for entry in entries("advanced_composition") {
        let (epsilon, delta) = (
            number(&entry, "inputs", "eps0"),
            number(&entry, "inputs", "delta0"),
        );
        let uses = entry["inputs"]["compositions"]
            .as_u64()
            .expect("an integer");
        let slack = number(&entry, "outputs", "drv_slack_delta");
        let total = advanced(uses, ApproxLoss { epsilon, delta }, slack);
        assert_meets(
            total.epsilon,
            number(&entry, "outputs", "eps_drv"),
            &entry["id"].to_string(),
        );
        let truth = number(&entry, "inputs", "total_delta");
        assert!((total.delta / truth - 1.0).abs() < TOLERANCE);
    }
}
