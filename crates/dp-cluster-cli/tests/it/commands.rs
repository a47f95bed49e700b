//! The other commands.

use crate::{DPLLOYD, Place};

fn with_model() -> Place {
    let place = Place::with_data();
    let line = "fit data.csv --clusters 2 --bounds=0,100 --columns b,a --algorithm lloyd --not-private --out m.json";
    place.run(line).succeeds();
    place
}

#[test]
fn evaluate_finds_columns_by_name_and_measures_in_both_units() {
    let place = with_model();
    let figures = place.json("evaluate m.json data.csv --label-column class --json");
    assert_eq!(figures["n"], 600);
    assert_eq!(figures["adjusted_rand_index"], 1.0);
    assert_eq!(figures["f_measure"], 1.0);
    let scaled = figures["mean_cost"].as_f64().expect("a number");
    let original = figures["mean_cost_original"].as_f64().expect("a number");
    // Both columns have a half width of 50.
    assert!(
        (original / scaled - 2500.0).abs() < 1e-6,
        "{original} / {scaled}"
    );
    // Variance of 0..5 is 2, of 0.0, 0.1, …, 0.6 is 0.04.
    assert!((original - 2.04).abs() < 0.01, "{original}");
    let plain = place.run("evaluate m.json data.csv");
    plain.succeeds();
    assert!(plain.stderr.contains("not private") && plain.stdout.contains("mean_cost"));
    place
        .run("evaluate m.json data.csv --label-column absent")
        .fails(1, &["`absent`"]);
    place.write("other.csv", "a,c\n1,2\n");
    place
        .run("evaluate m.json other.csv")
        .fails(1, &["other.csv", "`b`"]);
    place.write("none.csv", "b,a\n");
    let figures = place.json("evaluate m.json none.csv --json");
    assert_eq!(
        (&figures["n"], &figures["mean_cost"]),
        (&0.into(), &serde_json::Value::Null)
    );
}

#[test]
fn predict_gives_one_label_per_record_in_order() {
    let place = with_model();
    let run = place.run("predict m.json data.csv");
    run.succeeds();
    assert!(run.stderr.contains("private"));
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert_eq!((lines.len(), lines[0]), (601, "label"));
    assert_ne!(lines[1], lines[2]);
    assert!(lines[1..].chunks(2).all(|pair| pair == &lines[1..3]));
    place
        .run("predict m.json data.csv --out labels.csv")
        .succeeds();
    assert_eq!(place.read("labels.csv"), run.stdout);
    let piped = place.run_with("predict m.json -", place.read("data.csv").as_bytes());
    assert_eq!(piped.stdout, run.stdout);
}

#[test]
fn inspect_adds_several_models_up() {
    let place = Place::with_data();
    for (name, flags) in [
        ("1.json", ""),
        ("2.bin", "--relation replace-one"),
        ("3.json", ""),
    ] {
        place
            .run(&format!("{DPLLOYD} {flags} --out {name}"))
            .succeeds();
    }
    let one = place.run("inspect 1.json");
    one.succeeds();
    for word in [
        "dplloyd",
        "guarantee: ε = ",
        "one row more",
        "discrete-laplace",
        "iterations = ",
    ] {
        assert!(one.stdout.contains(word), "{}", one.stdout);
    }
    assert!(!one.stdout.contains("total"));
    let two = place.run("inspect 1.json 3.json").stdout;
    let total = two.split("== total").nth(1).expect("there is a total");
    assert!(
        total.contains("ε = 2") || total.contains("ε = 1.99"),
        "{total}"
    );
    let mixed = place.run("inspect 1.json 2.bin").stdout;
    let total = mixed.split("== total").nth(1).expect("there is a total");
    assert!(
        total.contains("replace-one") && total.contains("differ in one row"),
        "{total}"
    );
}

#[test]
fn plan_needs_public_facts_and_reads_no_data() {
    let place = Place::new();
    let plan = "plan --clusters 3 --epsilon 1 --delta 1e-6 --n-hint 10000 --algorithm dplloyd";
    place.run(plan).fails(2, &["--columns", "--dimension"]);
    place
        .run("plan --clusters 3 --epsilon 1 --dimension 2")
        .fails(2, &["--n-hint"]);
    place
        .run(&format!("{plan} --dimension 0"))
        .fails(2, &["--dimension"]);
    place
        .run(&format!("{plan} --dimension 2").replace("dplloyd", "lloyd"))
        .fails(2, &["--not-private"]);
    let by_name = place.json(&format!("{plan} --columns a,b --bounds=0,10 --json"));
    assert!(by_name["guarantee"]["epsilon"].as_f64().expect("a number") <= 1.0);
    let small = by_name["expected_error"][0].as_f64().expect("a number");
    let wide = place.json(&format!("{plan} --columns a,b --bounds=0,100 --json"));
    let large = wide["expected_error"][0].as_f64().expect("a number");
    assert!((large / small - 10.0).abs() < 1e-9);
    let text = place.run(&format!("{plan} --dimension 2"));
    text.succeeds();
    assert!(text.stdout.contains("would spend") && text.stdout.contains("expected error"));
}

#[test]
fn a_plan_is_what_the_fit_then_spends() {
    let place = Place::with_data();
    for flags in [
        "",
        "--delta 1e-6",
        "--delta 1e-6 --relation replace-one",
        "--schedule halving --iterations 4",
    ] {
        let what = format!(
            "--clusters 2 --epsilon 1 --bounds=0,100 --columns a,b --n-hint 600 --algorithm dplloyd {flags} --json"
        );
        let plan = place.json(&format!("plan {what}"));
        let model = place.json(&format!("fit data.csv {what}"));
        assert_eq!(plan["guarantee"], model["guarantee"], "{flags}");
        assert_eq!(plan["ledger"], model["ledger"], "{flags}");
    }
}

#[test]
fn algorithms_are_listed_with_what_they_need() {
    let place = Place::new();
    let list = place.json("algorithms --json");
    for facts in list.as_array().expect("a list") {
        for key in [
            "name",
            "summary",
            "private",
            "relation",
            "needs_delta",
            "needs_size",
            "options",
        ] {
            assert!(facts.get(key).is_some(), "{facts} should have {key}");
        }
    }
    let text = place.run("algorithms");
    text.succeeds();
    for name in ["dplloyd", "dplloyd-paper", "lloyd"] {
        assert!(text.stdout.contains(name));
    }
}

#[test]
fn generate_writes_the_same_table_for_the_same_seed() {
    let place = Place::new();
    for kind in ["mixture", "blobs", "gauss-ball"] {
        let line =
            format!("generate --kind {kind} --records 500 --dimension 3 --clusters 2 --seed 4");
        place
            .run(&format!("{line} --out 1.csv --centers-out c.csv"))
            .succeeds();
        place.run(&format!("{line} --out 2.csv")).succeeds();
        let table = place.read("1.csv");
        assert_eq!(table, place.read("2.csv"));
        assert_eq!(table.lines().next(), Some("x1,x2,x3,label"));
        assert_eq!(
            (table.lines().count(), place.read("c.csv").lines().count()),
            (501, 3)
        );
    }
    let line =
        "generate --kind mixture --records 9 --dimension 2 --clusters 20 --seed 1 --out t.csv";
    let crowded = place.run(line);
    crowded.succeeds();
    assert!(crowded.stderr.contains("no room"), "{}", crowded.stderr);
    place
        .run(&line.replace("--clusters 20", "--clusters 0"))
        .fails(2, &["clusters"]);
    place
        .run(&line.replace("t.csv", "absent/t.csv"))
        .fails(1, &["absent/t.csv"]);
}

#[test]
fn completions_help_and_version_go_to_stdout() {
    let place = Place::new();
    for line in [
        "completions bash",
        "completions zsh",
        "help",
        "help fit",
        "--version",
        "fit --help",
    ] {
        let run = place.run(line);
        run.succeeds();
        assert!(!run.stdout.is_empty() && run.stderr.is_empty(), "{line}");
    }
    assert!(place.run("--help").stdout.contains("add up"));
    place.run("").fails(2, &["Usage"]);
    place.run("cluster").fails(2, &["cluster"]);
    place.run("fit").fails(2, &["--clusters"]);
}

#[test]
fn what_is_read_is_never_written() {
    let place = with_model();
    let data = place.read("data.csv");
    let model = place.read("m.json");
    for line in [
        "predict m.json data.csv --out data.csv",
        "predict m.json data.csv --out ./data.csv",
        "predict m.json data.csv --out m.json",
        &format!("{DPLLOYD} --centers-out data.csv"),
    ] {
        place.run(line).fails(2, &["is read by this run"]);
        assert_eq!(
            (place.read("data.csv"), place.read("m.json")),
            (data.clone(), model.clone()),
            "{line}"
        );
    }
    let line = DPLLOYD.replace("dplloyd", "eug");
    place
        .run(&format!("{line} --out x.json --synopsis-out ./x.json"))
        .fails(2, &["--out", "--synopsis-out", "same file"]);
    // A folder that is not there is seen before anything is spent.
    let run = place.run(&format!(
        "{DPLLOYD} --out y.json --centers-out absent/c.csv"
    ));
    run.fails(1, &["absent/c.csv"]);
    assert!(!run.stderr.contains("spent") && !run.stderr.contains(".tmp"));
    assert!(!place.path("y.json").exists());
}

#[test]
fn a_release_that_is_replaced_still_counts() {
    let place = Place::with_data();
    place.run(&format!("{DPLLOYD} --out m.json")).succeeds();
    let run = place.run(&format!("{DPLLOYD} --out m.json"));
    run.succeeds();
    assert!(run.stderr.contains("still counts"), "{}", run.stderr);
}

#[test]
fn weak_budgets_are_called_weak() {
    let place = Place::with_data();
    for (flags, warned) in [
        ("", false),
        ("--delta 1e-6", false),
        ("--delta 0.5", true),
        ("--delta 1e-3 --n-hint 600", false),
        ("--delta 1e-3 --n-hint 2000", true),
    ] {
        let run = place.run(&format!("{DPLLOYD} {flags} --out m.json"));
        run.succeeds();
        assert_eq!(run.stderr.contains("warning"), warned, "{flags}");
    }
    let run = place.run(&DPLLOYD.replace("--epsilon 1", "--epsilon 1e6 --out w.json -q"));
    run.succeeds();
    assert!(run.stderr.contains("hardly anyone"), "{}", run.stderr);
    let said = place.run("inspect w.json").stdout;
    assert!(
        said.contains("hardly anyone") && !said.contains("inf"),
        "{said}"
    );
}

#[test]
fn a_synopsis_can_be_inspected() {
    let place = Place::with_data();
    let line = DPLLOYD.replace("dplloyd", "eug");
    place
        .run(&format!("{line} --out m.json --synopsis-out s.json"))
        .succeeds();
    place
        .run("recluster s.json --clusters 3 --out r.json")
        .succeeds();
    let run = place.run("inspect s.json");
    run.succeeds();
    assert!(run.stdout.contains("synopsis") && run.stdout.contains("guarantee: ε = 1"));
    let run = place.run("inspect m.json r.json");
    assert!(run.stdout.contains("paid for once"), "{}", run.stdout);
    place
        .run("predict s.json data.csv")
        .fails(1, &["synopsis, not a model", "recluster"]);
    place
        .run("recluster m.json --clusters 3")
        .fails(1, &["model, not a synopsis"]);
}

#[test]
fn evaluate_tells_how_many_records_lie_outside() {
    let place = with_model();
    place.write("wide.csv", "b,a\n1,2\n300,4\n5,-6\n");
    let run = place.run("evaluate m.json wide.csv");
    run.succeeds();
    assert!(run.stderr.contains("2 of 3 records"), "{}", run.stderr);
    assert!(
        !place
            .run("evaluate m.json data.csv")
            .stderr
            .contains("outside")
    );
}

/// Squared sensitivities of a million columns do not fit 64 bits.
#[test]
fn a_plan_of_very_many_columns_is_json() {
    let place = Place::new();
    let plan = place.json(
        "plan --json --dimension 1048576 --relation replace-one --clusters 2 --epsilon 1 --delta 1e-6 --n-hint 100000",
    );
    assert_eq!(plan["private"], true);
}

/// The disk is full after the mechanism ran.
#[cfg(target_os = "linux")]
#[test]
fn a_model_that_cannot_be_written_is_not_lost() {
    let place = Place::with_data();
    std::os::unix::fs::symlink("/dev/full", place.path("full.json")).expect("a link");
    let run = place.run(&format!("{DPLLOYD} --out full.json --centers-out c.csv"));
    assert_eq!(run.code, 1);
    for word in ["full.json", "spent", "stands on stdout"] {
        assert!(run.stderr.contains(word), "{}", run.stderr);
    }
    let model: serde_json::Value = serde_json::from_str(&run.stdout).expect("the model");
    assert_eq!(model["outcome"], "released");
    assert_eq!(place.read("c.csv").lines().count(), 3);
}
