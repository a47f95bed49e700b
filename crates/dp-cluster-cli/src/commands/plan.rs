//! `plan`: how a budget would be spent.

use std::collections::BTreeMap;

use dp_cluster::{FitRequest, Guarantee, Ledger, Value};
use serde::Serialize;

use crate::args::PlanArgs;
use crate::failure::Failure;
use crate::output::{print, say};
use crate::report::{self, Lines};
use crate::request::Draft;

/// A plan as JSON.
#[derive(Serialize)]
struct Shown<'a> {
    algorithm: &'a str,
    private: bool,
    guarantee: Option<&'a Guarantee>,
    ledger: Ledger,
    parameters: &'a BTreeMap<String, Value>,
    expected_sq_error: Option<f64>,
    expected_error: Option<Vec<f64>>,
    notes: &'a [String],
    warnings: &'a [String],
}

pub(crate) fn run(args: &PlanArgs) -> Result<(), Failure> {
    let columns = match (args.what.columns(), args.dimension) {
        (Some(columns), _) => columns,
        // Before names are made for them.
        (None, Some(dimension)) if (1..=1 << 20).contains(&dimension) => {
            (1..=dimension).map(|column| format!("x{column}")).collect()
        }
        (None, Some(dimension)) => {
            return Err(Failure::usage(format!(
                "--dimension must lie in 1..=1048576, got {dimension}"
            )));
        }
        (None, None) => match args.what.options.columns() {
            Some(columns) => columns,
            None => return Err(Failure::usage("a plan needs --columns or --dimension")),
        },
    };
    if args.what.n_hint.is_none() {
        return Err(Failure::usage(
            "a plan needs a public number of rows: --n-hint",
        ));
    }
    let draft = Draft::new(&args.what)?.or_unit_bounds();
    for warning in report::weakness(&args.what) {
        say(&warning);
    }
    let request = draft.complete(&columns, &args.what)?;
    let plan = dp_cluster::plan(&request)?;
    let guarantee = plan
        .guarantee(request.relation, request.delta.get())
        .map_err(|error| Failure::usage(error.to_string()))?;
    let private = request.epsilon.is_some() && !request.not_private;
    if args.json {
        let shown = Shown {
            algorithm: &request.algorithm,
            private,
            guarantee: private.then_some(&guarantee),
            ledger: plan.ledger(),
            parameters: &plan.parameters,
            expected_sq_error: plan.expected_sq_error,
            expected_error: errors_by_column(&request, plan.expected_sq_error),
            notes: &plan.notes,
            warnings: &plan.warnings,
        };
        let text = serde_json::to_string_pretty(&shown)
            .map_err(|error| Failure::data(format!("the plan as JSON: {error}")))?;
        return print(&format!("{text}\n"));
    }
    let mut text = format!(
        "{}: {} clusters in {} columns, about {} rows\n",
        request.algorithm,
        request.n_clusters,
        request.dimension(),
        request.n_hint.unwrap_or_default(),
    );
    if private {
        text.line(format!("would spend: {}", report::guarantee(&guarantee)));
        text.push_str(&report::ledger(&plan.ledger()));
    }
    text.push_str(&report::parameters(&plan.parameters));
    if let Some(error) = errors_by_column(&request, plan.expected_sq_error) {
        let columns = request
            .columns
            .iter()
            .zip(error)
            .map(|(column, error)| format!("{column} ± {}", report::short(error)));
        text.line(format!(
            "expected error of a center from noise alone, clusters of equal size and apart from each other (where they meet, the start adds more): {}",
            columns.take(20).collect::<Vec<_>>().join(", ")
        ));
    }
    for warning in &plan.warnings {
        text.line(format!("warning: {warning}"));
    }
    for note in &plan.notes {
        text.line(format!("note: {note}"));
    }
    print(&text)
}

/// The expected squared error spread evenly over columns, as a standard deviation in each column's own units.
fn errors_by_column(request: &FitRequest, sq_error: Option<f64>) -> Option<Vec<f64>> {
    let of_a_column = (sq_error? / request.dimension() as f64).sqrt();
    let widths = request.bounds.iter().map(|[lo, hi]| hi / 2.0 - lo / 2.0);
    Some(widths.map(|half| of_a_column * half).collect())
}
