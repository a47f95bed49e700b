use ndarray::Array2;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;

const PLACES: [f64; 3] = [-0.6, 0.1, 0.7];

fn block(m: usize, d: usize) -> Array2<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    Array2::from_shape_fn((m, d), |(i, _)| {
        PLACES[i % 3] + rng.random_range(-0.02..0.02)
    })
}

#[test]
fn every_labeler_finds_separated_groups_in_few_and_in_many_columns() {
    for choice in LabelerChoice::ALL {
        for d in [1, 2, 8] {
            let solver = choice.solver(3).expect("three clusters");
            let mut rng = ChaCha8Rng::seed_from_u64(2);
            let means = solver
                .solve(block(90, d).view(), &mut rng)
                .expect("three groups");
            let mut firsts: Vec<f64> = means.column(0).to_vec();
            firsts.sort_by(f64::total_cmp);
            for (found, place) in firsts.iter().zip(PLACES) {
                assert!((found - place).abs() < 0.02, "{choice:?} {d}: {firsts:?}");
            }
        }
    }
}

#[test]
fn few_or_odd_records_give_no_tuple_and_no_panic() {
    for choice in LabelerChoice::ALL {
        let solver = choice.solver(3).expect("three clusters");
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        for m in [0, 1, 2] {
            assert_eq!(
                solver.solve(block(m, 2).view(), &mut rng),
                None,
                "{choice:?}"
            );
        }
        let _ = solver.solve(Array2::zeros((9, 2)).view(), &mut rng);
        let _ = solver.solve(Array2::from_elem((9, 2), f64::NAN).view(), &mut rng);
    }
}

#[test]
fn single_linkage_follows_chains_that_k_means_cuts() {
    // Two parallel lines, much longer than they are apart.
    let lines = Array2::from_shape_fn((80, 2), |(i, j)| {
        if j == 0 {
            (i / 2) as f64 / 40.0
        } else {
            0.2 * (i % 2) as f64
        }
    });
    let spectral = Spectral::new(2).expect("two clusters");
    let labels = spectral
        .labels(lines.view(), &mut ChaCha8Rng::seed_from_u64(4))
        .expect("enough records");
    assert!(
        labels
            .iter()
            .enumerate()
            .all(|(i, &label)| label == u32::from(i % 2 == 1))
    );
    assert!(Spectral::new(0).is_err());
}
