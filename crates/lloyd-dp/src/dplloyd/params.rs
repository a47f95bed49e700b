//! Parameters of `DPLloyd`, checked once.

use dp_core::Budget;

use super::DpLloyd;
use crate::error::{MAX_ITERATIONS, ParamsError};
use crate::init::Init;
use crate::memory::check_clusters;
use crate::schedule::BudgetSchedule;

/// The law of the noise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noise {
    /// Discrete Laplace, pure ε, basic composition.
    Laplace,
    /// Discrete Gaussian, added up as one Gaussian; needs δ.
    Gaussian,
}

/// Which sums are released.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sums {
    /// Sums of coordinates: a coordinate is bounded by 1.
    Origin,
    /// Sums of differences to the current center, which takes the count's noise out of the mean: a
    /// coordinate is bounded by 1 + |c_i|.
    CenterRelative,
    /// Sums of differences to the current center, each clipped to a public length: the sensitivity falls with it.
    BoundedRadius(RadiusSchedule),
}

/// Public radii R_t = R_0·max(decay^t, floor) of the iterations t = 0, 1, ….
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RadiusSchedule {
    /// R_0 in the scaled domain; none: √d/(2 k^(1/d)), half the diagonal of a cube of the k-th part of the domain.
    pub first: Option<f64>,
    /// Factor from one iteration to the next, in (0, 1].
    pub decay: f64,
    /// Least R_t/R_0, in (0, 1].
    pub floor: f64,
}

impl Default for RadiusSchedule {
    fn default() -> Self {
        Self {
            first: None,
            decay: 0.8,
            floor: 0.4,
        }
    }
}

impl RadiusSchedule {
    /// R_t for k clusters in d dimensions.
    #[must_use]
    pub fn radius(&self, n_clusters: usize, dimension: usize, iteration: usize) -> f64 {
        let d = dimension as f64;
        let first = self
            .first
            .unwrap_or_else(|| 0.5 * d.sqrt() / (n_clusters as f64).powf(1.0 / d));
        let decay = self.decay.powf(iteration as f64);
        first
            * if decay > self.floor {
                decay
            } else {
                self.floor
            }
    }
}

/// How the budget of one iteration is split between the counts and the sums.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Split {
    /// Count and sums are one vector with noise of the same scale (d·r + 1)/ε: the paper.
    Joint,
    /// The split that minimizes the predicted error of a center, by formulas in d and the kind of sum.
    Optimal,
    /// This share for the counts.
    CountShare(f64),
}

/// Unchecked parameters of `DPLloyd`; [`check`](Self::check) turns them into a [`DpLloyd`].
#[derive(Clone, Debug, PartialEq)]
#[must_use = "parameters do nothing until `check` is called"]
pub struct DpLloydParams {
    pub(super) n_clusters: usize,
    pub(super) budget: Budget,
    pub(super) noise: Noise,
    pub(super) sums: Sums,
    pub(super) split: Split,
    pub(super) schedule: BudgetSchedule,
    pub(super) n_iterations: usize,
    pub(super) init: Init,
    pub(super) n_hint: Option<u64>,
}

impl DpLloydParams {
    /// The best variant: bounded-radius sums, 8 iterations, Gaussian noise if the budget has a δ and Laplace
    /// noise if it has none.
    pub const fn new(n_clusters: usize, budget: Budget) -> Self {
        Self {
            n_clusters,
            budget,
            noise: if budget.delta.is_zero() {
                Noise::Laplace
            } else {
                Noise::Gaussian
            },
            sums: Sums::BoundedRadius(RadiusSchedule {
                first: None,
                decay: 0.8,
                floor: 0.4,
            }),
            split: Split::Optimal,
            schedule: BudgetSchedule::Uniform,
            n_iterations: 8,
            init: Init::SpherePacking,
            n_hint: None,
        }
    }

    /// As published: Laplace noise of scale (d + 1)·T/ε on counts and sums alike, 5 iterations.
    pub fn paper(n_clusters: usize, budget: Budget) -> Self {
        Self {
            noise: Noise::Laplace,
            sums: Sums::Origin,
            split: Split::Joint,
            n_iterations: 5,
            ..Self::new(n_clusters, budget)
        }
    }

    /// Sets the law of the noise.
    pub const fn noise(mut self, noise: Noise) -> Self {
        self.noise = noise;
        self
    }

    /// Sets which sums are released.
    pub const fn sums(mut self, sums: Sums) -> Self {
        self.sums = sums;
        self
    }

    /// Sets how an iteration's budget is split.
    pub const fn split(mut self, split: Split) -> Self {
        self.split = split;
        self
    }

    /// Sets how the budget is spread over the iterations (default uniform).
    pub const fn schedule(mut self, schedule: BudgetSchedule) -> Self {
        self.schedule = schedule;
        self
    }

    /// Sets the number of iterations, fixed in advance.
    pub const fn n_iterations(mut self, n_iterations: usize) -> Self {
        self.n_iterations = n_iterations;
        self
    }

    /// Sets where the iterations start (default sphere packing).
    pub fn init(mut self, init: Init) -> Self {
        self.init = init;
        self
    }

    /// Sets the public number of records, from public knowledge. Only schedules that need a size use it;
    /// without it they spend a share on a noisy count under add-remove.
    pub const fn n_hint(mut self, n_hint: Option<u64>) -> Self {
        self.n_hint = n_hint;
        self
    }

    /// Checks every field once.
    ///
    /// # Errors
    ///
    /// The [`ParamsError`] of the first field that is out of range.
    pub fn check(self) -> Result<DpLloyd, ParamsError> {
        // No `..`: a new field does not compile until somebody decides its range.
        let Self {
            n_clusters,
            budget,
            noise,
            sums,
            split,
            schedule: _, // any rule
            n_iterations,
            init: _, // checked against the domain's dimension by `plan` and `fit`
            n_hint,
        } = &self;
        check_clusters(*n_clusters)?;
        if *noise == Noise::Gaussian && budget.delta.is_zero() {
            return Err(ParamsError::NoDelta);
        }
        if let Sums::BoundedRadius(radii) = sums {
            if let Some(first) = radii.first
                && !(first > 0.0 && first.is_finite())
            {
                return Err(ParamsError::Radius {
                    name: "the first radius",
                    got: first,
                });
            }
            for (name, share) in [("decay", radii.decay), ("floor", radii.floor)] {
                if !(share > 0.0 && share <= 1.0) {
                    return Err(ParamsError::Share { name, got: share });
                }
            }
        }
        if let Split::CountShare(share) = split
            && !(*share > 0.0 && *share < 1.0)
        {
            return Err(ParamsError::Share {
                name: "count_share",
                got: *share,
            });
        }
        if !(1..=MAX_ITERATIONS).contains(n_iterations) {
            return Err(ParamsError::Iterations { got: *n_iterations });
        }
        if *n_hint == Some(0) {
            return Err(ParamsError::SizeHint);
        }
        Ok(DpLloyd { params: self })
    }
}
