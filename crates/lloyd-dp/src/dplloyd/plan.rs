//! From a budget to the mechanisms of each iteration, all of it public.

use dp_core::mechanism::{AdditiveMechanism, GaussianSpend};
use dp_core::rounding::split;
use dp_core::sensitivity::{L1Sensitivity, L2Sensitivity};
use dp_core::{Epsilon, NeighboringRelation};
use metric_space::Frame;

use super::params::{DpLloydParams, Noise, Split, Sums};
use crate::error::ParamsError;
use crate::schedule::{CENTER_SPREAD, minimum_epsilon};

/// Share of ε that a noisy count of the records takes where a schedule needs one and no size is public.
pub(super) const SIZE_SHARE: f64 = 0.02;

/// Distance that a center still has to go in an iteration, in units of the bound of a difference.
const SETTLING: f64 = 0.6;

/// How far one record can move a sum, in lattice units.
#[derive(Clone, Debug)]
pub(super) enum Bound {
    /// Each coordinate by at most its entry.
    Coordinates(Vec<u64>),
    /// The vector by at most this length.
    Radius(u64),
}

impl Bound {
    fn l1(&self, dimension: usize) -> u64 {
        match self {
            Self::Coordinates(bounds) => bounds.iter().sum(),
            // √d·R, rounded up.
            Self::Radius(radius) => {
                let squared = u128::from(*radius) * u128::from(*radius) * dimension as u128;
                let root = squared.isqrt();
                u64::try_from(root + u128::from(root * root < squared)).unwrap_or(u64::MAX)
            }
        }
    }

    fn l2_squared(&self) -> u128 {
        match self {
            Self::Coordinates(bounds) => bounds
                .iter()
                .map(|&bound| u128::from(bound) * u128::from(bound))
                .sum(),
            Self::Radius(radius) => u128::from(*radius) * u128::from(*radius),
        }
    }
}

/// What one iteration spends.
#[derive(Clone, Copy, Debug)]
pub(super) enum Spend {
    Epsilon(f64),
    Gaussian(GaussianSpend),
}

/// The mechanisms of one iteration.
#[derive(Clone, Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "one lives at a time, for one iteration"
)]
pub(super) enum Mechanisms {
    /// Counts (in lattice units) and sums as one vector.
    Joint(AdditiveMechanism),
    /// Counts and sums apart.
    Apart {
        counts: AdditiveMechanism,
        sums: AdditiveMechanism,
    },
}

impl Split {
    /// The share of an iteration's budget that goes to the counts.
    ///
    /// *Laplace* (shares of ε): minimizing d/ε_i² + μ²/ε_0² subject to d·ε_i + ε_0 = ε_t, with μ the
    /// length of a cluster's mean in units of one coordinate's bound, gives ε_0 : ε_i = ∛μ² : 1. *Gaussian*
    /// (shares of ρ): ρ_0 : ρ_s = μ : d in the box, μ : √d for differences clipped to length R, μ in units of R.
    /// For sums from the origin μ² = 4dρ² with ρ = 0.225 (Su et al. 2017). For differences to the current center μ is
    /// the distance that a center still has to go, in units of the bound. The formulas are of first order in the noise of
    /// the count; where counts are hardly above their noise they ask for too little, so μ stays at
    /// [`SETTLING`] in all iterations instead of falling as the centers settle.
    pub(super) fn count_share(self, sums: Sums, noise: Noise, d: usize) -> f64 {
        let d = d as f64;
        match self {
            Self::CountShare(share) => share,
            // A share of the joint vector's L1 sensitivity d + 1, for predictions alone.
            Self::Joint => 1.0 / (d + 1.0),
            Self::Optimal => {
                let mean = match sums {
                    Sums::Origin => (4.0 * d).sqrt() * CENTER_SPREAD,
                    Sums::CenterRelative => d.sqrt() * SETTLING,
                    Sums::BoundedRadius(_) => SETTLING,
                };
                match (noise, sums) {
                    (Noise::Laplace, _) => {
                        let ratio = (mean * mean).cbrt();
                        ratio / (ratio + d)
                    }
                    (Noise::Gaussian, Sums::BoundedRadius(_)) => mean / (mean + d.sqrt()),
                    (Noise::Gaussian, _) => mean / (mean + d),
                }
            }
        }
    }
}

impl DpLloydParams {
    /// Whether a noisy count of the records must be bought first.
    pub(super) fn buys_size(&self, relation: NeighboringRelation) -> bool {
        self.schedule.needs_size() && self.n_hint.is_none() && !relation.size_is_public()
    }

    /// The mechanism of that count.
    pub(super) fn size_mechanism(
        &self,
        relation: NeighboringRelation,
    ) -> Result<Option<AdditiveMechanism>, ParamsError> {
        if !self.buys_size(relation) {
            return Ok(None);
        }
        let one = L1Sensitivity::new(relation.steps()).map_err(|_| self.too_small())?;
        let mechanism = match self.noise {
            Noise::Laplace => {
                let share = split(self.budget.epsilon.get(), &[SIZE_SHARE, 1.0 - SIZE_SHARE])[0];
                AdditiveMechanism::laplace(one, Epsilon::new(share).map_err(|_| self.too_small())?)
            }
            Noise::Gaussian => {
                let squared = L2Sensitivity::from_squared(u128::from(relation.steps()).pow(2))
                    .map_err(|_| self.too_small())?;
                let parts = self.gaussian()?.split(&[SIZE_SHARE, 1.0 - SIZE_SHARE]);
                AdditiveMechanism::gaussian(squared, parts.map_err(|_| self.too_small())?[0])
            }
        };
        Ok(Some(mechanism?))
    }

    /// What each iteration spends; `size` is public or noisy.
    pub(super) fn spends(
        &self,
        relation: NeighboringRelation,
        dimension: usize,
        size: Option<f64>,
    ) -> Result<Vec<Spend>, ParamsError> {
        let shares = if self.buys_size(relation) {
            [1.0 - SIZE_SHARE, SIZE_SHARE]
        } else {
            [1.0, 0.0]
        };
        let minimum = size.map_or(f64::NAN, |size| {
            minimum_epsilon(self.n_clusters, dimension, size, CENTER_SPREAD)
        });
        let epsilon = split(self.budget.epsilon.get(), &shares)[0];
        let parts = self.schedule.epsilons(epsilon, self.n_iterations, minimum);
        Ok(match self.noise {
            Noise::Laplace => parts.into_iter().map(Spend::Epsilon).collect(),
            Noise::Gaussian => {
                // A schedule of ε becomes one of ρ ∝ ε².
                let squares: Vec<f64> = parts.iter().map(|part| (part / epsilon).powi(2)).collect();
                let too_small = |_| self.too_small();
                let mut whole = self.gaussian()?;
                if self.buys_size(relation) {
                    whole = whole.split(&shares).map_err(too_small)?[0];
                }
                let parts = whole.split(&squares).map_err(too_small)?;
                parts.into_iter().map(Spend::Gaussian).collect()
            }
        })
    }

    /// The mechanisms of one iteration.
    pub(super) fn mechanisms(
        &self,
        frame: &Frame,
        relation: NeighboringRelation,
        spend: Spend,
        bound: &Bound,
    ) -> Result<Mechanisms, ParamsError> {
        let d = frame.dimension();
        let steps = relation.steps();
        let one = frame.lattice().units_per_one().unsigned_abs();
        let refuse = |_| self.too_small();
        let laplace = |sensitivity: u64, epsilon: f64| {
            AdditiveMechanism::laplace(
                L1Sensitivity::new(sensitivity).map_err(refuse)?,
                Epsilon::new(epsilon).map_err(|_| self.too_small())?,
            )
            .map_err(ParamsError::from)
        };
        let gaussian = |squared: u128, spend: GaussianSpend| {
            let sensitivity = L2Sensitivity::from_squared(squared).map_err(refuse)?;
            AdditiveMechanism::gaussian(sensitivity, spend).map_err(ParamsError::from)
        };
        let share = self.split.count_share(self.sums, self.noise, d);
        let shares = [share, 1.0 - share];
        let joint = matches!(self.split, Split::Joint);
        Ok(match spend {
            Spend::Epsilon(epsilon) if joint => {
                // A record adds one whole unit to its count and at most its bound to the sums.
                let whole = one.saturating_add(bound.l1(d));
                Mechanisms::Joint(laplace(whole.saturating_mul(steps), epsilon)?)
            }
            Spend::Gaussian(spend) if joint => {
                let whole = u128::from(one).pow(2) + bound.l2_squared();
                Mechanisms::Joint(gaussian(whole * u128::from(steps).pow(2), spend)?)
            }
            Spend::Epsilon(epsilon) => {
                let parts = split(epsilon, &shares);
                let parts = dp_core::planted!(
                    "lloyd-shares-swapped": vec![parts[1], parts[0]]; parts
                );
                Mechanisms::Apart {
                    counts: laplace(steps, parts[0])?,
                    sums: laplace(bound.l1(d).saturating_mul(steps), parts[1])?,
                }
            }
            Spend::Gaussian(spend) => {
                let parts = spend.split(&shares).map_err(|_| self.too_small())?;
                Mechanisms::Apart {
                    counts: gaussian(u128::from(steps), parts[0])?,
                    sums: gaussian(
                        dp_core::planted!(
                            "lloyd-sensitivity-1.175": bound.l2_squared() * 1000 / 1381; bound.l2_squared()
                        ) * u128::from(steps).pow(2),
                        parts[1],
                    )?,
                }
            }
        })
    }

    /// How far one record can move the sums of iteration `iteration` around these centers.
    pub(super) fn bound(&self, frame: &Frame, iteration: usize, centers: &[Vec<i32>]) -> Bound {
        let d = frame.dimension();
        let one = frame.lattice().units_per_one().unsigned_abs();
        match self.sums {
            Sums::Origin => Bound::Coordinates(vec![one; d]),
            Sums::CenterRelative => {
                // One record is in one cluster: the worst cluster bounds it, coordinate by coordinate.
                let mut bounds = vec![one; d];
                for center in centers {
                    for (bound, c) in bounds.iter_mut().zip(center) {
                        *bound = (*bound).max(one + u64::from(c.unsigned_abs()));
                    }
                }
                Bound::Coordinates(bounds)
            }
            Sums::BoundedRadius(radii) => Bound::Radius(radius_units(
                frame,
                radii.radius(self.n_clusters, d, iteration),
            )),
        }
    }

    fn gaussian(&self) -> Result<GaussianSpend, ParamsError> {
        self.budget.gaussian().ok_or_else(|| {
            if self.budget.delta.is_zero() {
                ParamsError::NoDelta
            } else {
                self.too_small()
            }
        })
    }

    pub(super) const fn too_small(&self) -> ParamsError {
        ParamsError::BudgetTooSmall {
            steps: self.n_iterations,
        }
    }
}

/// A radius in lattice units, at least one, at most the diameter of the domain.
pub(super) fn radius_units(frame: &Frame, radius: f64) -> u64 {
    let one = frame.lattice().units_per_one() as f64;
    let units = (radius * one).floor();
    let most = (frame.domain().diameter_scaled() * one).ceil();
    let units = if units < most { units } else { most };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a positive number of at most a few million units"
    )]
    let units = units as u64;
    units.max(1)
}
