use ndarray::{Array2, array};
use proptest::num::f64::ANY;
use proptest::prelude::*;

use super::*;

#[test]
fn a_factor_multiplies_back_and_inverts() {
    let matrix = array![[4.0, 2.0], [2.0, 3.0]];
    let factor = Factor::new(matrix.view()).expect("positive definite");
    let product = factor.lower().dot(&factor.lower().t());
    assert!((&product - &matrix).iter().all(|x| x.abs() < 1e-12));
    let identity = factor.inverse_lower().dot(factor.lower());
    assert!(
        (identity - Array2::<f64>::eye(2))
            .iter()
            .all(|x| x.abs() < 1e-12)
    );
    assert!((factor.log_determinant() - 8_f64.ln()).abs() < 1e-12);
}

#[test]
fn what_is_not_positive_definite_has_no_factor() {
    assert!(Factor::new(array![[1.0, 2.0], [2.0, 1.0]].view()).is_none());
    assert!(Factor::new(array![[f64::NAN]].view()).is_none());
    assert!(Factor::new(Array2::<f64>::zeros((0, 0)).view()).is_none());
}

#[test]
fn a_good_matrix_is_its_own_projection() {
    let matrix = array![[4.0, 2.0], [2.0, 3.0]];
    let projected = project(matrix.view(), 0.1, 100.0);
    assert!((projected - matrix).iter().all(|x| x.abs() < 1e-8));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_floats_become_positive_definite(
        (d, entries) in (1_usize..6).prop_flat_map(|d| (Just(d), prop::collection::vec(ANY, d * d))),
    ) {
        let matrix = Array2::from_shape_vec((d, d), entries).expect("d·d entries");
        let projected = project(matrix.view(), 1e-4, 10.0);
        prop_assert!(Factor::new(projected.view()).is_some(), "{projected:?}");
        prop_assert_eq!(&projected, &projected.t());
        prop_assert!(projected.diag().iter().all(|&x| x > 0.0 && x <= 10.1));
    }
}
