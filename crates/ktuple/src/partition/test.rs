//! The test itself.

use dp_core::mechanism::AdditiveMechanism;
use dp_core::sensitivity::{L1Sensitivity, Sensitivity};
use dp_core::session::Charge;
use dp_core::{Confidential, Epsilon, Session};
use rayon::prelude::*;

use super::plan::{PASS_UNITS, TestPlan};
use crate::error::ParamsError;
use crate::tuples::{Tuples, sq_distance, sq_gaps};

/// Bits of the fraction that a separation is stored as.
const SEPARATION_BITS: u32 = 16;

/// Δ, at least 6 and a bit: the distance of balls in units of their radii, rounded up to a multiple of 2^-16.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Separation(u64);

impl Separation {
    /// Checks 6 < Δ ≤ 2^20.
    pub(crate) fn new(separation: f64) -> Result<Self, ParamsError> {
        if separation > 6.0 && separation <= 1_048_576.0 {
            let scaled = (separation * f64::from(1_u32 << SEPARATION_BITS)).ceil();
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "between 6·2^16 and 2^36"
            )]
            return Ok(Self(scaled as u64));
        }
        Err(ParamsError::Range {
            name: "separation",
            low: 6.0,
            high: 1_048_576.0,
            got: separation,
        })
    }

    /// Δ.
    pub(crate) fn get(self) -> f64 {
        self.0 as f64 / f64::from(1_u32 << SEPARATION_BITS)
    }

    /// ⌊D²/Δ²⌋, exactly: squared distances within a ball of radius D/Δ are at most this.
    fn sq_radius(self, sq_gap: u64) -> u64 {
        let square = u128::from(self.0) * u128::from(self.0);
        let scaled = u128::from(sq_gap) << (2 * SEPARATION_BITS);
        u64::try_from(scaled / square).unwrap_or(u64::MAX)
    }
}

/// What a test answered: private but for the status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tested {
    /// Failure, or no tuple passed.
    Failure,
    /// Success, with the index of the tuple whose balls they are.
    Success(usize),
}

/// `PrivateTestPartition`: m tuples drawn in secret, tested against all.
///
/// Complexity: O(m·t·k·d) to O(m·t·k²·d), in parallel.
pub(crate) fn test_partition(
    tuples: &Tuples,
    separation: Separation,
    plan: &TestPlan,
    charge: &Charge,
    session: &mut Session<'_>,
) -> Result<Tested, ParamsError> {
    let too_small = |_| ParamsError::BudgetTooSmall;
    let m = plan.n_drawn;
    let drawn = usize::try_from(m).unwrap_or(usize::MAX);
    let drawn = session.sample_charged(charge, "tuples that test", drawn, tuples.len());
    let outside: Vec<i64> = drawn
        .iter()
        .map(|&t| outside(tuples, separation, t))
        .collect();
    let each = plan.epsilon_counted() / m as f64;
    let each = dp_core::planted!("ktuple-count-noise-whole": plan.epsilon_counted(); each);
    let each = down_to_epsilon(each)?;
    let one = L1Sensitivity::new(1).map_err(|_| ParamsError::BudgetTooSmall)?;
    let noise = AdditiveMechanism::laplace(one, each)?;
    // A drawn tuple that is replaced has any count, the others' move by at most 1.
    let noisy = session.add_noise_charged(
        charge,
        &noise,
        "tuples outside of the balls",
        Sensitivity::ByTheorem,
        &Confidential::new(outside),
    );
    let most = i128::from(plan.most_outside());
    let passing: Vec<bool> = noisy.into_iter().map(|count| count <= most).collect();
    let units = L1Sensitivity::new(PASS_UNITS).map_err(|_| ParamsError::BudgetTooSmall)?;
    let noise =
        AdditiveMechanism::laplace(units, Epsilon::new(plan.epsilon_drawn).map_err(too_small)?)?;
    let count = passing.iter().filter(|&&passes| passes).count() as u64 * PASS_UNITS;
    let noisy = session.add_noise_charged(
        charge,
        &noise,
        "passing tuples",
        Sensitivity::ByTheorem,
        &Confidential::new(vec![i64::try_from(count).unwrap_or(i64::MAX)]),
    );
    let success = noisy
        .first()
        .is_some_and(|&count| count >= i128::from(plan.least_passing()));
    let first = passing.iter().position(|&passes| passes);
    Ok(match first {
        Some(first) if success => Tested::Success(drawn[first]),
        _ => Tested::Failure,
    })
}

fn down_to_epsilon(x: f64) -> Result<Epsilon, ParamsError> {
    Epsilon::new(dp_core::rounding::down(x, 2)).map_err(|_| ParamsError::BudgetTooSmall)
}

/// `ℓ_X`: how many tuples the balls of tuple `x` do not partition.
pub(super) fn outside(tuples: &Tuples, separation: Separation, x: usize) -> i64 {
    let void = dp_core::planted!("ktuple-void-partitions": false; tuples.is_void(x));
    if void {
        return i64::try_from(tuples.len()).unwrap_or(i64::MAX);
    }
    let shape = tuples.shape();
    let gaps = sq_gaps(tuples.tuple(x), shape.dimension);
    let radii: Vec<u64> = gaps.iter().map(|&gap| separation.sq_radius(gap)).collect();
    let count = (0..tuples.len())
        .into_par_iter()
        .filter(|&y| !partitions(tuples, &radii, x, y))
        .count();
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Whether each ball around the points of `x` holds exactly one point of `y`.
///
/// The balls are disjoint (Δ > 2) and there are as many points as balls, so at least one in each is exactly one in each.
fn partitions(tuples: &Tuples, sq_radii: &[u64], x: usize, y: usize) -> bool {
    let holds =
        |i: usize, j: usize| sq_distance(tuples.point(x, i), tuples.point(y, j)) <= sq_radii[i];
    let k = sq_radii.len();
    (0..k).all(|i| holds(i, i) || (0..k).any(|j| j != i && holds(i, j)))
}
