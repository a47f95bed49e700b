//! `maxcover`: private facility location among public sites, or among candidates where there are no sites.

use std::collections::BTreeMap;

use dp_core::{NeighboringRelation, Session, Value};
use maxcover::black_box::{BlackBox, FasterPam, FreeLloyd};
use maxcover::candidates::Source;
use maxcover::{Facilities, MaxCoverParams, Space, ThroughCandidates};
use metric_space::{
    Chebyshev, Domain, Euclidean, Haversine, Manhattan, MatrixMetric, Metric, MetricError, Power,
    RecordSource,
};
use ndarray::Array2;
use rand::RngCore;

use super::failure::{failed, refusal, refused};
use crate::algorithm::{Algorithm, DeltaNeed, Facts, FitError, Outcome};
use crate::plan::Plan;
use crate::request::{FitRequest, RequestError, box_domain};

#[cfg(test)]
mod tests;

/// Tables of at most so many places are searched for detours: that takes the cube of their number.
const CHECKED_PLACES: usize = 500;

/// Most candidates.
const MAX_CANDIDATES: usize = 4096;

/// Candidates of a private source per cluster: each level of a tree takes a part of the budget, and leaves with means need fewer
/// than cells of which the middle is taken, which must be cut in every column.
const CANDIDATES_PER_CLUSTER: usize = 64;
const CELLS_PER_CLUSTER: usize = 256;
const LEAVES_PER_CLUSTER: usize = 16;

/// Up to so many columns a lattice is dense enough to be the default.
const LATTICE_COLUMNS: usize = 2;

/// The distance of `maxcover`, original units.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum MetricChoice {
    /// Straight lines.
    #[default]
    Euclidean,
    /// Sums of coordinate distances.
    L1,
    /// Largest coordinate distance.
    Linf,
    /// Meters on the globe, columns latitude and longitude in degrees.
    Haversine,
    /// A public table of distances between places.
    Matrix(Array2<f64>),
}

impl MetricChoice {
    /// The name in models.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Euclidean => "euclidean",
            Self::L1 => "l1",
            Self::Linf => "linf",
            Self::Haversine => "haversine",
            Self::Matrix(_) => "matrix",
        }
    }

    /// The choice that a model names, where it needs no table.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        [Self::Euclidean, Self::L1, Self::Linf, Self::Haversine]
            .into_iter()
            .find(|choice| choice.name() == name)
    }

    /// Refuses public places that this distance does not know: what records hold is moved into the domain, but a site or a bound
    /// that is out of range is a mistake of whoever gave it.
    fn check_places(
        &self,
        request: &FitRequest,
        sites: Option<&Array2<f64>>,
    ) -> Result<(), RequestError> {
        match self {
            Self::Haversine => {
                // Nothing else would show that they are exchanged: most longitudes could be latitudes.
                let is_named = |j: usize, start: &str| {
                    let name = request.columns.get(j).map(|name| name.to_lowercase());
                    name.is_some_and(|name| name.starts_with(start))
                };
                if (is_named(0, "lon") || is_named(0, "lng")) && is_named(1, "lat") {
                    let reason = format!(
                        "haversine takes the latitude first: give the columns as `{}`, `{}`",
                        request.columns[1], request.columns[0]
                    );
                    return Err(refusal("metric", reason));
                }
                let latitudes = request.bounds.first().into_iter().flatten();
                let of_sites = sites
                    .into_iter()
                    .filter_map(|sites| sites.columns().into_iter().next());
                let of_sites = of_sites.flatten();
                match latitudes.chain(of_sites).find(|x| x.abs() > 90.0) {
                    Some(x) => Err(refusal(
                        "metric",
                        format!(
                            "haversine takes latitude and longitude in degrees, in this order, got latitude {x}"
                        ),
                    )),
                    None => Ok(()),
                }
            }
            Self::Matrix(distances) => {
                let places = distances.nrows();
                let is_place = |&&x: &&f64| x.fract() == 0.0 && x >= 0.0 && x < places as f64;
                match sites.into_iter().flatten().find(|x| !is_place(x)) {
                    Some(x) => Err(refusal(
                        "sites",
                        format!(
                            "places are numbered 0 to {}, got {x}",
                            places.saturating_sub(1)
                        ),
                    )),
                    None => Ok(()),
                }
            }
            Self::Euclidean | Self::L1 | Self::Linf => Ok(()),
        }
    }

    /// What breaks the triangle inequality, in a table that is small enough to look for it.
    fn detour(&self) -> Option<MetricError> {
        match self {
            Self::Matrix(distances) if distances.nrows() <= CHECKED_PLACES => {
                let table = MatrixMetric::new(distances.clone()).ok()?;
                table.check_triangles().err()
            }
            _ => None,
        }
    }

    /// The metric itself.
    ///
    /// # Errors
    ///
    /// [`RequestError`] for a table that holds no distances.
    pub fn metric(&self) -> Result<Box<dyn Metric>, RequestError> {
        Ok(match self {
            Self::Euclidean => Box::new(Euclidean),
            Self::L1 => Box::new(Manhattan),
            Self::Linf => Box::new(Chebyshev),
            Self::Haversine => Box::new(Haversine),
            Self::Matrix(distances) => {
                Box::new(MatrixMetric::new(distances.clone()).map_err(refused("metric"))?)
            }
        })
    }
}

pub(crate) struct MaxCover;

impl Algorithm for MaxCover {
    fn facts(&self) -> Facts {
        Facts {
            name: "maxcover",
            summary: "facility location among public sites, in any metric, by maximum coverage",
            private: true,
            proof: NeighboringRelation::AddRemove,
            delta: DeltaNeed::Required,
            needs_size: false,
            options: &["sites", "metric", "power", "candidates"],
        }
    }

    fn plan(&self, request: &FitRequest) -> Result<Plan, RequestError> {
        let settings = Settings::new(request)?;
        let events = match &settings.sites {
            Some(sites) => {
                let space = Space::new(&settings.metric, &settings.domain, sites.view());
                let space = space.map_err(refused("sites"))?;
                if request.n_clusters > space.n_sites() {
                    let reason = format!(
                        "there are {} sites, fewer than {} clusters",
                        space.n_sites(),
                        request.n_clusters
                    );
                    return Err(refusal("sites", reason));
                }
                let checked = settings
                    .params
                    .clone()
                    .check()
                    .map_err(refused("maxcover"))?;
                checked.plan(request.relation)
            }
            None => settings
                .through()?
                .plan(request.relation, request.dimension()),
        };
        let events = events.map_err(refused("maxcover"))?;
        let plan = Plan::new(events).parameters(settings.parameters());
        Ok(match settings.choice.detour() {
            Some(detour) => plan.note(format!(
                "{detour}: private all the same, but the bounds on the cost need the triangle inequality"
            )),
            None => plan,
        })
    }

    fn fit(
        &self,
        request: &FitRequest,
        source: &dyn RecordSource,
        session: &mut Session<'_>,
        public: &mut dyn RngCore,
    ) -> Result<Outcome, FitError> {
        let settings = Settings::new(request)?;
        let black_box = settings.black_box();
        let fitted = match &settings.sites {
            Some(sites) => {
                let space = Space::new(&settings.metric, &settings.domain, sites.view());
                let space = space.map_err(refused("sites"))?;
                let checked = settings
                    .params
                    .clone()
                    .check()
                    .map_err(refused("maxcover"))?;
                checked.fit(&space, source, black_box.as_ref(), session, public)
            }
            None => settings.through()?.fit(
                &settings.metric,
                &settings.domain,
                source,
                black_box.as_ref(),
                session,
                public,
            ),
        };
        Ok(settings.outcome(fitted.map_err(failed("maxcover"))?))
    }
}

/// Everything that is asked for, with defaults filled in.
struct Settings {
    choice: MetricChoice,
    metric: Box<dyn Metric>,
    power: Power,
    domain: Domain,
    sites: Option<Array2<f64>>,
    candidates: Source,
    n_clusters: usize,
    params: MaxCoverParams,
}

impl Settings {
    fn new(request: &FitRequest) -> Result<Self, RequestError> {
        let options = &request.options;
        let choice = options.metric.clone().unwrap_or_default();
        let metric = choice.metric()?;
        let power = Power::new(options.power.unwrap_or(1.0)).map_err(refused("power"))?;
        if let Some(columns) = metric.columns()
            && columns != request.dimension()
        {
            let reason = format!(
                "{} needs {columns} columns, got {}",
                choice.name(),
                request.dimension()
            );
            return Err(refusal("metric", reason));
        }
        choice.check_places(request, options.sites.as_ref())?;
        let all_places = match &choice {
            MetricChoice::Matrix(distances) => {
                Some(Array2::from_shape_fn((distances.nrows(), 1), |(row, _)| {
                    row as f64
                }))
            }
            _ => None,
        };
        if options.candidates.is_some() && (options.sites.is_some() || all_places.is_some()) {
            return Err(refusal("candidates", "there are sites already"));
        }
        let candidates = match options.candidates {
            Some(source) => source,
            None if request.dimension() <= LATTICE_COLUMNS => Source::Lattice,
            None => Source::Tree,
        };
        let mut params = MaxCoverParams::new(request.n_clusters, request.required_budget()?, power);
        if let Some(n) = request.n_hint {
            params = params.n_hint(n);
        }
        Ok(Self {
            metric,
            power,
            domain: Domain::from(box_domain(&request.columns, &request.bounds)?),
            sites: options.sites.clone().or(all_places),
            candidates,
            n_clusters: request.n_clusters,
            params,
            choice,
        })
    }

    fn limit(&self) -> usize {
        let per_cluster = match self.candidates {
            Source::Lattice | Source::Uniform => return MAX_CANDIDATES,
            Source::Partition if self.domain.dimension() > LATTICE_COLUMNS => CELLS_PER_CLUSTER,
            Source::Lsh | Source::Partition => CANDIDATES_PER_CLUSTER,
            Source::Tree => LEAVES_PER_CLUSTER,
        };
        let wanted = self.n_clusters.saturating_mul(per_cluster);
        wanted.min(MAX_CANDIDATES).next_power_of_two()
    }

    fn through(&self) -> Result<ThroughCandidates, RequestError> {
        ThroughCandidates::new(self.candidates, self.limit(), self.params.clone())
            .map_err(refused("candidates"))
    }

    /// Free centers where they are right and nobody asked for sites.
    fn black_box(&self) -> Box<dyn BlackBox> {
        let is_k_means = self.choice == MetricChoice::Euclidean && self.power == Power::MEANS;
        if self.sites.is_none() && is_k_means {
            Box::new(FreeLloyd::default())
        } else {
            Box::new(FasterPam::default())
        }
    }

    fn parameters(&self) -> BTreeMap<String, Value> {
        let mut parameters = BTreeMap::from([
            ("metric".to_owned(), self.choice.name().into()),
            ("power".to_owned(), self.power.get().into()),
            ("black_box".to_owned(), self.black_box().name().into()),
        ]);
        if let Some(sites) = &self.sites {
            parameters.insert("sites".to_owned(), sites.nrows().into());
        } else {
            parameters.insert("candidate_limit".to_owned(), self.limit().into());
            parameters.insert("candidates".to_owned(), self.candidates.name().into());
        }
        parameters
    }

    fn outcome(&self, fitted: Facilities) -> Outcome {
        let mut outcome = Outcome::original(fitted.centers)
            .noisy_counts(Some(fitted.noisy_counts))
            .parameters(self.parameters());
        if let (MetricChoice::Matrix(distances), Some(centers)) = (&self.choice, &outcome.centers) {
            // A model must label records without the table: it keeps the rows of its centers.
            let crate::algorithm::Centers::Original(centers) = centers else {
                return outcome;
            };
            let places = centers.column(0).to_vec();
            let rows = places.into_iter().filter_map(|place| {
                let row = (0..distances.nrows()).find(|&row| row as f64 >= place)?;
                Some(Value::from(distances.row(row).to_vec()))
            });
            let rows = Value::List(rows.collect());
            outcome = outcome.parameter("center_distances", rows);
        }
        outcome.own.metric = Some(self.choice.name().to_owned());
        outcome.own.power = Some(self.power.get());
        let rows = fitted.site_rows.filter(|_| self.sites.is_some());
        outcome.own.site_rows = rows.map(|rows| rows.into_iter().map(|row| row as u64).collect());
        outcome
    }
}
