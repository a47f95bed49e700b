use metric_space::Lattice;
use ndarray::array;

use super::*;

/// Two places on a line, in lattice units of a lattice with steps of 2^-20.
fn pair(tuples: &mut Tuples, low: f64, high: f64) {
    tuples.push(array![[low], [high]].view());
}

/// A tuple with the least gap beside ones with the largest pulls the mean of logarithms down: what is released for the set with it must
/// not be below the mean of the set without, which sets how far the centers move.
#[test]
fn without_noise_a_scale_is_not_below_that_of_the_neighbor() {
    let ratio = MatchRatio::DEFAULT;
    let gamma = ratio.get();
    // Both match the pair {−½, ½}.
    let (inner, outer) = (0.5 - gamma / (1.0 + 2.0 * gamma), 0.5 + gamma);
    for (m, count) in [(1_usize, 2.0), (2, 3.0), (10, 9.0), (700, 701.0)] {
        let mut tuples = Tuples::new(2, 1, Lattice::default());
        pair(&mut tuples, -inner, inner);
        for _ in 0..m {
            pair(&mut tuples, -outer, outer);
        }
        let all: Vec<usize> = (0..=m).collect();
        let of = |kept: &[usize]| {
            let sums = sums(&tuples, kept);
            sums.clusters[0].1.div_euclid(sums.count) as f64
        };
        let exact = 0.5 * libm::log(sq_gaps(tuples.tuple(1), 1)[0] as f64) * LN_UNITS;
        for kept in [&all[..], &all[1..]] {
            assert!(of(kept) + raise_without_noise(ratio, count) >= exact);
        }
        assert!((of(&all) - of(&all[1..])).abs() <= ln_moved(ratio, count) as f64);
        // The twin: a raise that forgets the neighbor.
        assert!(of(&all) + 2.0 < exact);
    }
}

/// The mean of a cluster moves by no more than is declared, and by nearly as much where all gaps are as small as a common match allows.
#[test]
fn a_mean_moves_nearly_as_far_as_is_declared() {
    for gamma in [0.01, 1.0 / 16.0, 1.0 / 12.0, 0.125] {
        let ratio = MatchRatio::new(gamma).expect("valid");
        let gamma = ratio.get();
        let (inner, outer) = (0.5 - gamma / (1.0 + 2.0 * gamma), 0.5 + gamma);
        for m in [1_usize, 2, 30, 700] {
            let mut tuples = Tuples::new(2, 1, Lattice::default());
            pair(&mut tuples, -outer, outer);
            for _ in 0..m {
                pair(&mut tuples, -inner, inner);
            }
            let all: Vec<usize> = (0..=m).collect();
            let mean = |kept: &[usize]| {
                let sums = sums(&tuples, kept);
                sums.clusters[0].0[0] as f64 / sums.count as f64
            };
            let moved = (mean(&all) - mean(&all[1..])).abs() * (m as f64 + 1.0);
            // All gaps of the smaller set are equal, so that the geometric mean is any of them.
            let gap = libm::sqrt(sq_gaps(tuples.tuple(1), 1)[0] as f64);
            let declared = ratio.reach() * gap;
            assert!(moved <= declared, "{moved} {declared}");
            // Hoeffding's factor, which unequal gaps would use, and the rounding of the places.
            let kappa = ratio.kappa();
            let slack = libm::exp(kappa * kappa / 8.0) * (1.0 + 1e-3);
            assert!(moved * slack >= declared, "{moved} {declared}");
        }
    }
}
