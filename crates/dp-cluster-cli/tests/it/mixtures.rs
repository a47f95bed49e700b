//! `gmm`: fit, predict, evaluate with and without the truth, ⊥, refused parameters.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::Place;

/// Three tight groups in boxes of unlike sizes, 36,000 rows, with their labels.
pub(crate) fn groups() -> Place {
    let place = Place::new();
    let mut table = String::from("age,income,label\n");
    for i in 0..36_000_u32 {
        // Sums of eight hashed bits each: nearly normal, standard deviation √2.
        let hash = (i + 1)
            .wrapping_mul(0x9E37_79B1)
            .rotate_left(13)
            .wrapping_mul(0x85EB_CA6B);
        let (a, b) = ((hash & 0xFF).count_ones(), (hash >> 9 & 0xFF).count_ones());
        let (age, income) = [(20, 10), (50, 90), (80, 30)][i as usize % 3];
        let income = 1000.0 * (f64::from(income) + 0.5 * (f64::from(b) - 4.0));
        let age = f64::from(age) + 0.25 * (f64::from(a) - 4.0);
        writeln!(table, "{age},{income},{}", i % 3).expect("a string takes all");
    }
    place.write("data.csv", table);
    place.write(
        "bounds.toml",
        "[bounds]\nage = [0, 100]\nincome = [0, 100000]\n",
    );
    place
}

const FIT: &str = "fit data.csv --columns age,income --clusters 3 --algorithm gmm --epsilon 1 --bounds-file bounds.toml --insecure-seed 1";

fn square(covariance: &Value, i: usize, j: usize) -> f64 {
    covariance[i][j].as_f64().expect("a number")
}

/// Rows without groups, and the bounds of [`groups`].
pub(crate) fn scattered(rows: u32) -> Place {
    let place = Place::new();
    let mut table = String::from("age,income\n");
    for i in 0..rows {
        writeln!(table, "{},{}", i % 101, (i * 7919) % 100_000).expect("a string takes all");
    }
    place.write("data.csv", table);
    place.write(
        "bounds.toml",
        "[bounds]\nage = [0, 100]\nincome = [0, 100000]\n",
    );
    place
}

#[test]
fn a_mixture_is_fitted_predicted_and_evaluated_in_original_units() {
    let place = groups();
    let model = place.json(&format!("{FIT} --delta 1e-6 --json --out model.json"));
    assert_eq!(model["outcome"], "released");
    let weights = model["weights"].as_array().expect("three weights");
    for weight in weights {
        assert!(
            (weight.as_f64().expect("a number") - 1.0 / 3.0).abs() < 0.02,
            "{weights:?}"
        );
    }
    for covariance in model["covariances"].as_array().expect("three matrices") {
        // Standard deviations 0.354 and 707.
        let (age, income) = (square(covariance, 0, 0), square(covariance, 1, 1));
        assert!(
            (0.05..0.5).contains(&age) && (2e5..1e6).contains(&income),
            "{covariance}"
        );
        assert!((square(covariance, 0, 1) - square(covariance, 1, 0)).abs() < 1e-12);
    }
    let figures = place.json("evaluate model.json data.csv --label-column label --json");
    assert_eq!(figures["adjusted_rand_index"], 1.0);
    // ln(1/3) − ln(2π) − ½·ln|Σ| − 1, about −9.46 for normals; the groups are nearly that.
    let likelihood = figures["mean_log_likelihood"].as_f64().expect("a number");
    assert!((likelihood + 9.5).abs() < 0.4, "{likelihood}");
    let labels = place.run("predict model.json data.csv");
    labels.succeeds();
    assert_eq!(labels.stdout.lines().count(), 36_001);
}

#[test]
fn the_distance_to_a_true_mixture_is_told() {
    let place = groups();
    let model = place.json(&format!("{FIT} --delta 1e-6 --json --out model.json"));
    let same = place.json("evaluate model.json data.csv --truth model.json --json");
    assert!(same["total_variation"].as_f64().expect("a number") < 1e-9);
    let mut other = model;
    other["weights"] = json!([1.0, 0.0, 0.0]);
    place.write("other.json", other.to_string());
    let far = place.json("evaluate model.json data.csv --truth other.json --json");
    let distance = far["total_variation"].as_f64().expect("a number");
    let error = far["total_variation_std_error"].as_f64().expect("a number");
    assert!((distance - 2.0 / 3.0).abs() < 0.02 && error < 0.01, "{far}");
    // Not a covariance: the file is refused, in words.
    other["covariances"][0] = json!([[1.0, 2000.0], [2000.0, 1.0]]);
    place.write("other.json", other.to_string());
    let refused = place.run("evaluate model.json data.csv --truth other.json --json");
    refused.fails(1, &["positive definite"]);
}

#[test]
fn kinds_and_bounds_are_parameters() {
    let place = groups();
    let model = place.json(&format!(
        "{FIT} --delta 1e-6 --covariance diagonal --sigma-min 0.2 --sigma-max 5000 --json"
    ));
    assert_eq!(model["parameters"]["covariance"], "diagonal");
    assert_eq!(model["parameters"]["sigma_min"], json!([0.2, 0.2]));
    for covariance in model["covariances"].as_array().expect("three matrices") {
        assert!(square(covariance, 0, 1).abs() < 1e-9);
        assert!(square(covariance, 0, 0) >= 0.2 * 0.2 * 0.999);
    }
    place.run(FIT).fails(2, &["delta"]);
    // Averages of so few would merge components and look like an answer.
    place
        .run(&format!(
            "{FIT} --delta 1e-6 --aggregator averages --blocks 4000"
        ))
        .fails(2, &["4000 tuples are too few", "at least"]);
    for bad in [
        "--sigma-min=-1",
        "--sigma-min 0",
        "--sigma-min 9 --sigma-max 3",
        "--sigma-max=nan",
    ] {
        place
            .run(&format!("{FIT} --delta 1e-6 {bad}"))
            .fails(2, &["sigma"]);
    }
    // In the units of the column, with the default that was not asked for.
    for (bad, said) in [
        (
            "--sigma-min 9 --sigma-max 3",
            ["`age` they are 9 and 3", ""],
        ),
        (
            "--sigma-min 60",
            ["`age` they are 60 and 50", "half of its width"],
        ),
        ("--sigma-max 40", ["`income` they are 97.65625", "and 40"]),
        ("--sigma-min=-2", ["sigma-min", "got -2"]),
        (
            "--sigma-min 1e-12 --sigma-max 1e-9",
            ["sigma-max: for column `age`", "got 0.000000001"],
        ),
        (
            "--sigma-min 1e9 --sigma-max 1e10",
            [
                "sigma-min: for column `age`",
                "at most 52428800, got 1000000000",
            ],
        ),
    ] {
        place
            .run(&format!("{FIT} --delta 1e-6 {bad}"))
            .fails(2, &said);
    }
    place
        .run(&format!("{FIT} --delta 1e-6 --iterations 3"))
        .fails(2, &["--iterations", "gmm"]);
}

/// The widths differ a thousand times: what has one variance has it in the columns' own units, and no less than the widest column's least one.
#[test]
fn spherical_covariances_have_one_variance_in_original_units() {
    let place = groups();
    let model = place.json(&format!("{FIT} --delta 1e-6 --covariance spherical --json"));
    for covariance in model["covariances"].as_array().expect("three matrices") {
        let (age, income) = (square(covariance, 0, 0), square(covariance, 1, 1));
        assert!((age / income - 1.0).abs() < 1e-9, "{covariance}");
        assert!((97.0 * 97.0..1e6).contains(&income), "{covariance}");
        assert!(square(covariance, 0, 1).abs() < 1e-9);
    }
}

/// Tuples of so many centers would need hundreds of gigabytes: said before a record is read.
#[test]
fn more_clusters_than_memory_holds_tuples_of_are_refused() {
    let place = groups();
    let many = FIT.replace("--clusters 3", "--clusters 100000");
    place
        .run(&format!("{many} --delta 1e-6"))
        .fails(2, &["too many to be held"]);
}

#[test]
fn records_without_groups_end_in_a_written_refusal() {
    let place = scattered(5000);
    let run = place.run(&format!("{FIT} --delta 1e-6 --out model.json"));
    assert_eq!(run.code, 3, "{}", run.stderr);
    let model: Value = serde_json::from_str(&place.read("model.json")).expect("JSON");
    assert_eq!(model["outcome"], "refused");
    assert!(model.get("weights").is_none_or(Value::is_null));
    assert!(model["guarantee"]["epsilon"].as_f64().expect("a number") > 0.4);
}
