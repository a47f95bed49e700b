//! Parameters, checked once, and the rules behind their defaults.

use dp_core::Budget;

use super::fit::VoteRefine;
use crate::error::{MAX_ITERATIONS, ParamsError};

/// Unchecked parameters; [`check`](Self::check) turns them into a [`VoteRefine`].
///
/// What is not set follows rules that read public numbers alone. The rules were chosen on synthetic data: see
/// `cargo xtask study vote-refine`.
#[derive(Clone, Debug, PartialEq)]
#[must_use = "parameters do nothing until `check` is called"]
pub struct VoteRefineParams {
    pub(super) n_clusters: usize,
    pub(super) budget: Budget,
    pub(super) n_hint: Option<u64>,
    pub(super) n_candidates: Option<usize>,
    pub(super) n_rounds: usize,
    pub(super) first_steps: usize,
    pub(super) last_steps: usize,
    pub(super) shape_share: f64,
    pub(super) vote_share: f64,
    pub(super) radius_share: f64,
    pub(super) settling: f64,
    pub(super) quantile: f64,
    pub(super) over_provision: f64,
    pub(super) drift: f64,
    pub(super) spread: f64,
    pub(super) threshold: f64,
    pub(super) growth: f64,
}

/// Most candidates of a round: more would take long without finding more.
pub(super) const MAX_CANDIDATES: usize = 1 << 20;

impl VoteRefineParams {
    /// The defaults.
    pub const fn new(n_clusters: usize, budget: Budget) -> Self {
        Self {
            n_clusters,
            budget,
            n_hint: None,
            n_candidates: None,
            n_rounds: 2,
            first_steps: 3,
            last_steps: 3,
            shape_share: 0.06,
            vote_share: 0.4,
            radius_share: 0.08,
            settling: 0.4,
            quantile: 0.9,
            over_provision: 2.0,
            drift: 0.25,
            spread: 0.8,
            threshold: 2.0,
            growth: 1.0,
        }
    }

    /// Sets the public number of records, from public knowledge; without it 2 % of ε go to a noisy count under add-remove.
    pub const fn n_hint(mut self, n_hint: Option<u64>) -> Self {
        self.n_hint = n_hint;
        self
    }

    /// Sets the number of candidates of a round.
    pub const fn n_candidates(mut self, n_candidates: Option<usize>) -> Self {
        self.n_candidates = n_candidates;
        self
    }

    /// Sets the number of rounds of votes.
    pub const fn n_rounds(mut self, n_rounds: usize) -> Self {
        self.n_rounds = n_rounds;
        self
    }

    /// Sets the number of steps before and after centers are merged.
    pub const fn steps(mut self, first: usize, last: usize) -> Self {
        self.first_steps = first;
        self.last_steps = last;
        self
    }

    /// Sets the shares of the budget that go to the shape and to the votes; the refinement takes the rest.
    pub const fn shares(mut self, shape: f64, votes: f64) -> Self {
        self.shape_share = shape;
        self.vote_share = votes;
        self
    }

    /// Sets how many centers are carried before the merge, in units of k.
    pub const fn over_provision(mut self, over_provision: f64) -> Self {
        self.over_provision = over_provision;
        self
    }

    /// Sets the share of records that lie within the radius of a step.
    pub const fn quantile(mut self, quantile: f64) -> Self {
        self.quantile = quantile;
        self
    }

    /// Sets the share of a step that goes to its radius.
    pub const fn radius_share(mut self, share: f64) -> Self {
        self.radius_share = share;
        self
    }

    /// Every number that a run in so many columns uses, by name, for reports.
    #[must_use]
    pub fn used(&self, dimension: usize) -> Vec<(&'static str, f64)> {
        let _ = dimension;
        vec![
            ("rounds", self.n_rounds as f64),
            ("first_steps", self.first_steps as f64),
            ("last_steps", self.last_steps as f64),
            ("shape_share", self.shape_share),
            ("vote_share", self.vote_share),
            ("radius_share", self.radius_share),
            ("settling", self.settling),
            ("quantile", self.quantile),
            ("over_provision", self.over_provision),
            ("drift", self.drift),
            ("spread", self.spread),
            ("threshold", self.threshold),
            ("growth", self.growth),
        ]
    }

    /// Sets one of the numbers that studies vary, by its name; false if there is none of that name.
    #[doc(hidden)]
    #[must_use]
    pub fn vary(&mut self, name: &str, value: f64) -> bool {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "`as` saturates, and `check` refuses what is out of range"
        )]
        let whole = value as usize;
        match name {
            "candidates" => self.n_candidates = Some(whole),
            "rounds" => self.n_rounds = whole,
            "first-steps" => self.first_steps = whole,
            "last-steps" => self.last_steps = whole,
            "shape-share" => self.shape_share = value,
            "vote-share" => self.vote_share = value,
            "radius-share" => self.radius_share = value,
            "settling" => self.settling = value,
            "quantile" => self.quantile = value,
            "over-provision" => self.over_provision = value,
            "drift" => self.drift = value,
            "spread" => self.spread = value,
            "threshold" => self.threshold = value,
            "growth" => self.growth = value,
            _ => return false,
        }
        true
    }

    /// Checks every field once.
    ///
    /// # Errors
    ///
    /// The [`ParamsError`] of the first field that is out of range.
    pub fn check(self) -> Result<VoteRefine, ParamsError> {
        let Self {
            n_clusters,
            budget: _, // any; without δ noise is Laplace
            n_hint,
            n_candidates,
            n_rounds,
            first_steps,
            last_steps,
            shape_share,
            vote_share,
            radius_share,
            settling,
            quantile,
            over_provision,
            drift,
            spread,
            threshold,
            growth,
        } = &self;
        if *n_clusters == 0 {
            return Err(ParamsError::NoClusters);
        }
        if *n_hint == Some(0) {
            return Err(ParamsError::SizeHint);
        }
        if let Some(got) = *n_candidates
            && !(1..=MAX_CANDIDATES).contains(&got)
        {
            return Err(ParamsError::Candidates { got });
        }
        for got in [*n_rounds, *first_steps, *last_steps] {
            if !(1..=MAX_ITERATIONS).contains(&got) {
                return Err(ParamsError::Iterations { got });
            }
        }
        let shares = [
            ("shape_share", *shape_share),
            ("vote_share", *vote_share),
            ("radius_share", *radius_share),
            ("quantile", *quantile),
            ("shape_share + vote_share", shape_share + vote_share),
        ];
        for (name, got) in shares {
            if !(got > 0.0 && got < 1.0) {
                return Err(ParamsError::Share { name, got });
            }
        }
        let factors = [
            ("over_provision", *over_provision, 1.0),
            ("settling", *settling, 1e-6),
            ("spread", *spread, 1e-6),
            ("growth", *growth, 1e-6),
            ("drift", *drift, 0.0),
            ("threshold", *threshold, 0.0),
        ];
        for (name, got, least) in factors {
            if !(got >= least && got <= 1e6) {
                return Err(ParamsError::Factor { name, got, least });
            }
        }
        Ok(VoteRefine { params: self })
    }
}
