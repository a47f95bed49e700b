use proptest::prelude::*;

use super::*;

proptest! {
    #[test]
    fn the_square_is_the_sum_of_squared_offsets(
        ab in proptest::collection::vec((-9.0..9.0_f64, -9.0..9.0_f64), 0..40)
    ) {
        let (a, b): (Vec<f64>, Vec<f64>) = ab.iter().copied().unzip();
        let plain: f64 = ab.iter().map(|(x, y)| (x - y).powi(2)).sum();
        prop_assert!((squared_euclidean(&a, &b) - plain).abs() <= 1e-12 * (1.0 + plain));
        prop_assert!((euclidean(&a, &b) - plain.sqrt()).abs() <= 1e-12 * (1.0 + plain));
    }
}
