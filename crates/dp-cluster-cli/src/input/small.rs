//! Small public tables: first centers, sites.

use std::path::Path;

use dp_cluster::MetricChoice;
use ndarray::Array2;

use super::{CsvSource, Input, Policy, Selection};
use crate::failure::Failure;

/// Reads a table of numbers without a header, shape (m, m): a matrix of distances among places.
pub(crate) fn read_matrix(path: &Path) -> Result<Array2<f64>, Failure> {
    let text = std::fs::read_to_string(path).map_err(|error| Failure::file(path, &error))?;
    let (mut values, mut rows, mut columns) = (Vec::new(), 0, 0);
    for (line, row) in (1..).zip(text.trim_end().lines()) {
        let before = values.len();
        for (column, cell) in (1..).zip(row.split(',')) {
            let number = cell.trim().parse::<f64>().ok().filter(|x| x.is_finite());
            values.push(number.ok_or_else(|| {
                let place = format!("{}: line {line}, column {column}", path.display());
                Failure::data(format!("{place}: expected a finite number"))
            })?);
        }
        let found = values.len() - before;
        if line > 1 && found != columns {
            return Err(Failure::data(format!(
                "{}: line {line}: expected {columns} numbers, found {found}",
                path.display()
            )));
        }
        (rows, columns) = (line, found);
    }
    let table = Array2::from_shape_vec((rows, columns), values)
        .map_err(|_| Failure::data(format!("{}: not a table of numbers", path.display())))?;
    // What the file holds is judged here, where its name is known.
    let checked = MetricChoice::Matrix(table.clone()).metric();
    checked.map_err(|error| Failure::data(format!("{}: {error}", path.display())))?;
    Ok(table)
}

/// Reads the named columns of a CSV file as an array, shape (rows, columns); a public table without a row is of no use.
pub(crate) fn read_small(path: &Path, columns: &[String]) -> Result<Array2<f64>, Failure> {
    let selection = Selection {
        columns: Some(columns.to_vec()),
        class: None,
        policy: Policy::Refuse,
    };
    let table = CsvSource::open(Input::new(path), selection)?.into_array()?;
    if table.nrows() == 0 {
        return Err(Failure::data(format!(
            "{}: there is no row below the header",
            path.display()
        )));
    }
    Ok(table)
}
