use ndarray::array;

use super::*;
use crate::domain::BoxDomain;
use crate::source::ChunkedRecords;

fn labeler() -> NearestScaled {
    // Columns of very different widths: labels go by the scaled domain.
    let domain = BoxDomain::new(vec![0.0, 0.0], vec![10.0, 1000.0]).expect("valid");
    let centers = [[0.0, 500.0], [10.0, 500.0]];
    NearestScaled::new(domain.into(), centers.iter().map(<[f64; 2]>::as_slice)).expect("shapes fit")
}

#[test]
fn costs_are_means_over_records_as_they_are() {
    // Scaled: (0, 0.5) → center (−1, 0): 0.25 + 1; original: 25 + 250².
    let records = array![[5.0, 750.0], [20.0, 500.0]];
    let result = evaluate(&records, &labeler(), |_| ()).expect("in memory");
    assert_eq!(result.n, 2);
    // The second record is not clipped: two half widths beyond center 1.
    assert_eq!(result.mean_cost, Some((1.0 + 0.25 + 4.0) / 2.0));
    assert_eq!(
        result.mean_cost_original,
        Some((25.0 + 62_500.0 + 100.0) / 2.0)
    );
    assert_eq!(result.mean_log_likelihood, None);
}

#[test]
fn ties_go_to_the_lowest_index_and_no_value_is_refused() {
    let labeler = labeler();
    assert_eq!(labeler.assign(&[5.0, 500.0]).label, 0);
    assert_eq!(labeler.assign(&[f64::NAN, f64::INFINITY]).label, 0);
    assert_eq!(labeler.assign(&[1e300, 0.0]).label, 0); // both squares overflow: the lowest
    assert_eq!(labeler.assign(&[1e30, 0.0]).label, 0); // and equal ones too
    assert_eq!(labeler.assign(&[11.0, 0.0]).label, 1);
}

#[test]
fn without_records_there_is_no_mean() {
    let none = ndarray::Array2::<f64>::zeros((0, 2));
    let result = evaluate(&none, &labeler(), |_| ()).expect("in memory");
    assert_eq!((result.n, result.mean_cost), (0, None));
}

#[test]
fn chunks_do_not_change_a_bit() {
    let records = ndarray::Array2::from_shape_fn((9000, 2), |(i, j)| {
        ((i * 37 + j * 101) % 977) as f64 * 0.013
    });
    let whole = evaluate(&records, &labeler(), |_| ()).expect("in memory");
    let cut = evaluate(&ChunkedRecords::new(&records, 17), &labeler(), |_| ()).expect("in memory");
    assert_eq!(whole, cut);
}

fn table(pairs: &[(usize, u32)]) -> Contingency {
    let mut table = Contingency::new(3);
    for &(class, label) in pairs {
        table.add(class, label);
    }
    table
}

#[test]
fn a_perfect_match_scores_one_whatever_the_names() {
    let same = table(&[(0, 2), (0, 2), (1, 0), (1, 0), (2, 1)]);
    assert_eq!(same.f_measure(), Some(1.0));
    assert_eq!(same.adjusted_rand_index(), Some(1.0));
}

#[test]
fn scores_equal_those_computed_by_hand() {
    // Classes {0,0,1,1}, labels {0,0,1,2}: scikit-learn gives 4/7.
    let split = table(&[(0, 0), (0, 0), (1, 1), (1, 2)]);
    let index = split.adjusted_rand_index().expect("there are records");
    assert!((index - 4.0 / 7.0).abs() < 1e-15, "{index}");
    // Class 0 is met exactly; class 1: 2·1/(1 + 2).
    let f = split.f_measure().expect("there are records");
    assert!((f - (0.5 + 0.5 * 2.0 / 3.0)).abs() < 1e-15, "{f}");
}

#[test]
fn scores_of_nothing_are_none() {
    assert_eq!(Contingency::new(2).f_measure(), None);
    assert_eq!(Contingency::new(2).adjusted_rand_index(), None);
}
