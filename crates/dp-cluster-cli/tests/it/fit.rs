//! `fit`: what it accepts, refuses and writes.

use crate::{DPLLOYD, FIT, Place};

#[test]
fn a_fit_says_what_it_spent_and_on_what() {
    let place = Place::with_data();
    let run = place.run(&format!("{DPLLOYD} --delta 1e-6"));
    run.succeeds();
    for word in [
        "center",
        "discrete-gaussian",
        "counts",
        "add-remove",
        "spent: ε = ",
    ] {
        assert!(run.stdout.contains(word), "{}", run.stdout);
    }
    assert!(run.stderr.contains("add-remove") && run.stderr.contains("add up"));
    let quiet = place.run(&format!("{DPLLOYD} --quiet"));
    quiet.succeeds();
    assert_eq!(quiet.stderr, "");
}

#[test]
fn a_model_says_everything_that_was_asked_and_spent() {
    let place = Place::with_data();
    let model = place.json(&format!(
        "{DPLLOYD} --delta 1e-6 --n-hint 600 --iterations 3 --json"
    ));
    assert_eq!(model["algorithm"], "dplloyd");
    assert_eq!(model["outcome"], "released");
    assert_eq!(
        (&model["private"], &model["seeded"]),
        (&true.into(), &false.into())
    );
    assert_eq!(model["columns"], serde_json::json!(["a", "b"]));
    assert_eq!(model["centers"].as_array().expect("a list").len(), 2);
    assert_eq!(model["parameters"]["iterations"], 3);
    assert_eq!(model["parameters"]["n_hint"], 600);
    assert_eq!(model["guarantee"]["relation"], "add-remove");
    assert_eq!(model["guarantee"]["unit"], "row");
    let epsilon = model["guarantee"]["epsilon"].as_f64().expect("a number");
    assert!(epsilon <= 1.0 && epsilon > 0.999);
    assert!(model["guarantee"]["delta"].as_f64().expect("a number") <= 1e-6);
    let inside = |x: &serde_json::Value| (0.0..=100.0).contains(&x.as_f64().expect("a number"));
    for center in model["centers"].as_array().expect("a list") {
        assert!(center.as_array().expect("a list").iter().all(inside));
    }
}

#[test]
fn a_delta_without_use_is_not_spent() {
    let place = Place::with_data();
    let line = format!("{FIT} --delta 1e-6 --algorithm dplloyd-paper --json");
    assert_eq!(place.json(&line)["guarantee"]["delta"], 0.0);
    // And without one, the default has a pure form.
    assert_eq!(
        place.json(&format!("{FIT} --json"))["guarantee"]["delta"],
        0.0
    );
}

#[test]
fn both_relations_run_and_are_written_down() {
    let place = Place::with_data();
    for relation in ["add-remove", "replace-one"] {
        for algorithm in ["dplloyd", "dplloyd-paper"] {
            let model = place.json(&format!(
                "{FIT} --relation {relation} --algorithm {algorithm} --json"
            ));
            assert_eq!(model["guarantee"]["relation"], relation);
            assert!(model["guarantee"]["epsilon"].as_f64().expect("a number") <= 1.0);
        }
    }
}

#[test]
fn flags_are_refused_before_the_data_is_looked_for() {
    let place = Place::new();
    for (flags, words) in [
        ("--epsilon 0", &["epsilon", "got 0"][..]),
        ("--epsilon nan", &["epsilon"]),
        ("--epsilon inf", &["epsilon"]),
        ("", &["epsilon"]),
        ("--epsilon 1 --delta 1", &["delta", "got 1"]),
        ("--epsilon 1 --delta -0.1", &["delta"]),
        ("--epsilon 1 --n-hint 0", &["--n-hint"]),
        ("--epsilon 1 --algorithm kmeans", &["kmeans", "dplloyd"]),
        ("--epsilon 1 --algorithm lloyd", &["--not-private"]),
        ("--epsilon 1 --not-private", &["--not-private"]),
        (
            "--algorithm lloyd --not-private --schedule uniform",
            &["--schedule", "dplloyd"],
        ),
        (
            "--epsilon 1 --algorithm dplloyd --iterations 0",
            &["n_iterations"],
        ),
        (
            "--epsilon 1 --relation bounded",
            &["bounded", "replace-one"],
        ),
        ("--epsilon 1 --out model.txt", &[".json", ".bin"]),
        ("--epsilon 1 --threads 0", &["--threads"]),
    ] {
        let line = format!("fit absent.csv --clusters 2 --bounds=0,1 --columns a {flags}");
        // Iterations are the algorithm's to judge, with the data at hand.
        if flags.contains("iterations") {
            place.write("absent.csv", "a\n1\n");
        }
        place.run(&line).fails(2, words);
        let _ = std::fs::remove_file(place.path("absent.csv"));
    }
    let line = "fit absent.csv --clusters 0 --epsilon 1 --bounds=0,1 --columns a";
    place.run(line).fails(2, &["clusters"]);
    let line =
        "fit absent.csv --clusters 18446744073709551615 --epsilon 1 --bounds=0,1 --columns a";
    place.run(line).fails(2, &["clusters"]);
}

#[test]
fn bounds_are_needed_and_must_be_bounds() {
    let place = Place::with_data();
    let fit = "fit data.csv --clusters 2 --epsilon 1 --columns a,b";
    place.run(fit).fails(2, &["bounds", "--bounds"]);
    place
        .run(&format!("{fit} --bounds=1"))
        .fails(2, &["--bounds", "`1`"]);
    place
        .run(&format!("{fit} --bounds=2,1"))
        .fails(2, &["[2, 1]"]);
    place
        .run(&format!("{fit} --bounds=0,inf"))
        .fails(2, &["finite"]);
    place.write("b.toml", "[bounds]\na = [0, 10]\nc = [0, 1]\n");
    place
        .run(&format!("{fit} --bounds-file b.toml"))
        .fails(2, &["b.toml", "`b`"]);
    place.write("b.toml", "[bounds]\na = [0, 10]\nb = [3, 3]\n");
    place
        .run(&format!("{fit} --bounds-file b.toml"))
        .fails(2, &["b.toml", "`b`", "[3, 3]"]);
    place.write("b.toml", "a = [0, 10]\n");
    place
        .run(&format!("{fit} --bounds-file b.toml"))
        .fails(2, &["b.toml", "[bounds]"]);
    place.write(
        "b.toml",
        "[bounds]\na = [0, 10]\nb = [0, 100]\nmore = [0, 1]\n",
    );
    place.run(&format!("{fit} --bounds-file b.toml")).succeeds();
    place
        .run(&format!("{fit} --bounds-file b.toml --bounds=0,1"))
        .fails(2, &["--bounds"]);
    place
        .run(&format!("{fit} --bounds-file absent.toml"))
        .fails(1, &["absent.toml"]);
    place.run(&format!("{fit} --bounds=-5,100")).succeeds();
}

#[test]
fn a_public_start_is_read_by_name_and_must_fit() {
    let place = Place::with_data();
    place.write("start.csv", "b,a\n20,2\n80,8\n");
    let line = format!("{DPLLOYD} --init-centers start.csv --json");
    let model = place.json(&line);
    assert_eq!(
        model["parameters"]["init_centers"],
        serde_json::json!([[2.0, 20.0], [8.0, 80.0]])
    );
    place.write("start.csv", "b,a\n20,2\n");
    place.run(&line).fails(2, &["--init-centers", "2 rows"]);
    place.write("start.csv", "b\n20\n80\n");
    place.run(&line).fails(1, &["start.csv", "`a`"]);
    place.write("start.csv", "b,a\n20,x\n80,8\n");
    place.run(&line).fails(1, &["start.csv", "line 2", "`a`"]);
}

#[test]
fn a_result_without_privacy_says_so() {
    let place = Place::with_data();
    let line =
        "fit data.csv --clusters 2 --bounds=0,100 --columns a,b --algorithm lloyd --not-private";
    let run = place.run(&format!("{line} --json"));
    run.succeeds();
    assert!(run.stderr.contains("--not-private"), "{}", run.stderr);
    let model: serde_json::Value = serde_json::from_str(&run.stdout).expect("JSON");
    assert_eq!(
        (&model["private"], &model["guarantee"]),
        (&false.into(), &serde_json::Value::Null)
    );
    // Two clear groups: their means.
    let mut centers: Vec<f64> = model["centers"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|center| center[0].as_f64().expect("a number"))
        .collect();
    centers.sort_by(f64::total_cmp);
    assert!(
        (centers[0] - 2.3).abs() < 0.05 && (centers[1] - 8.3).abs() < 0.05,
        "{centers:?}"
    );
    // As in the synopsis of the command, a budget may stand beside it.
    place
        .run(&format!("{line} --epsilon 1 --delta 1e-6"))
        .succeeds();
}

#[test]
fn files_are_written_whole_and_nothing_else_is() {
    let place = Place::with_data();
    place
        .run(&format!("{FIT} --out m.json --centers-out c.csv --json"))
        .succeeds();
    place.run(&format!("{FIT} --out m.bin")).succeeds();
    let mut names: Vec<String> = std::fs::read_dir(place.0.path())
        .expect("readable")
        .map(|entry| {
            entry
                .expect("readable")
                .file_name()
                .into_string()
                .expect("text")
        })
        .collect();
    names.sort();
    assert_eq!(names, ["c.csv", "data.csv", "m.bin", "m.json"]);
    let centers = place.read("c.csv");
    assert_eq!(centers.lines().count(), 3);
    assert_eq!(centers.lines().next(), Some("a,b"));
    place
        .run(&format!("{FIT} --out absent/m.json"))
        .fails(1, &["absent/m.json"]);
}

#[test]
fn more_clusters_than_rows_are_no_error() {
    let place = Place::new();
    place.write("data.csv", "a,b\n1,2\n");
    let line = FIT.replace("--clusters 2", "--clusters 7");
    assert_eq!(
        place.json(&format!("{line} --json"))["centers"]
            .as_array()
            .map(Vec::len),
        Some(7)
    );
}

#[test]
fn a_seed_is_warned_of_and_written_down() {
    let place = Place::with_data();
    let run = place.run(&format!("{FIT} --insecure-seed 1 --quiet --json"));
    run.succeeds();
    assert!(run.stderr.contains("--insecure-seed"), "{}", run.stderr);
    assert!(run.stdout.contains("\"seeded\": true"));
}
