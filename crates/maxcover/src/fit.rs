//! Algorithm 2: candidates from thresholds, a noisy histogram over them, and a black box.

use dp_core::{Confidential, Event, NeighboringRelation, Session};
use metric_space::metric::nearest_site;
use metric_space::{BallIndex, Metric, Power, RecordSource};
use ndarray::{Array2, ArrayView2};
use rand::RngCore;

use crate::black_box::{BlackBox, Chosen, Problem};
use crate::coverage::{Demand, DemandCoverage};
use crate::error::{FitError, ParamsError};
use crate::greedy::Picker;
use crate::params::MaxCoverParams;
use crate::space::Space;

#[cfg(test)]
mod tests;

/// Checked parameters of Algorithm 2: no generator and no state between fits.
#[derive(Clone, Debug, PartialEq)]
pub struct MaxCover {
    pub(crate) params: MaxCoverParams,
}

/// What is released: centers, and the weighted candidates that they were chosen for.
#[derive(Clone, Debug, PartialEq)]
pub struct Facilities {
    /// Centers, shape (k, d), original units.
    pub centers: Array2<f64>,
    /// Rows of the sites that the centers are; none where a black box placed them freely.
    pub site_rows: Option<Vec<usize>>,
    /// Per center: the noisy counts of the candidates that have it as their nearest, negative ones as 0.
    pub noisy_counts: Vec<f64>,
    /// Rows of the sites that were picked at some threshold, ascending.
    pub candidates: Vec<usize>,
    /// Noisy number of records whose nearest candidate it is; may be negative.
    pub candidate_counts: Vec<f64>,
}

impl MaxCover {
    /// The parameters it was checked with.
    pub const fn params(&self) -> &MaxCoverParams {
        &self.params
    }

    /// The number of thresholds r and the picks at each (one at the last); `n_records` is the number of records where that is
    /// public (under replace-one), and goes after a hint.
    #[must_use]
    pub fn schedule<M: Metric>(
        &self,
        space: &Space<'_, M>,
        n_records: Option<u64>,
    ) -> (usize, usize) {
        let (thresholds, picks) = self.params.schedule(space, n_records);
        (thresholds.len(), picks)
    }

    /// What a fit spends, from public facts alone.
    ///
    /// # Errors
    ///
    /// [`ParamsError`] if the budget is too small to be divided.
    pub fn plan(&self, relation: NeighboringRelation) -> Result<Vec<Event>, ParamsError> {
        let spends = self.params.spends(relation)?;
        let histogram = spends.histogram.event(relation, HISTOGRAM);
        Ok(vec![spends.picks, histogram])
    }

    /// Picks candidates, counts, and lets the black box choose.
    ///
    /// # Privacy
    ///
    /// The picks at all thresholds together are (ε₁, δ)-private under add-remove by one theorem, and each record counts once
    /// in the histogram; centers come from the picks and the noisy counts alone. Whether a record lies in a ball depends on the record,
    /// the site and the threshold only. Total: no record makes it fail.
    ///
    /// # Errors
    ///
    /// [`FitError`] if there are fewer sites than clusters or the session's budget does not cover the plan, before a record is
    /// read; or if the source cannot be read.
    ///
    /// # Complexity
    ///
    /// Each record visits the sites nearer than the threshold that covers it twice; each pick looks at the uncovered records and
    /// at all sites. O(n·d + |V|·d) memory beyond the black box's table of costs.
    pub fn fit<M: Metric, S: RecordSource + ?Sized>(
        &self,
        space: &Space<'_, M>,
        source: &S,
        black_box: &dyn BlackBox,
        session: &mut Session<'_>,
        public: &mut dyn RngCore,
    ) -> Result<Facilities, FitError> {
        let (sites, got) = (space.n_sites(), self.params.n_clusters);
        if got > sites {
            return Err(ParamsError::TooManyClusters { sites, got }.into());
        }
        self.fit_any(space, source, black_box, session, public)
    }

    /// [`fit`](Self::fit) where fewer sites than clusters are no error, because the number of sites was released: the sites
    /// are repeated then.
    pub(crate) fn fit_any<M: Metric, S: RecordSource + ?Sized>(
        &self,
        space: &Space<'_, M>,
        source: &S,
        black_box: &dyn BlackBox,
        session: &mut Session<'_>,
        public: &mut dyn RngCore,
    ) -> Result<Facilities, FitError> {
        let relation = session.relation();
        let spends = self.params.spends(relation)?;
        session.admit(&self.plan(relation)?)?;
        let demand = Demand::read(source, space.domain())?;
        let n_records = relation.size_is_public().then(|| demand.total());
        let (thresholds, most) = self.params.schedule(space, n_records);
        let picks_event = (spends.picks.clone())
            .with("thresholds", thresholds.len())
            .with("picks_per_threshold", most)
            .with("sites", space.n_sites());

        let index = BallIndex::new(space.metric(), space.sites(), space.columns());
        let mut coverage = DemandCoverage::new(&demand, &index);
        let picker = Picker::new(session, picks_event, spends.rate)?;
        let mut is_candidate = vec![false; space.n_sites()];
        for &radius in thresholds.radii() {
            coverage.widen(radius);
            let most = if radius < f64::INFINITY { most } else { 1 };
            for site in picker.pick(session, &mut coverage, most) {
                is_candidate[site] = true;
            }
        }
        let candidates: Vec<usize> = (0..space.n_sites()).filter(|&i| is_candidate[i]).collect();

        let places: Vec<f64> = candidates
            .iter()
            .flat_map(|&i| space.site(i))
            .copied()
            .collect();
        let counts = Confidential::new(demand.nearest_counts(space.metric(), &places));
        let noisy = session.laplace(&spends.histogram, HISTOGRAM, &counts)?;
        let noisy: Vec<f64> = noisy.into_iter().map(|count| count as f64).collect();
        Ok(self.choose(space, candidates, noisy, black_box, public))
    }

    /// Post-processing: the black box on the released histogram.
    fn choose<M: Metric>(
        &self,
        space: &Space<'_, M>,
        candidates: Vec<usize>,
        candidate_counts: Vec<f64>,
        black_box: &dyn BlackBox,
        public: &mut dyn RngCore,
    ) -> Facilities {
        let (k, d) = (self.params.n_clusters, space.columns());
        let clients = candidates
            .iter()
            .copied()
            .zip(candidate_counts.iter().copied());
        let problem = Problem::new(
            space.metric(),
            self.params.power,
            space.sites(),
            d,
            k,
            clients,
        );
        let (mut flat, site_rows) = match black_box.solve(&problem, public) {
            Chosen::Sites(rows) => {
                let mut rows = problem.completed(rows);
                rows.sort_unstable();
                let rows: Vec<usize> = rows.iter().copied().cycle().take(k).collect();
                (
                    rows.iter().flat_map(|&i| space.site(i)).copied().collect(),
                    Some(rows),
                )
            }
            Chosen::Points(points) => (points.iter().copied().collect::<Vec<f64>>(), None),
        };
        flat.resize(k * d, 0.0);
        let mut noisy_counts = vec![0.0; k];
        for (&site, &count) in candidates.iter().zip(&candidate_counts) {
            if count > 0.0 {
                let (nearest, _) = nearest_site(space.metric(), space.site(site), &flat, d);
                noisy_counts[nearest] += count;
            }
        }
        let centers = Array2::from_shape_vec((k, d), flat).expect("resized to k rows of d columns");
        Facilities {
            centers,
            site_rows,
            noisy_counts,
            candidates,
            candidate_counts,
        }
    }
}

const HISTOGRAM: &str = "records per candidate";

/// Σ min d^p of records as they are: for the data holder, not private.
#[must_use]
pub fn cost<M: Metric>(
    metric: &M,
    power: Power,
    records: ArrayView2<'_, f64>,
    centers: ArrayView2<'_, f64>,
) -> f64 {
    metric_space::metric::sites_cost(metric, power, records, None, centers)
}
