use super::*;
use crate::sampler::tests::ratio;
use dashu_base::PowerOfTwo;
use proptest::prelude::*;

proptest! {
    #[test]
    fn the_result_is_short_and_never_below(
        n in 1_i128.., d in 1_u128.., bits in 2_u32..64, shift in 0_usize..200, up: bool,
    ) {
        let factor = RBig::from(UBig::ONE << shift);
        let value = if up { ratio(n, d) * factor } else { ratio(n, d) / factor };
        let rounded = scale_up(&value, bits);
        prop_assert!(rounded >= value);
        let loss = (&rounded - &value) / &value;
        prop_assert!(loss * RBig::from(UBig::ONE << (bits as usize - 1)) <= RBig::ONE);
        prop_assert!(rounded.denominator().is_power_of_two());
        let m = rounded.numerator().clone() >> rounded.numerator().trailing_zeros().unwrap_or(0);
        prop_assert!(m <= IBig::ONE << (bits as usize + 1));
    }

    #[test]
    fn floats_of_few_bits_come_back_unchanged(m in 1_u32.., power in -200_i32..200) {
        let value = f64::from(m) * 2_f64.powi(power);
        let exact = RBig::try_from(value).expect("finite");
        prop_assert_eq!(scale_up_f64(value, SCALE_BITS).expect("positive"), exact);
    }
}

#[test]
fn what_is_no_scale_is_refused() {
    for value in [0.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert!(scale_up_f64(value, 32).is_err(), "{value}");
    }
    assert_eq!(scale_up(&RBig::ZERO, 32), RBig::ZERO);
    assert_eq!(scale_up(&RBig::from(-3), 32), RBig::ZERO);
}
