//! Parameters of the genetic search, checked once.

use dp_core::Budget;

use super::fit::PrivGene;
use crate::error::ParamsError;
use crate::memory::check_clusters;

/// Unchecked parameters of `PGkM`; [`check`](Self::check) turns them into a [`PrivGene`].
#[derive(Clone, Debug, PartialEq)]
#[must_use = "parameters do nothing until `check` is called"]
pub struct PrivGeneParams {
    pub(super) n_clusters: usize,
    pub(super) budget: Budget,
    pub(super) population: usize,
    pub(super) survivors: usize,
    pub(super) n_rounds: Option<usize>,
    pub(super) first_shift: f64,
    pub(super) n_hint: Option<u64>,
}

/// Fewest rounds.
const MIN_ROUNDS: usize = 8;

/// ξ: rounds are ξNε/m′.
const ROUNDS_FACTOR: f64 = 1.25e-3;

impl PrivGeneParams {
    /// As published: 200 candidates, 10 survivors, max(8, ⌊1.25·10⁻³·Nε/10⌋) rounds.
    pub const fn new(n_clusters: usize, budget: Budget) -> Self {
        Self {
            n_clusters,
            budget,
            population: 200,
            survivors: 10,
            n_rounds: None,
            first_shift: 0.5,
            n_hint: None,
        }
    }

    /// Sets the number of candidates (default 200) and survivors (default 10) of a round.
    pub const fn population(mut self, population: usize, survivors: usize) -> Self {
        self.population = population;
        self.survivors = survivors;
        self
    }

    /// Sets the number of rounds, fixed in advance.
    pub const fn n_rounds(mut self, n_rounds: usize) -> Self {
        self.n_rounds = Some(n_rounds);
        self
    }

    /// Sets the largest shift of a coordinate by a mutation in the first round (default 0.5 in the scaled domain); it shrinks by
    /// 0.95 per round.
    pub const fn first_shift(mut self, first_shift: f64) -> Self {
        self.first_shift = first_shift;
        self
    }

    /// Sets the public number of records; without it, and without a number of rounds, 2 % of ε go to a noisy count
    /// under add-remove.
    pub const fn n_hint(mut self, n_hint: Option<u64>) -> Self {
        self.n_hint = n_hint;
        self
    }

    /// Rounds for a public or noisy size.
    pub(super) fn rounds(&self, n: f64) -> usize {
        let epsilon = self.budget.epsilon.get();
        self.n_rounds.unwrap_or_else(|| {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "`as` saturates, and a NaN becomes 0"
            )]
            let rounds = (ROUNDS_FACTOR * n * epsilon / self.survivors as f64).floor() as usize;
            rounds.clamp(MIN_ROUNDS, crate::error::MAX_ITERATIONS)
        })
    }

    /// Checks every field once.
    ///
    /// # Errors
    ///
    /// The [`ParamsError`] of the first field that is out of range.
    pub fn check(self) -> Result<PrivGene, ParamsError> {
        let Self {
            n_clusters,
            budget: _, // checked when it was made
            population,
            survivors,
            n_rounds,
            first_shift,
            n_hint,
        } = &self;
        check_clusters(*n_clusters)?;
        if !(2..=100_000).contains(population) {
            return Err(ParamsError::Population {
                name: "population",
                got: *population,
            });
        }
        if *survivors == 0 || survivors >= population {
            return Err(ParamsError::Population {
                name: "survivors",
                got: *survivors,
            });
        }
        if let Some(got) = *n_rounds
            && !(1..=crate::error::MAX_ITERATIONS).contains(&got)
        {
            return Err(ParamsError::Iterations { got });
        }
        if !(*first_shift > 0.0 && *first_shift <= 2.0) {
            return Err(ParamsError::Radius {
                name: "first_shift",
                got: *first_shift,
            });
        }
        if *n_hint == Some(0) {
            return Err(ParamsError::SizeHint);
        }
        Ok(PrivGene { params: self })
    }
}
