//! Rényi differential privacy: curves of the mechanisms, composition, conversion (Mironov 2017).
//!
//! A curve gives for each order α > 1 a bound on the Rényi divergence of order α between the outputs on
//! neighbors. Curves of composed mechanisms add. Every value is rounded up.

use crate::composition::ApproxLoss;
use crate::rounding::{Sum, at_least, at_most, up};

/// Orders at which curves are taken unless a caller says otherwise: dense where small ε end up, and
/// doubling towards the large ones that small losses need.
pub const DEFAULT_ORDERS: [f64; 40] = [
    1.05,
    1.1,
    1.2,
    1.3,
    1.4,
    1.5,
    1.75,
    2.0,
    2.25,
    2.5,
    3.0,
    3.5,
    4.0,
    5.0,
    6.0,
    7.0,
    8.0,
    10.0,
    12.0,
    14.0,
    16.0,
    20.0,
    24.0,
    28.0,
    32.0,
    48.0,
    64.0,
    96.0,
    128.0,
    192.0,
    256.0,
    384.0,
    512.0,
    768.0,
    1024.0,
    2048.0,
    4096.0,
    16384.0,
    65536.0,
    1_048_576.0,
];

/// A Rényi curve at fixed orders.
#[derive(Clone, Debug, PartialEq)]
pub struct RenyiCurve {
    /// (order, divergence), orders above 1.
    points: Vec<(f64, f64)>,
}

impl RenyiCurve {
    /// The curve of a mechanism, `divergence(order)`, at the given orders; those not above 1 are left out.
    #[must_use]
    pub fn of(orders: &[f64], divergence: impl Fn(f64) -> f64) -> Self {
        Self {
            points: orders
                .iter()
                .filter(|&&order| order > 1.0 && order < f64::INFINITY)
                .map(|&order| {
                    let value = divergence(order);
                    // Not a number: no bound.
                    (order, if value >= 0.0 { value } else { f64::INFINITY })
                })
                .collect(),
        }
    }

    /// The points as (order, divergence).
    #[must_use]
    pub fn points(&self) -> &[(f64, f64)] {
        &self.points
    }

    /// The curve of `uses` uses.
    #[must_use]
    pub fn times(&self, uses: u64) -> Self {
        Self {
            points: self
                .points
                .iter()
                .map(|&(order, value)| (order, up(uses as f64 * value, 2)))
                .collect(),
        }
    }

    /// The curve of this and another mechanism, at the orders that both have.
    #[must_use]
    pub fn compose(&self, other: &Self) -> Self {
        let points = self
            .points
            .iter()
            .filter_map(|&(order, value)| {
                let twin = other
                    .points
                    .iter()
                    .find(|point| point.0.to_bits() == order.to_bits())?;
                Some((order, (value + twin.1).next_up()))
            })
            .collect();
        Self { points }
    }

    /// The smallest ε at δ over the orders, and the order that gives it; infinite without orders or δ.
    ///
    /// Source: Canonne, Kamath and Steinke 2020, Proposition 12.
    #[must_use]
    pub fn epsilon(&self, delta: f64) -> (f64, f64) {
        self.best(delta, |order, value, slack| {
            let rest = order - 1.0;
            Sum::of(&[
                value,
                libm::log1p(-1.0 / order),
                slack / rest,
                -libm::log(order) / rest,
            ])
            .up()
        })
    }

    /// As [`epsilon`](Self::epsilon) by the classic ε + ln(1/δ)/(α − 1), for comparison.
    ///
    /// Source: Mironov 2017, Proposition 3.
    #[must_use]
    pub fn epsilon_classic(&self, delta: f64) -> (f64, f64) {
        self.best(delta, |order, value, slack| {
            Sum::of(&[value, slack / (order - 1.0)]).up()
        })
    }

    /// The smallest value over the orders, not below 0.
    fn best(&self, delta: f64, value_at: impl Fn(f64, f64, f64) -> f64) -> (f64, f64) {
        let mut best = (f64::INFINITY, f64::INFINITY);
        if delta > 0.0 {
            let slack = at_least(-libm::log(delta), 0.0);
            for &(order, value) in &self.points {
                let epsilon = at_least(value_at(order, value, slack), 0.0);
                if value < f64::INFINITY && epsilon < best.0 {
                    best = (epsilon, order);
                }
            }
        }
        best
    }

    /// The smallest δ at ε over the orders, and the order that gives it; at most 1.
    ///
    /// Source: Canonne, Kamath and Steinke 2020, Proposition 12.
    #[must_use]
    pub fn delta(&self, epsilon: f64) -> (f64, f64) {
        let mut best = (1.0, f64::INFINITY);
        for &(order, value) in &self.points {
            let rest = order - 1.0;
            let exponent = Sum::of(&[
                rest * value,
                -rest * epsilon,
                order * libm::log1p(-1.0 / order),
                -libm::log(rest),
            ])
            .up();
            let delta = up(libm::exp(exponent), 4);
            if delta < best.0 {
                best = (delta, order);
            }
        }
        best
    }

    /// The loss at the given δ.
    #[must_use]
    pub fn approximate(&self, delta: f64) -> ApproxLoss {
        ApproxLoss::capped(self.epsilon(delta).0, delta)
    }
}

/// Gaussian noise, continuous or discrete: αμ²/2 with μ = L2 sensitivity / σ.
#[must_use]
pub fn gaussian(mu: f64, order: f64) -> f64 {
    concentrated(up(mu * mu / 2.0, 1), order)
}

/// Any ρ-zCDP mechanism: αρ.
#[must_use]
pub fn concentrated(rho: f64, order: f64) -> f64 {
    up(order * rho, 1)
}

/// Any ε-bounded-range mechanism, the exponential mechanism with loss ε among them: at most αε²/8 and ε.
#[must_use]
pub fn bounded_range(epsilon: f64, order: f64) -> f64 {
    at_most(up(order * epsilon * epsilon / 8.0, 2), epsilon)
}

/// Any ε-private mechanism, by randomized response: at most αε²/2 and ε.
///
/// Source: Bun and Steinke 2016, Proposition 1.4; Kairouz, Oh and Viswanath 2015 for the dominating pair.
#[must_use]
pub fn pure(epsilon: f64, order: f64) -> f64 {
    // p·e^((α−1)ε) + (1−p)·e^(−(α−1)ε) for p = e^ε/(1 + e^ε).
    let rest = order - 1.0;
    let whole = 1.0 + libm::exp(-epsilon);
    let divergence = of_excess(
        order,
        epsilon,
        &[
            (1.0 / whole, rest * epsilon),
            (libm::exp(-epsilon) / whole, -rest * epsilon),
        ],
    );
    at_most(divergence, up(order * epsilon * epsilon / 2.0, 2))
}

/// Continuous Laplace noise on one number, ε = sensitivity / scale.
///
/// Source: Mironov 2017, Proposition 6.
#[must_use]
pub fn laplace(epsilon: f64, order: f64) -> f64 {
    let (rest, whole) = (order - 1.0, 2.0 * order - 1.0);
    let divergence = of_excess(
        order,
        epsilon,
        &[
            (order / whole, rest * epsilon),
            (rest / whole, -order * epsilon),
        ],
    );
    at_most(divergence, up(order * epsilon * epsilon / 2.0, 2))
}

/// Discrete Laplace noise, P(x) ∝ e^(−|x|/scale), on one integer.
#[must_use]
pub fn discrete_laplace(scale: f64, sensitivity: u64, order: f64) -> f64 {
    let (a, s, rest) = (1.0 / scale, sensitivity as f64, order - 1.0);
    let epsilon = up(a * s, 2);
    let whole = 1.0 + libm::exp(-a);
    // The integers 1 to s − 1: a geometric sum with ratio e^(−a(2α − 1)).
    let decay = a * (2.0 * order - 1.0);
    let between = libm::tanh(a / 2.0) * libm::expm1(-decay * (s - 1.0)) / libm::expm1(-decay);
    let divergence = of_parts(
        order,
        epsilon,
        &[
            (1.0 / whole, rest * epsilon),
            (between, rest * epsilon - decay),
            (libm::exp(-a * s) / whole, -rest * epsilon),
        ],
    );
    at_most(divergence, up(order * epsilon * epsilon / 2.0, 2))
}

/// ln(Σ wᵢ·e^xᵢ)/(α − 1) for weights that add up to one, rounded up, at most ε.
fn of_excess(order: f64, epsilon: f64, parts: &[(f64, f64)]) -> f64 {
    if parts.iter().any(|part| part.1 > 600.0) {
        return of_parts(order, epsilon, parts);
    }
    let terms: Vec<f64> = parts.iter().map(|&(w, x)| w * libm::expm1(x)).collect();
    // The error of the products is in `Sum`; that of the exponents is x units more.
    let spread: f64 = parts
        .iter()
        .map(|&(w, x)| w * libm::exp(x) * x.abs())
        .sum::<f64>();
    let excess = Sum::of(&terms).up() + 4.0 * f64::EPSILON * spread;
    at_most(
        up(libm::log1p(at_least(excess, 0.0)) / (order - 1.0), 4),
        epsilon,
    )
}

/// ln(Σ wᵢ·e^xᵢ)/(α − 1), rounded up, at most ε.
fn of_parts(order: f64, epsilon: f64, parts: &[(f64, f64)]) -> f64 {
    let mut largest = f64::NEG_INFINITY;
    let mut magnitude = 1.0;
    for &(_, x) in parts {
        if x > largest {
            largest = x;
        }
        if x.abs() > magnitude {
            magnitude = x.abs();
        }
    }
    let sum: f64 = parts.iter().map(|&(w, x)| w * libm::exp(x - largest)).sum();
    let error = 16.0 * f64::EPSILON * (magnitude + 1.0);
    at_most(
        up((largest + libm::log(sum) + error) / (order - 1.0), 4),
        epsilon,
    )
}

/// Gaussian noise on a Poisson sample, under `AddRemove`, μ = L2 sensitivity / σ.
///
/// Removing a record is the worse direction (Mironov, Talwar and Zhang 2019, Theorem 5), and its moment is
/// 1 + E[f(w)] with f(w) = e^(αw) − 1 − α(e^w − 1), w the log of the likelihood ratio under the unshifted
/// law. f is positive, so neither small q nor small μ cancels anything.
///
/// Whole orders up to 2¹⁶ sum the binomial terms of f; others integrate it by the trapezoidal rule, whose
/// error for this analytic integrand is below e^(−2πd/h) relative to its own size, d = π/μ the distance of
/// the nearest singularity: the step keeps that below 1e-12.
///
/// Complexity: O(α), or O((αμ + 30)/h) evaluations.
#[must_use]
pub fn subsampled_gaussian(sampling_probability: f64, mu: f64, order: f64) -> f64 {
    let q = sampling_probability;
    if !(q > 0.0 && q <= 1.0 && mu > 0.0 && order > 1.0) {
        return f64::INFINITY;
    }
    let whole = gaussian(mu, order);
    if q >= 1.0 {
        return whole;
    }
    let is_integer = (order - libm::round(order)).abs() < f64::MIN_POSITIVE;
    let ln_excess = if is_integer && order <= 65_536.0 {
        binomial_ln_excess(q, mu, order)
    } else {
        integral_ln_excess(q, mu, order)
    };
    // ln(1 + e^x): the error of x is relative to the moment's excess.
    let ln_moment = if ln_excess > 30.0 {
        ln_excess + libm::exp(-ln_excess)
    } else {
        libm::log1p(libm::exp(ln_excess))
    };
    // Sampling never costs: the unsampled curve is a bound as well.
    at_most(up(ln_moment / (order - 1.0), 8), whole)
}

/// ln Σ_{j ≥ 2} C(α, j)·(1 − q)^(α − j)·q^j·(e^(j(j − 1)μ²/2) − 1), rounded up.
fn binomial_ln_excess(q: f64, mu: f64, order: f64) -> f64 {
    let mut terms = Vec::new();
    // ln C(α, j) built up by ratios.
    let (mut ln_binomial, mut j) = (libm::log(order), 2.0);
    let (ln_q, ln_rest) = (libm::log(q), libm::log1p(-q));
    let mut size = 0.0;
    while j <= order {
        ln_binomial += libm::log((order - j + 1.0) / j);
        let exponent = j * (j - 1.0) * mu * mu / 2.0;
        let ln_growth = if exponent < 600.0 {
            libm::log(libm::expm1(exponent))
        } else {
            exponent
        };
        let ln_term = ln_binomial + j * ln_q + (order - j) * ln_rest + ln_growth;
        let here = ln_binomial.abs() + (j * ln_q).abs() + exponent;
        if here > size {
            size = here;
        }
        terms.push(ln_term);
        j += 1.0;
    }
    // The binomial coefficient gathers one rounding a step.
    ln_sum(&terms) + (8.0 + 2.0 * libm::sqrt(order) + 4.0) * f64::EPSILON * (size + 8.0)
}

/// ln ∫ φ(x)·f(w(x)) dx by the trapezoidal rule, rounded up.
fn integral_ln_excess(q: f64, mu: f64, order: f64) -> f64 {
    let singular = std::f64::consts::PI / mu;
    let mut h = 2.0 * std::f64::consts::PI * singular / 40.0;
    if h > 0.1 {
        h = 0.1;
    }
    let (low, high) = (-14.0, order * mu + 14.0);
    let mut terms = Vec::new();
    let mut x = low;
    while x <= high {
        let w = libm::log1p(q * libm::expm1(mu * (x - mu / 2.0)));
        terms.push(-x * x / 2.0 - crate::normal::HALF_LN_TAU + ln_convex(order, w));
        x += h;
    }
    ln_sum(&terms) + libm::log(h) + 1e-11
}

/// ln(e^(αw) − 1 − α(e^w − 1)).
fn ln_convex(order: f64, w: f64) -> f64 {
    let aw = order * w;
    if aw.abs() < 0.05 {
        // Σ_{i ≥ 2} (αⁱ − α)·wⁱ/i!
        let (mut sum, mut factor) = (0.0, 1.0);
        for i in 2..12 {
            let i = f64::from(i);
            factor *= 1.0 / i;
            sum += (libm::pow(order, i) - order) * libm::pow(w, i) * factor;
        }
        libm::log(sum)
    } else if aw < 600.0 {
        libm::log(libm::expm1(aw) - order * libm::expm1(w))
    } else {
        aw
    }
}

/// ln Σ e^xᵢ.
fn ln_sum(terms: &[f64]) -> f64 {
    let mut largest = f64::NEG_INFINITY;
    for &term in terms {
        if term > largest {
            largest = term;
        }
    }
    if largest.is_infinite() {
        return largest;
    }
    let sum: f64 = terms.iter().map(|term| libm::exp(term - largest)).sum();
    largest + libm::log(sum)
}

#[cfg(test)]
mod tests;
