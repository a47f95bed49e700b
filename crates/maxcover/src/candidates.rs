//! Candidate centers where no public sites are given: drawn without the data, or released by a mechanism.
//!
//! | source | budget | candidates |
//! |---|---|---|
//! | [`Source::Lattice`], [`Source::Uniform`] | none | spread over the domain: right for few columns |
//! | [`Source::Partition`] | pure ε | middles of the cells of a halving that goes down where a noisy count says so; above 8 columns, noisy means of the cells of a halving under a random projection |
//! | [`Source::Tree`] | pure ε | noisy means of the leaves of a tree of random hyperplanes |
//! | [`Source::Lsh`] | (ε, δ) | noisy means of heavy cells of randomly shifted grids, fine ones first |
//!
//! All is in original units: a domain with columns of very different widths should be rescaled by its owner.
//!
//! # Source
//!
//! Balcan, Dick, Liang, Mou, Zhang 2017 (`Partition`); Chang, Ghazi, Kumar, Manurangsi 2021 (`Tree`,
//! here with boxes in randomly turned axes); Kaplan, Stemmer 2018 (`Lsh`).

use dp_core::mechanism::{LaplaceMechanism, ThresholdMechanism};
use dp_core::rounding::split;
use dp_core::sensitivity::L1Sensitivity;
use dp_core::{Budget, Delta, Epsilon, Event, NeighboringRelation, Session};
use metric_space::{Domain, RecordSource};
use ndarray::Array2;
use rand::{Rng, RngCore};

use crate::coverage::Demand;
use crate::error::{FitError, ParamsError};

mod cells;
mod lsh;
#[cfg(test)]
mod tests;
mod tree;

/// Where candidates come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A grid over the domain.
    Lattice,
    /// Uniform in the domain.
    Uniform,
    /// Heavy cells of randomly shifted grids.
    Lsh,
    /// A recursive halving of the domain.
    Partition,
    /// A tree of random hyperplanes.
    Tree,
}

impl Source {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Lattice,
        Self::Uniform,
        Self::Lsh,
        Self::Partition,
        Self::Tree,
    ];

    /// The name in flags and models.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lattice => "lattice",
            Self::Uniform => "uniform",
            Self::Lsh => "lsh",
            Self::Partition => "partition",
            Self::Tree => "tree",
        }
    }

    /// Whether candidates depend on the records, and so cost budget.
    #[must_use]
    pub const fn is_private(self) -> bool {
        matches!(self, Self::Lsh | Self::Partition | Self::Tree)
    }

    /// Whether the source needs δ.
    #[must_use]
    pub const fn needs_delta(self) -> bool {
        matches!(self, Self::Lsh)
    }
}

/// A source with its budget and size.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidates {
    source: Source,
    budget: Budget,
    /// Most candidates (cells, leaves).
    limit: usize,
}

/// The mechanisms of a private source.
struct Mechanisms {
    /// Runs as often as there are levels or grids.
    counts: Counts,
    runs: u64,
    /// Means, if they are released: as often as the counts for `Lsh`, once for `Tree`.
    sums: Option<LaplaceMechanism>,
}

enum Counts {
    Laplace(LaplaceMechanism),
    Threshold(ThresholdMechanism),
}

/// Grids of [`Source::Lsh`]: cells of Δ/2, Δ/4, … One round of them finds more than two or three, as published, with a part of the
/// budget each, since a cell needs about ln(1/δ)/ε records to be found.
const GRIDS: u64 = 4;

/// The part of a source's ε that goes to means is d/(d + this): their noise grows with the columns, that of counts does not.
const COUNT_WEIGHT: f64 = 6.0;

/// Records of more columns are hashed, or halved, by a projection to this many.
const PROJECTED_COLUMNS: usize = 8;

/// A candidate and the noisy number of records that it stands for.
type Weighted = (Vec<f64>, f64);

/// Candidates, shape (m, d) in original units, and what they stand for.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawn {
    /// The candidates.
    pub points: Array2<f64>,
    /// Noisy numbers of records, where the source counts disjoint parts of them: a weighted coreset that was released with the
    /// candidates. Not of `Lattice`, `Uniform` and the nested cells of `Partition` in few columns.
    pub weights: Option<Vec<f64>>,
}

const PURPOSE_COUNTS: &str = "records per cell";
const PURPOSE_SUMS: &str = "means of cells";

impl Candidates {
    /// At most `limit` candidates within a budget (a public source spends nothing of it).
    ///
    /// # Errors
    ///
    /// [`ParamsError`] if the limit is not in 1..=2²⁰ or the source needs a δ that is not there.
    pub fn new(source: Source, budget: Budget, limit: usize) -> Result<Self, ParamsError> {
        if limit == 0 || limit > 1 << 20 {
            return Err(ParamsError::Count {
                name: "the number of candidates",
                least: 1,
                most: 1 << 20,
                got: limit as u64,
            });
        }
        if source.needs_delta() && budget.delta.is_zero() {
            return Err(ParamsError::NoDelta);
        }
        Ok(Self {
            source,
            budget,
            limit,
        })
    }

    /// Where they come from.
    #[must_use]
    pub const fn source(&self) -> Source {
        self.source
    }

    fn levels(&self) -> u64 {
        (u64::from(self.limit.next_power_of_two().trailing_zeros())).max(1)
    }

    fn mechanisms(
        &self,
        relation: NeighboringRelation,
        dimension: usize,
    ) -> Result<Option<Mechanisms>, ParamsError> {
        let too_small = |_| ParamsError::BudgetTooSmall {
            purpose: "the candidates",
        };
        let per_run = |total: f64, runs: u64| {
            let shares = vec![1.0; usize::try_from(runs).unwrap_or(1)];
            Epsilon::new(split(total, &shares).first().copied().unwrap_or(0.0)).map_err(too_small)
        };
        let steps = relation.steps();
        let sensitivity = |units: u64| {
            L1Sensitivity::new(units * steps).map_err(|_| ParamsError::BudgetTooSmall {
                purpose: "the candidates",
            })
        };
        let epsilon = self.budget.epsilon.get();
        let parts = split(epsilon, &[COUNT_WEIGHT, dimension as f64]);
        let sums = |epsilon| {
            let bound = dimension as u64 * cells::HALF_CELL.unsigned_abs();
            Ok::<_, ParamsError>(LaplaceMechanism::calibrate(sensitivity(bound)?, epsilon)?)
        };
        Ok(Some(match self.source {
            Source::Lattice | Source::Uniform => return Ok(None),
            Source::Partition if dimension <= PROJECTED_COLUMNS => Mechanisms {
                counts: Counts::Laplace(LaplaceMechanism::calibrate(
                    sensitivity(1)?,
                    per_run(epsilon, self.levels())?,
                )?),
                runs: self.levels(),
                sums: None,
            },
            Source::Partition | Source::Tree => Mechanisms {
                counts: Counts::Laplace(LaplaceMechanism::calibrate(
                    sensitivity(1)?,
                    per_run(parts[0], self.levels())?,
                )?),
                runs: self.levels(),
                sums: Some(sums(Epsilon::new(parts[1]).map_err(too_small)?)?),
            },
            Source::Lsh => {
                let runs = GRIDS;
                let delta = split(
                    self.budget.delta.get(),
                    &vec![1.0; usize::try_from(runs).unwrap_or(1)],
                );
                let delta = Delta::new(delta.first().copied().unwrap_or(0.0)).map_err(too_small)?;
                let own = Budget::approx(per_run(parts[0], runs)?, delta)
                    .converted(relation, NeighboringRelation::AddRemove)
                    .ok_or(ParamsError::BudgetTooSmall {
                        purpose: "the candidates",
                    })?;
                Mechanisms {
                    counts: Counts::Threshold(ThresholdMechanism::calibrate(
                        own.epsilon,
                        own.delta,
                    )?),
                    runs,
                    sums: Some(sums(per_run(parts[1], runs)?)?),
                }
            }
        }))
    }

    /// What a draw spends at most, from public facts alone.
    ///
    /// # Errors
    ///
    /// [`ParamsError`] if the budget is too small to be divided.
    pub fn plan(
        &self,
        relation: NeighboringRelation,
        dimension: usize,
    ) -> Result<Vec<Event>, ParamsError> {
        let Some(mechanisms) = self.mechanisms(relation, dimension)? else {
            return Ok(Vec::new());
        };
        let counts = match &mechanisms.counts {
            Counts::Laplace(laplace) => laplace.event(relation, PURPOSE_COUNTS),
            Counts::Threshold(threshold) => threshold.event(PURPOSE_COUNTS),
        };
        let mut events = vec![counts.times(mechanisms.runs)];
        if let Some(sums) = &mechanisms.sums {
            let times = if self.source == Source::Lsh {
                mechanisms.runs
            } else {
                1
            };
            events.push(sums.event(relation, PURPOSE_SUMS).times(times));
        }
        Ok(events)
    }

    /// Draws or releases candidates in original units, at least one, inside the domain; with weights where there are any.
    ///
    /// # Privacy
    ///
    /// Public sources do not look at the records. In the others each record is in one cell at a time: cells compose in
    /// parallel, levels, grids and rounds in sequence. Which cells are looked at next depends on noisy counts alone, and which records
    /// take part depends on the record and on released candidates alone.
    ///
    /// # Errors
    ///
    /// [`FitError`] if the session's budget does not cover it or the source cannot be read.
    ///
    /// # Panics
    ///
    /// Never: all candidates have d columns.
    pub fn draw<S: RecordSource + ?Sized>(
        &self,
        domain: &Domain,
        records: &S,
        session: &mut Session<'_>,
        public: &mut dyn RngCore,
    ) -> Result<Drawn, FitError> {
        let d = domain.dimension();
        let bare = |rows: Vec<Vec<f64>>| (rows, None);
        let weighted = |found: Vec<Weighted>| {
            let (rows, weights): (Vec<_>, Vec<_>) = found.into_iter().unzip();
            (rows, Some(weights))
        };
        let (mut rows, mut weights): (Vec<Vec<f64>>, Option<Vec<f64>>) =
            match self.mechanisms(session.relation(), d)? {
                None if self.source == Source::Lattice => bare(lattice(domain, self.limit)),
                None => bare(uniform(domain, self.limit, public)),
                Some(mechanisms) => {
                    session.admit(&self.plan(session.relation(), d)?)?;
                    let demand = Demand::read(records, domain)?;
                    match (&mechanisms.counts, &mechanisms.sums) {
                        (Counts::Laplace(counts), None) => bare(tree::partition(
                            &demand,
                            domain,
                            counts,
                            self.levels(),
                            self.limit,
                            session,
                        )?),
                        (Counts::Laplace(counts), Some(sums)) => {
                            let spec = tree::Spec {
                                counts,
                                sums,
                                levels: self.levels(),
                                limit: self.limit,
                            };
                            weighted(if self.source == Source::Tree {
                                tree::hyperplanes(
                                    &demand,
                                    domain,
                                    &spec,
                                    PROJECTED_COLUMNS,
                                    session,
                                    public,
                                )?
                            } else {
                                let columns = PROJECTED_COLUMNS;
                                tree::projected_partition(
                                    &demand, domain, &spec, columns, session, public,
                                )?
                            })
                        }
                        (Counts::Threshold(counts), Some(sums)) => weighted(lsh::heavy_cells(
                            &demand, domain, counts, sums, session, public,
                        )?),
                        (Counts::Threshold(_), None) => bare(Vec::new()),
                    }
                }
            };
        rows.truncate(self.limit.max(1));
        if rows.is_empty() {
            // A public fallback: the middle of the domain.
            rows.push(vec![f64::NAN; d]);
        }
        if let Some(weights) = &mut weights {
            weights.resize(rows.len(), 0.0);
        }
        for row in &mut rows {
            domain.clip_original(row);
        }
        let n = rows.len();
        let flat = rows.into_iter().flatten().collect();
        let points = Array2::from_shape_vec((n, d), flat).expect("n rows of d columns each");
        Ok(Drawn { points, weights })
    }
}

/// The middles of a grid of g^d cells, g as large as the limit allows.
fn lattice(domain: &Domain, limit: usize) -> Vec<Vec<f64>> {
    let (lo, hi) = domain.corners();
    let d = lo.len();
    let fits = |g: usize| {
        (0..d)
            .try_fold(1_usize, |n, _| n.checked_mul(g))
            .is_some_and(|n| n <= limit)
    };
    let mut g = 1;
    while fits(g + 1) {
        g += 1;
    }
    let mut rows = vec![Vec::new()];
    for j in 0..d {
        let coordinate = |i: usize| lo[j] + (hi[j] - lo[j]) * (i as f64 + 0.5) / g as f64;
        let extended = |row: &Vec<f64>| -> Vec<Vec<f64>> {
            (0..g)
                .map(|i| row.iter().copied().chain([coordinate(i)]).collect())
                .collect()
        };
        rows = rows.iter().flat_map(extended).collect();
    }
    rows.retain(|row| domain.contains(row));
    rows
}

/// Uniform points: of a box at once, of a ball by rejection, or by clipping where that would take too long.
fn uniform(domain: &Domain, limit: usize, public: &mut dyn RngCore) -> Vec<Vec<f64>> {
    let (lo, hi) = domain.corners();
    let mut point = || -> Vec<f64> {
        let mut draw = || -> Vec<f64> {
            lo.iter()
                .zip(&hi)
                .map(|(lo, hi)| lo + (hi - lo) * public.random::<f64>())
                .collect()
        };
        let mut point = draw();
        for _ in 0..100 {
            if domain.contains(&point) {
                break;
            }
            point = draw();
        }
        point
    };
    (0..limit).map(|_| point()).collect()
}
