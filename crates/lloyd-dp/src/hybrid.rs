//! The hybrid of a grid and `DPLloyd`: centers from a grid synopsis with half of ε, refined by one iteration with the other half.
//!
//! # What is released, and why it is private
//!
//! A synopsis (see [`grid`](crate::grid)) and one iteration of [`dplloyd`](crate::dplloyd) around centers computed from it, each
//! with half of ε: ε in all by basic composition, the second mechanism being private for every value of what the first released.
//! The iteration within a radius takes Gaussian noise, for all of δ, where there is a δ and that noise is smaller (from about 9 columns on).
//! Which branch runs depends on public numbers and at most on a noisy count that is paid for; it is part of the release.
//! Details in `docs/proofs/hybrid.md`.
//!
//! # Source
//!
//! Su, Cao, Li, Bertino, Jin 2016 (arXiv 1504.05998), Section 6.

use dp_core::mechanism::GaussianSpend;
use dp_core::rounding::split;
use dp_core::{Budget, Epsilon, Event, NeighboringRelation, Session};
use metric_space::{Frame, LatticeSource};
use ndarray::Array2;
use rand::RngCore;

use crate::clustering::Clustering;
use crate::dplloyd::{DpLloyd, DpLloydParams, Noise};
use crate::error::{FitError, ParamsError};
use crate::error_model::hybrid_refines;
use crate::grid::{Grid, GridParams, GridSynopsis, Starts};
use crate::init::Init;
use crate::memory::{check_centers, check_clusters};
use crate::size::SizedBudget;

/// When the grid's centers are refined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// If the error model says that it pays: the paper's conditions (14) and (15), from public numbers.
    Model,
    /// Always.
    Always,
}

/// The iteration that refines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refinement {
    /// As published: sums from the origin, one scale for counts and sums.
    Paper,
    /// Differences clipped to a public radius around the grid's centers, with their own noise.
    BoundedRadius,
}

/// What ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Branch {
    /// The grid with half of ε, then one iteration with the other half.
    Refined,
    /// The grid alone, with all of ε.
    Grid,
}

impl Branch {
    /// The name in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Refined => "refined",
            Self::Grid => "grid",
        }
    }
}

/// Unchecked parameters of the hybrid; [`check`](Self::check) turns them into a [`Hybrid`].
#[derive(Clone, Debug, PartialEq)]
#[must_use = "parameters do nothing until `check` is called"]
pub struct HybridParams {
    n_clusters: usize,
    budget: Budget,
    decision: Decision,
    refinement: Refinement,
    starts: Starts,
    n_hint: Option<u64>,
}

impl HybridParams {
    /// The paper's decision and iteration.
    pub const fn new(n_clusters: usize, budget: Budget) -> Self {
        Self {
            n_clusters,
            budget,
            decision: Decision::Model,
            refinement: Refinement::Paper,
            starts: Starts::Greedy,
            n_hint: None,
        }
    }

    /// Refines always, within a radius.
    pub const fn refine(n_clusters: usize, budget: Budget) -> Self {
        Self {
            decision: Decision::Always,
            refinement: Refinement::BoundedRadius,
            ..Self::new(n_clusters, budget)
        }
    }

    /// Sets when the centers are refined.
    pub const fn decision(mut self, decision: Decision) -> Self {
        self.decision = decision;
        self
    }

    /// Sets the iteration that refines.
    pub const fn refinement(mut self, refinement: Refinement) -> Self {
        self.refinement = refinement;
        self
    }

    /// Sets where the runs on the synopsis start.
    pub const fn starts(mut self, starts: Starts) -> Self {
        self.starts = starts;
        self
    }

    /// Sets the public number of records; without it 2 % of ε go to a noisy count under add-remove.
    pub const fn n_hint(mut self, n_hint: Option<u64>) -> Self {
        self.n_hint = n_hint;
        self
    }

    /// Checks every field once.
    ///
    /// # Errors
    ///
    /// The [`ParamsError`] of the first field that is out of range.
    pub fn check(self) -> Result<Hybrid, ParamsError> {
        check_clusters(self.n_clusters)?;
        if self.n_hint == Some(0) {
            return Err(ParamsError::SizeHint);
        }
        Ok(Hybrid { params: self })
    }
}

/// Checked hybrid.
#[derive(Clone, Debug, PartialEq)]
pub struct Hybrid {
    params: HybridParams,
}

/// Centers, the synopsis, and which branch ran.
#[derive(Clone, Debug, PartialEq)]
pub struct HybridFit {
    /// Centers and the noisy counts that were released last.
    pub clustering: Clustering,
    /// The synopsis: released, free to use again.
    pub synopsis: GridSynopsis,
    /// What ran.
    pub branch: Branch,
}

/// The steps of a branch, ready to run.
struct Steps {
    grid: Grid,
    /// ε of the iteration, if there is one.
    refine: Option<Epsilon>,
}

impl Hybrid {
    /// The parameters it was checked with.
    pub const fn params(&self) -> &HybridParams {
        &self.params
    }

    /// The branch that runs for this public or noisy size.
    #[must_use]
    pub fn branch(&self, n: f64, dimension: usize, relation: NeighboringRelation) -> Branch {
        // Under replace-one noise is twice as large: as if ε were half.
        let epsilon = self.params.budget.epsilon.get() / relation.steps() as f64;
        let refines = match self.params.decision {
            Decision::Always => true,
            Decision::Model => hybrid_refines(self.params.n_clusters, dimension, n, epsilon),
        };
        if refines {
            Branch::Refined
        } else {
            Branch::Grid
        }
    }

    /// What a fit would spend, from public facts alone. Without a public size the branch is not known yet; the refined
    /// one is shown, whose total is the same.
    ///
    /// # Errors
    ///
    /// [`ParamsError`] if the budget is too small, or if a public size asks for more cells than allowed.
    pub fn plan(
        &self,
        frame: &Frame,
        relation: NeighboringRelation,
    ) -> Result<Vec<Event>, ParamsError> {
        let params = &self.params;
        check_centers(params.n_clusters, frame.dimension())?;
        let sized = SizedBudget::new(params.budget.epsilon, params.n_hint, relation)?;
        let branch = params.n_hint.map_or(Branch::Refined, |n| {
            self.branch(n as f64, frame.dimension(), relation)
        });
        let mut events = Vec::new();
        if let Some(size) = &sized.size {
            events.push(size.event(relation, "number of records"));
        }
        // Any size will do where none is known: the events do not depend on it.
        let n = params.n_hint.unwrap_or(1);
        let steps = self.steps(branch, sized.epsilon, n)?;
        events.extend(steps.grid.plan(frame, relation)?);
        if let Some(epsilon) = steps.refine {
            let middle = Array2::zeros((params.n_clusters, frame.dimension()));
            events.extend(
                self.iteration(epsilon, frame, &middle)?
                    .plan(frame, relation)?,
            );
        }
        Ok(events)
    }

    /// Runs the grid and, in the refined branch, the iteration.
    ///
    /// # Privacy
    ///
    /// See the [module](crate::hybrid). Total: no record makes it fail, whatever its values are.
    ///
    /// # Errors
    ///
    /// [`FitError`] if the plan is refused, before a record is read; or if the source cannot be read.
    pub fn fit<S: LatticeSource>(
        &self,
        source: &S,
        session: &mut Session<'_>,
        public: &mut dyn RngCore,
    ) -> Result<HybridFit, FitError> {
        let params = &self.params;
        let frame = source.frame();
        let relation = session.relation();
        session.admit(&self.plan(frame, relation)?)?;
        let sized = SizedBudget::new(params.budget.epsilon, params.n_hint, relation)?;
        let size = sized.size(params.n_hint, source, session)?;
        let branch = self.branch(size, frame.dimension(), relation);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "at least 1, and `as` saturates"
        )]
        let steps = self.steps(branch, sized.epsilon, size.round() as u64)?;
        let fit = steps.grid.fit(source, session, public)?;
        let mut clustering = fit.clustering;
        if let Some(epsilon) = steps.refine {
            let lloyd = self.iteration(epsilon, frame, &clustering.centers)?;
            clustering = lloyd.fit(source, session, public)?;
        }
        Ok(HybridFit {
            clustering,
            synopsis: fit.synopsis,
            branch,
        })
    }

    fn steps(&self, branch: Branch, epsilon: Epsilon, n: u64) -> Result<Steps, ParamsError> {
        let params = &self.params;
        let too_small = |_| ParamsError::BudgetTooSmall { steps: 2 };
        let (grid, refine) = match branch {
            Branch::Grid => (epsilon, None),
            Branch::Refined => {
                let half = split(epsilon.get(), &[1.0, 1.0])[0];
                let half = Epsilon::new(half).map_err(too_small)?;
                let grid = dp_core::planted!("hybrid-halves-not-halved": epsilon; half);
                (grid, Some(half))
            }
        };
        let grid = GridParams::eug(params.n_clusters, Budget::pure(grid))
            .starts(params.starts)
            .n_hint(Some(n))
            // A public size that is too large is refused; a noisy one is paid for already.
            .capped(params.n_hint.is_none())
            .check()?;
        Ok(Steps { grid, refine })
    }

    /// One iteration of `DPLloyd` around these centers (scaled).
    fn iteration(
        &self,
        epsilon: Epsilon,
        frame: &Frame,
        centers: &Array2<f64>,
    ) -> Result<DpLloyd, ParamsError> {
        let params = &self.params;
        let budget = Budget::pure(epsilon);
        let mut given = Array2::zeros(centers.raw_dim());
        for (center, mut out) in centers.rows().into_iter().zip(given.rows_mut()) {
            let original = frame.domain().to_original(&center.to_vec());
            out.assign(&ndarray::ArrayView1::from(&original));
        }
        let lloyd = match params.refinement {
            Refinement::Paper => DpLloydParams::paper(params.n_clusters, budget),
            Refinement::BoundedRadius => {
                let slack = Budget::approx(epsilon, params.budget.delta);
                if quieter_as_gaussian(slack, frame.dimension()) {
                    DpLloydParams::new(params.n_clusters, slack).noise(Noise::Gaussian)
                } else {
                    DpLloydParams::new(params.n_clusters, budget).noise(Noise::Laplace)
                }
            }
        };
        lloyd.n_iterations(1).init(Init::Given(given)).check()
    }
}

/// Whether Gaussian noise on a vector of length 1 in d coordinates, which may be √d long in L1, has less variance than Laplace noise of
/// the same budget.
pub(crate) fn quieter_as_gaussian(budget: Budget, dimension: usize) -> bool {
    let epsilon = budget.epsilon.get();
    let laplace = 2.0 * dimension as f64 / (epsilon * epsilon);
    let gaussian = |spend: GaussianSpend| 1.0 / (2.0 * spend.rho().get());
    budget
        .gaussian()
        .is_some_and(|spend| gaussian(spend) <= laplace)
}

#[cfg(test)]
mod tests;
