use super::*;
use crate::sampler::tests::ratio;
use proptest::prelude::*;

/// Bounds of exp(−γ) from the plain Taylor series in rationals: γ is halved below 1, where the alternating
/// partial sums enclose the limit, and the bounds are squared back.
fn by_series(gamma: &RBig) -> (RBig, RBig) {
    let mut halvings = 0;
    let mut y = gamma.clone();
    while y >= RBig::ONE {
        y /= RBig::from(2);
        halvings += 1;
    }
    let (mut lo, mut hi) = (RBig::ZERO, RBig::ONE);
    let mut term = RBig::ONE;
    for k in 1_u32..24 {
        term = term * &y / RBig::from(k);
        if k % 2 == 1 {
            lo = &hi - &term;
        } else {
            hi = &lo + &term;
        }
    }
    for _ in 0..halvings {
        lo = &lo * &lo;
        hi = &hi * &hi;
    }
    (lo, hi)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn bounds_agree_with_the_plain_series(n in 0_i128..4_000, d in 1_u128..1_000, bits in 1_usize..100) {
        let gamma = ratio(n, d);
        prop_assume!(gamma < RBig::from(40));
        let (lo, hi) = exp_neg(&gamma, bits);
        let (series_lo, series_hi) = by_series(&gamma);
        let unit = RBig::from(UBig::ONE << bits);
        // Both enclose the same number, so neither can lie apart from the other.
        prop_assert!(RBig::from(lo.clone()) <= series_hi * &unit);
        prop_assert!(RBig::from(hi.clone()) >= series_lo * &unit);
        prop_assert!(hi - lo <= UBig::from(2_u8), "the gap stays small");
    }

    #[test]
    fn the_counted_error_covers_the_series(n in 1_u64.., d in 1_u64.., work in 8_usize..200) {
        let (n, d) = (UBig::from(n), UBig::from(d) << 65);
        let (lo, hi) = small_exp_neg(n.clone(), d.clone(), work);
        let (fine_lo, fine_hi) = small_exp_neg(n, d, work + 100);
        prop_assert!(fine_lo <= fine_hi && (lo << 100) <= fine_lo && (hi << 100) >= fine_hi);
    }

    #[test]
    fn more_bits_refine_the_bounds(n in 1_i128..i128::MAX, d in 1_u128..u128::MAX, bits in 1_usize..400) {
        let gamma = ratio(n, d);
        let (lo, hi) = exp_neg(&gamma, bits);
        let (fine_lo, fine_hi) = exp_neg(&gamma, bits + 200);
        prop_assert!((&lo << 200) <= fine_hi);
        prop_assert!((&hi << 200) >= fine_lo);
        prop_assert!(hi - lo <= UBig::from(2_u8));
        prop_assert!(fine_hi - fine_lo <= UBig::from(2_u8));
    }
}

#[test]
fn the_exponential_of_zero_is_one() {
    let one = UBig::ONE << 70;
    assert_eq!(exp_neg(&RBig::ZERO, 70), (one.clone(), one.clone()));
    assert_eq!(exp_neg(&RBig::from(-3), 70), (one.clone(), one));
}

#[test]
fn sixty_digits_of_1_over_e_are_known() {
    // 1/e to 60 places (OEIS A068985).
    let digits = "367879441171442321595523770161460867445811131031767834507836";
    let known: UBig = digits.parse().expect("digits");
    let ten = UBig::from(10_u8).pow(60);
    let (lo, hi) = exp_neg(&RBig::ONE, 300);
    assert_eq!((lo * &ten) >> 300, known);
    assert_eq!((hi * ten) >> 300, known);
}

#[test]
fn shifting_up_never_goes_below() {
    assert_eq!(shift_up(UBig::from(8_u8), 3), UBig::ONE);
    assert_eq!(shift_up(UBig::from(9_u8), 3), UBig::from(2_u8));
    assert_eq!(shift_up(UBig::ZERO, 3), UBig::ZERO);
    assert_eq!(shift_up(UBig::from(9_u8), 0), UBig::from(9_u8));
}
