//! m, ε₁ and ℓ of the test, and the smallest number of tuples, by each of the formulas in question.

use dp_core::rounding::{down, exp_up, up};

use crate::error::ParamsError;

/// Grid points per passing tuple on which the number of passing tuples gets its noise: with a scale near 1/4 the integers alone
/// would be too coarse.
pub(super) const PASS_UNITS: u64 = 1024;

/// Largest ε for which the whole algorithm is proved.
const MOST_EPSILON: f64 = 1.0;

/// Which bound on sub-sampling gives ε₁.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Subsampling {
    /// ε₁ = ln(1 + (n/m)(e^(ε/2) − 1)): Balle, Barthe, Gaboardi 2018. The default.
    #[default]
    Tight,
    /// ε₁ = ln(εn/(2m) − 3): Definition 4.6, by Lemma 2.24.
    Printed,
    /// ε₁ = ln(εn/m − 3): what the published experiments seem to have used; nothing proves it.
    Experiments,
}

/// Which union bound gives ℓ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Union {
    /// ℓ = (2m/ε)·ln(m²/(βδ)): any of the m tuples may be chosen. The default.
    #[default]
    Joint,
    /// ℓ = (2m/ε)·ln(m/(βδ)): Definition 4.10, by Claim 4.5, whose proof conditions on success and is false.
    Printed,
    /// ℓ = (2m/ε)·ln(2m/(βδ)): of the published experiments.
    Experiments,
}

/// The two formulas together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Formulas {
    /// For ε₁.
    pub subsampling: Subsampling,
    /// For ℓ.
    pub union: Union,
}

/// ε, δ and β of a call of `PrivateTestPartition`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TestCall {
    /// ε of the status.
    pub epsilon: f64,
    /// δ of the balls.
    pub delta: f64,
    /// β, with which a test of perfect tuples may fail.
    pub failure_probability: f64,
}

impl TestCall {
    /// The call (ε/2, δ/4, β/2) of an algorithm that may spend (ε, δ).
    #[must_use]
    pub const fn of_algorithm(epsilon: f64, delta: f64, failure_probability: f64) -> Self {
        Self {
            epsilon: epsilon / 2.0,
            delta: delta / 4.0,
            failure_probability: failure_probability / 2.0,
        }
    }
}

/// The public numbers of a test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TestPlan {
    /// The call.
    pub call: TestCall,
    /// n, the number of tuples.
    pub n_tuples: u64,
    /// m, how many are drawn.
    pub n_drawn: u64,
    /// ε₁, of the status for the m drawn tuples.
    pub epsilon_drawn: f64,
    /// ℓ, how many tuples the balls fail to partition at most, but for η.
    pub n_outside: f64,
}

/// The smallest number of tuples that will do, and the plan there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LeastTuples {
    /// n.
    pub n_tuples: u64,
    /// The plan for n.
    pub plan: TestPlan,
}

impl Formulas {
    /// ε₁ for m of n; not positive where there is none.
    fn epsilon_drawn(self, call: TestCall, n: f64, m: f64) -> f64 {
        match self.subsampling {
            // Rounded down, so that the status costs no more than it may.
            Subsampling::Tight => down(libm::log1p(n / m * libm::expm1(call.epsilon / 2.0)), 16),
            Subsampling::Printed => libm::log(call.epsilon * n / (2.0 * m) - 3.0),
            Subsampling::Experiments => libm::log(call.epsilon * n / m - 3.0),
        }
    }

    fn n_outside(self, call: TestCall, m: f64) -> f64 {
        let odds = call.failure_probability * call.delta;
        let argument = match self.union {
            Union::Joint => m * m / odds,
            Union::Printed => m / odds,
            Union::Experiments => 2.0 * m / odds,
        };
        2.0 * m / call.epsilon * libm::log(argument)
    }

    /// The numbers for n tuples, if there are any: m is the smallest integer above (2·ln(1/δ) + ln(1/β))/ε₁.
    #[must_use]
    pub fn plan(self, n_tuples: u64, call: TestCall) -> Option<TestPlan> {
        let confidence = -2.0 * libm::log(call.delta) - libm::log(call.failure_probability);
        let n = n_tuples as f64;
        // ε₁ falls with m: from below, m = ⌊…/ε₁(m)⌋ + 1 never passes the smallest m, and stops there.
        let mut m = 1;
        while m <= n_tuples {
            let epsilon_drawn = self.epsilon_drawn(call, n, m as f64);
            if epsilon_drawn <= 0.0 || epsilon_drawn.is_nan() {
                return None;
            }
            let least = confidence / epsilon_drawn;
            if m as f64 > least {
                return Some(TestPlan {
                    call,
                    n_tuples,
                    n_drawn: m,
                    epsilon_drawn,
                    n_outside: self.n_outside(call, m as f64),
                });
            }
            m = integer(least.floor()).unsigned_abs().max(m) + 1;
        }
        None
    }

    /// The smallest n with n ≥ 2·ℓ(n) + 2: then two tests of neighbors share a tuple that both their balls partition.
    ///
    /// # Errors
    ///
    /// [`ParamsError::Infeasible`] if no n below 2^40 will do.
    pub fn least_tuples(self, call: TestCall) -> Result<LeastTuples, ParamsError> {
        let works = |n: u64| {
            self.plan(n, call)
                .filter(|plan| n as f64 >= 2.0 * plan.n_outside + 2.0)
        };
        let mut high = 4_u64;
        while works(high).is_none() {
            high *= 2;
            if high > 1 << 40 {
                return Err(ParamsError::Infeasible);
            }
        }
        // More tuples never need more drawn, so ℓ falls with n and halving is right.
        let mut low = high / 2;
        while high - low > 1 {
            let middle = low.midpoint(high);
            if works(middle).is_some() {
                high = middle;
            } else {
                low = middle;
            }
        }
        let plan = works(high).ok_or(ParamsError::Infeasible)?;
        Ok(LeastTuples {
            n_tuples: high,
            plan,
        })
    }
}

impl TestPlan {
    /// 2k(ℓ + 1), the number of points by which the clusters of two neighbors differ at most, balls being good.
    #[must_use]
    pub(crate) fn points_changed(&self, n_clusters: usize) -> u64 {
        let points = 2.0 * n_clusters as f64 * (self.n_outside + 1.0);
        integer(points.ceil()).unsigned_abs()
    }

    /// ε₂ of all m noisy counts together, for the tuples that are counted.
    #[must_use]
    pub fn epsilon_counted(&self) -> f64 {
        self.call.epsilon / 2.0
    }

    /// A tuple passes if its noisy count is at most this: ⌊(m/ε₂)·ln(m/β)⌋.
    #[must_use]
    pub fn most_outside(&self) -> i64 {
        let m = self.n_drawn as f64;
        let most = m / self.epsilon_counted() * libm::log(m / self.call.failure_probability);
        integer(most.floor())
    }

    /// The test succeeds if the noisy number of passing tuples, in units of 1/1024, is at least this.
    #[must_use]
    pub fn least_passing(&self) -> i64 {
        let slack = -libm::log(self.call.failure_probability) / self.epsilon_drawn;
        integer((PASS_UNITS as f64 * (self.n_drawn as f64 - slack)).ceil())
    }

    /// η, a bound on the probability that the test succeeds while none passes or the chosen balls leave out more than ℓ tuples:
    /// the laws of the noise as it is drawn, and a union over the m tuples.
    #[must_use]
    pub fn failure(&self) -> f64 {
        // P(X ≥ x) = q^x/(1 + q) for discrete Laplace noise; scales are drawn up to 2^-40 wider than asked.
        let tail = |x: f64, rate: f64| {
            let rate = rate * (1.0 - 1e-11);
            libm::exp(-rate * x) / (1.0 + libm::exp(-rate))
        };
        let none_passes = tail(
            self.least_passing() as f64,
            self.epsilon_drawn / PASS_UNITS as f64,
        );
        let beyond = self.n_outside.floor() + 1.0 - self.most_outside() as f64;
        let bad_passes = tail(beyond, self.epsilon_counted() / self.n_drawn as f64);
        up(none_passes + self.n_drawn as f64 * bad_passes, 64)
    }

    /// δ of an algorithm that runs the test and then something (`epsilon_after`, δ/4)-private on good balls (Claim 4.12, mended):
    /// δ/4 + η·(1 + e^(ε/2 + ε*)), in which the call's ε is the algorithm's ε/2.
    #[must_use]
    pub fn total_delta(&self, epsilon_after: f64) -> f64 {
        let growth = exp_up(self.call.epsilon + epsilon_after);
        up(self.call.delta + self.failure() * (1.0 + growth), 16)
    }

    /// Checks that an algorithm with the printed division of its (ε, δ) is private on this test.
    pub(crate) fn check(
        &self,
        algorithm: &'static str,
        epsilon: f64,
        delta: f64,
    ) -> Result<(), ParamsError> {
        if epsilon > MOST_EPSILON || self.total_delta(epsilon / 2.0) > delta {
            return Err(ParamsError::EpsilonTooLarge {
                algorithm,
                most: MOST_EPSILON,
                got: epsilon,
            });
        }
        Ok(())
    }
}

fn integer(x: f64) -> i64 {
    #[expect(clippy::cast_possible_truncation, reason = "cut to the range of i64")]
    let integer = x.clamp(-9e18, 9e18) as i64;
    integer
}
