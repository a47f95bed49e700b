//! As much of JSON Schema as the model's schema uses; a keyword that is not known here is a fault of the schema.

use serde_json::Value;

/// Everything about `value` that the schema forbids.
pub(crate) fn faults(schema: &Value, value: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    check(schema, schema, value, "", &mut faults);
    faults
}

fn check(root: &Value, schema: &Value, value: &Value, at: &str, faults: &mut Vec<String>) {
    let mut fault = |holds: bool, keyword: &str| {
        if !holds {
            faults.push(format!("{at}: {keyword}"));
        }
    };
    let length = value.as_array().map(Vec::len);
    let number = value.as_f64();
    let mut inner: Vec<(&Value, &Value, String)> = Vec::new();
    for (keyword, rule) in schema.as_object().expect("a schema is an object") {
        match keyword.as_str() {
            "$schema" | "$defs" | "title" | "description" => {}
            "type" => {
                let names = rule
                    .as_array()
                    .cloned()
                    .unwrap_or_else(|| vec![rule.clone()]);
                let fits = names
                    .iter()
                    .any(|name| is(name.as_str().expect("text"), value));
                fault(fits, keyword);
            }
            "enum" => fault(rule.as_array().expect("a list").contains(value), keyword),
            "required" => {
                for key in rule.as_array().expect("a list") {
                    let is_there = value
                        .as_object()
                        .is_none_or(|object| object.contains_key(key.as_str().expect("text")));
                    fault(is_there, &format!("required {key}"));
                }
            }
            "properties" => {
                for (key, rule) in rule.as_object().expect("an object") {
                    if let Some(value) = value.get(key) {
                        inner.push((rule, value, format!("{at}/{key}")));
                    }
                }
            }
            "additionalProperties" => {
                let known = schema.get("properties").and_then(Value::as_object);
                for (key, value) in value.as_object().into_iter().flatten() {
                    if known.is_some_and(|known| known.contains_key(key)) {
                        continue;
                    }
                    if rule.is_object() {
                        inner.push((rule, value, format!("{at}/{key}")));
                    } else {
                        fault(rule == true, &format!("additional {key}"));
                    }
                }
            }
            "items" => {
                for (place, value) in value.as_array().into_iter().flatten().enumerate() {
                    inner.push((rule, value, format!("{at}/{place}")));
                }
            }
            "oneOf" => {
                let rules = rule.as_array().expect("a list");
                let fitting = rules.iter().filter(|rule| {
                    let mut faults = Vec::new();
                    check(root, rule, value, at, &mut faults);
                    faults.is_empty()
                });
                fault(fitting.count() == 1, keyword);
            }
            "$ref" => {
                let pointer = rule.as_str().expect("text").trim_start_matches('#');
                let rule = root.pointer(pointer).expect("what is referred to is there");
                inner.push((rule, value, at.to_owned()));
            }
            "uniqueItems" => {
                let items = value.as_array().cloned().unwrap_or_default();
                let repeated = (1..items.len()).any(|i| items[..i].contains(&items[i]));
                fault(!repeated, keyword);
            }
            "minItems" => fault(length.is_none_or(|n| n as u64 >= whole(rule)), keyword),
            "maxItems" => fault(length.is_none_or(|n| n as u64 <= whole(rule)), keyword),
            "minLength" => {
                let length = value.as_str().map(|text| text.chars().count() as u64);
                fault(length.is_none_or(|n| n >= whole(rule)), keyword);
            }
            "minimum" => fault(number.is_none_or(|x| x >= real(rule)), keyword),
            "maximum" => fault(number.is_none_or(|x| x <= real(rule)), keyword),
            "exclusiveMinimum" => fault(number.is_none_or(|x| x > real(rule)), keyword),
            "exclusiveMaximum" => fault(number.is_none_or(|x| x < real(rule)), keyword),
            other => fault(
                false,
                &format!("the schema uses `{other}`, which is not known here"),
            ),
        }
    }
    for (rule, value, at) in inner {
        check(root, rule, value, &at, faults);
    }
}

fn is(name: &str, value: &Value) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => {
            value.is_u64()
                || value.is_i64()
                || value.as_f64().is_some_and(|x| x.fract().abs() <= 0.0)
        }
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("`{other}` is no type of JSON"),
    }
}

fn whole(rule: &Value) -> u64 {
    rule.as_u64().expect("a whole number")
}

fn real(rule: &Value) -> f64 {
    rule.as_f64().expect("a number")
}
