use super::*;
use crate::rng::InsecureSeededRng;
use crate::sampler::tests::Script;

#[test]
fn the_table_is_that_of_the_exponential() {
    let thresholds = &TABLE.thresholds;
    assert_eq!(thresholds.len(), 709);
    assert!(thresholds.is_sorted_by(|a, b| a > b || (a == b && *a < 100)));
    // ⌊2^64·e^-1⌋, ⌊2^64·e^-2⌋, ⌊2^64·e^-10⌋, ⌊2^64·e^-40⌋, computed with 60 digits elsewhere.
    assert_eq!(thresholds[15], 6_786_177_901_268_885_274);
    assert_eq!(thresholds[31], 2_496_495_334_008_788_799);
    assert_eq!(thresholds[159], 837_480_885_292_947);
    assert_eq!(thresholds[639], 78);
    assert_eq!(thresholds[708], 1);
}

#[test]
fn the_guide_never_starts_too_late() {
    let table = &*TABLE;
    for byte in 0..256_usize {
        let last = (byte as u64) << 56 | (u64::MAX >> 8);
        let start = usize::from(table.guide[byte]);
        assert!(
            table.thresholds[..start]
                .iter()
                .all(|&threshold| threshold > last)
        );
        assert!(
            table.thresholds[start..]
                .iter()
                .all(|&threshold| threshold <= last)
        );
    }
}

#[test]
fn both_paths_answer_alike_for_the_same_bits() {
    let mut rng = InsecureSeededRng::new(31);
    let (fast, exact) = (Steps::new(), Steps::new().undecided());
    for i in 0..4_000 {
        // Small heads too, where steps are many.
        let head = rng.next_u64() >> (i % 12);
        let mut same = rng.clone();
        assert_eq!(
            fast.invert(head, &mut rng),
            exact.invert(head, &mut same),
            "{head}"
        );
    }
}

#[test]
fn a_head_on_a_threshold_is_decided_by_the_bits_to_come() {
    let steps = Steps::new();
    // 2^64/e = head + 0.72…: more bits of zero stay below it (16 steps are sure), more of one do not.
    let head = TABLE.thresholds[15];
    assert_eq!(steps.invert(head, &mut Script(vec![0; 4])), 16);
    assert_eq!(steps.invert(head, &mut Script(vec![u64::MAX; 4])), 15);
    // The end of the table: U < 2^-128 lies below exp(-k/16) for k up to 1419 = ⌊16·128·ln 2⌋ and on.
    assert!(steps.invert(0, &mut Script(vec![0, 1, 1, 1, 1, 1, 1, 1])) >= 1_419);
}
