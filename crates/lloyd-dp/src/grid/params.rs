//! Parameters of the grid algorithms, checked once.

use dp_core::Budget;

use super::fit::Grid;
use super::rule::CellRule;
use super::solve::{Starts, SynopsisSolverParams};
use crate::error::ParamsError;

/// Which cells get noise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Every cell: pure ε.
    Dense,
    /// Occupied cells, released where the noisy count reaches a threshold: (ε, δ).
    Sparse,
}

/// Unchecked parameters of a grid algorithm; [`check`](Self::check) turns them into a [`Grid`].
#[derive(Clone, Debug, PartialEq)]
#[must_use = "parameters do nothing until `check` is called"]
pub struct GridParams {
    pub(super) budget: Budget,
    pub(super) rule: CellRule,
    pub(super) layout: Layout,
    pub(super) n_hint: Option<u64>,
    pub(super) max_cells: usize,
    /// Cut a grid that is too large off instead of refusing it: for sizes that were paid for already.
    pub(super) capped: bool,
    pub(super) solver: SynopsisSolverParams,
}

/// Most cells unless a caller says otherwise: about 1 GB while a synopsis of ten columns is made and clustered.
const MAX_CELLS: usize = 10_000_000;

impl GridParams {
    /// This rule for the number of cells, dense, greedy starts.
    pub const fn new(n_clusters: usize, budget: Budget, rule: CellRule) -> Self {
        Self {
            budget,
            rule,
            layout: Layout::Dense,
            n_hint: None,
            max_cells: MAX_CELLS,
            capped: false,
            solver: SynopsisSolverParams::new(n_clusters),
        }
    }

    /// `UGkM`: M = Nε/10.
    pub const fn ug(n_clusters: usize, budget: Budget) -> Self {
        Self::new(n_clusters, budget, CellRule::UG)
    }

    /// `EUGkM`: M = (Nε/10)^(2d/(2+d)).
    pub const fn eug(n_clusters: usize, budget: Budget) -> Self {
        Self::new(n_clusters, budget, CellRule::EUG)
    }

    /// The rule that depends on k.
    pub const fn grid_k(n_clusters: usize, budget: Budget) -> Self {
        Self::new(n_clusters, budget, CellRule::GRID_K)
    }

    /// `EUGkM`'s cells, of which only occupied ones are kept: needs δ.
    pub const fn sparse(n_clusters: usize, budget: Budget) -> Self {
        Self {
            layout: Layout::Sparse,
            ..Self::new(n_clusters, budget, CellRule::EUG)
        }
    }

    /// Sets the rule for the number of cells.
    pub const fn rule(mut self, rule: CellRule) -> Self {
        self.rule = rule;
        self
    }

    /// Sets which cells get noise.
    pub const fn layout(mut self, layout: Layout) -> Self {
        self.layout = layout;
        self
    }

    /// Sets the public number of records, from public knowledge; without it 2 % of ε go to a noisy count under
    /// add-remove.
    pub const fn n_hint(mut self, n_hint: Option<u64>) -> Self {
        self.n_hint = n_hint;
        self
    }

    /// Sets the most cells that a dense grid may have (default ten million).
    pub const fn max_cells(mut self, max_cells: usize) -> Self {
        self.max_cells = max_cells;
        self
    }

    /// Cuts a grid that is too large off instead of refusing it.
    pub(crate) const fn capped(mut self, capped: bool) -> Self {
        self.capped = capped;
        self
    }

    /// Sets how the synopsis is clustered.
    pub const fn solver(mut self, solver: SynopsisSolverParams) -> Self {
        self.solver = solver;
        self
    }

    /// Sets where the runs on the synopsis start.
    pub const fn starts(mut self, starts: Starts) -> Self {
        self.solver = self.solver.starts(starts);
        self
    }

    /// Checks every field once.
    ///
    /// # Errors
    ///
    /// The [`ParamsError`] of the first field that is out of range.
    pub fn check(self) -> Result<Grid, ParamsError> {
        let Self {
            budget,
            rule,
            layout,
            n_hint,
            max_cells,
            capped: _, // set by this crate alone
            solver,
        } = &self;
        match *rule {
            CellRule::Uniform { theta: factor }
            | CellRule::Extended { theta: factor }
            | CellRule::ClusterAware { bias: factor } => {
                if !(factor > 0.0 && factor.is_finite()) {
                    return Err(ParamsError::CellFactor { got: factor });
                }
            }
            CellRule::PerAxis(m) => {
                if !(1..=super::MAX_CELLS_PER_AXIS).contains(&m) {
                    return Err(ParamsError::CellsPerAxis { got: m });
                }
            }
        }
        if *layout == Layout::Sparse && budget.delta.is_zero() {
            return Err(ParamsError::NoThresholdDelta);
        }
        if *n_hint == Some(0) {
            return Err(ParamsError::SizeHint);
        }
        if *max_cells == 0 {
            return Err(ParamsError::TooManyCells {
                cells: 1.0,
                most: 0,
            });
        }
        let solver = solver.clone().check()?;
        Ok(Grid {
            params: self,
            solver,
        })
    }
}
