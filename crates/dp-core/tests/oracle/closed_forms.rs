//! Closed forms.

use dp_core::composition::{ApproxLoss, advanced};
use dp_core::conversion::{
    delta_of_laplace, delta_of_rho, epsilon_of_rho, epsilon_of_rho_classic, rho_of_gaussian,
    rho_of_pure,
};
use dp_core::gaussian_calibration::{
    delta_of_gaussian, epsilon_of_gaussian, gaussian_profile, std_dev_for,
};
use dp_core::rdp::{self, RenyiCurve};
use dp_core::{Delta, Epsilon};

use crate::{TOLERANCE, assert_meets, entries, number, numbers, rows};

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

#[test]
fn laplace_profiles_meet_the_oracle() {
    for entry in entries("exact_laplace") {
        let loss = number(&entry, "inputs", "eps0");
        for row in rows(&entry, "delta_for_eps") {
            let ours = delta_of_laplace(loss, row["eps"].as_f64().expect("eps"));
            assert_meets(
                ours,
                row["value"].as_f64().expect("value"),
                &entry["id"].to_string(),
            );
        }
    }
}

#[test]
fn renyi_curves_meet_the_oracle() {
    for entry in entries("rdp") {
        let (id, inputs) = (entry["id"].to_string(), &entry["inputs"]);
        let input = |key: &str| inputs[key].as_f64().expect("a number");
        let divergence = |order: f64| match inputs["mechanism"].as_str() {
            Some("gaussian") => rdp::gaussian(1.0 / input("sigma"), order),
            Some("laplace") => rdp::laplace(1.0 / input("scale_b"), order),
            Some("poisson_subsampled_gaussian") => {
                rdp::subsampled_gaussian(input("sampling_prob"), 1.0 / input("sigma"), order)
            }
            other => panic!("no such mechanism: {other:?}"),
        };
        let uses = inputs["compositions"].as_u64().expect("an integer");
        let curve = RenyiCurve::of(&numbers(&inputs["orders"]), divergence).times(uses);
        let truth = numbers(&entry["outputs"]["rdp"]);
        assert_eq!(curve.points().len(), truth.len());
        for (&(order, ours), truth) in curve.points().iter().zip(truth) {
            // Between whole orders the oracle's sampled curve is an upper bound, up to 30 % loose.
            if order < 2.0 && inputs["mechanism"] == "poisson_subsampled_gaussian" {
                assert!(ours < truth && ours > 0.7 * truth, "{id} order {order}");
                continue;
            }
            // The oracle's curves are computed in doubles, with errors of their own.
            assert!(
                (ours / truth - 1.0).abs() < TOLERANCE,
                "{id} order {order}: {ours} {truth}, off by {}",
                ours / truth - 1.0
            );
        }
        for row in rows(&entry, "eps_for_delta") {
            let (ours, order) = curve.epsilon(row["delta"].as_f64().expect("delta"));
            let truth = row["eps_these_orders"].as_f64().expect("eps");
            assert!(
                (ours / truth - 1.0).abs() < TOLERANCE,
                "{id}: {ours} {truth}"
            );
            let best = row["order"].as_f64().expect("order");
            assert!((order - best).abs() < f64::EPSILON, "{id}: {order} {best}");
        }
    }
}

#[test]
fn renyi_conversions_meet_the_oracle() {
    for entry in entries("rdp_convert") {
        let id = entry["id"].to_string();
        let (orders, values) = (
            numbers(&entry["inputs"]["orders"]),
            numbers(&entry["inputs"]["rdp"]),
        );
        let curve = RenyiCurve::of(&orders, |order| {
            orders
                .iter()
                .zip(&values)
                .find(|(at, _)| at.to_bits() == order.to_bits())
                .map_or(f64::INFINITY, |(_, value)| *value)
        });
        let (ours, truth, order) = if let Some(delta) = entry["inputs"]["delta"].as_f64() {
            let classic = number(&entry, "outputs", "eps_classic");
            assert_meets(curve.epsilon_classic(delta).0, classic, &id);
            let (epsilon, order) = curve.epsilon(delta);
            (epsilon, number(&entry, "outputs", "eps"), order)
        } else {
            let (delta, order) = curve.delta(number(&entry, "inputs", "eps"));
            (delta, number(&entry, "outputs", "delta"), order)
        };
        // A δ that underflows is 0 in the oracle and the smallest float here.
        assert!(
            (ours - truth).abs() <= TOLERANCE * truth || (truth <= 0.0 && ours < f64::MIN_POSITIVE),
            "{id}: {ours} {truth}"
        );
        let best = number(&entry, "outputs", "order");
        assert!((order - best).abs() < f64::EPSILON, "{id}: {order} {best}");
    }
}

#[test]
fn a_sampled_curve_between_whole_orders_meets_its_integral() {
    // 30-digit quadrature of the moment of order 1.5.
    for (q, std_dev, truth) in [
        (0.01, 1.0, 0.000_127_253_743_327_45),
        (0.1, 2.0, 0.002_098_934_595_710_18),
    ] {
        let ours = rdp::subsampled_gaussian(q, 1.0 / std_dev, 1.5);
        assert_meets(ours, truth, "order 1.5");
    }
}
