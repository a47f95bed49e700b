//! Replays and the ledger law for every private algorithm.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use workspace_tests::{black_box, hostile, replays, spending, subjects, tuple_attacks, zoo};

/// Every algorithm of the facade has neighbors here; a new one fails until it has.
#[test]
fn every_private_algorithm_keeps_its_ledger() {
    let subjects = subjects::all().expect("every algorithm is known to the audit");
    for subject in &subjects {
        spending::subject(subject).unwrap_or_else(|problem| panic!("{problem}"));
    }
}

#[test]
fn the_accountant_adds_up_as_the_ledger_law_does() {
    spending::conversions().unwrap_or_else(|problem| panic!("{problem}"));
}

/// A first look; `cargo xtask audit` compares at least 10,000 pairs per algorithm.
#[test]
fn neighbors_make_the_same_calls_within_the_declared_sensitivities() {
    let subjects = subjects::all().expect("every algorithm is known to the audit");
    for compared in replays::algorithms(&subjects, 200).unwrap_or_else(|p| panic!("{p}")) {
        assert!(compared.calls >= compared.pairs, "{compared:?}");
    }
}

/// Between the neighbors that the black box attacks a number moves that is released, or there is a reason why none can: else no number of
/// runs would show anything.
#[test]
fn every_attacked_pair_has_something_to_tell() {
    for subject in subjects::attacked().expect("every algorithm is known to the audit") {
        let moves = black_box::moves(&subject);
        let tells = moves.single > 0.0;
        assert_eq!(
            tells,
            subject.unseen.is_none(),
            "{}: {moves:?}",
            subject.name()
        );
    }
}

/// Every planted fault has a check in the zoo, and the zoo knows no fault that is not there.
#[test]
fn the_zoo_and_the_sources_name_the_same_faults() {
    let planted = zoo::planted().expect("the sources can be read");
    let known: BTreeSet<&str> = zoo::ZOO.iter().map(|(fault, ..)| *fault).collect();
    let planted: BTreeSet<&str> = planted.iter().map(String::as_str).collect();
    assert_eq!(planted, known);
    assert!(known.len() >= 20 && known.len() == zoo::ZOO.len());
}

/// Few runs; `cargo xtask audit --tuples` makes 100,000. A sound aggregator is convicted with probability below 10^-3.
#[test]
fn moved_tuples_do_not_convict_the_aggregators_but_the_one_that_releases_them() {
    for verdict in tuple_attacks::all(2_000, tuple_attacks::ATTACKS) {
        assert!(!verdict.convicts(), "{}", verdict.line());
    }
    let twin = tuple_attacks::unsound(2_000, tuple_attacks::ATTACKS);
    assert!(twin.convicts(), "{}", twin.line());
}

/// The tables of errors in the papers name checks: each row does, and each check must be there.
#[test]
fn the_errors_in_the_papers_have_checks_that_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut sources = String::new();
    for folder in ["crates", "tests"] {
        read_all(&root.join(folder), &mut sources);
    }
    let dense = sources.replace(char::is_whitespace, "");
    for (file, least) in [("errors-in-the-papers.md", 30), ("ktuple.md", 20)] {
        let text = fs::read_to_string(root.join("docs/proofs").join(file)).expect("the tables");
        let mut names = 0;
        let mut in_table = false;
        for line in text.lines() {
            let row = line.trim_end_matches([' ', '|']);
            let last = row.rsplit('|').next().unwrap_or_default().trim();
            // From a heading whose last column is one of checks to the end of its table.
            if !line.starts_with('|') || matches!(last, "check" | "test") {
                in_table = line.starts_with('|');
                continue;
            }
            if !in_table || last.starts_with('-') {
                continue;
            }
            assert!(last.contains('`'), "{file}: no check in {line}");
            for name in last.split('`').skip(1).step_by(2) {
                let (test, fault) = (format!("fn {name}("), format!("planted!(\"{name}\""));
                let exists = sources.contains(&test) || dense.contains(&fault);
                assert!(exists, "{file}: there is no check `{name}`");
                names += 1;
            }
        }
        assert!(names >= least, "{file}: {names} names");
    }
}

fn read_all(folder: &Path, text: &mut String) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            if path.file_name().is_some_and(|name| name != "target") {
                read_all(&path, text);
            }
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            text.push_str(&fs::read_to_string(&path).expect("a source"));
        }
    }
}

/// The committed corpora of the fuzz targets, as ordinary tests.
#[test]
fn hostile_bytes_are_answered_by_values_or_typed_errors() {
    type Target = fn(&[u8]);
    let corpora: [(&str, Target); 6] = [
        ("csv", dp_cluster_cli::hostile::csv),
        ("bounds", dp_cluster_cli::hostile::bounds),
        ("model_json", hostile::model),
        ("model_binary", hostile::model),
        ("matrix", hostile::matrix),
        ("fit", hostile::fit),
    ];
    for (name, target) in corpora {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("fuzz/corpus")
            .join(name);
        let mut files = 0;
        for entry in fs::read_dir(folder).expect("a corpus").flatten() {
            target(&fs::read(entry.path()).expect("a file"));
            files += 1;
        }
        assert!(files >= 5, "{name}: {files} files");
    }
}

/// A model that loads is one that was released: the corpus holds one in each form, and the replay above is not empty.
#[test]
fn the_corpora_hold_models_that_load() {
    for name in ["model_json/model", "model_binary/model"] {
        let file = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("fuzz/corpus")
            .join(name);
        let model = dp_cluster::Model::load(&fs::read(file).expect("a file"));
        assert!(model.is_ok(), "{name}: {:?}", model.err());
    }
}
