//! Finite-sample bounds with stated error rates.
//!
//! Every bound here holds for each sample size and for discrete laws: no asymptotics enter a rate. (A
//! chi-square test would break that rule, so there is none here nor in the tests; [`implausible_cell`] does its work.)

use statrs::function::beta::checked_beta_reg;

/// Gap between the empirical and the true distribution function that n draws exceed with probability at most
/// `rate`.
///
/// Source: Dvoretzky, Kiefer, Wolfowitz 1956 with the constant of Massart 1990: P(gap > t) ≤ 2·exp(−2nt²).
#[must_use]
pub fn allowed_gap(n: usize, rate: f64) -> f64 {
    (libm::log(2.0 / rate) / (2.0 * n as f64)).sqrt()
}

/// The largest distance between the distribution function of the draws and `cdf`, where `cdf(x)` = P(X ≤ x)
/// on the integers. NaN if `cdf` ever is, or without draws: neither passes a comparison.
#[must_use]
pub fn largest_gap(mut draws: Vec<i128>, cdf: impl Fn(i128) -> f64) -> f64 {
    draws.sort_unstable();
    let n = draws.len() as f64;
    let mut below = 0.0;
    let mut largest = f64::NAN;
    for run in draws.chunk_by(|a, b| a == b) {
        let Some(&x) = run.first() else { continue };
        // The empirical function is flat up to its jump at x.
        let before = (below / n - cdf(x.saturating_sub(1))).abs();
        below += run.len() as f64;
        let after = (below / n - cdf(x)).abs();
        for gap in [before, after] {
            if gap.is_nan() {
                return f64::NAN;
            }
            if largest.is_nan() || gap > largest {
                largest = gap;
            }
        }
    }
    largest
}

/// P(X ≥ `count`) for X binomial with `n` trials of probability `p`; NaN if `p` is.
#[must_use]
pub fn binomial_upper_tail(count: u64, n: u64, p: f64) -> f64 {
    if count == 0 || p >= 1.0 {
        return if count <= n { 1.0 } else { 0.0 };
    }
    if count > n || p <= 0.0 {
        return 0.0;
    }
    // The only refusal left is that of a p that is no number.
    checked_beta_reg(count as f64, (n - count) as f64 + 1.0, p).unwrap_or(f64::NAN)
}

/// P(X ≤ `count`) for X binomial with `n` trials of probability `p`.
#[must_use]
pub fn binomial_lower_tail(count: u64, n: u64, p: f64) -> f64 {
    // Failures: n − X is binomial with 1 − p.
    if count >= n {
        return 1.0;
    }
    binomial_upper_tail(n - count, n, 1.0 - p)
}

/// Lower confidence bound of a probability of which `count` of `n` trials came true: above the truth with
/// probability at most `rate`. (Clopper, Pearson 1934.)
#[must_use]
pub fn clopper_pearson_lower(count: u64, n: u64, rate: f64) -> f64 {
    // The least p that explains so many; `low` stays on the safe side.
    let (mut low, mut high) = (0.0, 1.0);
    while count > 0 && high - low > 1e-15 * high {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high {
            break;
        }
        if binomial_upper_tail(count, n, middle) < rate {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

/// Upper confidence bound of a probability of which `count` of `n` trials came true: below the truth with
/// probability at most `rate`. (Clopper, Pearson 1934.)
#[must_use]
pub fn clopper_pearson_upper(count: u64, n: u64, rate: f64) -> f64 {
    1.0 - clopper_pearson_lower(n - count.min(n), n, rate)
}

/// The first cell whose count no longer fits its probability, if any.
///
/// Exact binomial tails on both sides, the rate shared out evenly among cells and sides: counts that follow
/// `p` are found implausible with probability at most `rate`. The last cell may stand for "anything else". A
/// cell whose probability is no number is implausible, and so is the first index past unequal lists.
#[must_use]
pub fn implausible_cell(counts: &[u64], p: &[f64], rate: f64) -> Option<usize> {
    let n = counts.iter().sum();
    let share = rate / (2.0 * counts.len() as f64);
    let fits = |(&count, &p): (&u64, &f64)| {
        binomial_upper_tail(count, n, p) >= share && binomial_lower_tail(count, n, p) >= share
    };
    let compared = counts.len().min(p.len());
    (counts.iter().zip(p))
        .position(|cell| !fits(cell))
        .or_else(|| (counts.len() != p.len()).then_some(compared))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// P(X ≥ count) term by term.
    fn tail_by_terms(count: u64, n: u64, p: f64) -> f64 {
        let choose = |k: u64| (0..k).fold(1.0, |c, i| c * (n - i) as f64 / (i + 1) as f64);
        (count..=n)
            .map(|k| choose(k) * p.powf(k as f64) * (1.0 - p).powf((n - k) as f64))
            .sum()
    }

    #[test]
    fn binomial_tails_are_sums_of_terms() {
        for n in [1, 2, 7, 30] {
            for count in 0..=n {
                for p in [0.01, 0.3, 0.5, 0.93] {
                    let upper = binomial_upper_tail(count, n, p);
                    let by_terms = tail_by_terms(count, n, p);
                    assert!((upper - by_terms).abs() < 1e-12, "{count} of {n} at {p}");
                    let lower = binomial_lower_tail(count, n, p);
                    let beyond = tail_by_terms(count + 1, n, p);
                    assert!(
                        (lower + beyond - 1.0).abs() < 1e-12,
                        "{count} of {n} at {p}"
                    );
                }
            }
        }
        assert_eq!(binomial_upper_tail(3, 2, 0.5).to_bits(), 0_f64.to_bits());
        assert_eq!(binomial_upper_tail(1, 2, 0.0).to_bits(), 0_f64.to_bits());
    }

    #[test]
    fn confidence_bounds_enclose_at_their_level() {
        // Known closed forms: 0 of n has the upper bound 1 - rate^(1/n); n of n the lower bound rate^(1/n).
        let expected = 0.05_f64.powf(0.1);
        assert!((clopper_pearson_lower(10, 10, 0.05) - expected).abs() < 1e-12);
        assert!((clopper_pearson_upper(0, 10, 0.05) - (1.0 - expected)).abs() < 1e-12);
        assert!(clopper_pearson_lower(0, 10, 0.05) <= 0.0);
        let lower = clopper_pearson_lower(400, 1000, 1e-6);
        assert!(lower < 0.4 && binomial_upper_tail(400, 1000, lower) <= 1e-6 * (1.0 + 1e-9));
        let upper = clopper_pearson_upper(400, 1000, 1e-6);
        assert!(upper > 0.4 && binomial_lower_tail(400, 1000, upper) <= 1e-6 * (1.0 + 1e-9));
    }

    #[test]
    fn the_gap_of_a_perfect_sample_is_half_a_step_and_nan_never_passes() {
        let uniform = |x: i128| (x as f64 + 1.0).clamp(0.0, 10.0) / 10.0;
        let gap = largest_gap((0..10).rev().collect(), uniform);
        assert!(gap < 1e-12, "{gap}");
        let shifted = largest_gap((1..11).collect(), uniform);
        assert!((shifted - 0.1).abs() < 1e-12, "{shifted}");
        assert!(largest_gap(vec![1, 2], |_| f64::NAN).is_nan());
        assert!(largest_gap(Vec::new(), uniform).is_nan());
        assert!((allowed_gap(200_000, 1e-9) - 0.0073).abs() < 1e-4);
    }

    #[test]
    fn a_cell_that_does_not_fit_is_found() {
        assert_eq!(implausible_cell(&[500, 500], &[0.5, 0.5], 1e-6), None);
        assert_eq!(implausible_cell(&[300, 700], &[0.5, 0.5], 1e-6), Some(0));
        assert_eq!(
            implausible_cell(&[500, 500], &[0.5, f64::NAN], 1e-6),
            Some(1)
        );
        assert_eq!(implausible_cell(&[500, 500], &[0.5], 1e-6), Some(1));
        assert_eq!(implausible_cell(&[1, 999], &[0.0, 1.0], 1e-6), Some(0));
    }
}
