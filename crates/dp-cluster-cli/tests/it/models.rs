//! Model files: both forms, their schema, and files that are none.

use serde_json::Value;

use crate::{FIT, Place, repository, schema};

fn schema() -> Value {
    let path = repository().join("docs/model.schema.json");
    let text = std::fs::read_to_string(path).expect("the schema is part of the repository");
    serde_json::from_str(&text).expect("JSON")
}

/// Every algorithm that the command lists, with flags that let it run on the small table.
fn fits(place: &Place) -> Vec<(String, String)> {
    let list = place.json("algorithms --json");
    let algorithms = list.as_array().expect("a list");
    algorithms
        .iter()
        // It clusters public sites, which it needs flags of its own for.
        .filter(|facts| facts["name"] != "maxcover")
        .map(|facts| {
            let name = facts["name"].as_str().expect("text").to_owned();
            let confirm = if facts["private"] == true {
                ""
            } else {
                "--not-private"
            };
            let line = format!("{FIT} --delta 1e-6 --n-hint 600 --algorithm {name} {confirm}");
            (name, line)
        })
        .collect()
}

#[test]
fn models_of_all_algorithms_follow_the_schema_and_come_back_from_both_forms() {
    let place = Place::with_data();
    let schema = schema();
    for (name, line) in fits(&place) {
        let run = place.run(&format!("{line} --json --out m.bin"));
        // ⊥ is an answer, and written as well.
        assert!([0, 3].contains(&run.code), "{name}: {}", run.stderr);
        let model: Value = serde_json::from_str(&run.stdout).expect("JSON");
        assert_eq!(
            schema::faults(&schema, &model),
            Vec::<String>::new(),
            "{name}"
        );
        assert_eq!(model["algorithm"].as_str(), Some(name.as_str()));
        assert_eq!(model["outcome"] == "refused", run.code == 3);
        place.write("m.json", &run.stdout);
        let (json, binary) = (place.run("inspect m.json"), place.run("inspect m.bin"));
        json.succeeds();
        assert_eq!(json.stdout, binary.stdout, "{name}");
    }
}

#[test]
fn a_model_that_breaks_the_schema_is_seen() {
    let place = Place::with_data();
    let model = place.json(&format!("{FIT} --json"));
    let schema = schema();
    assert_eq!(schema::faults(&schema, &model), Vec::<String>::new());
    for (pointer, value) in [
        ("/private", Value::from("yes")),
        ("/outcome", Value::from("maybe")),
        ("/centers/0/0", Value::Null),
        ("/guarantee/relation", Value::from("bounded")),
        ("/guarantee/epsilon", Value::from(-1)),
        ("/ledger/0/count", Value::from(0)),
        ("/bounds/0", serde_json::json!([1, 2, 3])),
    ] {
        let mut broken = model.clone();
        *broken.pointer_mut(pointer).expect("it is there") = value;
        assert_ne!(
            schema::faults(&schema, &broken),
            Vec::<String>::new(),
            "{pointer}"
        );
    }
    let mut more = model.clone();
    more["n"] = Value::from(600);
    assert_ne!(schema::faults(&schema, &more), Vec::<String>::new());
    let mut less = model;
    less.as_object_mut().expect("an object").remove("ledger");
    assert_ne!(schema::faults(&schema, &less), Vec::<String>::new());
}

#[test]
fn files_that_are_no_models_are_errors_that_name_them() {
    let place = Place::with_data();
    place.run(&format!("{FIT} --out good.bin")).succeeds();
    place.run(&format!("{FIT} --out good.json")).succeeds();
    let good = std::fs::read(place.path("good.bin")).expect("readable");
    place.write("bad.bin", &good[..good.len() - 1]);
    place
        .run("inspect bad.bin")
        .fails(1, &["bad.bin", "bytes long"]);
    let mut damaged = good;
    let last = damaged.len() - 1;
    damaged[last] ^= 1;
    place.write("bad.bin", &damaged);
    place
        .run("predict bad.bin data.csv")
        .fails(1, &["bad.bin", "checksum"]);
    let json = place.read("good.json");
    place.write("bad.json", &json[..json.len() / 2]);
    place
        .run("evaluate bad.json data.csv")
        .fails(1, &["bad.json"]);
    let mut boast: Value = serde_json::from_str(&json).expect("JSON");
    boast["guarantee"]["epsilon"] = Value::from(0.5);
    place.write("bad.json", boast.to_string());
    place
        .run("inspect bad.json")
        .fails(1, &["bad.json", "add up"]);
    place
        .run("inspect data.csv")
        .fails(1, &["data.csv", "no model"]);
    place.run("inspect absent.json").fails(1, &["absent.json"]);
}
