//! Bounds of columns, from `--bounds` or `--bounds-file`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// Where bounds come from.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Bounds {
    /// The same for each column.
    Same([f64; 2]),
    /// By column.
    ByColumn {
        path: PathBuf,
        table: BTreeMap<String, [f64; 2]>,
    },
}

impl Bounds {
    /// Reads `LO,HI`.
    pub(crate) fn parse(text: &str) -> Result<Self, Failure> {
        let numbers: Vec<f64> = text
            .split(',')
            .map_while(|part| part.trim().parse().ok())
            .collect();
        match numbers.as_slice() {
            &[lo, hi] if text.split(',').count() == 2 => {
                check("--bounds", [lo, hi]).map(Self::Same)
            }
            _ => Err(Failure::usage(format!(
                "--bounds: expected two numbers `LO,HI`, got `{text}`"
            ))),
        }
    }

    /// Reads a file with a table `[bounds]`.
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        let text = fs::read_to_string(path).map_err(|error| Failure::file(path, &error))?;
        let table = parse_table(&text)
            .map_err(|what| Failure::usage(format!("{}: {what}", path.display())))?;
        for (column, &bounds) in &table {
            check(&format!("{}: column `{column}`", path.display()), bounds)?;
        }
        Ok(Self::ByColumn {
            path: path.to_owned(),
            table,
        })
    }

    /// The bounds of these columns.
    pub(crate) fn of(&self, columns: &[String]) -> Result<Vec<[f64; 2]>, Failure> {
        match self {
            Self::Same(bounds) => Ok(vec![*bounds; columns.len()]),
            Self::ByColumn { path, table } => columns
                .iter()
                .map(|column| {
                    table.get(column).copied().ok_or_else(|| {
                        Failure::usage(format!(
                            "{}: there are no bounds for the column `{column}`",
                            path.display()
                        ))
                        .help("add `column = [lo, hi]` to the table [bounds], or choose other columns with --columns")
                    })
                })
                .collect(),
        }
    }
}

fn check(place: &str, [lo, hi]: [f64; 2]) -> Result<[f64; 2], Failure> {
    if lo < hi && lo.is_finite() && hi.is_finite() {
        Ok([lo, hi])
    } else {
        Err(Failure::usage(format!(
            "{place}: bounds must be finite and in order, got [{lo}, {hi}]"
        )))
    }
}

fn parse_table(text: &str) -> Result<BTreeMap<String, [f64; 2]>, String> {
    let file: toml::Table = text.parse().map_err(|error: toml::de::Error| {
        format!("not valid TOML: {}", error.to_string().trim_end())
    })?;
    let Some(toml::Value::Table(table)) = file.get("bounds") else {
        return Err("there is no table [bounds]".to_owned());
    };
    table
        .iter()
        .map(|(column, value)| {
            interval(value)
                .map(|bounds| (column.clone(), bounds))
                .ok_or_else(|| format!("the bounds of `{column}` must be two numbers, `[lo, hi]`"))
        })
        .collect()
}

fn interval(value: &toml::Value) -> Option<[f64; 2]> {
    let number = |value: &toml::Value| match *value {
        toml::Value::Float(number) => Some(number),
        toml::Value::Integer(number) => Some(number as f64),
        _ => None,
    };
    match value.as_array()?.as_slice() {
        [lo, hi] => Some([number(lo)?, number(hi)?]),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
