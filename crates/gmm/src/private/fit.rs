//! The run: plan, blocks, tuples, rough centers, learner, mixture.

use dp_core::{Budget, Delta, Epsilon, Event, NeighboringRelation, Session, conversion};
use ktuple::blocks::Blocks;
use ktuple::{Aggregate, Refusal, TupleAggregator, TupleShape, TupleSpend};
use metric_space::{Frame, LatticeSource};
use ndarray::{Array1, Array2, Array3, Axis};
use rand::RngCore;

use super::params::PrivateGmmParams;
use crate::em::shape_covariances;
use crate::error::{FitError, ParamsError};
use crate::learner::{Learned, Passes, Prior, Sigmas};
use crate::mixture::GaussianMixture;

/// Checked `PrivatekGMM`.
#[derive(Clone, Debug, PartialEq)]
pub struct PrivateGmm {
    pub(super) params: PrivateGmmParams,
}

/// What a fit answered.
#[derive(Clone, Debug)]
pub enum GmmOutcome {
    /// A mixture.
    Released {
        /// In scaled units, means inside the domain.
        mixture: GaussianMixture,
        /// k noisy counts of the clusters, as they came.
        noisy_counts: Vec<f64>,
    },
    /// ⊥.
    Refused(Refusal),
}

/// How a run divides its budget, from public facts.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Division {
    n_blocks: usize,
    tuples: Option<TupleSpend>,
    learner_rho: f64,
}

impl PrivateGmm {
    /// The parameters it was checked with.
    pub const fn params(&self) -> &PrivateGmmParams {
        &self.params
    }

    /// What a fit would spend.
    ///
    /// # Errors
    ///
    /// [`ParamsError`] if the budget or the number of blocks is too small, or bounds have another number of columns.
    pub fn plan(
        &self,
        frame: &Frame,
        relation: NeighboringRelation,
    ) -> Result<Vec<Event>, ParamsError> {
        self.sigmas(frame)?;
        let division = self.division(frame)?;
        let mut events = Vec::new();
        if let Some(spend) = division.tuples {
            let shape = self.shape(frame, division.n_blocks);
            events.extend(self.params.aggregator.plan(shape, relation, spend)?);
        }
        let learner = self.params.learner.learner();
        events.extend(learner.plan(frame.dimension(), division.learner_rho, relation)?);
        Ok(events)
    }

    /// t, the number of blocks that a fit would use: public.
    ///
    /// # Errors
    ///
    /// As [`plan`](Self::plan).
    pub fn n_blocks(&self, frame: &Frame) -> Result<usize, ParamsError> {
        Ok(self.division(frame)?.n_blocks)
    }

    /// Runs. `public` is public randomness.
    ///
    /// # Privacy
    ///
    /// See the [module](crate::private). Total: no record makes it fail, whatever its values are.
    ///
    /// # Errors
    ///
    /// [`FitError`] if parameters do not fit or the session's budget does not cover the plan, both before a record is read; or
    /// if the source cannot be read.
    ///
    /// # Complexity
    ///
    /// O(n·k·d) for the blocks, O(t²·k·d) for FriendlyCore, O(n·d·(k + d)) for each round of the learner; memory 8·n·d bytes at most
    /// while the blocks are dealt.
    pub fn fit<S: LatticeSource>(
        &self,
        source: &S,
        session: &mut Session<'_>,
        public: &mut dyn RngCore,
    ) -> Result<GmmOutcome, FitError> {
        let frame = source.frame();
        let sigmas = self.sigmas(frame)?;
        let division = self.division(frame)?;
        session.admit(&self.plan(frame, session.relation())?)?;
        let centers = match self.rough_centers(source, division, session, public)? {
            Ok(centers) => centers,
            Err(refusal) => return Ok(GmmOutcome::Refused(refusal)),
        };
        let prior = Prior { centers, sigmas };
        let learner = self.params.learner.learner();
        let learned = learner.learn(&Passes::new(source), &prior, division.learner_rho, session)?;
        Ok(GmmOutcome::Released {
            mixture: self.mixture(&learned, &prior),
            noisy_counts: learned.noisy_counts,
        })
    }

    fn rough_centers<S: LatticeSource>(
        &self,
        source: &S,
        division: Division,
        session: &mut Session<'_>,
        public: &mut dyn RngCore,
    ) -> Result<Result<Array2<f64>, Refusal>, FitError> {
        let params = &self.params;
        let frame = source.frame();
        let Some(spend) = division.tuples else {
            return Ok(Ok(Array2::zeros((1, frame.dimension()))));
        };
        let solver = params.labeler.solver(params.n_clusters)?;
        let blocks = Blocks::disjoint(source, division.n_blocks, session)?;
        let tuples = blocks.tuples(solver.as_ref(), frame, params.n_clusters);
        drop(blocks);
        Ok(
            match params
                .aggregator
                .aggregate(&tuples, spend, session, public)?
            {
                Aggregate::Centers(mut centers) => {
                    for mut center in centers.outer_iter_mut() {
                        let mut row = center.to_vec();
                        frame.domain().clip_scaled(&mut row);
                        center.assign(&Array1::from(row));
                    }
                    Ok(centers)
                }
                Aggregate::Refused(refusal) => Err(refusal),
            },
        )
    }

    /// Weights from noisy counts, covariances of the wanted kind and within the bounds: post-processing.
    fn mixture(&self, learned: &Learned, prior: &Prior) -> GaussianMixture {
        let (k, d) = learned.means.dim();
        let counts: Array1<f64> = learned
            .noisy_counts
            .iter()
            .map(|&count| if count > 0.0 { count } else { 0.0 })
            .collect();
        let weights = if counts.sum() > 0.0 {
            counts
        } else {
            Array1::from_elem(k, 1.0)
        };
        let mut covariances = Array3::zeros((k, d, d));
        for (mut to, from) in covariances.outer_iter_mut().zip(&learned.covariances) {
            to.assign(from);
        }
        shape_covariances(self.params.kind, &weights, &mut covariances);
        for mut covariance in covariances.axis_iter_mut(Axis(0)) {
            let projected = prior.sigmas.project(&covariance.to_owned());
            covariance.assign(&projected);
        }
        let fallback = || {
            let broad = Array3::from_shape_fn((k, d, d), |(_, i, j)| f64::from(u8::from(i == j)));
            GaussianMixture::new(Array1::from_elem(k, 1.0), learned.means.clone(), broad)
                .expect("k round normals at finite means are a mixture")
        };
        GaussianMixture::new(weights, learned.means.clone(), covariances)
            .unwrap_or_else(|_| fallback())
    }

    fn sigmas(&self, frame: &Frame) -> Result<Sigmas, ParamsError> {
        let d = frame.dimension();
        let sigmas = self
            .params
            .sigmas
            .clone()
            .unwrap_or_else(|| Sigmas::of_widths(d));
        let got = sigmas.least().len();
        if got != d {
            return Err(ParamsError::Columns {
                name: "sigma_min",
                expected: d,
                got,
            });
        }
        Ok(sigmas)
    }

    fn shape(&self, frame: &Frame, n_blocks: usize) -> TupleShape {
        TupleShape {
            n_tuples: n_blocks,
            n_clusters: self.params.n_clusters,
            dimension: frame.dimension(),
            lattice: frame.lattice(),
        }
    }

    fn division(&self, frame: &Frame) -> Result<Division, ParamsError> {
        let params = &self.params;
        let (epsilon, delta) = (params.budget.epsilon.get(), params.budget.delta.get());
        if params.n_clusters == 1 {
            return Ok(Division {
                n_blocks: 1,
                tuples: None,
                learner_rho: rho(params.budget)?,
            });
        }
        let shares = [params.tuple_share, 1.0 - params.tuple_share];
        let epsilons = dp_core::rounding::split(epsilon, &shares);
        let deltas = dp_core::rounding::split(delta, &shares);
        let tuples = approx(epsilons[0], deltas[0])?;
        Ok(Division {
            n_blocks: self.choose_blocks(frame, tuples)?,
            tuples: Some(TupleSpend::direct(tuples)),
            learner_rho: rho(approx(epsilons[1], deltas[1])?)?,
        })
    }

    /// t: what was asked for, or a little more than the clustering needs, or more still where many records are known to be there.
    fn choose_blocks(&self, frame: &Frame, budget: Budget) -> Result<usize, ParamsError> {
        let params = &self.params;
        if let Some(n_blocks) = params.n_blocks {
            return Ok(n_blocks);
        }
        let needed = params
            .aggregator
            .tuples_needed(self.shape(frame, 1), budget)?;
        let comfortable = needed + needed / 8;
        let most = params
            .n_hint
            .map_or(0, |n| n / (40 * params.n_clusters as u64));
        let n_blocks = most.clamp(comfortable, comfortable.saturating_mul(3));
        usize::try_from(n_blocks).map_err(|_| ParamsError::Infeasible)
    }
}

fn approx(epsilon: f64, delta: f64) -> Result<Budget, ParamsError> {
    Ok(Budget::approx(
        Epsilon::new(epsilon).map_err(|_| ParamsError::BudgetTooSmall)?,
        Delta::new(delta).map_err(|_| ParamsError::BudgetTooSmall)?,
    ))
}

fn rho(budget: Budget) -> Result<f64, ParamsError> {
    let rho = conversion::rho_for(budget.epsilon, budget.delta);
    Ok(rho.ok_or(ParamsError::BudgetTooSmall)?.get())
}
