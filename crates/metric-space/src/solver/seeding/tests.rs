use ndarray::{Array2, array};
use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;

use super::*;

const DRAWS: u32 = 20_000;

/// How far a frequency of 20 000 draws may be from its probability: by Hoeffding's bound the chance
/// of more is below 2·exp(−2·20 000·0.02²) < 2.3e-7 each, and below 1e-5 for all comparisons of
/// this file together.
const SLACK: f64 = 0.02;

/// Weighted points 0, 1, 3 on a line, and one that may not be drawn.
fn frequencies(init: Init) -> [[f64; 3]; 3] {
    let points = array![[0.0], [1.0], [3.0], [9.0]];
    let weights = [1.0, 2.0, 3.0, -5.0];
    let mut rng = ChaCha20Rng::seed_from_u64(21);
    let mut counts = [[0_u32; 3]; 3];
    for _ in 0..DRAWS {
        let centers = seed(points.view(), Some(&weights), 2, init, &mut rng).unwrap();
        let index = |j: usize| {
            points
                .column(0)
                .iter()
                .position(|p| p.total_cmp(&centers[[j, 0]]).is_eq())
        };
        counts[index(0).unwrap()][index(1).unwrap()] += 1;
    }
    counts.map(|row| row.map(|c| f64::from(c) / f64::from(DRAWS)))
}

/// Probability of the second center, given the first, for a single D² draw.
const SECOND: [[f64; 3]; 3] = [
    [0.0, 2.0 / 29.0, 27.0 / 29.0],
    [1.0 / 13.0, 0.0, 12.0 / 13.0],
    [9.0 / 17.0, 8.0 / 17.0, 0.0],
];

const FIRST: [f64; 3] = [1.0 / 6.0, 2.0 / 6.0, 3.0 / 6.0];

fn largest_gap(observed: &[[f64; 3]; 3], second: &[[f64; 3]; 3]) -> f64 {
    let pairs =
        (0..9).map(|t| (observed[t / 3][t % 3] - FIRST[t / 3] * second[t / 3][t % 3]).abs());
    pairs.fold(0.0, |a, b| if b > a { b } else { a })
}

#[test]
fn centers_are_drawn_by_weight_and_squared_distance() {
    let observed = frequencies(Init::KMeansPlusPlus);
    assert!(largest_gap(&observed, &SECOND) < SLACK, "{observed:?}");
    // The twin: distances that are not squared would be seen.
    let unsquared = [
        [0.0, 2.0 / 11.0, 9.0 / 11.0],
        [1.0 / 7.0, 0.0, 6.0 / 7.0],
        [3.0 / 7.0, 4.0 / 7.0, 0.0],
    ];
    assert!(largest_gap(&observed, &unsquared) > SLACK);
}

#[test]
fn the_greedy_form_keeps_the_better_of_two_draws() {
    // The better second center: after 0 it is 3 (left: 2·1 against 3·4), after 1 it is 3 (1 against
    // 12); after 3 it is 1 (1 against 2).
    let better = [2, 2, 1];
    let mut second = [[0.0; 3]; 3];
    for (first, &b) in better.iter().enumerate() {
        let other = 3 - first - b;
        second[first][other] = SECOND[first][other].powi(2);
        second[first][b] = 1.0 - second[first][other];
    }
    let observed = frequencies(Init::GreedyKMeansPlusPlus);
    assert!(largest_gap(&observed, &second) < SLACK, "{observed:?}");
    // The twin: a single draw would be seen.
    assert!(largest_gap(&observed, &SECOND) > SLACK);
}

#[test]
fn nearest_distances_and_potentials_are_kept_up_to_date() {
    for d in [1, 2, 3, 4, 9] {
        let mut rng = ChaCha20Rng::seed_from_u64(22);
        let array = Array2::from_shape_simple_fn((3000, d), || rng.random_range(-1.0..1.0));
        let weights: Vec<f64> = (0..3000).map(|_| rng.random_range(0.5..2.0)).collect();
        let points = Points::new(array.view(), Some(&weights)).unwrap();
        let mut seeder = Seeder::new(&points);
        seeder.add(5);
        let candidates = [17, 2500, 1029];
        let after = candidates.map(|c| {
            let sq = |i: usize, j: usize| squared_euclidean(points.row(i), points.row(j));
            let least = |i: usize| {
                if sq(i, c) < sq(i, 5) {
                    sq(i, c)
                } else {
                    sq(i, 5)
                }
            };
            (0..3000).map(|i| weights[i] * least(i)).sum::<f64>()
        });
        let best = (0..3)
            .min_by(|&a, &b| after[a].total_cmp(&after[b]))
            .unwrap();
        assert_eq!(seeder.best(&candidates), candidates[best]);
        seeder.add(candidates[best]);
        assert!(
            (seeder.blocks.iter().map(|b| b.potential).sum::<f64>() - after[best]).abs() < 1e-9
        );
    }
}

#[test]
fn a_draw_never_lands_on_a_share_of_zero() {
    let shares = [0.0, 1.0, 0.0, 2.0, 0.0];
    let at = |target: f64| pick(0..5, target, |i| shares[i]);
    assert_eq!([0.0, 0.99, 1.0, 2.9, 3.0, 9.0].map(at), [1, 1, 3, 3, 3, 3]);
}
