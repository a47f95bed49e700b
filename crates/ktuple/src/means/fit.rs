//! The run: plan, blocks, tuples, rough centers, refined centers.

use dp_core::{Budget, Event, NeighboringRelation, Session};
use metric_space::{Frame, LatticeSource};
use ndarray::Array2;
use rand::RngCore;

use super::params::PrivateKMeansParams;
use super::refine::RefineSpend;
use crate::aggregator::{Aggregate, Refusal, TupleAggregator, TupleSpend};
use crate::blocks::{Blocks, KMeans, Sampling};
use crate::error::{FitError, ParamsError};
use crate::planner::{Prospect, comfortable_blocks};
use crate::tuples::{TupleShape, share};

/// Checked `PrivatekMeans`.
#[derive(Clone, Debug, PartialEq)]
pub struct PrivateKMeans {
    pub(super) params: PrivateKMeansParams,
}

/// What a fit answered.
#[derive(Clone, Debug, PartialEq)]
pub enum KMeansOutcome {
    /// Centers.
    Released {
        /// Shape (k, d), scaled, inside the domain.
        centers: Array2<f64>,
        /// k noisy counts of the clusters before the last move.
        noisy_counts: Vec<f64>,
    },
    /// ⊥.
    Refused(Refusal),
}

/// How a run divides its budget, from public facts.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Division {
    pub(super) n_blocks: usize,
    pub(super) tuples: Option<TupleSpend>,
    pub(super) refine: RefineSpend,
}

impl PrivateKMeans {
    /// The parameters it was checked with.
    pub const fn params(&self) -> &PrivateKMeansParams {
        &self.params
    }

    /// What a fit would spend.
    ///
    /// # Errors
    ///
    /// [`ParamsError`] if the budget, the number of blocks or the public number of records is too small.
    pub fn plan(
        &self,
        frame: &Frame,
        relation: NeighboringRelation,
    ) -> Result<Vec<Event>, ParamsError> {
        self.events(&self.division(frame, relation)?, frame, relation)
    }

    fn events(
        &self,
        division: &Division,
        frame: &Frame,
        relation: NeighboringRelation,
    ) -> Result<Vec<Event>, ParamsError> {
        let mut events = Vec::new();
        if let Some(spend) = division.tuples {
            let shape = self.shape(frame, division.n_blocks);
            events.extend(self.params.aggregator.plan(shape, relation, spend)?);
        }
        events.extend(self.params.refine.plan(division.refine, relation)?);
        Ok(events)
    }

    /// t, the number of blocks that a fit would use: public.
    ///
    /// # Errors
    ///
    /// As [`plan`](Self::plan).
    pub fn n_blocks(
        &self,
        frame: &Frame,
        relation: NeighboringRelation,
    ) -> Result<usize, ParamsError> {
        Ok(self.division(frame, relation)?.n_blocks)
    }

    /// Whether a fit could find centers at all, and from what separation on: from `n_hint` and the other public facts, without any data.
    ///
    /// The cost is that of a plan. Where it [is not feasible](Prospect::is_feasible) a fit would nearly surely end in ⊥, with its
    /// budget spent.
    ///
    /// # Errors
    ///
    /// [`ParamsError`] as [`plan`](Self::plan) (the budget is too small for any answer), or if there is no `n_hint`.
    pub fn prospect(
        &self,
        frame: &Frame,
        relation: NeighboringRelation,
    ) -> Result<Prospect, ParamsError> {
        let params = &self.params;
        let n_blocks = self.n_blocks(frame, relation)? as u64;
        let n_records = params.n_hint.ok_or(ParamsError::Count {
            name: "n_hint",
            least: 1,
            got: 0,
        })?;
        let drawn = match params.sampling {
            Sampling::Disjoint => n_records,
            Sampling::WithReplacement { block_size } => n_blocks.saturating_mul(block_size),
        };
        let clusters = (params.n_clusters, frame.dimension());
        let ratio = params.aggregator.tolerance();
        Ok(Prospect::new(drawn, n_blocks, clusters, ratio))
    }

    /// Runs.
    ///
    /// # Privacy
    ///
    /// See the [module](crate::means). Total: no record makes it fail, whatever its values are.
    ///
    /// # Errors
    ///
    /// [`FitError`] if parameters do not fit or the session's budget does not cover the plan, both before a record is read; or
    /// if the source cannot be read, or holds fewer records than `n_hint` says where that sets the loss (with replacement, under
    /// replace-one, where their number is public).
    ///
    /// # Complexity
    ///
    /// O(n·k·d) for the blocks and each round, O(t²·k·d) for FriendlyCore, t the blocks that show k centers; memory 4·n·d bytes.
    pub fn fit<S: LatticeSource>(
        &self,
        source: &S,
        session: &mut Session<'_>,
        public: &mut dyn RngCore,
    ) -> Result<KMeansOutcome, FitError> {
        let params = &self.params;
        let frame = source.frame();
        let relation = session.relation();
        let division = self.division(frame, relation)?;
        session.admit(&self.events(&division, frame, relation)?)?;
        let rough = match division.tuples {
            None => Array2::zeros((1, frame.dimension())),
            Some(spend) => {
                let solver = KMeans::new(params.n_clusters, params.n_restarts)?;
                let blocks = match params.sampling {
                    Sampling::Disjoint => Blocks::disjoint(source, division.n_blocks, session)?,
                    Sampling::WithReplacement { block_size } => {
                        // The lemma charges draws from as many records as were promised.
                        check_population(source, params.n_hint.unwrap_or(u64::MAX))?;
                        Blocks::with_replacement(source, division.n_blocks, block_size, session)?
                    }
                };
                let tuples = blocks.tuples(&solver, frame, params.n_clusters);
                drop(blocks);
                match params
                    .aggregator
                    .aggregate(&tuples, spend, session, public)?
                {
                    Aggregate::Centers(centers) => inside(frame, centers),
                    Aggregate::Refused(refusal) => return Ok(KMeansOutcome::Refused(refusal)),
                }
            }
        };
        let refined = params
            .refine
            .run(source, &rough, division.refine, session)?;
        Ok(KMeansOutcome::Released {
            centers: refined.centers,
            noisy_counts: refined.noisy_counts,
        })
    }

    fn shape(&self, frame: &Frame, n_blocks: usize) -> TupleShape {
        TupleShape {
            n_tuples: n_blocks,
            n_clusters: self.params.n_clusters,
            dimension: frame.dimension(),
            lattice: frame.lattice(),
        }
    }

    pub(super) fn division(
        &self,
        frame: &Frame,
        relation: NeighboringRelation,
    ) -> Result<Division, ParamsError> {
        let params = &self.params;
        let (epsilon, delta) = (params.budget.epsilon.get(), params.budget.delta.get());
        if params.n_clusters == 1 {
            return Ok(Division {
                n_blocks: 1,
                tuples: None,
                refine: params.refine.spend(epsilon, delta)?,
            });
        }
        if let Sampling::WithReplacement { block_size } = params.sampling {
            return self.printed(frame, relation, block_size);
        }
        let (_, rest) = params.shares();
        let delta_share = share(delta, params.tuple_share).1;
        let delta_rest = dp_core::planted!("ktuple-delta-twice": delta; delta_share);
        let budget = params.tuple_budget()?;
        Ok(Division {
            n_blocks: self.choose_blocks(frame, budget)?,
            tuples: Some(TupleSpend::direct(budget)),
            refine: params.refine.spend(rest, delta_rest)?,
        })
    }

    /// Budgets as printed in Theorem 5.6: (ε/6, δ/(4e^ε)) for the tuples and for all averages together.
    fn printed(
        &self,
        frame: &Frame,
        relation: NeighboringRelation,
        block_size: u64,
    ) -> Result<Division, ParamsError> {
        let params = &self.params;
        if relation != NeighboringRelation::ReplaceOne {
            return Err(ParamsError::ReplacementNeedsReplaceOne);
        }
        let budget = params.tuple_budget()?;
        let n_blocks = self.choose_blocks(frame, budget)?;
        let drawn = (n_blocks as u64).saturating_mul(block_size);
        let needed = drawn.saturating_mul(2);
        let got = params.n_hint.ok_or(ParamsError::NoSize { needed })?;
        if got < needed {
            return Err(ParamsError::TooFewRecords { got, needed });
        }
        Ok(Division {
            n_blocks,
            tuples: Some(TupleSpend::with_replacement(budget, drawn, got)?),
            refine: params
                .refine
                .spend(budget.epsilon.get(), budget.delta.get())?,
        })
    }

    /// t: what was asked for, or a little more than the aggregator needs, or more still where many records are known to be there.
    fn choose_blocks(&self, frame: &Frame, budget: Budget) -> Result<usize, ParamsError> {
        let params = &self.params;
        let held = |n_blocks| self.shape(frame, n_blocks).check_size().map(|()| n_blocks);
        if let Some(n_blocks) = params.n_blocks {
            let aggregator = &params.aggregator;
            aggregator.check_enough(self.shape(frame, n_blocks), budget)?;
            return held(n_blocks);
        }
        let needed = params
            .aggregator
            .tuples_needed(self.shape(frame, 1), budget)?;
        let n_blocks = comfortable_blocks(needed, params.n_hint, params.n_clusters);
        held(usize::try_from(n_blocks).map_err(|_| ParamsError::Infeasible)?)
    }
}

/// Refuses fewer records than the loss was computed for. Their number is public: this is for replace-one alone.
fn check_population<S: LatticeSource>(source: &S, promised: u64) -> Result<(), FitError> {
    let got = source.fold(
        || 0_u64,
        |count, block| *count += block.len() as u64,
        |total, part| *total += part,
    )?;
    if got < promised {
        return Err(ParamsError::Count {
            name: "the number of records, by n_hint,",
            least: promised,
            got,
        }
        .into());
    }
    Ok(())
}

/// Moves released centers into the scaled domain.
fn inside(frame: &Frame, mut centers: Array2<f64>) -> Array2<f64> {
    for mut center in centers.outer_iter_mut() {
        let mut row = center.to_vec();
        frame.domain().clip_scaled(&mut row);
        center.assign(&ndarray::ArrayView1::from(&row));
    }
    centers
}
