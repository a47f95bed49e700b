//! How many cells: rules from public numbers.

/// Most cells of one axis: a cell is then no finer than the coarsest useful lattice.
pub const MAX_CELLS_PER_AXIS: u64 = 1 << 20;

/// A rule for the number M of cells. N is a public or noisy size; ε is the inverse of the noise's scale, so it is half of
/// what is spent under replace-one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CellRule {
    /// M = Nε/θ (Qardaji et al. 2013, for two columns).
    Uniform {
        /// θ, 10 in the literature.
        theta: f64,
    },
    /// M = (Nε/θ)^(2d/(2+d)) (Su et al. 2016).
    Extended {
        /// θ, 10 in the literature.
        theta: f64,
    },
    /// M that minimizes the error model of a center, which depends on k: [`crate::error_model::grid_cells`].
    ClusterAware {
        /// Factor of the squared bias in [`crate::error_model::grid_sq_bias`].
        bias: f64,
    },
    /// This many cells per axis, from public knowledge.
    PerAxis(u64),
}

impl CellRule {
    /// `UGkM`'s rule with θ = 10.
    pub const UG: Self = Self::Uniform { theta: 10.0 };
    /// `EUGkM`'s rule with θ = 10.
    pub const EUG: Self = Self::Extended { theta: 10.0 };
    /// The rule that depends on k. Its factor was chosen on synthetic mixtures (d = 2, 3; k = 8 to 40; ε = 0.1 to 1), where the best
    /// lay between 0.25 and 1.
    pub const GRID_K: Self = Self::ClusterAware { bias: 0.5 };

    /// The name in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Uniform { .. } => "uniform",
            Self::Extended { .. } => "extended",
            Self::ClusterAware { .. } => "cluster-aware",
            Self::PerAxis(_) => "per-axis",
        }
    }

    /// θ, or the factor of the bias; none where the number of cells is given.
    #[must_use]
    pub const fn factor(self) -> Option<f64> {
        match self {
            Self::Uniform { theta: factor }
            | Self::Extended { theta: factor }
            | Self::ClusterAware { bias: factor } => Some(factor),
            Self::PerAxis(_) => None,
        }
    }

    /// The number M of cells that the rule asks for, before rounding.
    #[must_use]
    pub fn cells(self, n: f64, epsilon: f64, dimension: usize, n_clusters: usize) -> f64 {
        let d = dimension as f64;
        match self {
            Self::Uniform { theta } => n * epsilon / theta,
            Self::Extended { theta } => (n * epsilon / theta).powf(2.0 * d / (2.0 + d)),
            Self::ClusterAware { bias } => {
                crate::error_model::grid_cells(n_clusters, dimension, n, epsilon, bias)
            }
            Self::PerAxis(m) => (m as f64).powf(d),
        }
    }

    /// Cells per axis m: the d-th root of M, rounded to the nearest whole number, at least 1.
    #[must_use]
    pub fn per_axis(self, n: f64, epsilon: f64, dimension: usize, n_clusters: usize) -> u64 {
        if let Self::PerAxis(m) = self {
            return m.clamp(1, MAX_CELLS_PER_AXIS);
        }
        let cells = self.cells(n, epsilon, dimension, n_clusters);
        let m = cells.powf(1.0 / dimension as f64).round();
        // A NaN becomes 1.
        if m >= 1.0 {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "at least 1, and `as` saturates"
            )]
            let m = m as u64;
            m.min(MAX_CELLS_PER_AXIS)
        } else {
            1
        }
    }
}
