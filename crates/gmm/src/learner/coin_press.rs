//! CoinPress for sums: clip, estimate, whiten, again.

use dp_core::mechanism::GaussianSpend;
use dp_core::{Event, NeighboringRelation, Session};
use metric_space::Frame;
use ndarray::{Array1, Array2, Axis};

use super::passes::{ClusterPasses, View};
use super::progress::{Changes, Progress};
use super::radii::{Radii, RadiiRelease, Scale};
use super::round::{Round, RoundShares};
use super::{GaussianLearner, Learned, Prior, normal_length};
use crate::error::{FitError, ParamsError};

/// Shares of ρ before the rounds: radii around the given center, sums within them, radii around the mean that these give.
const START_SHARES: [f64; 3] = [0.03, 0.06, 0.03];

/// Where the first clip comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Start {
    /// Noisy histograms of distances, for an eighth of ρ with the mean between: to the center; then, once the mean is found within that, to the mean. They save
    /// the rounds that come down to the scale of the cluster by a factor of a few each.
    #[default]
    Radii,
    /// The public bounds alone: the mean may be anywhere in the domain.
    Public,
    /// As published, with public R: the mean is within this distance (scaled units) of the center.
    Within(f64),
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
    public_count: Option<u64>,
}

impl Default for CoinPressParams {
    fn default() -> Self {
        Self {
            n_rounds: 2,
            start: Start::Radii,
            target: Target::Both,
            public_count: None,
        }
    }
}

impl CoinPressParams {
    /// Sets the number of rounds, 1 to 16 (default 2).
    pub const fn n_rounds(mut self, n_rounds: usize) -> Self {
        self.n_rounds = n_rounds;
        self
    }

    /// The number of rounds.
    #[must_use]
    pub const fn rounds(&self) -> usize {
        self.n_rounds
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

    /// Sets the number of records in each cluster as publicly known (default: released with noise): for one cluster whose size is public, as
    /// the authors have it. A wrong number costs accuracy, not privacy.
    pub const fn public_count(mut self, count: Option<u64>) -> Self {
        self.public_count = count;
        self
    }

    /// Checks every field once.
    ///
    /// # Errors
    ///
    /// [`ParamsError`] for a number of rounds, a radius or a count that is out of range.
    pub fn check(self) -> Result<CoinPress, ParamsError> {
        if let Start::Within(got) = self.start
            && !(got > 0.0 && got.is_finite())
        {
            return Err(ParamsError::NotPositive {
                name: "radius",
                got,
            });
        }
        if self.public_count == Some(0) {
            return Err(ParamsError::Zero {
                name: "public_count",
            });
        }
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
/// from the side on which the factors compose, and η covers the error of sampling alone: the noise decides whether a release is believed at all.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CoinPress {
    params: CoinPressParams,
}

struct Noise {
    approach: Option<Approach>,
    rounds: Vec<Round>,
}

/// The way from a rough center to a mean and a scale.
struct Approach {
    radii: RadiiRelease,
    /// A mean, and radii around it; none where the mean is known to be the center.
    nearer: Option<(Round, RadiiRelease)>,
}

impl Approach {
    fn events(&self) -> Vec<Event> {
        let mut events = vec![self.radii.event()];
        if let Some((sums, radii)) = &self.nearer {
            events.extend(sums.events());
            events.push(radii.event());
        }
        events
    }
}

impl CoinPress {
    fn noise(
        &self,
        dimension: usize,
        spend: GaussianSpend,
        relation: NeighboringRelation,
    ) -> Result<Noise, ParamsError> {
        let CoinPressParams {
            n_rounds,
            start,
            target,
            public_count,
        } = self.params;
        let public_count = public_count.map(|count| count as f64);
        // Small samples are what it is for: a count that is lost in noise would lose the round.
        let mean_only = RoundShares {
            counts: 0.06,
            sums: 0.94,
            products: 0.0,
        };
        let balanced = RoundShares::balanced(dimension, normal_length(dimension, 0.1));
        let shares = match target {
            Target::Both => balanced,
            Target::Mean => mean_only,
            Target::Covariance => RoundShares {
                sums: 0.0,
                products: 1.0 - balanced.counts,
                ..balanced
            },
        };
        let [first, sums, second] = START_SHARES;
        let (approach, for_rounds) = match (start, target) {
            (Start::Public | Start::Within(_), _) => (None, spend),
            (Start::Radii, Target::Covariance) => {
                let parts = super::divided(spend, &[2.0 * first, 1.0 - 2.0 * first])?;
                let radii = RadiiRelease::new(parts[0], relation)?;
                let approach = Approach {
                    radii,
                    nearer: None,
                };
                (Some(approach), parts[1])
            }
            (Start::Radii, Target::Both | Target::Mean) => {
                let rest = 1.0 - first - sums - second;
                let parts = super::divided(spend, &[first, sums, second, rest])?;
                let sums = Round::new(parts[1], mean_only, public_count, relation)?;
                let approach = Approach {
                    radii: RadiiRelease::new(parts[0], relation)?,
                    nearer: Some((sums, RadiiRelease::new(parts[2], relation)?)),
                };
                (Some(approach), parts[3])
            }
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
            approach,
            rounds: super::divided(for_rounds, &weights)?
                .into_iter()
                .map(|spend| Round::new(spend, shares, public_count, relation))
                .collect::<Result<_, _>>()?,
        })
    }

    /// First beliefs.
    fn start(
        &self,
        noise: &Noise,
        passes: &dyn ClusterPasses,
        prior: &Prior,
        session: &mut Session<'_>,
    ) -> Result<Vec<Progress>, FitError> {
        let d = passes.frame().dimension();
        let centers = prior.centers.outer_iter().map(|center| center.to_owned());
        let least = |bounds: &[f64]| bounds.iter().copied().fold(f64::INFINITY, f64_min);
        let Some(approach) = &noise.approach else {
            let most = prior.sigmas.most();
            let begin = |center: Array1<f64>| {
                let distance = match self.params.start {
                    Start::Within(radius) => radius,
                    Start::Public | Start::Radii => reach(&center),
                };
                Progress::new(center, most, distance / least(most))
            };
            return Ok(centers.map(begin).collect());
        };
        let diameter = passes.frame().domain().diameter_scaled();
        let radii = Radii::new(least(prior.sigmas.least()), diameter);
        // Clipping starts at the radius, wherever the mean is in it.
        let begin = |center: Array1<f64>, scale: &Scale, beyond: f64| {
            let length = normal_length(d, beyond);
            Progress::new(center, &vec![scale.radius / length; d], 0.0)
        };
        let scales = approach
            .radii
            .run(passes, &prior.centers, &radii, session)?;
        let Some((sums, release)) = &approach.nearer else {
            let pairs = centers.zip(&scales);
            return Ok(pairs
                .map(|(center, scale)| begin(center, scale, 0.1))
                .collect());
        };
        let pairs = centers.zip(&scales);
        let mut clusters: Vec<Progress> = pairs
            .map(|(center, scale)| begin(center, scale, sums.clip_beyond()))
            .collect();
        run_round(sums, passes, &mut clusters, session)?;
        let mut means = prior.centers.clone();
        for (mut mean, cluster) in means.outer_iter_mut().zip(&clusters) {
            mean.assign(&cluster.center);
        }
        let scales = release.run(passes, &means, &radii, session)?;
        let beyond = noise.rounds.first().map_or(0.1, Round::clip_beyond);
        let nearer = clusters.into_iter().zip(&scales);
        Ok(nearer
            .map(|(cluster, scale)| begin(cluster.center, scale, beyond))
            .collect())
    }
}

impl GaussianLearner for CoinPress {
    fn name(&self) -> &'static str {
        "coin-press"
    }

    fn plan(
        &self,
        dimension: usize,
        spend: GaussianSpend,
        relation: NeighboringRelation,
    ) -> Result<Vec<Event>, ParamsError> {
        let noise = self.noise(dimension, spend, relation)?;
        let mut events = noise
            .approach
            .as_ref()
            .map_or_else(Vec::new, Approach::events);
        events.extend(noise.rounds.iter().flat_map(Round::events));
        Ok(events)
    }

    fn learn(
        &self,
        passes: &dyn ClusterPasses,
        prior: &Prior,
        spend: GaussianSpend,
        session: &mut Session<'_>,
    ) -> Result<Learned, FitError> {
        let d = passes.frame().dimension();
        let noise = self.noise(d, spend, session.relation())?;
        let mut clusters = self.start(&noise, passes, prior, session)?;
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
