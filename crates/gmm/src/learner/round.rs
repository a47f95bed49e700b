//! One round of noisy moments, shared by the learners: release counts, sums and products, turn them into estimates.

use dp_core::mechanism::{AdditiveMechanism, GaussianSpend};
use dp_core::{Confidential, Event, NeighboringRelation, Rho, Session};
use ndarray::{Array1, Array2};

use super::passes::{CLIP_UNITS, ClusterPasses, Moved, View, triangle};
use crate::error::{FitError, ParamsError};

/// Shares of a round's ρ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RoundShares {
    pub(crate) counts: f64,
    pub(crate) sums: f64,
    pub(crate) products: f64,
}

impl RoundShares {
    /// The counts' 4 %, the rest so that noise costs mean and covariance least together.
    ///
    /// With clip length g, noise costs d·g²/(2n²·2ρ_s) in the mean's Kullback–Leibler divergence and d²·g⁴/(4n²·2ρ_p) in the
    /// covariance's: the best ratio ρ_p : ρ_s is the square root of that of the costs, g·√(d/2).
    pub(crate) fn balanced(dimension: usize, clip: f64) -> Self {
        let ratio = clip * (dimension as f64 / 2.0).sqrt();
        let rest = 0.96;
        Self {
            counts: 0.04,
            sums: rest / (1.0 + ratio),
            products: rest * ratio / (1.0 + ratio),
        }
    }
}

/// The noise of one round.
#[derive(Clone, Debug)]
pub(crate) struct Round {
    relation: NeighboringRelation,
    counts: Counts,
    sums: Option<AdditiveMechanism>,
    products: Option<AdditiveMechanism>,
}

/// Where the number of records of a cluster comes from.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "a few per run")]
enum Counts {
    Noisy(AdditiveMechanism),
    /// The caller says it, from public knowledge.
    Public(f64),
}

/// Noisy moments of one cluster, in whitened units in which clipping starts at length 1: public.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Estimate {
    /// Noisy count.
    pub(crate) count: f64,
    /// Mean of the whitened differences, and the standard deviation of its noise; none if it was not released.
    pub(crate) mean: Option<(Array1<f64>, f64)>,
    /// Second moment around the view's center, and the standard deviation of an entry's noise.
    pub(crate) second: Option<(Array2<f64>, f64)>,
}

impl Round {
    /// Noise for a spend, divided by `shares`; where `public_count` says how many records a cluster has, no count is released.
    pub(crate) fn new(
        spend: GaussianSpend,
        shares: RoundShares,
        public_count: Option<f64>,
        relation: NeighboringRelation,
    ) -> Result<Self, ParamsError> {
        let shares = match public_count {
            Some(_) => RoundShares {
                counts: 0.0,
                ..shares
            },
            None => shares,
        };
        let parts = dp_core::rounding::split(
            spend.rho().get(),
            &[shares.counts, shares.sums, shares.products],
        );
        let noise = |moved: Moved, rho: f64| -> Result<AdditiveMechanism, ParamsError> {
            let rho = Rho::new(rho).map_err(|_| ParamsError::BudgetTooSmall)?;
            let sensitivity = moved
                .sensitivity(relation)
                .map_err(|_| ParamsError::BudgetTooSmall)?;
            Ok(AdditiveMechanism::gaussian(sensitivity, spend.with(rho))?)
        };
        let wanted = |share: f64, moved, rho| {
            if share > 0.0 {
                noise(moved, rho).map(Some)
            } else {
                Ok(None)
            }
        };
        Ok(Self {
            relation,
            counts: match public_count {
                Some(count) => Counts::Public(count),
                None => Counts::Noisy(noise(Moved::Counts, parts[0])?),
            },
            sums: wanted(shares.sums, Moved::Sums, parts[1])?,
            products: wanted(shares.products, Moved::Products, parts[2])?,
        })
    }

    /// Standard deviation of the noise of a count.
    pub(crate) fn count_noise(&self) -> f64 {
        match &self.counts {
            Counts::Noisy(noise) => noise.std_dev(),
            Counts::Public(_) => 0.0,
        }
    }

    /// Probability with which a record of a normal is clipped: products pay the fourth power of the clip's length, sums alone the square.
    pub(crate) const fn clip_beyond(&self) -> f64 {
        if self.products.is_some() { 0.1 } else { 0.01 }
    }

    pub(crate) fn events(&self) -> Vec<Event> {
        let counts = match &self.counts {
            Counts::Noisy(noise) => Some(noise),
            Counts::Public(_) => None,
        };
        let named = [
            (counts, COUNTS),
            (self.sums.as_ref(), SUMS),
            (self.products.as_ref(), PRODUCTS),
        ];
        named
            .into_iter()
            .filter_map(|(noise, purpose)| Some(noise?.event(self.relation, purpose)))
            .collect()
    }

    /// Reads the records once and releases.
    pub(crate) fn run(
        &self,
        passes: &dyn ClusterPasses,
        views: &[View],
        session: &mut Session<'_>,
    ) -> Result<Vec<Estimate>, FitError> {
        let moments = passes.moments(views)?;
        let counts: Vec<f64> = match &self.counts {
            Counts::Noisy(noise) => {
                let noisy = session.add_noise(noise, COUNTS, &Confidential::new(moments.counts))?;
                noisy.into_iter().map(|count| count as f64).collect()
            }
            Counts::Public(count) => vec![*count; views.len()],
        };
        let sums = match &self.sums {
            Some(noise) => Some((
                session.add_noise(noise, SUMS, &Confidential::new(moments.sums))?,
                noise.std_dev(),
            )),
            None => None,
        };
        let products = match &self.products {
            Some(noise) => Some((
                session.add_noise(noise, PRODUCTS, &Confidential::new(moments.products))?,
                noise.std_dev(),
            )),
            None => None,
        };
        let d = passes.frame().dimension();
        let unit = f64::from(CLIP_UNITS);
        let estimate = |(i, &count): (usize, &f64)| {
            let divisor = if count > 1.0 { count } else { 1.0 };
            let mean = sums.as_ref().map(|(sums, noise)| {
                let of_cluster = &sums[i * d..(i + 1) * d];
                let mean: Array1<f64> = of_cluster
                    .iter()
                    .map(|&x| x as f64 / unit / divisor)
                    .collect();
                (mean, noise / unit / divisor)
            });
            let second = products.as_ref().map(|(products, noise)| {
                let scale = unit * unit * divisor;
                let of_cluster = &products[i * triangle(d)..(i + 1) * triangle(d)];
                (from_triangle(of_cluster, d, scale), noise / scale)
            });
            Estimate {
                count,
                mean,
                second,
            }
        };
        Ok(counts.iter().enumerate().map(estimate).collect())
    }
}

const COUNTS: &str = "records by cluster";
const SUMS: &str = "sums of whitened and clipped differences";
const PRODUCTS: &str = "sums of products of whitened and clipped differences";

fn from_triangle(entries: &[i128], d: usize, scale: f64) -> Array2<f64> {
    let mut matrix = Array2::zeros((d, d));
    let mut entries = entries.iter();
    for i in 0..d {
        for j in i..d {
            let value = entries.next().map_or(0.0, |&x| x as f64 / scale);
            matrix[[i, j]] = value;
            matrix[[j, i]] = value;
        }
    }
    matrix
}
