//! Which tuples stay: coins by match counts, or noisy counts above a threshold.

use dp_core::sensitivity::Sensitivity;
use dp_core::session::Charge;
use dp_core::{Confidential, Session};

use super::plan::{Keep, Plan};

/// The indices of the kept tuples, ascending: private.
///
/// An answer that cannot be friendly is cut off: a tuple with too few matches has probability 0 here.
pub(super) fn keep(
    matches: Vec<u64>,
    plan: &Plan,
    charge: &Charge,
    session: &mut Session<'_>,
) -> Vec<usize> {
    let t = matches.len() as u64;
    let kept: Vec<bool> = match &plan.keep {
        Keep::Proportional => {
            let fractions = matches.into_iter().map(|a| fraction(a, t)).collect();
            session
                .filter_charged(charge, &Confidential::new(fractions))
                .expose_to_data_holder()
        }
        Keep::Gaussian { noise, threshold } => {
            let counts = matches.iter().map(|&a| i64::try_from(a).unwrap_or(0));
            let noisy = session.add_noise_charged(
                charge,
                noise,
                "matches per tuple",
                Sensitivity::ByTheorem,
                &Confidential::new(counts.collect()),
            );
            noisy
                .into_iter()
                .map(|a| a >= i128::from(*threshold))
                .collect()
        }
    };
    (0..kept.len()).filter(|&i| kept[i]).collect()
}

/// (a − t/2 − 1)/(t/2 − 2) as a fraction with twice the terms, t ≥ 5; the session cuts it at 1.
fn fraction(matches: u64, n_tuples: u64) -> (u64, u64) {
    let least = dp_core::planted!("friendly-core-half": n_tuples / 2; n_tuples + 2);
    (
        (2 * matches).saturating_sub(least),
        n_tuples.saturating_sub(4),
    )
}

#[cfg(test)]
mod tests {
    use super::fraction;

    #[test]
    fn a_tuple_that_all_match_is_kept_and_one_that_half_match_is_not() {
        for t in 5..200 {
            let (top, bottom) = fraction(t - 1, t);
            assert!(top >= bottom && bottom > 0);
            // p > 0 needs a > t/2 + 1.
            assert_eq!(fraction(t / 2 + 1, t).0, 0);
        }
    }

    #[test]
    fn a_match_more_moves_a_probability_by_no_more_than_the_proof_says() {
        for t in 5..100 {
            for a in 0..t - 1 {
                let ((more, bottom), (less, _)) = (fraction(a + 1, t), fraction(a, t));
                let capped = |top: u64| top.min(bottom) as f64 / bottom as f64;
                assert!(capped(more) - capped(less) <= 1.0 / (t as f64 / 2.0 - 2.0) + 1e-12);
            }
        }
    }
}
