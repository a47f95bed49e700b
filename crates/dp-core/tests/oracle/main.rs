//! Accounting against an oracle: 60-digit closed forms, and brackets from public numerical accountants.
//!
//! `data/accounting.json` was computed with mpmath, dp-accounting and opendp. Exact values must be met to
//! 1e-9 relative, and from the side of more loss; numerical ones must lie within their bracket.

mod closed_forms;
mod numerical;

use serde_json::Value;

/// What an exact value may be missed by, relatively.
const TOLERANCE: f64 = 1e-9;

/// The entries of one kind; there must be some, or a test would pass on nothing.
fn entries(kind: &str) -> Vec<Value> {
    let text = include_str!("../data/accounting.json");
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

/// Every kind of entry has a test: the modules ask for each of these, and the file holds no other.
#[test]
fn no_kind_of_entry_is_left_out() {
    let text = include_str!("../data/accounting.json");
    let oracle: Value = serde_json::from_str(text).expect("the oracle is JSON");
    let all = oracle["entries"].as_array().expect("entries");
    let tests = concat!(
        include_str!("closed_forms.rs"),
        include_str!("numerical.rs")
    );
    let mut kinds = std::collections::BTreeMap::new();
    for entry in all {
        *kinds
            .entry(entry["kind"].as_str().expect("a kind"))
            .or_insert(0) += 1;
    }
    for (kind, count) in &kinds {
        assert!(tests.contains(&format!("entries(\"{kind}\")")), "{kind}");
        assert_eq!(oracle["counts"][kind], *count, "{kind}");
    }
    assert!(kinds.len() >= 17 && all.len() >= 197);
}

/// A number of an entry's inputs or outputs.
fn number(entry: &Value, group: &str, key: &str) -> f64 {
    entry[group][key].as_f64().expect("a number")
}

/// A list among an entry's outputs.
fn rows<'a>(entry: &'a Value, key: &str) -> &'a [Value] {
    entry["outputs"][key].as_array().expect("rows")
}

/// A list of numbers.
fn numbers(list: &Value) -> Vec<f64> {
    list.as_array()
        .expect("a list")
        .iter()
        .map(|value| value.as_f64().expect("a number"))
        .collect()
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
