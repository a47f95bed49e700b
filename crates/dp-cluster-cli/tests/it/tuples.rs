//! `ktuple`: centers, ⊥ with its advice, every flag of its own.

use serde_json::{Value, json};

use crate::Place;
use crate::mixtures::{groups, scattered};

const FIT: &str = "fit data.csv --columns age,income --clusters 3 --algorithm ktuple --bounds-file bounds.toml --insecure-seed 1";

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

#[test]
fn groups_are_found_under_both_relations() {
    let place = groups();
    for relation in ["add-remove", "replace-one"] {
        let model = place.json(&format!(
            "{FIT} --epsilon 1 --delta 1e-6 --relation {relation} --scale-min 50 --json"
        ));
        assert_eq!(model["outcome"], "released");
        for (center, (age, income)) in model["centers"]
            .as_array()
            .expect("three centers")
            .iter()
            .zip([(20.0, 10e3), (50.0, 90e3), (80.0, 30e3)])
        {
            let off = (number(&center[0]) - age, number(&center[1]) - income);
            assert!(off.0.abs() < 0.5 && off.1.abs() < 500.0, "{center}");
        }
        assert_eq!(model["ledger"][0]["mechanism"], "friendly-core");
        assert_eq!(model["guarantee"]["relation"], relation);
        let spent = number(&model["guarantee"]["epsilon"]);
        assert!(spent > 0.9 && spent <= 1.0, "{spent}");
        // As it was written, in the units of the widest column.
        assert_eq!(model["parameters"]["scale_min"], json!(50.0));
        assert_eq!(model["parameters"]["aggregator"], "friendly-core");
        assert_eq!(model["parameters"]["sampling"], "disjoint");
        assert_eq!(model["parameters"]["tuple_share"], json!(0.75));
        assert!(model["parameters"].get("block_size").is_none());
    }
}

#[test]
fn rows_without_groups_end_in_a_written_refusal_with_advice_from_public_values() {
    let advice = [5_000, 4_000].map(|rows| {
        let place = scattered(rows);
        let run = place.run(&format!("{FIT} --epsilon 1 --delta 1e-6 --out model.json"));
        assert_eq!(run.code, 3, "{}", run.stderr);
        let model: Value = serde_json::from_str(&place.read("model.json")).expect("JSON");
        assert_eq!(model["outcome"], "refused");
        assert_eq!(model["centers"], json!([]));
        // The tuples are paid for, the averages are not.
        assert!((number(&model["guarantee"]["epsilon"]) - 0.75).abs() < 1e-9);
        let blocks = number(&model["parameters"]["blocks"]);
        for words in [
            format!("the {blocks} block solutions"),
            "fewer blocks (at least".to_owned(),
        ] {
            assert!(run.stderr.contains(&words), "{}", run.stderr);
        }
        run.stderr
    });
    // The number of rows is private under add-remove.
    assert_eq!(advice[0], advice[1]);
}

#[test]
fn blocks_and_samples_are_as_asked_for_or_refused_beforehand() {
    let place = groups();
    let model = place.json(&format!(
        "{FIT} --epsilon 1 --delta 1e-6 --blocks 900 --json"
    ));
    assert_eq!(model["parameters"]["blocks"], 900);
    assert_eq!(model["ledger"][0]["parameters"]["tuples"], 900);
    let sampled = place.run(&format!(
        "{FIT} --epsilon 6 --delta 1e-3 --relation replace-one --n-hint 36000 --sampling with-replacement --block-size 20 --json"
    ));
    assert!([0, 3].contains(&sampled.code), "{}", sampled.stderr);
    let model: Value = serde_json::from_str(&sampled.stdout).expect("JSON");
    assert_eq!(model["parameters"]["sampling"], "with-replacement");
    assert_eq!(model["parameters"]["block_size"], 20);
    let spent = (
        number(&model["guarantee"]["epsilon"]),
        number(&model["guarantee"]["delta"]),
    );
    assert!(
        spent.0 > 0.5 && spent.0 <= 6.0 && spent.1 <= 1e-3,
        "{spent:?}"
    );
    for (flags, words) in [
        ("--epsilon 1", &["delta"][..]),
        ("--epsilon 1 --delta 1e-6 --blocks 100", &["at least"]),
        ("--epsilon 1 --delta 1e-6 --blocks 0", &["n_blocks"]),
        ("--epsilon 1 --delta 1e-6 --block-size 20", &["disjoint"]),
        (
            "--epsilon 1 --delta 1e-6 --sampling with-replacement",
            &["block_size"],
        ),
        (
            "--epsilon 7 --delta 1e-6 --sampling with-replacement --block-size 20 --relation replace-one --n-hint 36000",
            &["at most 6, got 7"],
        ),
        (
            "--epsilon 1 --delta 1e-6 --sampling with-replacement --block-size 20",
            &["replace-one"],
        ),
        (
            "--epsilon 1 --delta 1e-6 --sampling with-replacement --block-size 20 --relation replace-one --n-hint 36000",
            &["n >= ", "36000"],
        ),
        (
            "--epsilon 1 --delta 1e-6 --sampling with-replacement --block-size 20 --relation replace-one",
            &["n_hint"],
        ),
        (
            "--epsilon 1 --delta 1e-6 --scale-min 0",
            &["scale-min", "got 0"],
        ),
        (
            "--epsilon 1 --delta 1e-6 --scale-min=-3",
            &["scale-min", "got -3"],
        ),
        (
            "--epsilon 1 --delta 1e-6 --scale-min 60000",
            &["scale-min", "50000", "got 60000"],
        ),
        // Private, but useless: merged clusters would look like an answer.
        (
            "--epsilon 1 --delta 1e-6 --aggregator averages --blocks 8000",
            &["8000 tuples are too few", "at least"],
        ),
        ("--epsilon 1 --delta 1e-6 --iterations 3", &["--iterations"]),
    ] {
        place.run(&format!("{FIT} {flags}")).fails(2, words);
    }
}

/// The published clusterings, by their plans: they need thousands of blocks and more.
#[test]
fn every_aggregator_has_a_plan() {
    let plan = |aggregator: &str, n: u64, epsilon: u64| {
        Place::new().run(&format!(
            "plan --clusters 2 --columns age,income --bounds=0,100 --algorithm ktuple --epsilon {epsilon} --delta 1e-6 \
             --aggregator {aggregator} --n-hint {n}"
        ))
    };
    for (aggregator, mechanism) in [
        ("friendly-core", "friendly-core"),
        ("averages", "private-k-averages"),
        ("noisy-centers", "private-k-noisy-centers"),
    ] {
        let run = plan(aggregator, 100_000, 1);
        run.succeeds();
        assert!(run.stdout.contains(mechanism), "{}", run.stdout);
    }
    // With a size it says what would be feasible.
    let few = plan("friendly-core", 2_000, 1);
    let hopeless =
        |text: &str| text.contains("warning: not feasible") && text.contains("need n >= ");
    assert!(hopeless(&few.stdout), "{}", few.stdout);
    let many = plan("friendly-core", 20_000_000, 1).stdout
        + &{
            Place::new().run("plan --clusters 3 --dimension 2 --bounds=-1,1 --algorithm ktuple --epsilon 0.0005 --delta 1e-6 --n-hint 40000000").stdout
        };
    assert_eq!(
        many.matches("compared with all others").count(),
        1,
        "{many}"
    );
    // A fit says so before it spends anything, from public numbers alone.
    let fit = scattered(5).run(&format!(
        "{FIT} --epsilon 1 --delta 1e-6 --relation replace-one --n-hint 5"
    ));
    assert!(fit.code == 3 && hopeless(&fit.stderr), "{}", fit.stderr);
    let enough = plan("friendly-core", 200_000, 1);
    assert!(
        enough.stdout.contains("standard deviations apart"),
        "{}",
        enough.stdout
    );
    // Beyond ε = 1 the published ones are not proved: the tuples get no more, the rest goes to what refines the centers.
    for (aggregator, most) in [
        ("noisy-centers", "ε = 1"),
        ("averages", "ε = 1"),
        ("friendly-core", "ε = 64"),
    ] {
        let rich = plan(aggregator, 100_000, 1000);
        rich.succeeds();
        let tuples = rich
            .stdout
            .lines()
            .find(|line| line.contains("from tuples"));
        assert!(
            tuples.is_some_and(|line| line.contains(most)),
            "{}",
            rich.stdout
        );
    }
}

/// More centers than memory should hold: an error of the request, as a plan finds it, before an algorithm sees a row.
#[test]
fn more_centers_than_are_held_are_refused_up_front() {
    let place = groups();
    let many = FIT.replace("--clusters 3", "--clusters 20000");
    for run in [
        place.run(&format!("{many} --epsilon 1 --delta 1e-6")),
        place.run("plan --algorithm ktuple --clusters 20000 --dimension 2 --bounds=-1,1 --epsilon 1 --delta 1e-6 --n-hint 1000"),
        place.run(&format!("{FIT} --epsilon 1 --delta 1e-6 --blocks 100000000")),
    ] {
        assert_eq!(run.code, 2, "{}", run.stderr);
        assert!(run.stderr.contains("too many to be held"), "{}", run.stderr);
    }
}

/// One cluster needs no tuples: plans and fits say which options do nothing, and nothing if there are none.
#[test]
fn one_cluster_is_told_what_is_not_used() {
    let place = Place::new();
    let warnings = |algorithm: &str, clusters: u8, more: &str| {
        let plan = place.json(&format!(
            "plan --algorithm {algorithm} --clusters {clusters} --dimension 2 --bounds=-1,1 --epsilon 1 --delta 1e-6 --n-hint 50000 {more} --json"
        ));
        plan["warnings"].to_string()
    };
    for algorithm in ["ktuple", "gmm"] {
        assert_eq!(warnings(algorithm, 1, ""), "[]");
        let one = warnings(algorithm, 1, "--blocks 2000 --aggregator friendly-core");
        assert!(one.contains("not used: `aggregator`, `blocks`"), "{one}");
        let two = warnings(algorithm, 2, "--blocks 2000 --aggregator friendly-core");
        assert_eq!(two, "[]");
    }
    let drawn = "--relation replace-one --sampling with-replacement --block-size 9";
    let one = warnings("ktuple", 1, drawn);
    assert!(one.contains("not used: `sampling`, `block-size`"), "{one}");
    let sized = warnings("ktuple", 1, "--block-size 9");
    assert!(sized.contains("not used: `block-size`"), "{sized}");
    // So does a fit, whose model names nothing that was not used.
    let place = groups();
    let one = FIT.replace("--clusters 3", "--clusters 1");
    let fit = place.run(&format!(
        "{one} --epsilon 1 --delta 1e-6 --blocks 900 --json"
    ));
    assert!(
        fit.stderr.contains("warning: one cluster"),
        "{}",
        fit.stderr
    );
    let model: Value = serde_json::from_str(&fit.stdout).expect("JSON");
    for unused in ["blocks", "aggregator", "sampling", "tuple_share"] {
        assert!(model["parameters"].get(unused).is_none(), "{unused}");
    }
}

/// Blocks for a separation that is assumed: chosen, or refused with the number of rows that would do.
#[test]
fn an_assumed_separation_chooses_blocks_or_says_how_many_rows_it_takes() {
    let plan = |n: u64, more: &str| {
        Place::new().run(&format!(
            "plan --clusters 3 --columns age,income --bounds=0,100 --algorithm ktuple --epsilon 1 --delta 1e-6 --n-hint {n} {more}"
        ))
    };
    let few = plan(2_000, "--separation 40");
    few.fails(2, &["not feasible", "needs n >= "]);
    let needed: u64 = few
        .stderr
        .split("n >= ")
        .nth(1)
        .and_then(|rest| rest.split(|c: char| !c.is_ascii_digit()).next())
        .and_then(|digits| digits.parse().ok())
        .expect("a number of rows");
    plan(needed - 1, "--separation 40").fails(2, &["not feasible"]);
    let enough = plan(needed, "--separation 40");
    enough.succeeds();
    for line in [
        "separation = 40",
        "match_ratio = ",
        "failure_probability = 0.05",
    ] {
        assert!(enough.stdout.contains(line), "{}", enough.stdout);
    }
    assert!(!enough.stdout.contains("warning"), "{}", enough.stdout);
    // A smaller β or separation takes more rows.
    for more in [
        "--separation 40 --failure-probability 0.001",
        "--separation 20",
    ] {
        plan(needed, more).fails(2, &["not feasible"]);
    }
    for (more, words) in [
        ("--separation 0", &["separation"][..]),
        ("--separation=nan", &["separation"]),
        ("--separation 9 --blocks 900", &["separation", "blocks"]),
        ("--separation 9 --aggregator averages", &["separation"]),
        ("--failure-probability 0.1", &["failure-probability"]),
        // So close that no number of rows will do.
        ("--separation 1e-9", &["no feasible number"]),
        (
            "--separation 9 --failure-probability 2",
            &["failure-probability", "2"],
        ),
    ] {
        plan(1_000_000, more).fails(2, words);
    }
    // What was planned is what runs; without a public number of rows it says how many are enough.
    let place = groups();
    let run = place.run(&format!(
        "{FIT} --epsilon 1 --delta 1e-6 --separation 200 --json"
    ));
    run.succeeds();
    assert!(run.stderr.contains("to agree from n >= "), "{}", run.stderr);
    let model: Value = serde_json::from_str(&run.stdout).expect("JSON");
    assert_eq!(model["outcome"], "released");
    assert_eq!(model["parameters"]["separation"], json!(200.0));
    assert_eq!(
        model["parameters"]["match_ratio"],
        model["ledger"][0]["parameters"]["match_ratio"]
    );
}
