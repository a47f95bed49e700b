use ndarray::{Array2, array};
use proptest::num::f64::ANY;
use proptest::prelude::*;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

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

/// Eigenvalues as far apart as bounds may be, columns then measured in other units: there is a factor, and what is far above rounding is kept.
#[test]
fn extreme_ratios_keep_a_factor_in_any_units() {
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    let (mut raised, ceiling) = (0, 2_f64.powi(56));
    for case in 0..3000 {
        let d = 1 + case % 20;
        let mut matrix = Array2::zeros((d, d));
        // A few directions of very different lengths, as a cluster with nearly constant columns has them.
        for direction in 0..rng.random_range(1..=d) {
            let least = if direction == 0 { 26.0 } else { 0.0 };
            let length = 2_f64.powf(rng.random_range(least..28.0));
            let direction: Vec<f64> = (0..d).map(|_| rng.random_range(-1.0..1.0)).collect();
            for ((i, j), x) in matrix.indexed_iter_mut() {
                *x += length * direction[i] * length * direction[j];
            }
        }
        let projected = project(matrix.view(), 1.0, ceiling);
        let units: Vec<f64> = (0..d)
            .map(|_| 10_f64.powi(rng.random_range(-40..40)))
            .collect();
        let measured =
            Array2::from_shape_fn((d, d), |(i, j)| projected[[i, j]] * (units[i] * units[j]));
        assert!(Factor::new(measured.view()).is_some(), "{d} {projected:?}");
        let trace = projected.diag().sum();
        let before: f64 = matrix.diag().sum();
        let kept = if before < ceiling { before } else { ceiling };
        assert!(trace <= before * (1.0 + 1e-9) + 2.0 * d as f64 && trace > 0.5 * kept);
        raised += usize::from(trace > before + 1.5 * d as f64);
    }
    assert!(raised > 0);
}
