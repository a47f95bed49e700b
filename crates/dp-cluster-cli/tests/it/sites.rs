//! `maxcover`: public sites, metrics, candidates.

use std::fmt::Write as _;

use serde_json::Value;

use crate::{Place, repository, schema};

/// Homes around four of thirty sites, a table of distances among 12 places, and demand there.
fn town() -> Place {
    let place = Place::new();
    let site = |i: usize| {
        let (row, column) = (i / 6, i % 6);
        (48.0 + 0.04 * row as f64, 11.4 + 0.06 * column as f64)
    };
    let mut sites = String::from("name,latitude,longitude\n");
    for i in 0..30 {
        let (latitude, longitude) = site(i);
        writeln!(sites, "site {i},{latitude},{longitude}").expect("a string takes all");
    }
    let mut homes = String::from("longitude,latitude,label\n");
    for i in 0..2400 {
        let (latitude, longitude) = site([3, 10, 19, 26][i % 4]);
        let (a, b) = ((i % 7) as f64 - 3.0, (i % 5) as f64 - 2.0);
        let (latitude, longitude) = (latitude + 0.001 * a, longitude + 0.001 * b);
        writeln!(homes, "{longitude},{latitude},{}", i % 4).expect("a string takes all");
    }
    let row = |i: usize| {
        (0..12)
            .map(|j| i.abs_diff(j).to_string())
            .collect::<Vec<_>>()
            .join(",")
    };
    let times: Vec<String> = (0..12).map(row).collect();
    let mut demand = String::from("place\n");
    for i in 0..1500 {
        writeln!(demand, "{}", [2, 6, 9][i % 3]).expect("a string takes all");
    }
    place.write("sites.csv", sites);
    place.write("homes.csv", homes);
    place.write("none.csv", "latitude,longitude\n");
    place.write("times.csv", times.join("\n"));
    place.write("demand.csv", demand);
    place.write("even.csv", "place\n0\n2\n4\n6\n8\n10\n");
    place.write(
        "bounds.toml",
        "[bounds]\nlatitude = [48.0, 48.2]\nlongitude = [11.4, 11.7]\n",
    );
    place
}

const BUDGET: &str = "--algorithm maxcover --epsilon 2 --delta 1e-6 --insecure-seed 7";
const TOWN: &str = "--clusters 4 --columns latitude,longitude --bounds-file bounds.toml";

#[track_caller]
fn follows_the_schema(model: &Value) {
    let path = repository().join("docs/model.schema.json");
    let text = std::fs::read_to_string(path).expect("the schema is part of the repository");
    let schema = serde_json::from_str(&text).expect("JSON");
    assert_eq!(schema::faults(&schema, model), Vec::<String>::new());
}

fn spent(model: &Value, relation: &str) {
    assert_eq!(model["guarantee"]["relation"], relation);
    assert!(model["guarantee"]["epsilon"].as_f64().expect("a number") <= 2.0);
    assert!(model["guarantee"]["delta"].as_f64().expect("a number") <= 1e-6);
}

#[test]
fn sites_are_chosen_under_each_metric_power_and_relation() {
    let place = town();
    for metric in ["euclidean", "l1", "linf", "haversine"] {
        for (relation, power) in [("add-remove", 1), ("replace-one", 2)] {
            let model = place.json(&format!(
                "fit homes.csv {BUDGET} {TOWN} --sites sites.csv --metric {metric} --power {power} \
                 --relation {relation} --json --out m.bin"
            ));
            follows_the_schema(&model);
            spent(&model, relation);
            assert_eq!(model["metric"], metric);
            assert_eq!(model["power"], f64::from(power));
            // 600 homes at each of four sites: noise of scale 1 or 2 does not hide them.
            assert_eq!(model["site_rows"], serde_json::json!([3, 10, 19, 26]));
            let judged = place.json("evaluate m.bin homes.csv --label-column label --json");
            assert_eq!(judged["adjusted_rand_index"], 1.0, "{metric}");
            assert_eq!(judged["mean_cost"], judged["mean_cost_original"]);
            let cost = judged["mean_cost"].as_f64().expect("a number");
            // A thousandth of a degree is about 100 meters.
            let most: f64 = if metric == "haversine" { 600.0 } else { 0.006 };
            assert!(cost > 0.0 && cost < most.powi(power), "{metric}: {cost}");
        }
    }
}

#[test]
fn labels_go_by_the_metric_of_the_model() {
    let place = town();
    place.json(&format!(
        "fit homes.csv {BUDGET} {TOWN} --sites sites.csv --metric haversine --json --out m.json"
    ));
    let run = place.run("predict m.json homes.csv");
    run.succeeds();
    let labels: Vec<&str> = run.stdout.lines().collect();
    assert_eq!(&labels[..6], ["label", "0", "1", "2", "3", "0"]);
    assert_eq!(labels.len(), 2401);
    let shown = place.run("inspect m.json");
    shown.succeeds();
    for words in [
        "maxcover",
        "metric = haversine",
        "power = 1",
        "maximum-coverage",
    ] {
        assert!(shown.stdout.contains(words), "{}", shown.stdout);
    }
}

#[test]
fn candidates_stand_in_for_sites() {
    let place = town();
    for candidates in ["lattice", "uniform", "lsh", "partition", "tree"] {
        for relation in ["add-remove", "replace-one"] {
            for data in ["homes.csv", "none.csv"] {
                let model = place.json(&format!(
                    "fit {data} {BUDGET} {TOWN} --candidates {candidates} --power 2 --relation {relation} --json \
                     --out m.json"
                ));
                follows_the_schema(&model);
                spent(&model, relation);
                assert_eq!(model["centers"].as_array().map(Vec::len), Some(4));
                assert!(model["site_rows"].is_null());
                place.json("evaluate m.json homes.csv --json");
            }
        }
    }
}

#[test]
fn a_table_of_distances_needs_places_and_no_bounds() {
    let place = town();
    let all = format!("fit demand.csv {BUDGET} --clusters 3 --metric matrix:times.csv");
    let model = place.json(&format!("{all} --json --out m.json"));
    follows_the_schema(&model);
    assert_eq!(model["site_rows"], serde_json::json!([2, 6, 9]));
    assert_eq!(model["columns"], serde_json::json!(["place"]));
    assert_eq!(model["parameters"]["center_distances"][0][11], 9.0);
    assert_eq!(
        place.json("evaluate m.json demand.csv --json")["mean_cost"],
        0.0
    );
    // The table is long; `inspect` says how long.
    let shown = place.run("inspect m.json").stdout;
    assert!(shown.contains("center_distances = 3 rows"), "{shown}");

    let model = place.json(&format!("{all} --sites even.csv --json --out even.bin"));
    let rows = model["site_rows"].as_array().expect("rows of the file");
    assert_eq!(rows[..2], [1, 3]);
    // 9 lies between 8 and 10.
    let judged = place.json("evaluate even.bin demand.csv --json");
    assert_eq!(judged["mean_cost"], 1.0 / 3.0);
}

#[test]
fn public_mistakes_are_told_with_the_file() {
    let place = town();
    place.write("bad.csv", "latitude,longitude\n48.1,abc\n");
    place.write("ragged.csv", "0,1\n1\n");
    place.write("lopsided.csv", "0,1\n2,0\n");
    place.write("far.csv", "place\n99\n");
    place.write(
        "wide.toml",
        "[bounds]\nlatitude = [-200, 200]\nlongitude = [0, 1]\n",
    );
    let town = |more: &str| format!("fit homes.csv {BUDGET} {TOWN} {more}");
    let places = |more: &str| format!("fit demand.csv {BUDGET} --clusters 2 {more}");
    let wide = TOWN.replace("bounds.toml", "wide.toml");
    for (line, code, words) in [
        (town("--sites nope.csv"), 1, vec!["nope.csv"]),
        (town("--sites none.csv"), 1, vec!["none.csv", "no row"]),
        (town("--sites bad.csv"), 1, vec!["bad.csv", "line 2", "`longitude`"]),
        (town("--sites even.csv"), 1, vec!["even.csv", "`latitude`"]),
        (town("--sites sites.csv --candidates tree"), 2, vec!["candidates"]),
        (town("--sites sites.csv --power 0.5"), 2, vec!["power"]),
        (town("--sites sites.csv --iterations 3"), 2, vec!["--iterations"]),
        (town("--metric manhattan"), 2, vec!["l1"]),
        (town("--metric matrix:times.csv"), 2, vec!["matrix needs 1 column"]),
        (
            format!("fit homes.csv {BUDGET} {wide} --sites sites.csv --metric haversine"),
            2,
            vec!["latitude"],
        ),
        (places("--metric matrix:ragged.csv"), 1, vec!["ragged.csv", "line 2"]),
        (places("--metric matrix:lopsided.csv"), 1, vec!["lopsided.csv", "symmetric"]),
        (places("--metric matrix:times.csv --sites far.csv"), 2, vec!["0 to 11", "99"]),
        (
            "fit demand.csv --algorithm maxcover --epsilon 2 --clusters 2 --metric matrix:times.csv".to_owned(),
            2,
            vec!["--delta"],
        ),
        (
            format!("fit demand.csv {BUDGET} --clusters 13 --metric matrix:times.csv"),
            2,
            vec!["12 sites", "13 clusters"],
        ),
    ] {
        place.run(&line).fails(code, &words);
    }
}

#[test]
fn a_plan_of_sites_reads_no_demand() {
    let place = town();
    let run = place.run(
        &format!("plan {BUDGET} {TOWN} --n-hint 2400 --sites sites.csv --metric haversine")
            .replace(" --insecure-seed 7", ""),
    );
    run.succeeds();
    for words in ["maximum-coverage", "records per candidate", "sites = 30"] {
        assert!(run.stdout.contains(words), "{}", run.stdout);
    }
    // A table says which column there is.
    let places = "plan --algorithm maxcover --epsilon 2 --delta 1e-6 --clusters 3 --n-hint 1500 --metric matrix:times.csv";
    let run = place.run(places);
    run.succeeds();
    assert!(run.stdout.contains("sites = 12"), "{}", run.stdout);
}
