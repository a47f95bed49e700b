//! Confidence bounds that hold for every sample size.

use statrs::function::beta::checked_beta_reg;

/// P(X ≥ `count`) for X binomial with `n` trials of probability `p`.
fn upper_tail(count: u64, n: u64, p: f64) -> f64 {
    if count == 0 || p >= 1.0 {
        return 1.0;
    }
    if p <= 0.0 {
        return 0.0;
    }
    checked_beta_reg(count as f64, (n - count) as f64 + 1.0, p).unwrap_or(f64::NAN)
}

/// Lower confidence bound of a probability of which `count` of `n` trials came true: above the truth with probability
/// at most `rate`. 0 where nothing can be said (`count` above `n`, NaN).
///
/// Source: Clopper, Pearson 1934.
///
/// ```
/// // Ten of ten: the bound is rate^(1/10).
/// let bound = dp_audit::bounds::clopper_pearson_lower(10, 10, 0.05);
/// assert!((bound - 0.05_f64.powf(0.1)).abs() < 1e-12);
/// ```
#[must_use]
pub fn clopper_pearson_lower(count: u64, n: u64, rate: f64) -> f64 {
    if count > n || count == 0 {
        return 0.0;
    }
    let (mut low, mut high) = (0.0, 1.0);
    // The least p that explains so many, from below.
    for _ in 0..200 {
        let middle = f64::midpoint(low, high);
        if upper_tail(count, n, middle) < rate {
            low = middle;
        } else {
            high = middle;
        }
        if high - low <= 1e-15 * high {
            break;
        }
    }
    low
}

/// Upper confidence bound of a probability of which `count` of `n` trials came true: below the truth with probability
/// at most `rate`.
#[must_use]
pub fn clopper_pearson_upper(count: u64, n: u64, rate: f64) -> f64 {
    1.0 - clopper_pearson_lower(n - count.min(n), n, rate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_enclose_and_their_tails_have_the_stated_rate() {
        let (lower, upper) = (
            clopper_pearson_lower(400, 1000, 1e-6),
            clopper_pearson_upper(400, 1000, 1e-6),
        );
        assert!(lower < 0.4 && 0.4 < upper);
        assert!((upper_tail(400, 1000, lower) / 1e-6 - 1.0).abs() < 1e-6);
        assert!((upper_tail(600, 1000, 1.0 - upper) / 1e-6 - 1.0).abs() < 1e-6);
    }

    #[test]
    fn nothing_seen_bounds_nothing_from_below() {
        assert!(clopper_pearson_lower(0, 10, 0.05) <= 0.0);
        assert!(clopper_pearson_lower(11, 10, 0.05) <= 0.0);
        let upper = clopper_pearson_upper(0, 10, 0.05);
        assert!((upper - (1.0 - 0.05_f64.powf(0.1))).abs() < 1e-12);
    }
}
