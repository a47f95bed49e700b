//! Replays of every subject on generated neighbors.

use dp_audit::pairs::{Table, TablePairs};
use dp_audit::replay::{Replayed, replay};
use ndarray::Array2;

use crate::parallel::spread;
use crate::subjects::Subject;

/// Neighbors of each recorded table.
const PER_GROUP: usize = 5;

/// What was compared for one algorithm.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Compared {
    /// Name of the algorithm.
    pub algorithm: &'static str,
    /// Settings and relations.
    pub subjects: usize,
    /// Pairs of neighbors.
    pub pairs: usize,
    /// Pairs of calls.
    pub calls: usize,
}

/// Replays `pairs` neighbors of one subject (rounded up to whole groups); none of one that says why not.
///
/// # Errors
///
/// The first difference, with the group in which it was seen.
pub fn subject(subject: &Subject, pairs: usize, seed: u64) -> Result<(usize, usize), String> {
    if subject.unreplayed.is_some() {
        return Ok((0, 0));
    }
    let promise = subject.promise;
    let tables = TablePairs::new(subject.columns, -1.0, 1.0, promise.relation, seed)
        .most_rows(subject.most_rows)
        .per_group(PER_GROUP);
    let one = |number: u64| -> Result<Replayed, String> {
        let group = tables.group(number);
        let failed = |what: String| format!("{}, group {number}: {what}", subject.name());
        let replayed = replay(promise, &group, |table, session| {
            subject.run(&array(table), session)
        })
        .map_err(|error| failed(error.to_string()))?;
        for (event, recorded, again) in &replayed.by_theorem {
            subject
                .check_theorem(event, recorded, again)
                .map_err(failed)?;
        }
        Ok(Replayed {
            by_theorem: Vec::new(),
            ..replayed
        })
    };
    let groups = pairs.div_ceil(PER_GROUP) as u64;
    let merge = |mut a: Replayed, b: Replayed| {
        a.add(b);
        a
    };
    let sum = spread(groups, one, merge)?.unwrap_or_default();
    Ok((sum.pairs, sum.calls))
}

/// Replays `pairs` neighbors per algorithm, shared out among its subjects.
///
/// # Errors
///
/// As [`subject`].
pub fn algorithms(subjects: &[Subject], pairs: usize) -> Result<Vec<Compared>, String> {
    let mut all: Vec<Compared> = Vec::new();
    for subject in subjects {
        let same = subjects
            .iter()
            .filter(|other| other.algorithm == subject.algorithm && other.unreplayed.is_none());
        let share = pairs.div_ceil(same.count().max(1));
        let (pairs, calls) = self::subject(subject, share, 1)?;
        let known = all
            .iter()
            .position(|other| other.algorithm == subject.algorithm);
        let at = known.unwrap_or(all.len());
        if known.is_none() {
            all.push(Compared {
                algorithm: subject.algorithm,
                ..Compared::default()
            });
        }
        all[at].subjects += usize::from(subject.unreplayed.is_none());
        all[at].pairs += pairs;
        all[at].calls += calls;
    }
    Ok(all)
}

/// A table as an array.
#[must_use]
pub fn array(table: &Table) -> Array2<f64> {
    let shape = (table.len(), table.columns());
    Array2::from_shape_vec(shape, table.values().to_vec())
        .unwrap_or_else(|_| Array2::zeros((0, table.columns())))
}
