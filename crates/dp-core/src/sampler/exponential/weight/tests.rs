use super::*;
use crate::sampler::enclosure::{exp_neg, shift_up};
use crate::sampler::tests::ratio;
use proptest::prelude::*;

proptest! {
    /// The claim that exactness rests on: lower ≤ W ≤ upper for every item, W by big integers.
    #[test]
    fn integer_bounds_enclose_the_weight(
        items in prop::collection::vec((any::<i64>(), 0..64_u32, any::<u64>(), 1..=64_u32), 1..12),
        (n, d, spread) in (any::<i64>(), 1_u128.., 0..120_u32),
    ) {
        let scores: Vec<i64> = items.iter().map(|item| item.0 >> item.1).collect();
        let base: Vec<u64> = items.iter().map(|item| item.2.checked_shr(item.3 - 1).unwrap_or(0)).collect();
        let eta = ratio(n.into(), d >> spread | 1);
        let mut weigher = Weigher::new(&eta);
        let upper = weigher.rebase(&base, &scores);
        for ((&weight, &score), &upper) in base.iter().zip(&scores).zip(&upper) {
            if weight == 0 {
                prop_assert_eq!(upper, 0);
                continue;
            }
            prop_assert_eq!(weigher.upper(weight, score), Some(upper));
            prop_assert!(upper <= 1 << 63);
            // W·2^200, from both sides.
            let (lo, hi) = exp_neg(&weigher.gamma(score), 400);
            let drop = 400 - 200 - 61 + weigher.lead();
            let (lo, hi) = ((lo * weight) >> drop, shift_up(hi * weight, drop));
            prop_assert!(UBig::from(upper) << 200 >= hi, "upper {} of {} at {}", upper, weight, score);
            prop_assert!(UBig::from(Weigher::lower(upper)) << 200 <= lo, "lower of {} at {}", weight, score);
        }
        if base.iter().any(|&weight| weight > 0) {
            // The largest share is near 62 bits, so the fixed point loses next to nothing.
            prop_assert!(upper.iter().any(|&upper| upper >= 1 << 61));
        }
    }
}

#[test]
fn scores_above_the_top_have_no_fixed_point_weight() {
    let mut weigher = Weigher::new(&ratio(1, 2));
    let upper = weigher.rebase(&[1, 1], &[3, 5]);
    assert!(upper[0] < upper[1]);
    assert_eq!(weigher.upper(1, 5), Some(upper[1]));
    assert_eq!(weigher.upper(1, 6), None);
    // A heavier item at the top would overflow its 63 bits.
    assert_eq!(weigher.upper(8, 5), None);
}
