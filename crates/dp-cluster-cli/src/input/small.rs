//! Small public tables: first centers, sites.

use std::path::Path;

use ndarray::Array2;

use super::{CsvSource, Input, Policy, Selection};
use crate::failure::Failure;

/// Reads the named columns of a CSV file as an array, shape (rows, columns).
pub(crate) fn read_small(path: &Path, columns: &[String]) -> Result<Array2<f64>, Failure> {
    let selection = Selection {
        columns: Some(columns.to_vec()),
        class: None,
        policy: Policy::Refuse,
    };
    Ok(CsvSource::open(Input::new(path), selection)?.into_array()?)
}
