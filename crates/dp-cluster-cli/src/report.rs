//! What people read: tables of centers and ledgers.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use dp_cluster::{Event, Guarantee, Ledger, Model, ModelOutcome, Synopsis};

use crate::args::RequestArgs;

/// A text that grows line by line.
pub(crate) trait Lines {
    /// Adds a line.
    fn line(&mut self, text: String);
}

impl Lines for String {
    fn line(&mut self, text: String) {
        self.push_str(&text);
        self.push('\n');
    }
}

/// A table with numbers to the right.
fn table(header: Vec<String>, rows: impl IntoIterator<Item = Vec<String>>) -> Table {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(header);
    for row in rows {
        table.add_row(row);
    }
    table
}

fn right(table: &mut Table, from: usize) {
    for column in table.column_iter_mut().skip(from) {
        column.set_cell_alignment(CellAlignment::Right);
    }
}

/// Six significant digits, for the eye; files have all.
pub(crate) fn short(x: f64) -> String {
    if x.abs() < 1e-300 || !x.is_finite() {
        return format!("{x}");
    }
    let exponent = x.abs().log10().floor();
    if (-4.0..7.0).contains(&exponent) {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between 0 and 9"
        )]
        let decimals = (5.0 - exponent).clamp(0.0, 9.0) as usize;
        let text = format!("{x:.decimals$}");
        if text.contains('.') {
            return text.trim_end_matches('0').trim_end_matches('.').to_owned();
        }
        text
    } else {
        format!("{x:.5e}")
    }
}

/// Centers, one per row.
pub(crate) fn centers(model: &Model) -> String {
    let mut header = vec!["center".to_owned()];
    header.extend(model.columns.iter().cloned());
    if model.weights.is_some() {
        header.push("weight".to_owned());
    }
    if model.noisy_counts.is_some() {
        header.push("noisy count".to_owned());
    }
    let rows = model.centers.iter().enumerate().map(|(j, center)| {
        let mut row = vec![j.to_string()];
        row.extend(center.iter().map(|&x| short(x)));
        row.extend(model.weights.as_ref().map(|weights| short(weights[j])));
        row.extend(model.noisy_counts.as_ref().map(|counts| short(counts[j])));
        row
    });
    let mut table = table(header, rows);
    right(&mut table, 0);
    format!("{table}\n")
}

/// The spends, one per row.
pub(crate) fn ledger(ledger: &Ledger) -> String {
    let header = [
        "times",
        "mechanism",
        "for",
        "sensitivity (units)",
        "relation",
        "loss of each",
        "composition",
    ];
    let rows = ledger.events().iter().map(|event| {
        vec![
            event.count.to_string(),
            event.mechanism.to_string(),
            purpose(event),
            sensitivity(event),
            event.relation.to_string(),
            event.loss.to_string(),
            composition(event),
        ]
    });
    let table = table(header.map(str::to_owned).to_vec(), rows);
    format!("{table}\n")
}

fn purpose(event: &Event) -> String {
    event
        .parameters
        .get("purpose")
        .map(ToString::to_string)
        .unwrap_or_default()
}

fn sensitivity(event: &Event) -> String {
    use dp_cluster::dp_core::sensitivity::Sensitivity;
    match event.sensitivity {
        Sensitivity::L1(bound) => format!("L1 {bound}"),
        Sensitivity::L2Squared(squared) => format!("L2 {}", short((squared as f64).sqrt())),
        Sensitivity::LInf(bound) => format!("L∞ {bound}"),
        Sensitivity::Width(bound) => format!("score width {bound}"),
        Sensitivity::ByTheorem => "by its theorem".to_owned(),
    }
}

fn composition(event: &Event) -> String {
    use dp_cluster::dp_core::Composition;
    match event.composition {
        Composition::Basic => "basic".to_owned(),
        Composition::Zcdp => "zero-concentrated".to_owned(),
        Composition::Gaussian => "Gaussian".to_owned(),
    }
}

/// A loss to nine digits, rounded up: what is said holds.
fn rounded_up(x: f64) -> f64 {
    let digits = |x: f64| format!("{x:.8e}").parse().unwrap_or(x);
    let near: f64 = digits(x);
    if near >= x || !x.is_finite() {
        near
    } else {
        digits(x * (1.0 + 1e-8))
    }
}

/// A guarantee in a line.
pub(crate) fn guarantee(guarantee: &Guarantee) -> String {
    let before = guarantee
        .rho
        .map(|rho| format!(" (ρ = {} before conversion)", rounded_up(rho)));
    format!(
        "ε = {}, δ = {} per {} under {}{}",
        rounded_up(guarantee.epsilon),
        rounded_up(guarantee.delta),
        guarantee.unit,
        guarantee.relation,
        before.unwrap_or_default()
    )
}

/// What a guarantee means.
pub(crate) fn in_words(guarantee: &Guarantee) -> String {
    let pairs = match guarantee.relation.name() {
        "replace-one" => "that have the same size and differ in one row",
        _ => "of which one has one row more",
    };
    let slack = if guarantee.delta > 0.0 {
        format!(", up to a probability of {}", guarantee.delta)
    } else {
        String::new()
    };
    let factor = guarantee.epsilon.exp();
    let about = if factor.is_finite() {
        format!(" ≈ {}", short(factor))
    } else {
        String::new()
    };
    let weak = if guarantee.epsilon > WEAK_EPSILON {
        "So large a factor protects hardly anyone.\n"
    } else {
        ""
    };
    format!(
        "For any two tables {pairs}, every set of possible results is at most\n\
         e^{}{about} times as likely with the one as with the other{slack}.\n{weak}",
        rounded_up(guarantee.epsilon),
    )
}

/// Above this a release may show a person as good as openly.
const WEAK_EPSILON: f64 = 10.0;

/// Above this, where the number of rows is not known, nobody would call the chance of a leak negligible.
const WEAK_DELTA: f64 = 1e-3;

/// Warnings about budgets that protect hardly anyone, from flags alone.
pub(crate) fn weakness(args: &RequestArgs) -> Vec<String> {
    let mut warnings = Vec::new();
    if let Some(epsilon) = args.epsilon.filter(|&epsilon| epsilon > WEAK_EPSILON) {
        warnings.push(format!(
            "warning: --epsilon {epsilon:?}: above {WEAK_EPSILON} hardly anyone is protected; common are 0.1 to 3"
        ));
    }
    let of_one_row = args.n_hint.map_or(1.0, |n| 1.0 / n.max(1) as f64);
    let is_weak = |delta: &f64| *delta > WEAK_DELTA || *delta > of_one_row;
    if let Some(delta) = args.delta.filter(is_weak) {
        warnings.push(format!(
            "warning: --delta {delta:?}: whoever publishes each row with that probability keeps it; take far less than one over the number of rows"
        ));
    }
    warnings
}

/// A whole synopsis, for `inspect`.
pub(crate) fn synopsis(synopsis: &Synopsis) -> String {
    let mut text = String::new();
    text.line(format!(
        "{}: a synopsis of {} cells in {} columns, for `recluster`",
        synopsis.algorithm,
        synopsis.grid.n_cells(),
        synopsis.columns.len()
    ));
    text.push_str(&promise(Some(&synopsis.guarantee), synopsis.seeded));
    text.push_str(&ledger(&synopsis.ledger));
    text.push_str(&parameters(&synopsis.parameters));
    text
}

/// What a release promises, in a line and in words.
fn promise(stated: Option<&Guarantee>, seeded: bool) -> String {
    let mut text = String::new();
    match stated {
        Some(stated) => {
            text.line(format!("guarantee: {}", guarantee(stated)));
            text.push_str(&in_words(stated));
        }
        None => text.push_str("guarantee: none, the model is not private\n"),
    }
    if seeded {
        text.push_str(
            "seeded: made with --insecure-seed, there is no guarantee against who knows the seed\n",
        );
    }
    text
}

/// A whole model, for `inspect`.
pub(crate) fn model(model: &Model) -> String {
    let mut text = String::new();
    let name = match &model.chosen {
        Some(chosen) => format!("{} (chose {chosen})", model.algorithm),
        None => model.algorithm.clone(),
    };
    let state = match model.outcome {
        ModelOutcome::Released => format!(
            "{} centers in {} columns",
            model.n_clusters(),
            model.dimension()
        ),
        ModelOutcome::Refused => "refused: budget was spent, there are no centers".to_owned(),
    };
    text.line(format!("{name}: {state}"));
    text.push_str(&promise(model.guarantee.as_ref(), model.seeded));
    if !model.centers.is_empty() {
        text.push_str(&centers(model));
    }
    if !model.ledger.events().is_empty() {
        text.push_str(&ledger(&model.ledger));
    }
    text.push_str(&parameters(&model.parameters));
    text
}

/// Parameters in a line each.
pub(crate) fn parameters(
    parameters: &std::collections::BTreeMap<String, dp_cluster::Value>,
) -> String {
    let mut text = String::new();
    for (name, value) in parameters {
        let shown = match value {
            // Whoever wants a table has it in the model.
            dp_cluster::Value::List(values) if values.len() > SHOWN_VALUES => {
                format!("{} values", values.len())
            }
            dp_cluster::Value::List(values)
                if matches!(values.first(), Some(dp_cluster::Value::List(_))) =>
            {
                format!("{} rows", values.len())
            }
            other => other.to_string(),
        };
        text.line(format!("{name} = {shown}"));
    }
    text
}

/// Longer lists are not printed.
const SHOWN_VALUES: usize = 64;

/// A table of two or more columns of text.
pub(crate) fn list(header: &[&str], rows: Vec<Vec<String>>) -> String {
    let header = header.iter().map(|&name| name.to_owned()).collect();
    format!("{}\n", table(header, rows))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_keep_six_digits() {
        for (x, text) in [
            (0.0, "0"),
            (38.581_646_4, "38.5816"),
            (189_664.134, "189664"),
            (99_999.0, "99999"),
            (-0.001_234_567_8, "-0.00123457"),
            (1e-9, "1.00000e-9"),
            (1.5e12, "1.50000e12"),
            (0.5, "0.5"),
        ] {
            assert_eq!(short(x), text);
        }
    }

    #[test]
    fn losses_are_never_rounded_down() {
        for (x, shown) in [
            (0.999_999_999_998_991, 1.0),
            (0.1, 0.1),
            (1.000_000_001, 1.000_000_01),
            (1e-6, 1e-6),
            (0.0, 0.0),
        ] {
            assert!((rounded_up(x) - shown).abs() <= 0.0, "{x}");
        }
        for i in 1..1000 {
            let x = 0.123_456_789_1 * f64::from(i);
            assert!(
                rounded_up(x) >= x && rounded_up(x) <= x * (1.0 + 2e-8),
                "{x}"
            );
        }
        assert!(rounded_up(f64::INFINITY).is_infinite());
    }
}
