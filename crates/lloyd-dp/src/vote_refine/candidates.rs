//! Rounds of votes.

use dp_core::{Confidential, Session};
use metric_space::{Frame, LatticeSource};
use ndarray::{Array2, ArrayView1};
use rand::{Rng, RngCore};

use super::params::VoteRefineParams;
use super::plan::Spend;
use super::shape::Shape;
use crate::dplloyd::step::LatticeCenters;
use crate::error::{FitError, ParamsError};

/// Candidates and their noisy votes, released; only those that stand out of the noise.
#[derive(Clone, Debug)]
pub(super) struct Voted {
    /// Shape (number of survivors, d), scaled.
    pub(super) candidates: Array2<f64>,
    /// Their votes, positive.
    pub(super) votes: Vec<f64>,
}

/// Runs all rounds.
pub(super) fn vote<S: LatticeSource>(
    params: &VoteRefineParams,
    source: &S,
    session: &mut Session<'_>,
    rounds: &[Spend],
    m: usize,
    shape: &Shape,
    public: &mut dyn RngCore,
) -> Result<Voted, FitError> {
    let frame = source.frame();
    let mut candidates = Array2::zeros((m, frame.dimension()));
    for row in candidates.rows_mut() {
        place(frame, shape.draw(shape.mean(), params.spread, public), row);
    }
    let mut voted = poll(params, source, session, rounds[0], &candidates)?;
    let narrow = (params.n_clusters as f64).powf(-1.0 / shape.effective_dimension());
    for (round, &spend) in rounds.iter().enumerate().skip(1) {
        let factor = params.growth * narrow * 0.6_f64.powf(round as f64 - 1.0);
        let next = children(frame, &voted, m, factor, shape, public);
        voted = poll(params, source, session, spend, &next)?;
    }
    Ok(voted)
}

/// Survivors, and children around them, chosen by their votes.
fn children(
    frame: &Frame,
    voted: &Voted,
    m: usize,
    factor: f64,
    shape: &Shape,
    public: &mut dyn RngCore,
) -> Array2<f64> {
    let kept = voted.votes.len().min(m);
    let mut next = Array2::zeros((m, frame.dimension()));
    let total: f64 = voted.votes.iter().sum();
    for (i, row) in next.rows_mut().into_iter().enumerate() {
        if i < kept {
            place(frame, voted.candidates.row(i).to_vec(), row);
            continue;
        }
        let mut left = public.random_range(0.0..1.0) * total;
        let parent = voted.votes.iter().position(|votes| {
            left -= votes;
            left <= 0.0
        });
        let point = match parent {
            None => shape.draw(shape.mean(), 1.0, public),
            Some(parent) => {
                let length = factor * public.random_range(0.3..1.0);
                shape.draw(&voted.candidates.row(parent).to_vec(), length, public)
            }
        };
        place(frame, point, row);
    }
    next
}

fn place(frame: &Frame, mut point: Vec<f64>, mut row: ndarray::ArrayViewMut1<'_, f64>) {
    frame.domain().clip_scaled(&mut point);
    row.assign(&ArrayView1::from(&point));
}

/// One round: each record votes for its nearest candidate.
fn poll<S: LatticeSource>(
    params: &VoteRefineParams,
    source: &S,
    session: &mut Session<'_>,
    spend: Spend,
    candidates: &Array2<f64>,
) -> Result<Voted, FitError> {
    let mechanism = spend.counts(session.relation())?;
    let lattice = LatticeCenters::new(source.frame(), candidates).ok_or(ParamsError::NoClusters)?;
    let exact = count(source, &lattice)?;
    let noisy = session.add_noise(&mechanism, "votes", &Confidential::new(exact))?;
    let least = params.threshold * mechanism.std_dev();
    // The heaviest ones, if too many stand out.
    let mut heavy: Vec<(f64, usize)> = noisy
        .iter()
        .enumerate()
        .map(|(i, &votes)| (votes as f64, i))
        .collect();
    heavy.sort_by(|a, b| b.0.total_cmp(&a.0));
    let standing = heavy
        .iter()
        .filter(|(votes, _)| *votes > least && *votes > 0.0)
        .count();
    heavy.truncate(standing.min((heavy.len() / 2).max(2 * params.n_clusters)));
    let rows: Vec<usize> = heavy.iter().map(|(_, i)| *i).collect();
    Ok(Voted {
        candidates: candidates.select(ndarray::Axis(0), &rows),
        votes: heavy.into_iter().map(|(votes, _)| votes).collect(),
    })
}

fn count<S: LatticeSource>(source: &S, candidates: &LatticeCenters) -> Result<Vec<i64>, FitError> {
    let m = candidates.units.len();
    let (votes, _) = source.fold(
        || (vec![0_i64; m], Vec::new()),
        |(votes, labels), block| {
            labels.clear();
            labels.resize(block.len(), 0);
            candidates.assign(block.rows, labels);
            for &label in labels.iter() {
                votes[label as usize] += dp_core::planted!("vote-refine-votes-twice": 2; 1);
            }
        },
        |total, part| {
            for (total, part) in total.0.iter_mut().zip(part.0) {
                *total += part;
            }
        },
    )?;
    Ok(votes)
}
