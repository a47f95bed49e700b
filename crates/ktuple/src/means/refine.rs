//! Private averages of clusters around released centers, with noise that fits each cluster.
//!
//! # Privacy
//!
//! A round has two releases, both of statistics in which one record touches one cluster. Under add-remove:
//!
//! *Radii*: how many records of each cluster lie between consecutive public radii of its center: a histogram,
//! one record is in one cell, L1 sensitivity 1, discrete Laplace noise, pure ε. From it follow a noisy count `n̂_i` and
//! a radius `R_i` per cluster: post-processing.
//!
//! *Sums*: Σ (x − `c_i`) over cluster i, each difference clipped to length `R_i` and rounded toward zero. One record moves the
//! sum of one cluster by at most `R_i`, so k Gaussian releases with standard deviations `R_i/√(2ρ)` together are one with μ = √(2ρ): neighbors
//! differ in one of them, by parallel composition.
//!
//! A replaced record may move from one cluster to another, or to the opposite end of the same: both sensitivities double.

use dp_core::mechanism::{AdditiveMechanism, GaussianSpend, LaplaceMechanism};
use dp_core::sensitivity::{L1Sensitivity, L2Sensitivity, Sensitivity};
use dp_core::{Budget, Confidential, Epsilon, Event, Loss, NeighboringRelation, Session};
use metric_space::nearest::PackedCenters;
use metric_space::{Frame, LatticeBlock, LatticeSource};
use ndarray::{Array2, ArrayView2};

use crate::error::{FitError, ParamsError};
use crate::tuples::share;

/// Share of a round's ε for the radii.
const RADII_SHARE: f64 = 0.25;

/// Shares of the rounds: each later one has a better start and gets more.
const GROWTH: f64 = 2.0;

/// What the rounds may spend, under the relation of the records.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RefineSpend {
    /// ε of all histograms of radii.
    pub radii_epsilon: f64,
    /// What all sums may spend.
    pub sums: GaussianSpend,
}

/// How centers are refined.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Refine {
    /// Rounds, fixed in advance.
    pub n_rounds: usize,
    /// The least radius of a cluster that is told apart, as a fraction of half the widest column, in (0, 1].
    pub scale_min: f64,
}

impl Default for Refine {
    fn default() -> Self {
        Self {
            n_rounds: 2,
            scale_min: 1.0 / 1024.0,
        }
    }
}

/// Refined centers.
#[derive(Clone, Debug, PartialEq)]
pub struct Refined {
    /// Shape (k, d), scaled, inside the domain.
    pub centers: Array2<f64>,
    /// k noisy counts of the last round.
    pub noisy_counts: Vec<f64>,
}

impl Refine {
    pub(super) fn check(&self) -> Result<(), ParamsError> {
        if !(1..=64).contains(&self.n_rounds) {
            return Err(ParamsError::Count {
                name: "n_rounds",
                least: 1,
                got: self.n_rounds as u64,
            });
        }
        if !(self.scale_min > 0.0 && self.scale_min <= 1.0) {
            return Err(ParamsError::Range {
                name: "scale_min",
                low: 0.0,
                high: 1.0,
                got: self.scale_min,
            });
        }
        Ok(())
    }

    /// Splits an (ε, δ) into what the rounds spend.
    ///
    /// # Errors
    ///
    /// [`ParamsError::BudgetTooSmall`].
    pub fn spend(&self, epsilon: f64, delta: f64) -> Result<RefineSpend, ParamsError> {
        let (radii, sums) = share(epsilon, RADII_SHARE);
        let sums = Budget::approx(
            Epsilon::new(sums).map_err(|_| ParamsError::BudgetTooSmall)?,
            dp_core::Delta::new(delta).map_err(|_| ParamsError::BudgetTooSmall)?,
        );
        Ok(RefineSpend {
            radii_epsilon: radii,
            sums: sums.gaussian().ok_or(ParamsError::BudgetTooSmall)?,
        })
    }

    /// The two events of each round.
    ///
    /// # Errors
    ///
    /// [`ParamsError`] if the spend is too small.
    pub fn plan(
        &self,
        spend: RefineSpend,
        relation: NeighboringRelation,
    ) -> Result<Vec<Event>, ParamsError> {
        let mut events = Vec::new();
        for round in self.rounds(spend, relation)? {
            events.push(round.radii.event(relation, "records by radius"));
            events.push(round.sums_event());
        }
        Ok(events)
    }

    fn rounds(
        &self,
        spend: RefineSpend,
        relation: NeighboringRelation,
    ) -> Result<Vec<Round>, ParamsError> {
        let too_small = |_| ParamsError::BudgetTooSmall;
        let weights: Vec<f64> = (0..self.n_rounds)
            .scan(1.0, |weight, _| {
                let now = *weight;
                *weight *= GROWTH;
                Some(now)
            })
            .collect();
        let epsilons = dp_core::rounding::split(spend.radii_epsilon, &vec![1.0; self.n_rounds]);
        let sums = spend.sums.split(&weights).map_err(too_small)?;
        // Point 11: a replaced record leaves one cluster and enters another.
        let steps = dp_core::planted!("ktuple-move-is-one-change": 1; relation.steps());
        let touched = L1Sensitivity::new(steps).map_err(|_| ParamsError::BudgetTooSmall)?;
        let rounds = epsilons.into_iter().zip(sums).map(|(epsilon, sums)| {
            Ok(Round {
                radii: LaplaceMechanism::calibrate(
                    touched,
                    Epsilon::new(epsilon).map_err(too_small)?,
                )?,
                sums,
                relation,
            })
        });
        rounds.collect()
    }

    /// Refines public centers (shape (k, d), scaled).
    ///
    /// # Errors
    ///
    /// [`FitError`] if the session's budget does not cover it or the source cannot be read.
    ///
    /// # Complexity
    ///
    /// Two passes per round, O(n·k·d).
    pub fn run<S: LatticeSource>(
        &self,
        source: &S,
        centers: &Array2<f64>,
        spend: RefineSpend,
        session: &mut Session<'_>,
    ) -> Result<Refined, FitError> {
        let frame = source.frame();
        let radii = Radii::new(frame, self.scale_min);
        let mut refined = Refined {
            centers: centers.clone(),
            noisy_counts: vec![0.0; centers.nrows()],
        };
        for round in self.rounds(spend, session.relation())? {
            let Some(centers) = LatticeCenters::new(frame, &refined.centers) else {
                break;
            };
            round.run(source, &radii, &centers, &mut refined, session)?;
        }
        Ok(refined)
    }
}

/// Public radii base·2^(j/2), in lattice units, strictly ascending; the last holds the whole domain.
struct Radii(Vec<u64>);

impl Radii {
    fn new(frame: &Frame, scale_min: f64) -> Self {
        let one = frame.lattice().units_per_one() as f64;
        let diameter = frame.domain().diameter_scaled() * one + 1.0;
        let least = scale_min * one;
        // Below one unit there are no radii, and each cell more is noise more.
        let mut radius = if least > 1.0 { least } else { 1.0 };
        let mut radii = Vec::new();
        while radius < diameter {
            radii.push(integer(radius));
            radius *= core::f64::consts::SQRT_2;
        }
        radii.push(integer(diameter) + frame.dimension() as u64);
        // Cut to integers, 1·√2 is 1 again, and 2·√2 is 2.
        radii.dedup();
        Self(radii)
    }

    fn cell(&self, sq_distance: u64) -> usize {
        let cell = self
            .0
            .partition_point(|&radius| radius.saturating_mul(radius) < sq_distance);
        cell.min(self.0.len() - 1)
    }
}

/// Cuts a positive bound to an integer.
fn integer(x: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "positive; `as` saturates"
    )]
    let integer = x as u64;
    integer
}

struct Round {
    radii: LaplaceMechanism,
    sums: GaussianSpend,
    relation: NeighboringRelation,
}

impl Round {
    fn sums_event(&self) -> Event {
        Event::new(
            "discrete-gaussian-per-cluster",
            Sensitivity::ByTheorem,
            self.relation,
            Loss::Zcdp(self.sums.rho()),
        )
        .composed(self.sums.composition())
        .purpose("sums of clipped differences")
    }

    fn run<S: LatticeSource>(
        &self,
        source: &S,
        radii: &Radii,
        centers: &LatticeCenters,
        refined: &mut Refined,
        session: &mut Session<'_>,
    ) -> Result<(), FitError> {
        let frame = source.frame();
        let (k, d) = refined.centers.dim();
        let cells = histogram(source, radii, centers)?;
        let noisy = session.laplace(&self.radii, "records by radius", &Confidential::new(cells))?;
        let noisy = dp_core::planted!(
            "ktuple-radius-private": histogram(source, radii, centers)?.into_iter().map(i128::from).collect(); noisy
        );
        let bins = radii.0.len();
        // Noise above this is in any cell at all once in fifty rounds.
        let scale = self.radii.scale();
        let visible = scale * libm::log(50.0 * (k * bins) as f64);
        let steps = self.relation.steps();
        let noise_per_radius = steps as f64 / (2.0 * self.sums.rho().get()).sqrt();
        let choices: Vec<Choice> = noisy
            .chunks_exact(bins)
            .map(|bins| Choice::new(bins, radii, (scale, visible), noise_per_radius, d))
            .collect();
        let bounds: Vec<u64> = choices.iter().map(|choice| choice.radius).collect();
        let sums = clipped_sums(source, centers, &bounds)?;
        let charge = session.charge(self.sums_event())?;
        let mut row = vec![0.0; d];
        for (i, choice) in choices.iter().enumerate() {
            let refuse = |_| ParamsError::BudgetTooSmall;
            let moved = u128::from(choice.radius) * u128::from(steps);
            let moved = L2Sensitivity::from_squared(moved * moved).map_err(refuse)?;
            let spend = dp_core::planted!(
                "refine-sums-twice": self.sums.with(
                    dp_core::Rho::new(2.0 * self.sums.rho().get()).map_err(|_| ParamsError::BudgetTooSmall)?
                );
                self.sums
            );
            let noise = AdditiveMechanism::gaussian(moved, spend).map_err(ParamsError::from)?;
            let sum = Confidential::new(sums[i * d..(i + 1) * d].to_vec());
            let noisy = session.add_noise_charged(&charge, &noise, "sum of a cluster", moved, &sum);
            refined.noisy_counts[i] = choice.count;
            if choice.count < choice.least {
                continue;
            }
            let mut moves: Vec<f64> = noisy.iter().map(|&x| x as f64 / choice.count).collect();
            shorten(&mut moves, choice.radius as f64);
            for ((x, m), &c) in row.iter_mut().zip(moves).zip(&centers.units[i]) {
                *x = (f64::from(c) + m) * frame.lattice().step();
            }
            frame.domain().clip_scaled(&mut row);
            refined
                .centers
                .row_mut(i)
                .assign(&ndarray::ArrayView1::from(&row));
        }
        debug_assert_eq!(choices.len(), k, "one choice a cluster");
        Ok(())
    }
}

/// What follows from a cluster's noisy histogram of radii: public.
struct Choice {
    radius: u64,
    count: f64,
    /// Below this count the center stays.
    least: f64,
}

impl Choice {
    /// The radius with the least sum of expected noise and of what clipping may take away.
    ///
    /// `scale` is that of the noise of a cell, and a cell with a count below `visible` is taken to be empty.
    fn new(
        bins: &[i128],
        radii: &Radii,
        (scale, visible): (f64, f64),
        noise: f64,
        dimension: usize,
    ) -> Self {
        let count: f64 = bins.iter().map(|&x| x as f64).sum();
        // Four standard deviations of the sum of all cells.
        let least = 4.0 * scale * (2.0 * bins.len() as f64).sqrt();
        // The noise's length per unit of the radius.
        let noise = noise * (dimension as f64).sqrt();
        let counted = |j: usize| {
            let count = bins[j] as f64;
            if count > visible { count } else { 0.0 }
        };
        let error = |j: usize| {
            let lost = (j + 1..bins.len()).map(|b| counted(b) * (radii.0[b] - radii.0[j]) as f64);
            noise * radii.0[j] as f64 + lost.sum::<f64>()
        };
        let best = (0..bins.len()).min_by(|&a, &b| error(a).total_cmp(&error(b)));
        Self {
            radius: radii.0[best.unwrap_or(0)],
            count,
            least: if least > 1.0 { least } else { 1.0 },
        }
    }
}

/// Shortens a released move to the length that the mean of clipped differences can have.
fn shorten(moves: &mut [f64], radius: f64) {
    let length = moves.iter().map(|x| x * x).sum::<f64>().sqrt();
    if length > radius {
        for x in moves {
            *x *= radius / length;
        }
    }
}

/// Public centers on the lattice.
struct LatticeCenters {
    units: Vec<Vec<i32>>,
    packed: PackedCenters<f32>,
}

impl LatticeCenters {
    fn new(frame: &Frame, centers: &Array2<f64>) -> Option<Self> {
        let rows = centers.outer_iter().map(|center| center.to_vec());
        let units = rows
            .clone()
            .map(|row| frame.quantize_center(&row))
            .collect();
        let floats: Vec<f32> = rows.flat_map(|row| frame.center_to_f32(&row)).collect();
        let view = ArrayView2::from_shape(centers.dim(), &floats).ok()?;
        Some(Self {
            units,
            packed: PackedCenters::new(view).ok()?,
        })
    }

    /// Labels a block and shows each record's label and its difference to the center, in lattice units.
    fn for_each(&self, block: &LatticeBlock<'_>, mut visit: impl FnMut(usize, &mut [i32])) {
        let mut labels = vec![0; block.len()];
        self.packed.assign(block.rows, &mut labels);
        let mut difference = vec![0; block.dimension];
        for (i, &label) in labels.iter().enumerate() {
            let label = label as usize;
            for (j, (x, c)) in difference.iter_mut().zip(&self.units[label]).enumerate() {
                *x = block.units(i, j) - c;
            }
            visit(label, &mut difference);
        }
    }
}

fn sq_length(vector: &[i32]) -> u64 {
    let squares = vector
        .iter()
        .map(|&x| u64::from(x.unsigned_abs()) * u64::from(x.unsigned_abs()));
    squares.sum()
}

/// Records per cluster and radius: k·bins counts.
fn histogram<S: LatticeSource>(
    source: &S,
    radii: &Radii,
    centers: &LatticeCenters,
) -> Result<Vec<i64>, FitError> {
    let bins = radii.0.len();
    let cells = source.fold(
        || vec![0_i64; centers.units.len() * bins],
        |cells, block| {
            centers.for_each(block, |label, difference| {
                cells[label * bins + radii.cell(sq_length(difference))] += 1;
            });
        },
        add,
    )?;
    Ok(cells)
}

/// Sums of the differences of each cluster, clipped to its radius: k·d integers.
fn clipped_sums<S: LatticeSource>(
    source: &S,
    centers: &LatticeCenters,
    radii: &[u64],
) -> Result<Vec<i64>, FitError> {
    let d = source.frame().dimension();
    let sums = source.fold(
        || vec![0_i64; radii.len() * d],
        |sums, block| {
            centers.for_each(block, |label, difference| {
                clip(difference, radii[label]);
                for (sum, &x) in sums[label * d..].iter_mut().zip(&*difference) {
                    *sum += i64::from(x);
                }
            });
        },
        add,
    )?;
    Ok(sums)
}

#[expect(clippy::ptr_arg, reason = "the merge of a fold takes its accumulator")]
fn add(total: &mut Vec<i64>, part: Vec<i64>) {
    for (total, part) in total.iter_mut().zip(part) {
        *total += part;
    }
}

/// Shortens a vector to length `radius`, rounding every coordinate toward zero.
pub(super) fn clip(vector: &mut [i32], radius: u64) {
    let squared = sq_length(vector);
    if u128::from(squared) <= u128::from(radius) * u128::from(radius) {
        return;
    }
    // A little short, so that the rounding of the quotient cannot lengthen the result.
    let factor = radius as f64 / (squared as f64).sqrt() * (1.0 - 2_f64.powi(-48));
    for x in vector {
        #[expect(clippy::cast_possible_truncation, reason = "shorter than an i32 was")]
        let shortened = (f64::from(*x) * factor) as i32;
        *x = shortened;
    }
}

#[cfg(test)]
mod tests {
    use metric_space::{BoxDomain, Lattice};

    use super::*;

    /// However small the least radius is, radii begin at one unit and none comes twice; a larger one is kept.
    #[test]
    fn no_radius_is_below_one_unit_and_none_comes_twice() {
        let domain = BoxDomain::new(vec![-1.0; 3], vec![1.0; 3]).expect("valid");
        let frame = Frame::new(domain, Lattice::default());
        let one = frame.lattice().units_per_one() as f64;
        let all = Radii::new(&frame, 1.0 / one).0;
        assert_eq!(all[..5], [1, 2, 4, 5, 8]);
        assert!(all.windows(2).all(|pair| pair[0] < pair[1]));
        for tiny in [0.3 / one, 1e-12, f64::MIN_POSITIVE] {
            assert_eq!(Radii::new(&frame, tiny).0, all, "{tiny}");
        }
        let usual = Radii::new(&frame, 1.0 / 1024.0).0;
        assert_eq!(usual[0], integer(one / 1024.0));
        assert!(usual.len() < all.len());
    }
}
