//! From records to a synopsis, and from a synopsis to centers.

use dp_core::mechanism::{LaplaceMechanism, ThresholdMechanism};
use dp_core::sensitivity::L1Sensitivity;
use dp_core::{Budget, Confidential, Event, NeighboringRelation, Session};
use metric_space::{Frame, LatticeSource};
use rand::RngCore;

use super::count::{self, Cells};
use super::params::{GridParams, Layout};
use super::solve::SynopsisSolver;
use super::synopsis::{CellCounts, GridSynopsis, number_of_cells};
use crate::clustering::Clustering;
use crate::error::{FitError, ParamsError};
use crate::memory::check_centers;
use crate::size::SizedBudget;

/// Checked grid algorithm: holds parameters, no generator and no state between fits.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    pub(super) params: GridParams,
    pub(super) solver: SynopsisSolver,
}

/// Centers and the synopsis they were found on.
#[derive(Clone, Debug, PartialEq)]
pub struct GridFit {
    /// Centers and the noisy counts of their cells.
    pub clustering: Clustering,
    /// The synopsis: released, free to use again.
    pub synopsis: GridSynopsis,
}

/// The mechanism of the counts.
enum Mechanism {
    Dense(LaplaceMechanism),
    Sparse(ThresholdMechanism),
}

impl Mechanism {
    fn scale(&self) -> f64 {
        match self {
            Self::Dense(laplace) => laplace.scale(),
            Self::Sparse(threshold) => threshold.scale(),
        }
    }
}

/// Everything that is fixed before a record is read.
struct Parts {
    sized: SizedBudget,
    mechanism: Mechanism,
}

impl Grid {
    /// The parameters it was checked with.
    pub const fn params(&self) -> &GridParams {
        &self.params
    }

    /// How a synopsis is clustered.
    #[must_use]
    pub const fn solver(&self) -> &SynopsisSolver {
        &self.solver
    }

    /// What a fit would spend, from public facts alone.
    ///
    /// # Errors
    ///
    /// [`ParamsError`] if the budget is too small, or if a public size asks for more cells than allowed.
    pub fn plan(
        &self,
        frame: &Frame,
        relation: NeighboringRelation,
    ) -> Result<Vec<Event>, ParamsError> {
        check_centers(self.solver().n_clusters(), frame.dimension())?;
        let parts = self.parts(relation)?;
        if let Some(n) = self.params.n_hint {
            self.cells_per_axis(n as f64, &parts.mechanism, frame.dimension(), true)?;
        }
        let mut events = Vec::new();
        if let Some(size) = &parts.sized.size {
            events.push(size.event(relation, "number of records"));
        }
        events.push(match &parts.mechanism {
            Mechanism::Dense(laplace) => laplace.event(relation, "cell counts"),
            Mechanism::Sparse(threshold) => threshold.event("occupied cells"),
        });
        Ok(events)
    }

    /// Cells per axis that a grid for `n` records would have; `n` is public.
    ///
    /// # Errors
    ///
    /// As [`plan`](Self::plan).
    pub fn planned_cells_per_axis(
        &self,
        n: u64,
        frame: &Frame,
        relation: NeighboringRelation,
    ) -> Result<u64, ParamsError> {
        let parts = self.parts(relation)?;
        self.cells_per_axis(n as f64, &parts.mechanism, frame.dimension(), true)
    }

    /// Releases a synopsis.
    ///
    /// # Privacy
    ///
    /// See the [module](crate::grid): the counts, and the number of records where it is not public, come out of the session.
    /// Total: no record makes it fail, whatever its values are.
    ///
    /// # Errors
    ///
    /// [`FitError`] if the plan is refused, before a record is read; or if the source cannot be read.
    ///
    /// # Complexity
    ///
    /// One pass (two if a size is counted), O(n·d + M) time; O(M) memory, whatever the number of threads.
    ///
    /// # Panics
    ///
    /// Never: counts are as many as cells.
    pub fn synopsis<S: LatticeSource>(
        &self,
        source: &S,
        session: &mut Session<'_>,
    ) -> Result<GridSynopsis, FitError> {
        let frame = source.frame();
        let relation = session.relation();
        session.admit(&self.plan(frame, relation)?)?;
        let d = frame.dimension();
        let parts = self.parts(relation)?;
        let n = parts.sized.size(self.params.n_hint, source, session)?;
        // A size that is known only now caps the grid instead of refusing it: the count is paid for already.
        let m = self.cells_per_axis(n, &parts.mechanism, d, self.params.n_hint.is_some())?;
        let cells = Cells::new(m, frame.lattice().units_per_one());
        let counts = match &parts.mechanism {
            Mechanism::Dense(laplace) => {
                let n_cells = number_of_cells(m, d).and_then(|cells| usize::try_from(cells).ok());
                let n_cells = n_cells.unwrap_or(1);
                let exact = count::dense(source, cells, n_cells)?;
                let mut noisy =
                    session.laplace(laplace, "cell counts", &Confidential::new(exact))?;
                // As many as were asked about; only the tape of another run can hold more or fewer.
                noisy.resize(n_cells, 0);
                CellCounts::Dense(noisy.into_iter().map(saturate).collect())
            }
            Mechanism::Sparse(threshold) => {
                let exact = count::sparse(source, cells)?;
                let noisy =
                    session.threshold(threshold, "occupied cells", &Confidential::new(exact))?;
                let key = |key: Vec<i64>| key.into_iter().map(i64::unsigned_abs).collect();
                CellCounts::Sparse(
                    noisy
                        .into_iter()
                        .map(|(cell, count)| (key(cell), saturate(count)))
                        .collect(),
                )
            }
        };
        let synopsis = GridSynopsis::new(d, m, parts.mechanism.scale(), counts);
        Ok(synopsis.expect("as many counts as cells, in order, and a scale that was drawn from"))
    }

    /// Releases a synopsis and clusters it.
    ///
    /// # Privacy
    ///
    /// As [`synopsis`](Self::synopsis); clustering it is post-processing.
    ///
    /// # Errors
    ///
    /// As [`synopsis`](Self::synopsis).
    pub fn fit<S: LatticeSource>(
        &self,
        source: &S,
        session: &mut Session<'_>,
        public: &mut dyn RngCore,
    ) -> Result<GridFit, FitError> {
        let synopsis = self.synopsis(source, session)?;
        Ok(GridFit {
            clustering: self.solver.cluster(&synopsis, public),
            synopsis,
        })
    }

    fn parts(&self, relation: NeighboringRelation) -> Result<Parts, ParamsError> {
        let refused = || ParamsError::BudgetTooSmall { steps: 2 };
        let params = &self.params;
        Ok(match params.layout {
            Layout::Dense => {
                let sized = SizedBudget::new(params.budget.epsilon, params.n_hint, relation)?;
                let steps = relation.steps();
                let steps = dp_core::planted!("grid-replace-as-remove": 1; steps);
                let sensitivity = L1Sensitivity::new(steps).map_err(|_| refused())?;
                let laplace = LaplaceMechanism::calibrate(sensitivity, sized.epsilon)?;
                Parts {
                    sized,
                    mechanism: Mechanism::Dense(laplace),
                }
            }
            Layout::Sparse => {
                let sized = SizedBudget::new(params.budget.epsilon, params.n_hint, relation)?;
                // Proved under add-remove.
                let budget = Budget::approx(sized.epsilon, params.budget.delta)
                    .converted(relation, NeighboringRelation::AddRemove)
                    .ok_or_else(refused)?;
                let threshold = ThresholdMechanism::calibrate(budget.epsilon, budget.delta)?;
                Parts {
                    sized,
                    mechanism: Mechanism::Sparse(threshold),
                }
            }
        })
    }

    /// Cells per axis for a public or noisy size; more cells than allowed are refused or cut off.
    fn cells_per_axis(
        &self,
        n: f64,
        mechanism: &Mechanism,
        d: usize,
        refuse: bool,
    ) -> Result<u64, ParamsError> {
        let params = &self.params;
        let m = params
            .rule
            .per_axis(n, 1.0 / mechanism.scale(), d, self.solver.n_clusters());
        if let Mechanism::Sparse(_) = mechanism {
            // One cell is no grid, and cells cost nothing here.
            return Ok(m.max(2));
        }
        let fits =
            |m: u64| number_of_cells(m, d).is_some_and(|cells| cells <= params.max_cells as u64);
        if fits(m) {
            return Ok(m);
        }
        if refuse && !params.capped {
            return Err(ParamsError::TooManyCells {
                cells: (m as f64).powf(d as f64),
                most: params.max_cells,
            });
        }
        // The largest number that fits, by halving: `fits` holds up to it and not beyond.
        let (mut low, mut high) = (1, m);
        while high - low > 1 {
            let middle = u64::midpoint(low, high);
            if fits(middle) {
                low = middle;
            } else {
                high = middle;
            }
        }
        Ok(low)
    }
}

/// A released count as `i64`; one that does not fit saturates, which is post-processing.
fn saturate(count: i128) -> i64 {
    i64::try_from(count).unwrap_or(if count < 0 { i64::MIN } else { i64::MAX })
}
