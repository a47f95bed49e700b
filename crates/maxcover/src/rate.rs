//! The rate ε′ of Algorithm 1's selections: three values that make *all* its picks together (ε, δ)-private.
//!
//! In the paper's words, with ε_s: the loop is (ε_s/2, δ_s)-private. Here ε = ε_s/2 is the loss of the loop itself.

use dp_core::rounding::{Sum, down};
use dp_core::{Delta, Epsilon};

#[cfg(test)]
mod tests;

/// Which formula gives ε′.
///
/// # Privacy
///
/// With any of them, picks drawn with probability ∝ exp(ε′·newly covered) are (ε, δ)-private as a whole, under
/// add-remove, however many there are and whatever families they are from: see `docs/proofs/maxcover.md`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rate {
    /// ε′ = ε/(2·ln(e/δ)), as printed. Its proof uses e^x − 1 ≤ 2x, so it is cut at 1.25, where that ends.
    Printed,
    /// ε′ = ln(1 + ε/(1 + ln(1/δ))): valid for every ε, and about twice as large.
    Direct,
    /// The largest ε′ that is valid without a bound on the number of picks: about three times as large.
    #[default]
    Largest,
}

impl Rate {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Printed, Self::Direct, Self::Largest];

    /// The word in ledgers.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Printed => "printed",
            Self::Direct => "direct",
            Self::Largest => "largest",
        }
    }

    /// ε′ for a loop of loss (ε, δ), rounded down; `None` if it is no positive number (δ = 0, or an ε too small to divide).
    ///
    /// ```
    /// use dp_core::{Delta, Epsilon};
    /// use maxcover::Rate;
    ///
    /// let (epsilon, delta) = (Epsilon::new(0.5)?, Delta::new(1e-6)?); // ε_s = 1
    /// let rates = Rate::ALL.map(|rate| rate.value(epsilon, delta).unwrap());
    /// assert_eq!(rates.map(|rate| (rate * 1e4).round() / 1e4), [0.0169, 0.0332, 0.0497]);
    /// # Ok::<(), dp_core::UnitError>(())
    /// ```
    #[must_use]
    pub fn value(self, epsilon: Epsilon, delta: Delta) -> Option<f64> {
        if delta.is_zero() {
            return None;
        }
        let epsilon = epsilon.get();
        // 1 + ln(1/δ), above 1 since δ < 1; errors of a few units are taken off below.
        let log = 1.0 - libm::log(delta.get());
        let rate = match self {
            Self::Printed => {
                let rate = down(epsilon / (2.0 * log), 8);
                if rate < 1.25 { rate } else { 1.25 }
            }
            Self::Direct => down(libm::log1p(epsilon / log), 16),
            Self::Largest => largest(epsilon, delta.get())?,
        };
        let rate = dp_core::planted!("maxcover-rate-doubled": 2.0 * rate; rate);
        (rate > 0.0 && rate.is_finite()).then_some(rate)
    }
}

/// An upper bound of ln[(1 − e^(−x))·exp(−(ε + x)/(e^x − 1))], which grows with x.
///
/// This is the logarithm of the divergence at e^ε of a waiting time of rate 1 from one of rate e^x.
fn log_divergence(epsilon: f64, x: f64) -> f64 {
    // For x above ln 2 the first form of ln(1 − e^(−x)) would lose its digits, below it the second would.
    let log_gap = if x > std::f64::consts::LN_2 {
        libm::log1p(-libm::exp(-x))
    } else {
        libm::log(-libm::expm1(-x))
    };
    // The sum ε + x, the exponential and the quotient err by four units of relative rounding: `Sum` allows eight.
    Sum::of(&[log_gap, -(epsilon + x) / libm::expm1(x)]).up()
}

/// The largest x ≤ ε whose divergence is at most δ, found by halving bits; `None` if there is none.
fn largest(epsilon: f64, delta: f64) -> Option<f64> {
    let log_delta = Sum::of(&[libm::log(delta)]).down();
    let holds = |x: f64| log_divergence(epsilon, x) <= log_delta;
    if holds(epsilon) {
        return Some(epsilon);
    }
    // Below 10^-300 there is no use in a selection; it holds there, since the exponent is −∞ or nearly so.
    let (mut low, mut high) = (1e-300_f64.to_bits(), epsilon.to_bits());
    if low >= high || !holds(f64::from_bits(low)) {
        return None;
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if holds(f64::from_bits(middle)) {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(f64::from_bits(low))
}
