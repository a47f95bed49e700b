//! `fit --synopsis-out` and `recluster`, as a user runs them.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

/// Runs the command in a folder.
fn run(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dp-cluster"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("the command starts")
}

/// A folder with a table of 2,000 rows around 2 and 8.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let mut table = String::from("a,b,note\n");
    for i in 0..2000 {
        let middle = if i % 2 == 0 { 2.0 } else { 8.0 };
        let x = middle + f64::from(i % 7) / 10.0;
        let y = middle + f64::from(i % 5) / 10.0;
        writeln!(table, "{x},{y},text").expect("a string takes all");
    }
    fs::write(folder.path().join("data.csv"), table).expect("written");
    folder
}

const FIT: [&str; 11] = [
    "fit",
    "data.csv",
    "--clusters",
    "2",
    "--epsilon",
    "1",
    "--bounds=0,10",
    "--columns",
    "a,b",
    "--n-hint",
    "2000",
];

fn json(output: &Output) -> Value {
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).expect("JSON on stdout")
}

#[test]
fn a_synopsis_is_clustered_again_under_its_own_guarantee() {
    let folder = folder();
    for (algorithm, file) in [
        ("eug", "s.json"),
        ("grid-k", "s.bin"),
        ("hybrid-refine", "h.bin"),
    ] {
        let mut arguments = FIT.to_vec();
        arguments.extend(["--algorithm", algorithm, "--synopsis-out", file, "--json"]);
        let model = json(&run(folder.path(), &arguments));
        for k in ["1", "2", "5"] {
            let again = json(&run(
                folder.path(),
                &["recluster", file, "--clusters", k, "--json"],
            ));
            assert_eq!(again["guarantee"], model["guarantee"]);
            assert_eq!(again["ledger"], model["ledger"]);
            let centers = again["centers"].as_array().expect("a list");
            assert_eq!(centers.len().to_string(), k);
        }
        let two = [
            "recluster",
            file,
            "--clusters",
            "2",
            "--starts",
            "sphere-packing",
            "--json",
        ];
        let centers = json(&run(folder.path(), &two))["centers"].clone();
        for truth in [2.2, 8.2] {
            let near = |center: &Value| (center[0].as_f64().unwrap_or(99.0) - truth).abs() < 0.8;
            assert!(
                centers.as_array().expect("a list").iter().any(near),
                "{centers}"
            );
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_centers() {
    let folder = folder();
    let mut arguments = FIT.to_vec();
    arguments.extend(["--algorithm", "eug", "--synopsis-out", "s.bin", "--quiet"]);
    assert!(run(folder.path(), &arguments).status.success());
    let again = [
        "recluster",
        "s.bin",
        "--clusters",
        "4",
        "--seed",
        "7",
        "--json",
    ];
    assert_eq!(
        run(folder.path(), &again).stdout,
        run(folder.path(), &again).stdout
    );
}

#[test]
fn wrong_uses_and_damaged_files_have_their_exit_codes() {
    let folder = folder();
    let code = |arguments: &[&str]| run(folder.path(), arguments).status.code();
    let with = |rest: &[&'static str]| {
        let mut arguments = FIT.to_vec();
        arguments.extend(rest);
        arguments
    };
    // An algorithm without a synopsis, another ending, a setting that the algorithm does not have.
    assert_eq!(
        code(&with(&["--algorithm", "gkm", "--synopsis-out", "s.bin"])),
        Some(2)
    );
    assert_eq!(
        code(&with(&["--algorithm", "eug", "--synopsis-out", "s.csv"])),
        Some(2)
    );
    assert_eq!(
        code(&with(&["--algorithm", "gkm", "--starts", "greedy"])),
        Some(2)
    );
    // A sparse grid has no pure form.
    assert_eq!(code(&with(&["--algorithm", "grid-sparse"])), Some(2));
    assert!(!folder.path().join("s.bin").exists());

    assert_eq!(
        code(&with(&["--algorithm", "eug", "--synopsis-out", "s.bin"])),
        Some(0)
    );
    assert_eq!(code(&["recluster", "s.bin", "--clusters", "0"]), Some(2));
    assert_eq!(code(&["recluster", "none.bin", "--clusters", "2"]), Some(1));
    assert_eq!(code(&["recluster", "data.csv", "--clusters", "2"]), Some(1));
    let bytes = fs::read(folder.path().join("s.bin")).expect("written");
    for cut in [0, 9, bytes.len() / 2, bytes.len() - 1] {
        fs::write(folder.path().join("cut.bin"), &bytes[..cut]).expect("written");
        assert_eq!(code(&["recluster", "cut.bin", "--clusters", "2"]), Some(1));
    }
}

#[test]
fn algorithms_that_are_not_private_ask_for_confirmation() {
    let folder = folder();
    for algorithm in ["sag", "gene"] {
        let plain = [
            "fit",
            "data.csv",
            "--clusters",
            "2",
            "--bounds=0,10",
            "--columns",
            "a,b",
        ];
        let mut arguments = plain.to_vec();
        arguments.extend(["--algorithm", algorithm, "--json"]);
        assert_eq!(run(folder.path(), &arguments).status.code(), Some(2));
        arguments.push("--not-private");
        let model = json(&run(folder.path(), &arguments));
        assert_eq!(model["guarantee"], Value::Null);
        assert_eq!(model["private"], Value::Bool(false));
    }
}
