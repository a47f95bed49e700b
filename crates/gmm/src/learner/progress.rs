//! What is believed of a cluster between rounds: public, and how a round's release changes it.

use ndarray::{Array1, Array2};

use super::Sigmas;
use super::passes::View;
use super::round::{Estimate, Round};
use crate::spd;

/// An update must shrink at least this much more than noise can: below, a released value is noise and is left alone.
const TRUSTED: f64 = 0.5;

/// Standard deviations that noise may have for a count to be trusted.
const COUNT_DEVIATIONS: f64 = 3.0;

/// Beliefs on one cluster: whitened by `whitening`, its covariance is at most about I, and its mean is within `offset` of `center`.
#[derive(Clone, Debug)]
pub(super) struct Progress {
    pub(super) center: Array1<f64>,
    whitening: Array2<f64>,
    unwhitening: Array2<f64>,
    offset: f64,
    known_mean: bool,
    covariance: Option<Array2<f64>>,
    pub(super) count: f64,
}

/// What a round may change.
#[derive(Clone, Copy, Debug)]
pub(super) struct Changes {
    /// Length of a whitened record that is rarely exceeded.
    pub(super) length: f64,
    /// Same, for the bound on the error of a mean.
    pub(super) mean_length: f64,
    /// Fewer records than this are not looked at.
    pub(super) least_count: f64,
    /// Standard deviation of the noise of a count.
    count_noise: f64,
}

impl Changes {
    /// For `d` columns and counts with this noise.
    pub(super) fn new(dimension: usize, round: &Round) -> Self {
        let by_noise = COUNT_DEVIATIONS * round.count_noise();
        let by_dimension = dimension as f64 + 1.0;
        Self {
            length: super::normal_length(dimension, round.clip_beyond()),
            mean_length: super::normal_length(dimension, 0.01),
            least_count: if by_noise > by_dimension {
                by_noise
            } else {
                by_dimension
            },
            count_noise: round.count_noise(),
        }
    }
}

impl Progress {
    /// Standard deviations of at most `sigma` (per column), the mean within `offset` of them of the center.
    pub(super) fn new(center: Array1<f64>, sigma: &[f64], offset: f64) -> Self {
        let diagonal: Array1<f64> = sigma.iter().copied().collect();
        Self {
            center,
            whitening: Array2::from_diag(&diagonal.mapv(|sigma| 1.0 / sigma)),
            unwhitening: Array2::from_diag(&diagonal),
            offset,
            known_mean: false,
            covariance: None,
            count: 0.0,
        }
    }

    /// The length at which whitened differences are clipped: a record of a normal with covariance at most I and mean within the offset is rarely
    /// longer, and no longer than the triangle inequality lets it be.
    fn clip(&self, length: f64) -> f64 {
        let sum = self.offset + length;
        let root = (self.offset * self.offset + 6.0 * self.offset + length * length).sqrt();
        if root < sum { root } else { sum }
    }

    pub(super) fn view(&self, changes: Changes) -> View {
        View {
            center: self.center.clone(),
            map: &self.whitening / self.clip(changes.length),
        }
    }

    /// Takes in what a round released about this cluster.
    pub(super) fn update(&mut self, estimate: &Estimate, changes: Changes) {
        self.count = estimate.count;
        if estimate.count < changes.least_count {
            return;
        }
        let d = self.center.len() as f64;
        let clip = self.clip(changes.length);
        // In whitened units from here on.
        let mut mean_error = None;
        let mut moved = Array1::zeros(self.center.len());
        if let Some((mean, noise)) = &estimate.mean {
            let noise = noise * clip;
            if noise * d.sqrt() < TRUSTED * clip {
                moved = shortened(&(mean * clip), clip);
                mean_error = Some(noise);
            }
        }
        self.center = &self.center + &self.unwhitening.dot(&moved);
        let sampling = 1.0 / estimate.count;
        // A count that is off stretches the move.
        let stretch = moved.dot(&moved).sqrt() * changes.count_noise * sampling;
        if let Some(noise) = mean_error {
            self.offset = (sampling + noise * noise).sqrt() * changes.mean_length + stretch;
        }
        let Some((second, noise)) = &estimate.second else {
            return;
        };
        let noise = noise * clip * clip;
        let mut covariance = second * (clip * clip);
        for ((i, j), x) in covariance.indexed_iter_mut() {
            *x -= moved[i] * moved[j];
        }
        let eta = (d * sampling).sqrt() + 0.5 * d * sampling;
        // The spectral norm of a symmetric matrix of noise, 2√d and some room.
        let spectral = noise * (2.0 * d.sqrt() + 2.0);
        self.covariance = (eta + spectral < 2.0 * TRUSTED * clip * clip).then(|| {
            // Made positive where noise is alike in all directions.
            let positive = spd::project(covariance.view(), 0.0, f64::MAX);
            self.unwhitening.dot(&positive).dot(&self.unwhitening.t())
        });
        // Whitening pays where it makes beliefs tighter on the whole; around a known mean it is done always, as published, since there the clip holds
        // nothing but spread, and a release that was too tight is mended by the next.
        if self.known_mean || covariance.diag().sum() / d + eta < 1.0 {
            let (inverse_root, root) = spd::roots(covariance.view(), eta);
            self.whitening = inverse_root.dot(&self.whitening);
            self.unwhitening = self.unwhitening.dot(&root);
            // The sampling error of the mean stays as it is in whitened units; its noise may grow by 1/√η.
            self.offset = match mean_error {
                Some(noise) => {
                    (sampling + noise * noise / eta).sqrt() * changes.mean_length
                        + stretch / eta.sqrt()
                }
                None => self.offset / eta.sqrt(),
            };
        }
    }

    /// The mean is known to be the center.
    pub(super) const fn trust_center(&mut self) {
        self.offset = 0.0;
        self.known_mean = true;
    }

    /// The covariance of the last round that had one, within the bounds; none for a degenerate cluster.
    pub(super) fn covariance(&self, sigmas: &Sigmas) -> Option<Array2<f64>> {
        self.covariance
            .as_ref()
            .map(|covariance| sigmas.project(covariance))
    }
}

/// Shortens a released move to the length that the mean of clipped vectors can have.
fn shortened(vector: &Array1<f64>, length: f64) -> Array1<f64> {
    let norm = vector.dot(vector).sqrt();
    if norm > length {
        vector * (length / norm)
    } else {
        vector.clone()
    }
}
