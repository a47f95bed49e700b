//! From flags to a request.

use dp_cluster::{Delta, Epsilon, FitRequest, MetricChoice, NeighboringRelation};

use crate::args::{Relation, RequestArgs};
use crate::bounds::Bounds;
use crate::failure::Failure;

/// A request whose columns may not be known yet.
pub(crate) struct Draft {
    request: FitRequest,
    bounds: Option<Bounds>,
}

impl Draft {
    /// Reads the flags and refuses whatever can be refused without knowing the columns.
    pub(crate) fn new(args: &RequestArgs) -> Result<Self, Failure> {
        let relation = match args.relation {
            Relation::AddRemove => NeighboringRelation::AddRemove,
            Relation::ReplaceOne => NeighboringRelation::ReplaceOne,
        };
        let mut request = FitRequest::new(
            &args.algorithm,
            Vec::new(),
            Vec::new(),
            args.clusters,
            relation,
        )
        .options(args.options.without_files());
        let usage = |error: &dyn std::fmt::Display| Failure::usage(error.to_string());
        request.epsilon = args
            .epsilon
            .map(|epsilon| Epsilon::new(epsilon).map_err(|error| usage(&error)))
            .transpose()?;
        request.delta = Delta::new(args.delta.unwrap_or(0.0)).map_err(|error| usage(&error))?;
        request.n_hint = args.n_hint;
        request.not_private = args.not_private;
        request.check_settings()?;
        let bounds = match (&args.bounds, &args.bounds_file) {
            (Some(text), _) => Some(Bounds::parse(text)?),
            (None, Some(path)) => Some(Bounds::read(path)?),
            (None, None) => None,
        };
        let draft = Self { request, bounds };
        if let Some(columns) = args.columns()
            && draft.bounds.is_some()
        {
            draft.complete(&columns, args)?;
        }
        Ok(draft)
    }

    /// Bounds are needed: without data and without them there is no domain.
    pub(crate) fn require_bounds(&self) -> Result<(), Failure> {
        let has_matrix = matches!(self.request.options.metric, Some(MetricChoice::Matrix(_)));
        if self.bounds.is_some() || has_matrix {
            return Ok(());
        }
        Err(Failure::usage("the bounds of the columns are missing").help(
            "give --bounds=LO,HI or --bounds-file F.toml, from public knowledge and not from the data",
        ))
    }

    /// Bounds for a plan, where nothing depends on them.
    pub(crate) fn or_unit_bounds(mut self) -> Self {
        self.bounds.get_or_insert(Bounds::Same([-1.0, 1.0]));
        self
    }

    /// The whole request, checked.
    pub(crate) fn complete(
        &self,
        columns: &[String],
        args: &RequestArgs,
    ) -> Result<FitRequest, Failure> {
        let mut request = self.request.clone();
        request.columns = columns.to_vec();
        request.options = args.options.with_files(columns)?;
        request.bounds = match (&request.options.metric, &self.bounds) {
            // Places are numbered from 0; a single one still needs an interval.
            (Some(MetricChoice::Matrix(table)), _) => {
                vec![[0.0, table.nrows().saturating_sub(1).max(1) as f64]; columns.len()]
            }
            (_, Some(bounds)) => bounds.of(columns)?,
            (_, None) => Vec::new(),
        };
        request.check()?;
        Ok(request)
    }
}
