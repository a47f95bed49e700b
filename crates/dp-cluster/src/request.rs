//! What a caller asks for: [`FitRequest`], checked against the algorithm before any record is read.

use std::collections::BTreeSet;

use dp_core::{Budget, Delta, Epsilon, NeighboringRelation, SpendError};
use metric_space::{BoxDomain, DomainError, Frame, Lattice};

use crate::algorithm::{self, Algorithm, DeltaNeed};

mod options;
#[cfg(test)]
mod tests;
pub use options::Options;

/// Most coordinates of all centers together: a slip of the keyboard must not ask for terabytes.
pub const MAX_CENTER_VALUES: usize = 1 << 26;

/// Everything that a fit is told; all of it is public.
///
/// # Shapes and units
///
/// `bounds` has one `[lo, hi]` per column, in the column's own units, from public knowledge.
#[derive(Clone, Debug, PartialEq)]
pub struct FitRequest {
    /// Name of the algorithm, as [`algorithm::all`] lists them.
    pub algorithm: String,
    /// Names of the columns, in order.
    pub columns: Vec<String>,
    /// Lowest and highest value of each column.
    pub bounds: Vec<[f64; 2]>,
    /// Number of clusters k.
    pub n_clusters: usize,
    /// ε of the whole release; algorithms that are not private go without.
    pub epsilon: Option<Epsilon>,
    /// δ of the whole release; zero for pure differential privacy.
    pub delta: Delta,
    /// The pairs of data sets that the release must not tell apart.
    pub relation: NeighboringRelation,
    /// Number of records as publicly known, never counted.
    pub n_hint: Option<u64>,
    /// Says that a release without any privacy is wanted.
    pub not_private: bool,
    /// Settings that only some algorithms have.
    pub options: Options,
}

impl FitRequest {
    /// A request with no budget and no options yet.
    #[must_use]
    pub fn new(
        algorithm: &str,
        columns: Vec<String>,
        bounds: Vec<[f64; 2]>,
        n_clusters: usize,
        relation: NeighboringRelation,
    ) -> Self {
        Self {
            algorithm: algorithm.to_owned(),
            columns,
            bounds,
            n_clusters,
            epsilon: None,
            delta: Delta::ZERO,
            relation,
            n_hint: None,
            not_private: false,
            options: Options::default(),
        }
    }

    /// Sets the budget.
    #[must_use]
    pub const fn budget(mut self, budget: Budget) -> Self {
        self.epsilon = Some(budget.epsilon);
        self.delta = budget.delta;
        self
    }

    /// Sets the number of records as publicly known.
    #[must_use]
    pub const fn n_hint(mut self, n_hint: u64) -> Self {
        self.n_hint = Some(n_hint);
        self
    }

    /// Asks for a release without any privacy.
    #[must_use]
    pub const fn not_private(mut self) -> Self {
        self.not_private = true;
        self
    }

    /// Sets what only some algorithms have.
    #[must_use]
    pub fn options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    /// Number of columns d.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.columns.len()
    }

    /// The public box and the lattice on which every private statistic lives.
    ///
    /// # Errors
    ///
    /// [`RequestError`] naming the column whose bounds are refused.
    pub fn frame(&self) -> Result<Frame, RequestError> {
        Ok(Frame::new(
            box_domain(&self.columns, &self.bounds)?,
            Lattice::default(),
        ))
    }

    /// The budget of a private algorithm.
    ///
    /// # Errors
    ///
    /// [`RequestError::NoEpsilon`] if no ε was given.
    pub fn required_budget(&self) -> Result<Budget, RequestError> {
        let epsilon = self.epsilon.ok_or_else(|| RequestError::NoEpsilon {
            algorithm: self.algorithm.clone(),
        })?;
        Ok(Budget::approx(epsilon, self.delta))
    }

    /// Checks everything that can be checked without a record, and finds the algorithm.
    ///
    /// # Errors
    ///
    /// [`RequestError`] naming the parameter.
    pub fn check(&self) -> Result<&'static dyn Algorithm, RequestError> {
        let algorithm = self.check_settings()?;
        self.check_shape()?;
        Ok(algorithm)
    }

    /// Checks everything that does not depend on the columns, and finds the algorithm.
    ///
    /// # Errors
    ///
    /// [`RequestError`] naming the parameter.
    pub fn check_settings(&self) -> Result<&'static dyn Algorithm, RequestError> {
        let algorithm = algorithm::find(&self.algorithm)?;
        let facts = algorithm.facts();
        self.check_options(facts.options)?;
        if facts.private && self.not_private {
            return Err(RequestError::IsPrivate {
                algorithm: self.algorithm.clone(),
            });
        }
        if !facts.private && !self.not_private {
            return Err(RequestError::IsNotPrivate {
                algorithm: self.algorithm.clone(),
            });
        }
        if facts.private {
            self.required_budget()?;
            if facts.delta == DeltaNeed::Required && self.delta.is_zero() {
                return Err(RequestError::NoDelta {
                    algorithm: self.algorithm.clone(),
                });
            }
        }
        if self.n_hint == Some(0) {
            return Err(RequestError::SizeHint);
        }
        Ok(algorithm)
    }

    /// Refuses a setting that the algorithm does not have.
    fn check_options(&self, has: &[&str]) -> Result<(), RequestError> {
        match self.options.given().find(|name| !has.contains(name)) {
            None => Ok(()),
            Some(name) => Err(RequestError::Option {
                option: name,
                algorithm: self.algorithm.clone(),
                offered_by: algorithm::all()
                    .filter(|other| other.facts().options.contains(&name))
                    .map(|other| other.facts().name)
                    .collect(),
            }),
        }
    }

    fn check_shape(&self) -> Result<(), RequestError> {
        let mut seen = BTreeSet::new();
        if let Some(twice) = self.columns.iter().find(|name| !seen.insert(*name)) {
            return Err(RequestError::DuplicateColumn {
                column: twice.clone(),
            });
        }
        let frame = self.frame()?;
        let most = MAX_CENTER_VALUES / self.dimension();
        // 2·2^b + 1 lattice values per column; in more than two columns they always suffice.
        let values = usize::try_from(2 * frame.lattice().units_per_one() + 1).unwrap_or(usize::MAX);
        let points = (1..self.dimension()).fold(values, |points, _| points.saturating_mul(values));
        let most = most.min(points);
        if self.n_clusters == 0 || self.n_clusters > most {
            return Err(RequestError::Clusters {
                got: self.n_clusters,
                most,
            });
        }
        if let Some(centers) = &self.options.init_centers {
            let expected = (self.n_clusters, self.dimension());
            if centers.dim() != expected {
                return Err(RequestError::InitCenters {
                    expected,
                    got: centers.dim(),
                });
            }
            if centers.iter().any(|x| !x.is_finite()) {
                return Err(RequestError::InitCentersNotFinite);
            }
        }
        Ok(())
    }
}

/// The public box of named columns.
///
/// # Errors
///
/// [`RequestError`] naming the column whose bounds are refused.
pub fn box_domain(columns: &[String], bounds: &[[f64; 2]]) -> Result<BoxDomain, RequestError> {
    if columns.len() != bounds.len() {
        return Err(RequestError::BoundsCount {
            columns: columns.len(),
            bounds: bounds.len(),
        });
    }
    let (lo, hi) = bounds.iter().map(|&[lo, hi]| (lo, hi)).unzip();
    BoxDomain::new(lo, hi).map_err(|error| match error {
        DomainError::Bounds { column, lo, hi } => RequestError::Bounds {
            column: columns[column].clone(),
            lo,
            hi,
        },
        _ => RequestError::NoColumns,
    })
}

/// A request was refused before any record was read; nothing was spent.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// There is no algorithm of this name.
    #[error("there is no algorithm `{got}`; there are {}", known.join(", "))]
    Algorithm {
        /// The refused name.
        got: String,
        /// The names there are.
        known: Vec<&'static str>,
    },
    /// The algorithm has no such setting.
    #[error("`--{option}` does not go with `{algorithm}`; it goes with {}", offered_by.join(", "))]
    Option {
        /// The setting.
        option: &'static str,
        /// The algorithm that was asked for.
        algorithm: String,
        /// The algorithms that have it.
        offered_by: Vec<&'static str>,
    },
    /// No column was chosen.
    #[error("at least one column is needed")]
    NoColumns,
    /// A column was named twice.
    #[error("the column `{column}` is named twice")]
    DuplicateColumn {
        /// Its name.
        column: String,
    },
    /// Not as many bounds as columns.
    #[error("there are {columns} columns and {bounds} bounds")]
    BoundsCount {
        /// Number of columns.
        columns: usize,
        /// Number of bounds.
        bounds: usize,
    },
    /// The bounds of a column are no interval.
    #[error(
        "the bounds of `{column}` must be finite, in order, and not too far apart or too close, got [{lo}, {hi}]"
    )]
    Bounds {
        /// The column.
        column: String,
        /// The refused lower bound.
        lo: f64,
        /// The refused upper bound.
        hi: f64,
    },
    /// The number of clusters is out of range.
    #[error("the number of clusters must lie in 1..={most} here, got {got}")]
    Clusters {
        /// The refused number.
        got: usize,
        /// The largest for these columns.
        most: usize,
    },
    /// A private algorithm needs ε.
    #[error("`{algorithm}` needs epsilon (`--epsilon`)")]
    NoEpsilon {
        /// The algorithm.
        algorithm: String,
    },
    /// The algorithm has no pure form.
    #[error("`{algorithm}` needs a delta above 0 (`--delta`), for example 1e-6")]
    NoDelta {
        /// The algorithm.
        algorithm: String,
    },
    /// A release without privacy must be asked for.
    #[error("`{algorithm}` is not private: say `--not-private` if that is what you want")]
    IsNotPrivate {
        /// The algorithm.
        algorithm: String,
    },
    /// The algorithm is private, the request says otherwise.
    #[error("`{algorithm}` is private: `--not-private` does not go with it")]
    IsPrivate {
        /// The algorithm.
        algorithm: String,
    },
    /// A public size of zero.
    #[error("the public number of records (`--n-hint`) must be at least 1")]
    SizeHint,
    /// The algorithm cannot plan without a public size.
    #[error("`{algorithm}` needs a public number of records here (`--n-hint`)")]
    NoSizeHint {
        /// The algorithm.
        algorithm: String,
    },
    /// First centers of another shape.
    #[error(
        "the first centers (`--init-centers`) must be {} rows of {} columns, got {} of {}",
        expected.0, expected.1, got.0, got.1
    )]
    InitCenters {
        /// (k, d).
        expected: (usize, usize),
        /// The shape that was given.
        got: (usize, usize),
    },
    /// A coordinate of a first center is no finite number.
    #[error("the first centers (`--init-centers`) must be finite")]
    InitCentersNotFinite,
    /// A parameter was refused by the algorithm.
    #[error("{parameter}: {reason}")]
    Parameter {
        /// Which one.
        parameter: &'static str,
        /// Why, with the refused public value.
        reason: String,
    },
    /// The plan does not fit the budget.
    #[error(transparent)]
    Spend(#[from] SpendError),
}
