//! First centers that cost no privacy: they are public or drawn without looking at the records.

use metric_space::Frame;
use metric_space::packing::{sphere_packing, uniform_centers};
use ndarray::Array2;
use rand::RngCore;

use crate::error::ParamsError;

/// Where the iterations start.
///
/// Records are not offered as first centers, as some papers have it: that would release them.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Init {
    /// Far from each other and from the border (Su et al. 2016, Section 4.1.1).
    #[default]
    SpherePacking,
    /// Uniform in the domain.
    Uniform,
    /// Public centers in original units, shape `(k, d)`; they are moved into the domain.
    Given(Array2<f64>),
}

impl Init {
    /// Draws or converts the first centers: scaled, shape `(k, d)`.
    ///
    /// # Errors
    ///
    /// [`ParamsError`] if given centers have another shape or hold values that are no numbers.
    pub fn centers(
        &self,
        n_clusters: usize,
        frame: &Frame,
        public: &mut dyn RngCore,
    ) -> Result<Array2<f64>, ParamsError> {
        let d = frame.dimension();
        let mut centers = match self {
            Self::SpherePacking => sphere_packing(n_clusters, d, &mut *public),
            Self::Uniform => uniform_centers(n_clusters, d, &mut *public),
            Self::Given(given) => {
                if given.dim() != (n_clusters, d) {
                    return Err(ParamsError::InitShape {
                        expected_rows: n_clusters,
                        expected_columns: d,
                        rows: given.nrows(),
                        columns: given.ncols(),
                    });
                }
                if !given.iter().all(|x| x.is_finite()) {
                    return Err(ParamsError::InitNotFinite);
                }
                let mut scaled = Array2::zeros((n_clusters, d));
                for (original, mut out) in given.rows().into_iter().zip(scaled.rows_mut()) {
                    let mut row = vec![0.0; d];
                    frame
                        .domain()
                        .to_scaled_record(&original.to_vec(), &mut row);
                    out.assign(&ndarray::ArrayView1::from(&row));
                }
                scaled
            }
        };
        for mut center in centers.rows_mut() {
            let mut row = center.to_vec();
            frame.domain().clip_scaled(&mut row);
            center.assign(&ndarray::ArrayView1::from(&row));
        }
        Ok(centers)
    }
}
