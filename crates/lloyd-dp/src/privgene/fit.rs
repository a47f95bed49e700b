//! The rounds.

use dp_core::mechanism::{SelectionMechanism, SelectionRule};
use dp_core::rounding::split;
use dp_core::sensitivity::ScoreWidth;
use dp_core::{Confidential, Epsilon, Event, NeighboringRelation, Session};
use metric_space::{Frame, LatticeSource};
use ndarray::Array2;
use rand::RngCore;

use super::breed::{Breeder, Candidate};
use super::cost::CostScale;
use super::params::PrivGeneParams;
use crate::clustering::Clustering;
use crate::error::{FitError, ParamsError};
use crate::memory::check_centers;
use crate::size::SizedBudget;

/// Factor of the mutations' shift from one round to the next.
const SHIFT_DECAY: f64 = 0.95;

/// Checked `PGkM`.
#[derive(Clone, Debug, PartialEq)]
pub struct PrivGene {
    pub(super) params: PrivGeneParams,
}

/// What each pick spends.
struct Shares {
    /// Each of the m′ picks of rounds 1..R−1.
    pick: Epsilon,
    /// The single pick of round R.
    last: Epsilon,
}

/// The best candidate, and how many rounds it took.
#[derive(Clone, Debug, PartialEq)]
pub struct PrivGeneFit {
    /// Its centers.
    pub clustering: Clustering,
    /// Rounds: set, or by a noisy size that was paid for.
    pub n_rounds: usize,
}

impl PrivGene {
    /// The parameters it was checked with.
    pub const fn params(&self) -> &PrivGeneParams {
        &self.params
    }

    fn sized(&self, relation: NeighboringRelation) -> Result<SizedBudget, ParamsError> {
        let params = &self.params;
        // A size decides about the rounds alone: given rounds need none.
        let known = params.n_hint.or(params.n_rounds.map(|_| 1));
        SizedBudget::new(params.budget.epsilon, known, relation)
    }

    fn shares(&self, epsilon: Epsilon, rounds: usize) -> Result<Shares, ParamsError> {
        let survivors = self.params.survivors;
        let too_small = |_| ParamsError::BudgetTooSmall {
            steps: rounds * survivors,
        };
        let per_round = split(epsilon.get(), &vec![1.0; rounds])[0];
        let pick = split(per_round, &vec![1.0; survivors])[0];
        let pick = dp_core::planted!("pgkm-overspend": per_round; pick);
        Ok(Shares {
            pick: Epsilon::new(pick).map_err(too_small)?,
            last: Epsilon::new(per_round).map_err(too_small)?,
        })
    }

    /// What a fit would spend, from public facts alone: without a public size for 8 rounds (more rounds spend the same in all); the width
    /// of the scores is the widest, it is known round by round.
    ///
    /// # Errors
    ///
    /// [`ParamsError`] if the budget is too small to be divided.
    pub fn plan(
        &self,
        frame: &Frame,
        relation: NeighboringRelation,
    ) -> Result<Vec<Event>, ParamsError> {
        let params = &self.params;
        check_centers(params.n_clusters, frame.dimension())?;
        let sized = self.sized(relation)?;
        let rounds = params.rounds(params.n_hint.map_or(1.0, |n| n as f64));
        let shares = self.shares(sized.epsilon, rounds)?;
        let mut events = Vec::new();
        if let Some(size) = &sized.size {
            events.push(size.event(relation, "number of records"));
        }
        let one = i32::try_from(frame.lattice().units_per_one()).unwrap_or(i32::MAX);
        let corner = vec![vec![one; frame.dimension()]];
        let width = CostScale::new(frame).width(frame, &corner);
        let picks = (rounds - 1) as u64 * params.survivors as u64;
        if picks > 0 {
            let pick = mechanism(width, relation, shares.pick)?;
            events.push(pick.event(relation, "survivor").times(picks));
        }
        events.push(mechanism(width, relation, shares.last)?.event(relation, "best candidate"));
        Ok(events)
    }

    /// Runs the rounds.
    ///
    /// # Privacy
    ///
    /// See the [module](crate::privgene). Total: no record makes it fail, whatever its values are.
    ///
    /// # Errors
    ///
    /// [`FitError`] if the plan is refused, before a record is read; or if the source cannot be read.
    ///
    /// # Complexity
    ///
    /// R passes of O(m·n·k·d), m candidates.
    pub fn fit<S: LatticeSource>(
        &self,
        source: &S,
        session: &mut Session<'_>,
        public: &mut dyn RngCore,
    ) -> Result<PrivGeneFit, FitError> {
        let params = &self.params;
        let frame = source.frame();
        let relation = session.relation();
        session.admit(&self.plan(frame, relation)?)?;
        let sized = self.sized(relation)?;
        let rounds = if params.n_rounds.is_some() {
            params.rounds(1.0)
        } else {
            params.rounds(sized.size(params.n_hint, source, session)?)
        };
        let shares = self.shares(sized.epsilon, rounds)?;
        let best = rounds_with(
            params,
            source,
            rounds,
            public,
            &mut |costs, width, wanted| {
                let (epsilon, purpose) = if wanted == 1 {
                    (shares.last, "best candidate")
                } else {
                    (shares.pick, "survivor")
                };
                pick(
                    session,
                    &mechanism(width, relation, epsilon)?,
                    purpose,
                    &costs,
                    wanted,
                )
            },
        )?;
        Ok(PrivGeneFit {
            clustering: Clustering {
                centers: scaled(frame, &best),
                noisy_counts: None,
            },
            n_rounds: rounds,
        })
    }
}

/// The exponential mechanism for costs in [0, width] per record.
fn mechanism(
    width: u64,
    relation: NeighboringRelation,
    epsilon: Epsilon,
) -> Result<SelectionMechanism, ParamsError> {
    let width = width.saturating_mul(relation.steps());
    let width = ScoreWidth::new(width).map_err(|_| ParamsError::BudgetTooSmall { steps: 1 })?;
    let rule = SelectionRule::Exponential;
    Ok(SelectionMechanism::calibrate(rule, width, epsilon))
}

/// Picks survivors one after another, without replacement.
fn pick(
    session: &mut Session<'_>,
    mechanism: &SelectionMechanism,
    purpose: &str,
    costs: &[i64],
    wanted: usize,
) -> Result<Vec<usize>, FitError> {
    // Positions of the candidates that are left; which ones are left is released.
    let mut left: Vec<usize> = (0..costs.len()).collect();
    let mut chosen = Vec::with_capacity(wanted);
    for _ in 0..wanted {
        let scores: Vec<i64> = left.iter().map(|&i| -costs[i]).collect();
        let at = session.select(mechanism, purpose, &Confidential::new(scores), None)?;
        chosen.push(left.remove(at));
    }
    Ok(chosen)
}

/// The search; `choose` is asked for the survivors of each round, given costs, their width and how many are wanted.
fn rounds_with<S: LatticeSource>(
    params: &PrivGeneParams,
    source: &S,
    rounds: usize,
    public: &mut dyn RngCore,
    choose: &mut dyn FnMut(Vec<i64>, u64, usize) -> Result<Vec<usize>, FitError>,
) -> Result<Candidate, FitError> {
    let frame = source.frame();
    let scale = CostScale::new(frame);
    let breeder = Breeder {
        frame,
        n_clusters: params.n_clusters,
        population: params.population,
    };
    let mut candidates = breeder.first(public);
    let mut shift = params.first_shift;
    for round in 1..=rounds {
        let width = scale.width(frame, &candidates);
        let costs = scale.costs(source, &candidates, width)?;
        let wanted = if round == rounds { 1 } else { params.survivors };
        let survivors = choose(costs, width, wanted)?;
        candidates = survivors
            .into_iter()
            .map(|i| candidates[i].clone())
            .collect();
        if round < rounds {
            candidates = breeder.next(&candidates, shift, public);
            shift *= SHIFT_DECAY;
        }
    }
    Ok(candidates.swap_remove(0))
}

fn scaled(frame: &Frame, candidate: &[i32]) -> Array2<f64> {
    let d = frame.dimension();
    Array2::from_shape_fn((candidate.len() / d, d), |(j, i)| {
        frame.lattice().to_f64(i64::from(candidate[j * d + i]))
    })
}

/// `Gene`: the same search with exact choices: **not private**, for studies of the error. Returns scaled centers.
///
/// # Privacy
///
/// None.
///
/// # Errors
///
/// [`FitError`] if the source cannot be read.
pub fn search_not_private<S: LatticeSource>(
    search: &PrivGene,
    source: &S,
    n_rounds: usize,
    public: &mut dyn RngCore,
) -> Result<Array2<f64>, FitError> {
    let best = rounds_with(
        &search.params,
        source,
        n_rounds.max(1),
        public,
        &mut |costs, _, wanted| {
            let mut order: Vec<usize> = (0..costs.len()).collect();
            order.sort_by_key(|&i| costs[i]);
            order.truncate(wanted);
            Ok(order)
        },
    )?;
    Ok(scaled(source.frame(), &best))
}
