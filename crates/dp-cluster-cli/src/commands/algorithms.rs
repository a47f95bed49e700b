//! `algorithms`: what is built.

use dp_cluster::NeighboringRelation;
use dp_cluster::algorithm::{self, Algorithm, Facts};
use serde_json::{Value, json};

use crate::args::AlgorithmsArgs;
use crate::failure::Failure;
use crate::output::print;
use crate::report;

pub(crate) fn run(args: &AlgorithmsArgs) -> Result<(), Failure> {
    let facts: Vec<Facts> = algorithm::all().map(Algorithm::facts).collect();
    if args.json {
        let list: Vec<Value> = facts.iter().map(as_json).collect();
        return print(&format!("{:#}\n", Value::Array(list)));
    }
    let rows = facts
        .iter()
        .map(|facts| {
            vec![
                facts.name.to_owned(),
                if facts.private { "yes" } else { "no" }.to_owned(),
                facts.proof.to_string(),
                facts.delta.name().to_owned(),
                if facts.needs_size { "yes" } else { "no" }.to_owned(),
                facts.summary.to_owned(),
            ]
        })
        .collect();
    let mut text = report::list(
        &[
            "name",
            "private",
            "proof under",
            "delta",
            "size",
            "what it does",
        ],
        rows,
    );
    text.push_str(
        "Each runs under both relations: where its own proof is for the other one, the budget is converted.\n\
         delta: what it does with --delta. size: without --n-hint it spends a share on a noisy count.\n",
    );
    print(&text)
}

fn as_json(facts: &Facts) -> Value {
    json!({
        "name": facts.name,
        "summary": facts.summary,
        "private": facts.private,
        "relation": NeighboringRelation::ALL.map(NeighboringRelation::name),
        "proof_relation": facts.proof.name(),
        "needs_delta": facts.delta.name(),
        "needs_size": facts.needs_size,
        "options": facts.options,
    })
}
