use super::*;
use crate::sampler::tests::Script;

/// Compares U = 5·2^-64 + 0.000…·next… with a T that has these bounds at 128 bits, and those at 256.
fn below(coarse: (u8, u8), fine: (u8, u8), next: u64) -> bool {
    let mut uniform = LazyUniform::new(5, 64);
    uniform.is_below(&mut Script(vec![next; 3]), |bits| {
        let base = IBig::from(5) << (bits - 64);
        let (lo, hi) = if bits == 128 { coarse } else { fine };
        (&base + IBig::from(lo), base + IBig::from(hi))
    })
}

#[test]
fn comparisons_end_as_soon_as_the_bounds_allow_and_no_sooner() {
    // With next = 0, U lies in [5·2^64, 5·2^64 + 1) of 128 bits.
    assert!(below((1, 1), (0, 0), 0));
    assert!(!below((0, 0), (9, 9), 0));
    // Open: bounds on both sides of the interval, or at one end alone.
    assert!(below((0, 1), (1, 2), 0) && !below((0, 1), (0, 0), 0));
    assert!(below((0, 2), (3, 3), 0) && !below((0, 2), (0, 0), 0));
}

#[test]
fn bits_once_drawn_stay() {
    let mut uniform = LazyUniform::new(5, 64);
    let mut rng = Script(vec![7]);
    let at = |offset: u8| {
        move |_| {
            let point = (IBig::from(5) << 64) + IBig::from(offset);
            (point.clone(), point)
        }
    };
    // The second comparison finds the script empty: it must not draw.
    assert!(uniform.is_below(&mut rng, at(8)));
    assert!(!uniform.is_below(&mut rng, at(7)));
}
