//! Parameters, checked once, and the rules behind their defaults.

use dp_core::Budget;

use super::fit::VoteRefine;
use super::rules::Start;
use crate::error::{MAX_ITERATIONS, ParamsError};
use crate::memory::check_clusters;

/// Unchecked parameters; [`check`](Self::check) turns them into a [`VoteRefine`].
///
/// What is not set follows [`Rules`](super::Rules), which read public numbers alone.
#[derive(Clone, Debug, PartialEq)]
#[must_use = "parameters do nothing until `check` is called"]
pub struct VoteRefineParams {
    pub(super) n_clusters: usize,
    pub(super) budget: Budget,
    pub(super) n_hint: Option<u64>,
    pub(super) n_candidates: Option<usize>,
    pub(super) n_rounds: Option<usize>,
    pub(super) first_steps: Option<usize>,
    pub(super) last_steps: Option<usize>,
    pub(super) vote_share: Option<f64>,
    pub(super) over_provision: Option<f64>,
    pub(super) start: Option<Start>,
    pub(super) grid_share: f64,
    pub(super) grid_bias: f64,
    pub(super) shape_share: f64,
    pub(super) radius_share: f64,
    pub(super) settling: f64,
    pub(super) quantile: f64,
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
            n_rounds: None,
            first_steps: None,
            last_steps: None,
            vote_share: None,
            over_provision: None,
            start: None,
            grid_share: 0.8,
            grid_bias: 2.0,
            shape_share: 0.05,
            radius_share: 0.08,
            settling: 1.0,
            quantile: 0.75,
            drift: 0.25,
            spread: 0.7,
            threshold: 2.5,
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

    /// Sets where the steps start (default: a grid in up to three columns, votes in more).
    pub const fn start(mut self, start: Start) -> Self {
        self.start = Some(start);
        self
    }

    /// Sets the number of rounds of votes.
    pub const fn n_rounds(mut self, n_rounds: usize) -> Self {
        self.n_rounds = Some(n_rounds);
        self
    }

    /// Sets the number of steps before and after centers are merged.
    pub const fn steps(mut self, first: usize, last: usize) -> Self {
        self.first_steps = Some(first);
        self.last_steps = Some(last);
        self
    }

    /// Sets the shares of the budget that go to the shape and to the votes; the refinement takes the rest.
    pub const fn shares(mut self, shape: f64, votes: f64) -> Self {
        self.shape_share = shape;
        self.vote_share = Some(votes);
        self
    }

    /// Sets how many centers are carried before the merge, in units of k.
    pub const fn over_provision(mut self, over_provision: f64) -> Self {
        self.over_provision = Some(over_provision);
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
            "rounds" => self.n_rounds = Some(whole),
            "first-steps" => self.first_steps = Some(whole),
            "last-steps" => self.last_steps = Some(whole),
            "start" => {
                let start = if whole == 0 {
                    Start::Votes
                } else {
                    Start::Grid
                };
                self.start = Some(start);
            }
            "grid-bias" => self.grid_bias = value,
            "grid-share" => self.grid_share = value,
            "shape-share" => self.shape_share = value,
            "vote-share" => self.vote_share = Some(value),
            "radius-share" => self.radius_share = value,
            "settling" => self.settling = value,
            "quantile" => self.quantile = value,
            "over-provision" => self.over_provision = Some(value),
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
            start: _, // either
            grid_share,
            grid_bias,
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
        check_clusters(*n_clusters)?;
        if *n_hint == Some(0) {
            return Err(ParamsError::SizeHint);
        }
        if let Some(got) = *n_candidates
            && !(1..=MAX_CANDIDATES).contains(&got)
        {
            return Err(ParamsError::Candidates { got });
        }
        for got in [*n_rounds, *first_steps, *last_steps].into_iter().flatten() {
            if !(1..=MAX_ITERATIONS).contains(&got) {
                return Err(ParamsError::Iterations { got });
            }
        }
        let shares = [
            ("grid_share", *grid_share),
            ("shape_share", *shape_share),
            ("vote_share", vote_share.unwrap_or(0.5)),
            ("radius_share", *radius_share),
            ("quantile", *quantile),
            (
                "shape_share + vote_share",
                shape_share + vote_share.unwrap_or(0.3),
            ),
        ];
        for (name, got) in shares {
            if !(got > 0.0 && got < 1.0) {
                return Err(ParamsError::Share { name, got });
            }
        }
        let factors = [
            ("over_provision", over_provision.unwrap_or(1.0), 1.0),
            ("settling", *settling, 1e-6),
            ("spread", *spread, 1e-6),
            ("growth", *growth, 1e-6),
            ("grid_bias", *grid_bias, 1e-6),
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
