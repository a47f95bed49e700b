use metric_space::{Euclidean, Power};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;

fn random_sites(n: usize, seed: u64) -> Vec<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    (0..2 * n).map(|_| rng.random_range(0.0..1.0)).collect()
}

fn clients(n: usize, seed: u64) -> Vec<(usize, f64)> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    (0..n)
        .map(|site| (site, rng.random_range(-1.0..5.0)))
        .collect()
}

fn solve(black_box: &dyn BlackBox, problem: &Problem<'_>) -> Vec<usize> {
    match black_box.solve(problem, &mut ChaCha8Rng::seed_from_u64(7)) {
        Chosen::Sites(mut sites) => {
            sites.sort_unstable();
            sites
        }
        Chosen::Points(_) => panic!("sites were expected"),
    }
}

/// The cheapest of all pairs of sites, by two loops.
fn best_pair(problem: &Problem<'_>) -> f64 {
    let mut best = f64::INFINITY;
    for a in 0..problem.n_sites() {
        for b in a + 1..problem.n_sites() {
            let cost = problem.cost(&[a, b]);
            if cost < best {
                best = cost;
            }
        }
    }
    best
}

#[test]
fn exact_search_finds_the_optimum_and_the_others_keep_their_factor() {
    for seed in 0..30 {
        let sites = random_sites(14, seed);
        for power in [
            Power::MEDIANS,
            Power::MEANS,
            Power::new(3.0).expect("valid"),
        ] {
            let pair = Problem::new(&Euclidean, power, &sites, 2, 2, clients(14, seed + 100));
            let best = pair.cost(&solve(&Exact::default(), &pair));
            assert!((best - best_pair(&pair)).abs() < 1e-12);

            let problem = Problem::new(&Euclidean, power, &sites, 2, 4, clients(14, seed + 100));
            let optimum = problem.cost(&solve(&Exact::default(), &problem));
            let boxes: [&dyn BlackBox; 5] = [
                &Seeding,
                &FasterPam::default(),
                &LocalSearch::single(),
                &LocalSearch::multi(2, None),
                &LocalSearch::multi(3, Some(8)),
            ];
            for black_box in boxes {
                let chosen = solve(black_box, &problem);
                assert_eq!(chosen.len(), 4);
                assert!(chosen.windows(2).all(|pair| pair[0] < pair[1]), "distinct");
                let cost = problem.cost(&chosen);
                assert!(cost >= optimum * (1.0 - 1e-12));
                if let Some(factor) = black_box.factor(power) {
                    assert!(cost <= factor * optimum, "{}", black_box.name());
                }
            }
        }
    }
}

#[test]
fn more_swaps_at_once_never_end_higher_than_their_own_single_swaps() {
    for seed in 0..20 {
        let sites = random_sites(16, seed);
        let problem = Problem::new(&Euclidean, Power::MEDIANS, &sites, 2, 3, clients(16, seed));
        // Same public randomness, so the same first sites.
        let single = problem.cost(&solve(&LocalSearch::single(), &problem));
        let double = problem.cost(&solve(&LocalSearch::multi(2, None), &problem));
        assert!(double <= single * (1.0 + 1e-12), "{double} above {single}");
    }
}

#[test]
fn a_local_optimum_has_no_single_swap_that_gains() {
    let sites = random_sites(60, 5);
    for k in [1, 2, 7] {
        let problem = Problem::new(&Euclidean, Power::MEDIANS, &sites, 2, k, clients(60, 6));
        for black_box in [
            &FasterPam::default() as &dyn BlackBox,
            &LocalSearch {
                tolerance: 0.0,
                ..LocalSearch::single()
            },
        ] {
            let chosen = solve(black_box, &problem);
            let cost = problem.cost(&chosen);
            for out in 0..k {
                for site in 0..60 {
                    let mut swapped = chosen.clone();
                    swapped[out] = site;
                    assert!(
                        problem.cost(&swapped) >= cost * (1.0 - 1e-6),
                        "{} k = {k}",
                        black_box.name()
                    );
                }
            }
        }
    }
}

#[test]
fn nobody_and_fewer_sites_than_clusters_are_answered_all_the_same() {
    let sites = random_sites(3, 1);
    for k in [1, 2, 3, 5] {
        for weights in [
            vec![],
            vec![(0, -1.0), (1, 0.0), (2, f64::NAN)],
            vec![(9, 1.0)],
        ] {
            let problem = Problem::new(&Euclidean, Power::MEDIANS, &sites, 2, k, weights);
            let boxes: [&dyn BlackBox; 5] = [
                &Seeding,
                &FasterPam::default(),
                &LocalSearch::multi(2, None),
                &Exact::default(),
                &FreeLloyd::default(),
            ];
            for black_box in boxes {
                assert_eq!(
                    solve(black_box, &problem).len(),
                    k.min(3),
                    "{} k = {k}",
                    black_box.name()
                );
            }
        }
    }
}

#[test]
fn free_centers_are_means_in_any_units() {
    let sites = [1e6, 0.0, 1e6 + 2.0, 0.0, 1e6 + 500.0, 0.0];
    let problem = Problem::new(
        &Euclidean,
        Power::MEANS,
        &sites,
        2,
        2,
        [(0, 1.0), (1, 3.0), (2, 1.0)],
    );
    let Chosen::Points(points) =
        FreeLloyd::default().solve(&problem, &mut ChaCha8Rng::seed_from_u64(1))
    else {
        panic!("points were expected");
    };
    let mut first: Vec<f64> = points.column(0).to_vec();
    first.sort_by(f64::total_cmp);
    assert!(
        (first[0] - (1e6 + 1.5)).abs() < 1e-6 && (first[1] - (1e6 + 500.0)).abs() < 1e-6,
        "{first:?}"
    );
}

#[test]
fn columns_are_the_same_with_and_without_a_table() {
    let sites = random_sites(20, 3);
    let problem = Problem::new(&Euclidean, Power::MEANS, &sites, 2, 2, clients(20, 4));
    for site in 0..20 {
        let expected: Vec<f64> = problem
            .clients()
            .iter()
            .map(|&client| {
                Power::MEANS.of(metric_space::euclidean(
                    problem.site(client),
                    problem.site(site),
                ))
            })
            .collect();
        assert_eq!(problem.column(site).as_ref(), expected);
    }
}
