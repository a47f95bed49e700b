//! The run: plan, blocks, tuples, rough centers, learner, mixture.

use dp_core::mechanism::GaussianSpend;
use dp_core::session::DisjointParts;
use dp_core::{Event, NeighboringRelation, Session};
use ktuple::blocks::Blocks;
use ktuple::{Aggregate, Refusal, TupleAggregator, TupleShape, TupleSpend};
use metric_space::{Frame, LatticeSource};
use ndarray::{Array1, Array2, Array3, Axis};
use rand::RngCore;

use super::division::{Division, Split};
use super::params::PrivateGmmParams;
use crate::em::shape_covariances;
use crate::error::{FitError, ParamsError};
use crate::learner::{ClusterPasses, Learned, Passes, Prior, Sigmas};
use crate::mixture::{CovarianceKind, GaussianMixture};

/// Checked `PrivatekGMM`.
#[derive(Clone, Debug, PartialEq)]
pub struct PrivateGmm {
    pub(super) params: PrivateGmmParams,
    /// The division for frames of one shape, once it was [resolved](Self::resolved).
    pub(super) known: Option<(TupleShape, Division)>,
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
        self.events(frame, self.division(frame)?, relation)
    }

    /// The same with the number of blocks and the share that a run on `frame` would choose filled in: its plans and runs need not look for them again.
    ///
    /// # Errors
    ///
    /// As [`plan`](Self::plan).
    pub fn resolved(mut self, frame: &Frame) -> Result<Self, ParamsError> {
        let division = self.division(frame)?;
        if division.tuples.is_some() {
            self.params.n_blocks = Some(division.n_blocks);
            self.params.tuple_share = Some(division.tuple_share);
        }
        self.known = Some((self.shape(frame, division.n_blocks), division));
        Ok(self)
    }

    /// What is charged: one entry for each release, or one for both halves.
    fn events(
        &self,
        frame: &Frame,
        division: Division,
        relation: NeighboringRelation,
    ) -> Result<Vec<Event>, ParamsError> {
        let stages = self.stages(frame, division, relation)?;
        if !self.halves(division) {
            return Ok(stages.concat());
        }
        let event = DisjointParts::event(self.params.budget, relation, &stages);
        Ok(vec![event.map_err(|_| ParamsError::BudgetTooSmall)?])
    }

    /// Whether there are two stages on disjoint records.
    fn halves(&self, division: Division) -> bool {
        division.tuples.is_some() && self.params.split == Split::Halves
    }

    /// What either stage charges.
    fn stages(
        &self,
        frame: &Frame,
        division: Division,
        relation: NeighboringRelation,
    ) -> Result<[Vec<Event>; 2], ParamsError> {
        let tuples = match division.tuples {
            Some(spend) => {
                let shape = self.shape(frame, division.n_blocks);
                self.params.aggregator.plan(shape, relation, spend)?
            }
            None => Vec::new(),
        };
        let learner = self.params.learner.learner();
        let learner = learner.plan(frame.dimension(), division.learner_spend, relation)?;
        Ok([tuples, learner])
    }

    /// t, the number of blocks that a fit would use: public.
    ///
    /// # Errors
    ///
    /// As [`plan`](Self::plan).
    pub fn n_blocks(&self, frame: &Frame) -> Result<usize, ParamsError> {
        Ok(self.division(frame)?.n_blocks)
    }

    /// The share of the budget (of ε at most what the aggregator can use; [`Split::Budget`]) or of the records ([`Split::Halves`]) that the tuples would get: public; 0 with one cluster.
    ///
    /// # Errors
    ///
    /// As [`plan`](Self::plan).
    pub fn tuple_share(&self, frame: &Frame) -> Result<f64, ParamsError> {
        Ok(self.division(frame)?.tuple_share)
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
    /// O(n·k·d) for the blocks, O(t²·k·d) for FriendlyCore, t the blocks that show k centers, O(n·d·(k + d)) for each round of the learner; memory 8·n·d bytes at most
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
        let events = self.events(frame, division, session.relation())?;
        session.admit(&events)?;
        let Some(spend) = division.tuples else {
            let centers = Array2::zeros((1, frame.dimension()));
            let prior = Prior { centers, sigmas };
            return self.learn(&Passes::new(source), prior, division.learner_spend, session);
        };
        let labels = session.secret_labels("blocks", division.n_labels);
        let blocks = Blocks::labeled(source, division.n_blocks, labels.clone())?;
        let (passes, mut parts) = match (self.halves(division), events.into_iter().next()) {
            (true, Some(event)) => {
                let first = dp_core::planted!("gmm-halves-overlap": 0; division.n_blocks as u64);
                let passes = Passes::labeled(source, labels, first);
                (passes, Some(session.disjoint_parts(event)?))
            }
            _ => (Passes::new(source), None),
        };
        let centers = within(session, parts.as_mut(), |session| {
            self.rough_centers(frame, blocks, spend, session, public)
        })?;
        let centers = match centers {
            Aggregate::Centers(centers) => centers,
            Aggregate::Refused(refusal) => return Ok(GmmOutcome::Refused(refusal)),
        };
        let prior = Prior { centers, sigmas };
        within(session, parts.as_mut(), |session| {
            self.learn(&passes, prior, division.learner_spend, session)
        })
    }

    /// Tuples of the blocks and what they agree on, inside the domain.
    fn rough_centers(
        &self,
        frame: &Frame,
        blocks: Blocks,
        spend: TupleSpend,
        session: &mut Session<'_>,
        public: &mut dyn RngCore,
    ) -> Result<Aggregate, FitError> {
        let params = &self.params;
        let solver = params.labeler.solver(params.n_clusters)?;
        let tuples = blocks.tuples(solver.as_ref(), frame, params.n_clusters);
        drop(blocks);
        let mut answer = params
            .aggregator
            .aggregate(&tuples, spend, session, public)?;
        if let Aggregate::Centers(centers) = &mut answer {
            for mut center in centers.outer_iter_mut() {
                let mut row = center.to_vec();
                frame.domain().clip_scaled(&mut row);
                center.assign(&Array1::from(row));
            }
        }
        Ok(answer)
    }

    /// The mixture around rough centers.
    fn learn(
        &self,
        passes: &dyn ClusterPasses,
        prior: Prior,
        spend: GaussianSpend,
        session: &mut Session<'_>,
    ) -> Result<GmmOutcome, FitError> {
        let learner = self.params.learner.learner();
        let learned = learner.learn(passes, &prior, spend, session)?;
        Ok(GmmOutcome::Released {
            mixture: self.mixture(&learned, &prior, passes.frame()),
            noisy_counts: learned.noisy_counts,
        })
    }

    /// Weights from noisy counts, covariances of the wanted kind and within the bounds: post-processing.
    fn mixture(&self, learned: &Learned, prior: &Prior, frame: &Frame) -> GaussianMixture {
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
        // One variance in all directions is meant in original units; the other kinds are the same in any units.
        let spherical = self.params.kind == CovarianceKind::Spherical;
        let units = if spherical {
            units(frame)
        } else {
            vec![1.0; d]
        };
        let scaled = |covariances: &mut Array3<f64>, factor: &dyn Fn(f64) -> f64| {
            for ((_, i, j), x) in covariances.indexed_iter_mut() {
                *x *= factor(units[i] * units[j]);
            }
        };
        scaled(&mut covariances, &|unit| unit);
        shape_covariances(self.params.kind, &weights, &mut covariances);
        scaled(&mut covariances, &|unit| 1.0 / unit);
        for mut covariance in covariances.axis_iter_mut(Axis(0)) {
            let shaped = covariance.to_owned();
            covariance.assign(&if spherical {
                prior.sigmas.project_spherical(&shaped, &units)
            } else {
                prior.sigmas.project(&shaped)
            });
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
        sigmas.seen_by(frame)
    }
}

/// How long the columns' scaled units are beside each other, the longest 1; none below 1e-100, so that squares of quotients are numbers.
fn units(frame: &Frame) -> Vec<f64> {
    let (low, high) = frame.domain().corners();
    let halves: Vec<f64> = low
        .iter()
        .zip(&high)
        .map(|(lo, hi)| (hi - lo) / 2.0)
        .collect();
    let longest = halves
        .iter()
        .copied()
        .fold(f64::MIN_POSITIVE, |a, b| if b > a { b } else { a });
    halves
        .iter()
        .map(|half| (half / longest).clamp(1e-100, 1.0))
        .collect()
}

/// Runs a stage, as one of disjoint parts where there are such.
fn within<T>(
    session: &mut Session<'_>,
    parts: Option<&mut DisjointParts>,
    run: impl FnOnce(&mut Session<'_>) -> T,
) -> T {
    match parts {
        Some(parts) => session.part(parts, run),
        None => run(session),
    }
}
