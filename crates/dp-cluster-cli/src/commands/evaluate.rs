//! `evaluate`: how good a model is on data.

use dp_cluster::metric_space::evaluation::Contingency;
use serde_json::{Map, Value, json};

use crate::args::EvaluateArgs;
use crate::failure::Failure;
use crate::input::{CsvSource, Input, Outside, Selection};
use crate::output::{print, read_model, say};
use crate::report;

pub(crate) fn run(args: &EvaluateArgs) -> Result<(), Failure> {
    let model = read_model(&args.model)?;
    let labeler = model.labeler()?;
    let selection = Selection {
        columns: Some(model.columns.clone()),
        class: args.label_column.clone(),
        policy: args.invalid.into(),
    };
    let source = CsvSource::open(Input::new(&args.data), selection)?;
    let mut table = Contingency::new(labeler.n_clusters());
    let mut classes = source.classes().iter();
    let counted = Outside::new(&source, &model.bounds);
    let evaluation = dp_cluster::evaluate(&model, &counted, |chunk| {
        for (assignment, &class) in chunk.iter().zip(classes.by_ref()) {
            table.add(class, assignment.label);
        }
    })?;
    let mut figures = vec![
        ("n", json!(evaluation.n)),
        ("mean_cost", json!(evaluation.mean_cost)),
        ("mean_cost_original", json!(evaluation.mean_cost_original)),
    ];
    if model.weights.is_some() {
        figures.push(("mean_log_likelihood", json!(evaluation.mean_log_likelihood)));
    }
    if let Some(path) = &args.truth {
        let distance = dp_cluster::total_variation(&model, &read_model(path)?)?;
        let distance = distance.ok_or_else(|| {
            Failure::usage("`--truth` needs two mixtures over the same columns".to_owned())
        })?;
        figures.push(("total_variation", json!(distance.value)));
        figures.push(("total_variation_std_error", json!(distance.std_error)));
    }
    if args.label_column.is_some() {
        figures.push(("adjusted_rand_index", json!(table.adjusted_rand_index())));
        figures.push(("f_measure", json!(table.f_measure())));
    }
    say("note: this output is not private; it is for the data holder alone");
    if counted.count() > 0 {
        say(&format!(
            "note: {} of {} records lie outside of the model's bounds, to which `fit` clips them",
            counted.count(),
            evaluation.n
        ));
    }
    let text = if args.json {
        let flat: Map<String, Value> = figures
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect();
        format!("{:#}\n", Value::Object(flat))
    } else {
        let rows = figures
            .into_iter()
            .map(|(name, value)| vec![name.to_owned(), value.to_string()])
            .collect();
        report::list(&["figure", "value"], rows)
    };
    print(&text)
}
