#![expect(clippy::float_cmp, reason = "the expected values are exact")]

use ndarray::{Array2, array};

use super::*;

#[test]
fn shape_and_rows_are_those_of_the_array() {
    let rows = array![[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]];
    let records = Records::from(&rows);
    assert_eq!(
        (records.len(), records.dimension(), records.is_empty()),
        (3, 2, false)
    );
    assert_eq!(records.rows(1..3).to_f64(), array![[3.0, 4.0], [5.0, 6.0]]);
    assert_eq!(records.rows(2..9).len(), 1);
    assert!(records.rows(7..9).is_empty());
    assert!(Records::from(&Array2::<f32>::zeros((0, 2))).is_empty());
}

#[test]
fn both_precisions_and_any_layout_copy_in_row_order() {
    let double = array![[1.5, 2.0, 3.0], [4.0, 5.0, f64::INFINITY]];
    let single = array![[1.5_f32, 2.0, 3.0], [4.0, 5.0, f32::INFINITY]];
    let mut out = [[0.0; 6]; 4];
    Records::from(&double).copy_to_f64(&mut out[0]);
    Records::from(&single).copy_to_f64(&mut out[1]);
    Records::from(double.t().to_owned().t()).copy_to_f64(&mut out[2]);
    let mut shorter = [0.0; 4];
    Records::from(&double).copy_to_f64(&mut shorter);
    let expected = [1.5, 2.0, 3.0, 4.0, 5.0, f64::INFINITY];
    assert_eq!(out[..3], [expected; 3]);
    assert_eq!(shorter, expected[..4]);
}
