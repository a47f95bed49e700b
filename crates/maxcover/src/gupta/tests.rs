use dp_core::Budget;
use dp_core::rng::InsecureSeededRng;
use metric_space::{BoxDomain, Domain, Euclidean};
use ndarray::Array2;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::*;

fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).expect("valid")
}

#[test]
fn scores_of_swaps_are_costs_after_swaps() {
    let domain = Domain::from(BoxDomain::new(vec![0.0], vec![20.0]).expect("valid"));
    let sites = Array2::from_shape_fn((9, 1), |(i, _)| (i * i % 17) as f64);
    let space = Space::new(&Euclidean, &domain, sites.view()).expect("valid");
    let records = Array2::from_shape_fn((50, 1), |(i, _)| (i * 7 % 19) as f64);
    let demand = Demand::read(&records, &domain).expect("in memory");
    let costs = Costs::new(&space, &demand, Power::MEANS);
    for chosen in [vec![2], vec![0, 4, 8], vec![1, 2, 3, 5]] {
        let others: Vec<usize> = (0..9).filter(|site| !chosen.contains(site)).collect();
        let scores = costs.swaps(&chosen, &others);
        for (out, _) in chosen.iter().enumerate() {
            for (at, &site) in others.iter().enumerate() {
                let mut swapped = chosen.clone();
                swapped[out] = site;
                assert_eq!(scores[out * others.len() + at], -costs.total(&swapped));
            }
        }
    }
}

#[test]
fn a_large_budget_finds_the_clusters_and_spends_what_was_planned() {
    let domain = Domain::from(BoxDomain::new(vec![0.0], vec![20.0]).expect("valid"));
    let sites = Array2::from_shape_fn((21, 1), |(i, _)| i as f64);
    let space = Space::new(&Euclidean, &domain, sites.view()).expect("valid");
    let records = Array2::from_shape_fn((2000, 1), |(i, _)| if i % 2 == 0 { 3.0 } else { 16.0 });
    for relation in NeighboringRelation::ALL {
        let mut noise = InsecureSeededRng::new(1);
        let mut session = Session::new(Budget::pure(epsilon(20.0)), relation, &mut noise);
        let search = GuptaLocalSearch::new(2, epsilon(20.0), Power::MEDIANS).expect("valid");
        let mut public = ChaCha8Rng::seed_from_u64(1);
        let mut found = search
            .fit(&space, &records, &mut session, &mut public)
            .expect("a release");
        found.sort_unstable();
        assert_eq!(found, [3, 16]);
        let picks: u64 = session
            .ledger()
            .events()
            .iter()
            .map(|event| event.count)
            .sum();
        assert_eq!(picks, search.steps(21) + 1);
        assert!(session.guarantee().epsilon <= 20.0);
    }
}

#[test]
fn as_many_clusters_as_sites_cost_nothing() {
    let domain = Domain::from(BoxDomain::new(vec![0.0], vec![20.0]).expect("valid"));
    let sites = Array2::from_shape_fn((3, 1), |(i, _)| i as f64);
    let space = Space::new(&Euclidean, &domain, sites.view()).expect("valid");
    let records = Array2::<f64>::zeros((0, 1));
    let mut noise = InsecureSeededRng::new(1);
    let mut session = Session::new(
        Budget::pure(epsilon(1.0)),
        NeighboringRelation::AddRemove,
        &mut noise,
    );
    let search = GuptaLocalSearch::new(3, epsilon(1.0), Power::MEDIANS).expect("valid");
    let mut public = ChaCha8Rng::seed_from_u64(1);
    assert_eq!(
        search
            .fit(&space, &records, &mut session, &mut public)
            .expect("a release"),
        [0, 1, 2]
    );
    assert!(session.ledger().events().is_empty());
}
