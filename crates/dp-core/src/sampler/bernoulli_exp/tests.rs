use super::*;
use crate::rng::InsecureSeededRng;
use crate::sampler::tests::{RATE, Script, ratio, reference_bernoulli_exp};
use testkit::rates;

const N: usize = 50_000;

fn heads(mut coin: impl FnMut() -> bool) -> [u64; 2] {
    let mut counts = [0; 2];
    for _ in 0..N {
        counts[usize::from(!coin())] += 1;
    }
    counts
}

fn fits(counts: [u64; 2], gamma: f64) -> bool {
    let p = libm::exp(-gamma);
    rates::implausible_cell(&counts, &[p, 1.0 - p], RATE).is_none()
}

#[test]
fn coins_keep_their_odds_on_each_path() {
    let mut rng = InsecureSeededRng::new(21);
    for (n, d) in [(1, 1_000_000), (1, 10), (1, 2), (1, 1), (5, 3), (6, 1)] {
        let gamma = ratio(n, d);
        let float = n as f64 / d as f64;
        assert!(
            fits(heads(|| bernoulli_exp(&gamma, &mut rng)), float),
            "{n}/{d}"
        );
        let exact = heads(|| flip(&gamma, u64::MAX, &mut rng));
        assert!(fits(exact, float), "{n}/{d}");
        let reference = heads(|| reference_bernoulli_exp(&gamma, &mut rng));
        assert!(fits(reference, float), "{n}/{d}");
    }
}

#[test]
fn odds_a_tenth_off_are_caught() {
    let mut rng = InsecureSeededRng::new(21);
    for (n, d) in [(1, 2), (1, 1), (5, 3)] {
        let gamma = ratio(n, d);
        let counts = heads(|| bernoulli_exp(&gamma, &mut rng));
        assert!(!fits(counts, 1.1 * n as f64 / d as f64), "{n}/{d}");
        assert!(!fits(counts, 0.9 * n as f64 / d as f64), "{n}/{d}");
    }
}

#[test]
fn both_paths_answer_alike_for_the_same_bits() {
    let mut rng = InsecureSeededRng::new(22);
    for i in 0..20_000_i128 {
        let gamma = ratio(i % 97, 1 + (i % 31).unsigned_abs());
        let mut same = rng.clone();
        assert_eq!(
            flip(&gamma, ZONE, &mut rng),
            flip(&gamma, u64::MAX, &mut same),
            "{gamma}"
        );
    }
}

#[test]
fn words_next_to_the_threshold_are_decided_exactly() {
    // ⌊2^64/e⌋, even: a word at or above it plus 2 is above 1/e, one below it is below.
    let floor = 6_786_177_901_268_885_274_u64;
    let decide = |word: u64, next: u64| {
        let mut rng = Script(vec![next; 4]);
        below_exp(word, 1.0, ZONE, || RBig::ONE, &mut rng)
    };
    for next in [0, u64::MAX] {
        assert!(decide(floor - 1, next) && decide(floor - 2, next));
        assert!(!decide(floor + 2, next) && !decide(floor + 3, next));
    }
    // 2^64/e = floor + 0.72…: of the two units from floor on, the first bits to come decide.
    assert!(decide(floor, 0) && decide(floor + 1, 0));
    assert!(!decide(floor, u64::MAX) && !decide(floor + 1, u64::MAX));
}

#[test]
fn an_approximation_off_by_all_it_may_be_changes_nothing() {
    let mut rng = InsecureSeededRng::new(23);
    let off = 0.5_f64.powi(43);
    for _ in 0..20_000 {
        let word = rng.next_u64();
        let answer = |approx: f64, zone| {
            below_exp(
                word,
                approx,
                zone,
                || ratio(1, 2),
                &mut InsecureSeededRng::new(word),
            )
        };
        let exact = answer(0.5, u64::MAX);
        assert_eq!(answer(0.5 + off, ZONE), exact);
        assert_eq!(answer(0.5 - off, ZONE), exact);
    }
}

#[test]
fn extreme_rates_stay_total() {
    let mut rng = InsecureSeededRng::new(24);
    let huge = RBig::from(dashu_int::UBig::ONE << 5_000);
    let tiny = RBig::ONE / &huge;
    for zone in [ZONE, u64::MAX] {
        // Wrong with probability below 2^-900.
        assert!(!flip(&huge, zone, &mut rng));
        assert!(flip(&tiny, zone, &mut rng));
        assert!(flip(&RBig::ZERO, zone, &mut rng) && flip(&RBig::from(-1), zone, &mut rng));
    }
}
