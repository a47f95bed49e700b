//! What the theorems promise about the cost: explicit constants for Algorithm 2, and orders of growth for its relatives.
//!
//! The constants are derived in `docs/proofs/maxcover.md`. They are worst-case bounds; measured costs are far below.

use metric_space::Power;

use crate::thresholds::{Thresholds, picks_per_threshold};

#[cfg(test)]
mod tests;

/// Public facts on which the bound of Algorithm 2 depends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Instance {
    /// k.
    pub n_clusters: usize,
    /// |V|.
    pub n_sites: usize,
    /// |D|, or a public bound of it.
    pub records: f64,
    /// Δ.
    pub diameter: f64,
    /// p.
    pub power: Power,
    /// ε, the quality.
    pub quality: f64,
    /// The public size n of the thresholds, at least |V|.
    pub size: f64,
    /// ε′.
    pub rate: f64,
    /// ε of the histogram.
    pub histogram_epsilon: f64,
    /// M, the factor of the black box.
    pub black_box_factor: f64,
}

/// cost ≤ `factor`·OPT + `additive`, but for a chance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    /// What stands in front of the optimum.
    pub factor: f64,
    /// What comes on top, in the unit of the cost.
    pub additive: f64,
    /// Chance that the bound fails.
    pub failure_probability: f64,
}

impl Instance {
    /// E = 6k·ln|V|/ε′: what all picks of one threshold together miss by their randomness (Lemma 4.4).
    #[must_use]
    pub fn missed_per_threshold(&self) -> f64 {
        6.0 * self.n_clusters as f64 * libm::log(self.n_sites.max(2) as f64) / self.rate
    }

    /// The bound of Section 5 with q = 2^(p−1), which is A.7 for p = 1:
    /// q²M·OPT + (q²M + q)·S + q(M + 1)·Δ^p·W.
    #[must_use]
    pub fn bound(&self) -> Bound {
        let p = self.power.get();
        let thresholds = Thresholds::new(self.diameter, self.size, self.power, self.quality);
        let picks = picks_per_threshold(self.n_clusters, self.quality).min(self.n_sites) as f64;
        let r = thresholds.len() as f64;
        let candidates = {
            let most = r * picks;
            let sites = self.n_sites as f64;
            if most < sites { most } else { sites }
        };
        let (m, q, e) = (self.black_box_factor, self.power.relaxation(), self.quality);
        let far = libm::pow(self.diameter, p);
        let noise = 2.0 * candidates / self.histogram_epsilon;
        let growth = libm::pow(1.0 + e, p);
        let divisor = 1.0 - e * growth;
        let near = libm::pow(thresholds.first(), p);
        let moved_factor = (1.0 - e) * growth / divisor;
        let moved = ((1.0 - e) * self.records * near + far * self.missed_per_threshold()) / divisor;
        let weight = q * q * m + q;
        let sites = self.n_sites.max(2) as f64;
        let failure =
            r * picks / (sites * sites) + libm::pow(2.0 / std::f64::consts::E, candidates);
        Bound {
            factor: q * q * m + weight * moved_factor,
            additive: weight * moved + q * (m + 1.0) * far * noise,
            failure_probability: failure.clamp(0.0, 1.0),
        }
    }
}

/// A row of the paper's Table 1: orders of growth, without the dependence on ε and δ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relative {
    /// Who.
    pub name: &'static str,
    /// What for.
    pub objective: &'static str,
    /// What stands in front of the optimum.
    pub factor: &'static str,
    /// What comes on top, in units of Δ^p.
    pub additive: &'static str,
}

/// The paper's Table 1 (Jones, Nguyen, Nguyen 2020).
pub const TABLE: [Relative; 7] = [
    Relative {
        name: "Gupta et al. 2010",
        objective: "k-medians",
        factor: "O(1)",
        additive: "k² log² n",
    },
    Relative {
        name: "Stemmer, Kaplan 2018",
        objective: "k-medians",
        factor: "O(1)",
        additive: "(k log n)^1.5",
    },
    Relative {
        name: "maximum coverage",
        objective: "k-medians",
        factor: "O(1)",
        additive: "k log n",
    },
    Relative {
        name: "Feldman et al. 2017",
        objective: "Euclidean k-means",
        factor: "O(k log n)",
        additive: "k √d log(nd) · 9^(log*(|X| √d))",
    },
    Relative {
        name: "Balcan et al. 2017",
        objective: "Euclidean k-means",
        factor: "O(log³ n)",
        additive: "(k² + d) log⁵ n",
    },
    Relative {
        name: "Stemmer, Kaplan 2018",
        objective: "Euclidean k-means",
        factor: "O(1)",
        additive: "(k log(n log k))^1.5 + √d (log log n)^0.5 (k log k)^1.01",
    },
    Relative {
        name: "maximum coverage",
        objective: "Euclidean k-means",
        factor: "O(1)",
        additive: "k log n + √d (log log n)^0.5 (k log k)^1.01",
    },
];
