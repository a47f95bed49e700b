//! CoinPress for sums: clip, estimate, whiten, again.

use dp_core::{Event, NeighboringRelation, Session};
use metric_space::Frame;
use ndarray::{Array1, Array2, Axis};

use super::passes::{ClusterPasses, View};
use super::progress::{Changes, Progress};
use super::radii::{Radii, RadiiRelease, Scale};
use super::round::{Round, RoundShares};
use super::{GaussianLearner, Learned, Prior, normal_length};
use crate::error::{FitError, ParamsError};

/// Share of ρ for the histogram of radii.
const RADII_SHARE: f64 = 0.1;

/// Where the first clip comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Start {
    /// A noisy histogram of distances to the center, for a tenth of ρ: one release instead of one round per factor of four or so.
    #[default]
    Radii,
    /// The public bounds alone, as published.
    Public,
}

/// What is learned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Target {
    /// Mean and covariance.
    #[default]
    Both,
    /// The mean; covariances are taken to be the largest that were thought possible.
    Mean,
    /// The covariance around the given center.
    Covariance,
}

/// Unchecked parameters of [`CoinPress`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[must_use = "parameters do nothing until `check` is called"]
pub struct CoinPressParams {
    n_rounds: usize,
    start: Start,
    target: Target,
}

impl Default for CoinPressParams {
    fn default() -> Self {
        Self {
            n_rounds: 3,
            start: Start::Radii,
            target: Target::Both,
        }
    }
}

impl CoinPressParams {
    /// Sets the number of rounds, 1 to 16 (default 3).
    pub const fn n_rounds(mut self, n_rounds: usize) -> Self {
        self.n_rounds = n_rounds;
        self
    }

    /// Sets where the first clip comes from.
    pub const fn start(mut self, start: Start) -> Self {
        self.start = start;
        self
    }

    /// Sets what is learned.
    pub const fn target(mut self, target: Target) -> Self {
        self.target = target;
        self
    }

    /// Checks every field once.
    ///
    /// # Errors
    ///
    /// [`ParamsError::Range`] for a number of rounds out of range.
    pub fn check(self) -> Result<CoinPress, ParamsError> {
        if !(1..=16).contains(&self.n_rounds) {
            return Err(ParamsError::Range {
                name: "n_rounds",
                low: 0.0,
                high: 16.0,
                got: self.n_rounds as f64,
            });
        }
        Ok(CoinPress { params: self })
    }
}

/// Checked CoinPress.
///
/// A round releases noisy counts, sums and products of the records' whitened differences to the believed mean, clipped to a length that a
/// normal with the believed covariance rarely exceeds; beliefs are updated from released values alone. All rounds but the last share a
/// quarter of ρ: the last one's release is the answer.
///
/// # Source
///
/// Biswas, Dong, Kamath, Ullman 2020, with the constants of the authors' code. Different here: sums and a noisy count instead of means of a public number of records,
/// mean and covariance in the same pass (no pairing of records, which one more record would shift), whitening A ← A·(Z + ηI)^(−1/2)
/// from the side on which the factors compose, and η covers the noise.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CoinPress {
    params: CoinPressParams,
}

struct Noise {
    radii: Option<RadiiRelease>,
    rounds: Vec<Round>,
}

impl CoinPress {
    fn noise(
        &self,
        dimension: usize,
        rho: f64,
        relation: NeighboringRelation,
    ) -> Result<Noise, ParamsError> {
        let CoinPressParams {
            n_rounds,
            start,
            target,
        } = self.params;
        let (for_radii, for_rounds) = match start {
            Start::Radii => {
                let parts = dp_core::rounding::split(rho, &[RADII_SHARE, 1.0 - RADII_SHARE]);
                (Some(parts[0]), parts[1])
            }
            Start::Public => (None, rho),
        };
        let balanced = RoundShares::balanced(dimension, normal_length(dimension, 0.1));
        let shares = match target {
            Target::Both => balanced,
            // Small samples are what it is for: a count that is lost in noise would lose the round.
            Target::Mean => RoundShares {
                counts: 0.06,
                sums: 0.94,
                products: 0.0,
            },
            Target::Covariance => RoundShares {
                sums: 0.0,
                products: 1.0 - balanced.counts,
                ..balanced
            },
        };
        let weights: Vec<f64> = (1..=n_rounds)
            .map(|round| {
                if round == n_rounds {
                    3.0
                } else {
                    1.0 / (n_rounds - 1) as f64
                }
            })
            .collect();
        Ok(Noise {
            radii: for_radii
                .map(|rho| RadiiRelease::new(rho, relation))
                .transpose()?,
            rounds: dp_core::rounding::split(for_rounds, &weights)
                .into_iter()
                .map(|rho| Round::new(rho, shares, relation))
                .collect::<Result<_, _>>()?,
        })
    }

    /// First beliefs.
    fn start(
        noise: &Noise,
        passes: &dyn ClusterPasses,
        prior: &Prior,
        session: &mut Session<'_>,
    ) -> Result<Vec<Progress>, FitError> {
        let d = passes.frame().dimension();
        let diameter = passes.frame().domain().diameter_scaled();
        let centers = prior.centers.outer_iter().map(|center| center.to_owned());
        let length = normal_length(d, 0.1);
        let least = |bounds: &[f64]| bounds.iter().copied().fold(f64::INFINITY, f64_min);
        let Some(release) = &noise.radii else {
            let most = prior.sigmas.most();
            let begin = |center: Array1<f64>| {
                let offset = reach(&center) / least(most);
                Progress::new(center, most, offset)
            };
            return Ok(centers.map(begin).collect());
        };
        let radii = Radii::new(least(prior.sigmas.least()), diameter);
        let scales = release.run(passes, &prior.centers, &radii, session)?;
        // Clipping starts at the radius, wherever the mean is in it.
        let begin = |(center, scale): (Array1<f64>, Scale)| {
            Progress::new(center, &vec![scale.radius / length; d], 0.0)
        };
        Ok(centers.zip(scales).map(begin).collect())
    }
}

impl GaussianLearner for CoinPress {
    fn name(&self) -> &'static str {
        "coin-press"
    }

    fn plan(
        &self,
        dimension: usize,
        rho: f64,
        relation: NeighboringRelation,
    ) -> Result<Vec<Event>, ParamsError> {
        let noise = self.noise(dimension, rho, relation)?;
        let mut events: Vec<Event> = noise.radii.iter().map(RadiiRelease::event).collect();
        events.extend(noise.rounds.iter().flat_map(Round::events));
        Ok(events)
    }

    fn learn(
        &self,
        passes: &dyn ClusterPasses,
        prior: &Prior,
        rho: f64,
        session: &mut Session<'_>,
    ) -> Result<Learned, FitError> {
        let d = passes.frame().dimension();
        let noise = self.noise(d, rho, session.relation())?;
        let mut clusters = Self::start(&noise, passes, prior, session)?;
        if self.params.target == Target::Covariance {
            clusters.iter_mut().for_each(Progress::trust_center);
        }
        for round in &noise.rounds {
            run_round(round, passes, &mut clusters, session)?;
        }
        Ok(finish(passes.frame(), prior, &clusters))
    }
}

/// One round for all clusters.
pub(super) fn run_round(
    round: &Round,
    passes: &dyn ClusterPasses,
    clusters: &mut [Progress],
    session: &mut Session<'_>,
) -> Result<(), FitError> {
    let changes = Changes::new(passes.frame().dimension(), round);
    let views: Vec<View> = clusters
        .iter()
        .map(|cluster| cluster.view(changes))
        .collect();
    let estimates = round.run(passes, &views, session)?;
    for (cluster, estimate) in clusters.iter_mut().zip(&estimates) {
        cluster.update(estimate, changes);
    }
    Ok(())
}

/// From beliefs to what is handed out: means inside the domain, covariances within the bounds.
pub(super) fn finish(frame: &Frame, prior: &Prior, clusters: &[Progress]) -> Learned {
    let mut means = prior.centers.clone();
    for (mut mean, cluster) in means.axis_iter_mut(Axis(0)).zip(clusters) {
        let mut center = cluster.center.to_vec();
        frame.domain().clip_scaled(&mut center);
        mean.assign(&Array1::from(center));
    }
    let covariance = |cluster: &Progress| -> Array2<f64> {
        let learned = cluster.covariance(&prior.sigmas);
        learned.unwrap_or_else(|| prior.sigmas.fallback())
    };
    Learned {
        means,
        covariances: clusters.iter().map(covariance).collect(),
        noisy_counts: clusters.iter().map(|cluster| cluster.count).collect(),
    }
}

/// No record of the scaled domain, a box or the ball in it, is further from a center of the domain.
pub(super) fn reach(center: &Array1<f64>) -> f64 {
    center
        .iter()
        .map(|x| (1.0 + x.abs()) * (1.0 + x.abs()))
        .sum::<f64>()
        .sqrt()
}

/// The smaller of two numbers that are known to be finite.
pub(super) fn f64_min(a: f64, b: f64) -> f64 {
    if b < a { b } else { a }
}
