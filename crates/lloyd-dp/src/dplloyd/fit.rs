//! The loop.

use dp_core::{Confidential, Event, NeighboringRelation, Session};
use metric_space::{Frame, LatticeSource};
use ndarray::Array2;
use rand::RngCore;

use super::params::{DpLloydParams, Sums};
use super::plan::{Bound, Mechanisms};
use super::step::{LatticeCenters, Term, cluster_statistics};
use crate::clustering::Clustering;
use crate::error::{FitError, ParamsError};
use crate::memory::check_centers;

/// Checked `DPLloyd`: holds parameters, no generator and no state between fits.
#[derive(Clone, Debug, PartialEq)]
pub struct DpLloyd {
    pub(super) params: DpLloydParams,
}

/// Noisy counts (in records) and noisy sums (in scaled units) of one iteration: released.
struct Noisy {
    counts: Vec<f64>,
    sums: Vec<f64>,
    /// Standard deviation of a count.
    count_std_dev: f64,
}

impl DpLloyd {
    /// The parameters it was checked with.
    pub const fn params(&self) -> &DpLloydParams {
        &self.params
    }

    /// What a fit would spend, from public facts alone.
    ///
    /// With a schedule that needs a size and buys one, the parts of the iterations are shown as if the size
    /// were unknown (evenly); their total is the same. Under [`Sums::CenterRelative`] the sensitivities of later
    /// iterations depend on released centers; the losses do not.
    ///
    /// # Errors
    ///
    /// [`ParamsError`] if the parameters do not fit the domain or the budget is too small.
    pub fn plan(
        &self,
        frame: &Frame,
        relation: NeighboringRelation,
    ) -> Result<Vec<Event>, ParamsError> {
        let params = &self.params;
        check_centers(params.n_clusters, frame.dimension())?;
        let mut events = Vec::new();
        if let Some(size) = params.size_mechanism(relation)? {
            events.push(size.event(relation, "number of records"));
        }
        let size = params.n_hint.map(|n| n as f64);
        let origin = vec![vec![0; frame.dimension()]];
        for (t, spend) in params
            .spends(relation, frame.dimension(), size)?
            .into_iter()
            .enumerate()
        {
            let bound = params.bound(frame, t, &origin);
            match params.mechanisms(frame, relation, spend, &bound)? {
                Mechanisms::Joint(joint) => events.push(joint.event(relation, "counts and sums")),
                Mechanisms::Apart { counts, sums } => {
                    events.push(counts.event(relation, "counts"));
                    events.push(sums.event(relation, "sums"));
                }
            }
        }
        Ok(events)
    }

    /// Runs the iterations.
    ///
    /// # Privacy
    ///
    /// Every released number comes out of the session; see the [module](crate::dplloyd). Total: no record makes it
    /// fail, whatever its values are.
    ///
    /// # Errors
    ///
    /// [`FitError`] if parameters do not fit the domain or the session's budget does not cover the plan, both
    /// before a record is read; or if the source cannot be read.
    ///
    /// # Complexity
    ///
    /// O(T·n·k·d) time in T passes; O(k·d) memory beyond the source's own, per thread.
    pub fn fit<S: LatticeSource>(
        &self,
        source: &S,
        session: &mut Session<'_>,
        public: &mut dyn RngCore,
    ) -> Result<Clustering, FitError> {
        let params = &self.params;
        let frame = source.frame();
        let relation = session.relation();
        session.admit(&self.plan(frame, relation)?)?;
        let mut centers = params.init.centers(params.n_clusters, frame, public)?;
        dp_core::planted!("lloyd-centers-from-data": centers[[0, 0]] = frame.lattice().to_f64(source.fold(
            || 0,
            |first, block| if block.first == 0 && block.len() > 0 { *first = block.units(0, 0).into() },
            |total, part| *total += part,
        )?); ());
        let size = self.size(source, session)?;
        let mut noisy_counts = None;
        let spends = params.spends(relation, frame.dimension(), size)?;
        for (t, spend) in spends.into_iter().enumerate() {
            let lattice_centers =
                LatticeCenters::new(frame, &centers).ok_or(ParamsError::NoClusters)?;
            let bound = params.bound(frame, t, &lattice_centers.units);
            let bound = dp_core::planted!("lloyd-radius-from-data": match bound {
                Bound::Radius(_) => Bound::Radius(source.fold(
                    || 1_u64,
                    |most, block| for i in 0..block.len() {
                        *most = (*most).max(block.units(i, 0).unsigned_abs().into());
                    },
                    |total, part| *total = (*total).max(part),
                )?),
                bound => bound,
            }; bound);
            let mechanisms = params.mechanisms(frame, relation, spend, &bound)?;
            let term = match (params.sums, &bound) {
                (Sums::BoundedRadius(_), Bound::Radius(radius)) => Term::Clipped(*radius),
                (Sums::CenterRelative, _) => Term::Difference,
                _ => Term::Record,
            };
            let statistics = cluster_statistics(source, &lattice_centers, term)?;
            dp_core::planted!("lloyd-stop-on-data": if statistics.counts.contains(&0) { break; }; ());
            dp_core::planted!("lloyd-error-on-data": if statistics.counts.contains(&0) {
                return Err(ParamsError::NoClusters.into());
            }; ());
            let noisy = release(
                session,
                frame,
                &mechanisms,
                statistics.counts,
                statistics.sums,
            )?;
            let radius = match bound {
                Bound::Radius(radius) => Some(radius as f64 * frame.lattice().step()),
                Bound::Coordinates(_) => None,
            };
            self.update(frame, &mut centers, &lattice_centers, &noisy, radius);
            noisy_counts = Some(noisy.counts);
        }
        Ok(Clustering {
            centers,
            noisy_counts,
        })
    }

    /// The number of records where a schedule needs it: the public hint, the public size, or a noisy count.
    fn size<S: LatticeSource>(
        &self,
        source: &S,
        session: &mut Session<'_>,
    ) -> Result<Option<f64>, FitError> {
        let params = &self.params;
        if !params.schedule.needs_size() {
            return Ok(None);
        }
        if let Some(n) = params.n_hint {
            return Ok(Some(n as f64));
        }
        let count = source.fold(
            || 0_i64,
            |count, block| *count += i64::try_from(block.len()).unwrap_or(i64::MAX),
            |total, part| *total += part,
        )?;
        let Some(mechanism) = params.size_mechanism(session.relation())? else {
            return Ok(Some(count as f64)); // public under replace-one
        };
        let noisy = session.add_noise(
            &mechanism,
            "number of records",
            &Confidential::new(vec![count]),
        )?;
        Ok(Some((noisy[0] as f64).clamp(1.0, f64::MAX)))
    }

    /// Moves the centers by released numbers alone.
    ///
    /// A cluster whose noisy count is below max(1, 2 standard deviations of its noise) keeps its center: dividing by
    /// such a count would move the center by noise.
    fn update(
        &self,
        frame: &Frame,
        centers: &mut Array2<f64>,
        lattice_centers: &LatticeCenters,
        noisy: &Noisy,
        radius: Option<f64>,
    ) {
        let d = frame.dimension();
        let twice = 2.0 * noisy.count_std_dev;
        let least = if twice > 1.0 && self.params.split != super::Split::Joint {
            twice
        } else {
            1.0
        };
        let mut row = vec![0.0; d];
        for (j, mut center) in centers.rows_mut().into_iter().enumerate() {
            let count = noisy.counts[j];
            if count < least {
                continue;
            }
            let mean = noisy.sums[j * d..(j + 1) * d].iter().map(|sum| sum / count);
            match self.params.sums {
                Sums::Origin => row.iter_mut().zip(mean).for_each(|(x, m)| *x = m),
                Sums::CenterRelative | Sums::BoundedRadius(_) => {
                    let mut moves: Vec<f64> = mean.collect();
                    if let Some(radius) = radius {
                        shorten(&mut moves, radius);
                    }
                    let from = &lattice_centers.units[j];
                    for ((x, m), c) in row.iter_mut().zip(moves).zip(from) {
                        *x = frame.lattice().to_f64(i64::from(*c)) + m;
                    }
                }
            }
            frame.domain().clip_scaled(&mut row);
            center.assign(&ndarray::ArrayView1::from(&row));
        }
    }
}

/// Runs the mechanisms of one iteration on exact statistics.
fn release(
    session: &mut Session<'_>,
    frame: &Frame,
    mechanisms: &Mechanisms,
    counts: Vec<i64>,
    sums: Vec<i64>,
) -> Result<Noisy, FitError> {
    let step = frame.lattice().step();
    let one = frame.lattice().units_per_one();
    Ok(match mechanisms {
        Mechanisms::Joint(joint) => {
            let k = counts.len();
            let weight = dp_core::planted!("lloyd-weights-scaled": 2 * one; one);
            let mut vector: Vec<i64> = counts.into_iter().map(|count| count * weight).collect();
            vector.extend(sums);
            let noisy = session.add_noise(joint, "counts and sums", &Confidential::new(vector))?;
            let scaled: Vec<f64> = noisy.into_iter().map(|x| x as f64 * step).collect();
            Noisy {
                counts: scaled[..k].to_vec(),
                sums: scaled[k..].to_vec(),
                count_std_dev: joint.std_dev() * step,
            }
        }
        Mechanisms::Apart {
            counts: count_mechanism,
            sums: sum_mechanism,
        } => {
            let k = counts.len();
            let counts = dp_core::planted!(
                "lloyd-empty-skipped": counts.into_iter().filter(|&count| count > 0).collect(); counts
            );
            let mut counts =
                session.add_noise(count_mechanism, "counts", &Confidential::new(counts))?;
            counts.resize(k, 0);
            let sums = session.add_noise(sum_mechanism, "sums", &Confidential::new(sums))?;
            Noisy {
                counts: counts.into_iter().map(|x| x as f64).collect(),
                sums: sums.into_iter().map(|x| x as f64 * step).collect(),
                count_std_dev: count_mechanism.std_dev(),
            }
        }
    })
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
