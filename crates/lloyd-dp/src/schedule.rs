//! How a budget is spread over the iterations (Huang, Cheng, Yuan, Huang; Su et al. 2017; Fan and Xu 2019).

use dp_core::rounding::split;

/// ρ of Su et al. (2017): a center's norm is taken as ‖o‖² ≈ 4dρ² in the scaled domain.
pub const CENTER_SPREAD: f64 = 0.225;

/// A rule for the share of each iteration.
///
/// Every rule's parts are positive and their exact sum never exceeds the total. They never rise, but for
/// [`Trisection`](Self::Trisection) with 2 to 6 iterations, which rises where its last part begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BudgetSchedule {
    /// The same for each iteration.
    #[default]
    Uniform,
    /// Half of what is left each time; the last takes all that is left.
    Halving,
    /// A falling arithmetic sequence that ends at the least useful budget (Fan and Xu 2019).
    Arithmetic,
    /// Thirds of what is left in the first half, an arithmetic sequence in the second (Huang et al.).
    Trisection,
}

impl BudgetSchedule {
    /// All rules, in the order of the documentation.
    pub const ALL: [Self; 4] = [
        Self::Uniform,
        Self::Halving,
        Self::Arithmetic,
        Self::Trisection,
    ];

    /// The name in flags and files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::Halving => "halving",
            Self::Arithmetic => "arithmetic",
            Self::Trisection => "trisection",
        }
    }

    /// The rule of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|rule| rule.name() == name)
    }

    /// Whether the rule needs to know the number of records.
    #[must_use]
    pub const fn needs_size(self) -> bool {
        matches!(self, Self::Arithmetic | Self::Trisection)
    }

    /// ε of each of `n_iterations` iterations, `minimum` being the least useful one (see
    /// [`minimum_epsilon`]; rules that need none ignore it).
    ///
    /// The exact sum of the parts is at most `epsilon` and falls short by rounding only.
    #[must_use]
    pub fn epsilons(self, epsilon: f64, n_iterations: usize, minimum: f64) -> Vec<f64> {
        split(epsilon, &self.weights(epsilon, n_iterations, minimum))
    }

    /// The parts before rounding.
    fn weights(self, epsilon: f64, n_iterations: usize, minimum: f64) -> Vec<f64> {
        let t = n_iterations;
        let uniform = vec![1.0; t];
        // Written as what must hold: a minimum that is not a number falls back to uniform, too.
        let spare = epsilon - t as f64 * minimum;
        let has_spare = spare > 0.0 && spare.is_finite();
        match self {
            Self::Halving => {
                let mut weights: Vec<f64> = (1..=t).map(|i| 0.5_f64.powf(i as f64)).collect();
                // Beyond 2^-1000 nothing is left to halve.
                for weight in &mut weights {
                    *weight = weight.clamp(f64::MIN_POSITIVE, 1.0);
                }
                if let [.., before, last] = weights.as_mut_slice() {
                    *last = *before;
                }
                weights
            }
            Self::Arithmetic if has_spare => {
                let falling = arithmetic(spare, t);
                falling.into_iter().map(|part| part + minimum).collect()
            }
            Self::Trisection if has_spare => {
                let first = t / 2;
                let mut left = spare;
                let mut parts: Vec<f64> = (0..first)
                    .map(|_| {
                        let third = left / 3.0;
                        left -= third;
                        third
                    })
                    .collect();
                parts.extend(arithmetic(left, t - first));
                parts.into_iter().map(|part| part + minimum).collect()
            }
            Self::Uniform | Self::Arithmetic | Self::Trisection => uniform,
        }
    }
}

/// `total` as a falling arithmetic sequence of `length` terms that ends at 0; a single term takes all.
fn arithmetic(total: f64, length: usize) -> Vec<f64> {
    if length <= 1 {
        return vec![total; length];
    }
    let h = length as f64;
    let difference = 2.0 * total / (h * (h - 1.0));
    (0..length)
        .map(|i| (h - 1.0 - i as f64) * difference)
        .collect()
}

/// The least useful ε of one iteration (Su et al. 2017): √((500 k³/N²)·(d + ∛(4dρ²))³).
///
/// At this ε the error summed over the clusters, 2k³(d + ∛(4dρ²))³/(Nε)², is 0.004. `n` is a public
/// size or a noisy count, never the number of records itself.
#[must_use]
pub fn minimum_epsilon(n_clusters: usize, dimension: usize, n: f64, spread: f64) -> f64 {
    let (k, d) = (n_clusters as f64, dimension as f64);
    let width = d + (4.0 * d * spread * spread).cbrt();
    (500.0 * k.powi(3) / (n * n) * width.powi(3)).sqrt()
}

#[cfg(test)]
mod tests;
