//! Public sites under a metric, and the public domain of the demand.

use metric_space::{Domain, Metric};
use ndarray::ArrayView2;

use crate::error::ParamsError;

/// Where centers may stand, where demand may lie, and how far it is: all public, checked together.
#[derive(Clone, Debug)]
pub struct Space<'a, M> {
    metric: &'a M,
    domain: &'a Domain,
    /// Row after row.
    sites: Vec<f64>,
    diameter: f64,
}

impl<'a, M: Metric> Space<'a, M> {
    /// Joins a metric, the domain of the demand (original units) and sites of shape (m, d). Sites may lie outside the domain
    /// and may repeat; the family of sets is indexed by them all the same.
    ///
    /// # Errors
    ///
    /// [`ParamsError`] if there is no site, a site is not finite, numbers of columns differ or distances are unbounded.
    pub fn new(
        metric: &'a M,
        domain: &'a Domain,
        sites: ArrayView2<'_, f64>,
    ) -> Result<Self, ParamsError> {
        let columns = domain.dimension();
        let must_be = |what, expected: usize, got: usize| {
            if expected == got {
                Ok(())
            } else {
                Err(ParamsError::Columns {
                    what,
                    expected,
                    got,
                })
            }
        };
        must_be("sites", columns, sites.ncols())?;
        must_be("domain", metric.columns().unwrap_or(columns), columns)?;
        if sites.nrows() == 0 {
            return Err(ParamsError::NoSites);
        }
        if let Some(row) = sites
            .rows()
            .into_iter()
            .position(|site| !site.iter().all(|x| x.is_finite()))
        {
            return Err(ParamsError::SiteNotFinite { row });
        }
        let diameter = metric.reach(domain, sites);
        if !(0.0..f64::MAX).contains(&diameter) {
            return Err(ParamsError::Unbounded);
        }
        Ok(Self {
            metric,
            domain,
            sites: sites.iter().copied().collect(),
            diameter,
        })
    }

    /// The metric.
    #[must_use]
    pub const fn metric(&self) -> &'a M {
        self.metric
    }

    /// The domain of the demand.
    #[must_use]
    pub const fn domain(&self) -> &'a Domain {
        self.domain
    }

    /// Δ: an upper bound of all distances.
    #[must_use]
    pub const fn diameter(&self) -> f64 {
        self.diameter
    }

    /// Number of columns d.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.domain.dimension()
    }

    /// Number of sites |V|.
    #[must_use]
    pub fn n_sites(&self) -> usize {
        self.sites.len() / self.columns()
    }

    /// Coordinates of all sites, row after row.
    #[must_use]
    pub fn sites(&self) -> &[f64] {
        &self.sites
    }

    /// Coordinates of a site.
    ///
    /// # Panics
    ///
    /// If there is no such site.
    #[must_use]
    pub fn site(&self, i: usize) -> &[f64] {
        &self.sites[i * self.columns()..(i + 1) * self.columns()]
    }
}
