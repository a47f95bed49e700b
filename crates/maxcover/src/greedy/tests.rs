use std::collections::BTreeMap;

use dp_core::Budget;
use dp_core::rng::InsecureSeededRng;
use testkit::rates::implausible_cell;

use super::*;

/// A sequence of families over the same elements, with the picks at each.
type Plan = Vec<(Vec<Vec<usize>>, usize)>;

/// What is left after some picks.
#[derive(Clone)]
struct Walk {
    probability: f64,
    picks: Vec<usize>,
    private: Vec<usize>,
}

/// The exact law of all picks by enumeration of all orders, with scores from the implementation.
fn law(plan: &Plan, private: &[usize], rate: f64) -> BTreeMap<Vec<usize>, f64> {
    let mut walks = vec![Walk {
        probability: 1.0,
        picks: Vec::new(),
        private: private.to_vec(),
    }];
    for (sets, most) in plan {
        let mut next = Vec::new();
        for walk in walks {
            extend(
                sets,
                *most,
                &walk,
                SetCoverage::new(sets.clone(), walk.private.clone()),
                &[],
                rate,
                &mut next,
            );
        }
        walks = next;
    }
    let mut law = BTreeMap::new();
    for walk in walks {
        *law.entry(walk.picks).or_insert(0.0) += walk.probability;
    }
    law
}

fn extend(
    sets: &[Vec<usize>],
    still: usize,
    walk: &Walk,
    coverage: SetCoverage,
    taken: &[usize],
    rate: f64,
    out: &mut Vec<Walk>,
) {
    let left: Vec<usize> = (0..sets.len()).filter(|set| !taken.contains(set)).collect();
    if still == 0 || left.is_empty() {
        out.push(walk.clone());
        return;
    }
    let weight = |set: usize| (rate * coverage.scores()[set] as f64).exp();
    let total: f64 = left.iter().map(|&set| weight(set)).sum();
    for &set in &left {
        let mut next = walk.clone();
        next.probability *= weight(set) / total;
        next.picks.push(set);
        next.private.retain(|element| !sets[set].contains(element));
        let mut covered = coverage.clone();
        covered.cover(set);
        let taken: Vec<usize> = taken.iter().copied().chain([set]).collect();
        extend(sets, still - 1, &next, covered, &taken, rate, out);
    }
}

/// Σ (P − e^ε·Q)₊.
fn divergence(p: &BTreeMap<Vec<usize>, f64>, q: &BTreeMap<Vec<usize>, f64>, epsilon: f64) -> f64 {
    p.iter()
        .map(|(key, p)| (p - epsilon.exp() * q.get(key).unwrap_or(&0.0)).clamp(0.0, 1.0))
        .sum()
}

fn plan() -> Plan {
    vec![
        (vec![vec![0], vec![1, 2], vec![], vec![3]], 2),
        (vec![vec![0, 1], vec![1, 2, 3], vec![2], vec![3, 4]], 2),
        (
            vec![
                (0..5).collect(),
                (0..5).collect(),
                vec![0, 4],
                (0..5).collect(),
            ],
            1,
        ),
    ]
}

fn run(plan: &Plan, private: &[usize], rate: f64, seed: u64) -> Vec<usize> {
    let (epsilon, delta) = (
        Epsilon::new(1.0).expect("valid"),
        Delta::new(0.1).expect("valid"),
    );
    let mut noise = InsecureSeededRng::new(seed);
    let budget = Budget::approx(epsilon, delta);
    let mut session = Session::new(budget, NeighboringRelation::AddRemove, &mut noise);
    let (event, _) = picks_event(Rate::Largest, epsilon, delta).expect("a rate");
    let picker = Picker::new(&mut session, event, rate).expect("within the budget");
    let mut left = private.to_vec();
    let mut picks = Vec::new();
    for (sets, most) in plan {
        let mut coverage = SetCoverage::new(sets.clone(), left.clone());
        let chosen = picker.pick(&mut session, &mut coverage, *most);
        left.retain(|element| !chosen.iter().any(|&set| sets[set].contains(element)));
        picks.extend(chosen);
    }
    picks
}

/// The first outcome whose frequency does not fit the law at `law_rate` when picks are drawn at `rate`.
fn misfit(rate: f64, law_rate: f64) -> Option<usize> {
    let private = [0, 1, 2, 4];
    let law = law(&plan(), &private, law_rate);
    let keys: Vec<&Vec<usize>> = law.keys().collect();
    let mut counts = vec![0; keys.len()];
    for seed in 0..40_000 {
        let picks = run(&plan(), &private, rate, seed);
        counts[keys.binary_search(&&picks).expect("an outcome of the law")] += 1;
    }
    let probabilities: Vec<f64> = law.values().copied().collect();
    implausible_cell(&counts, &probabilities, 1e-9)
}

#[test]
fn picks_follow_the_enumerated_law() {
    // False alarm with probability 1e-9, if the law holds.
    assert_eq!(misfit(1.0, 1.0), None);
}

#[test]
fn picks_at_another_rate_do_not_follow_it() {
    assert!(misfit(1.3, 1.0).is_some());
}

#[test]
fn the_whole_sequence_of_thresholds_is_private_in_both_directions() {
    for (epsilon, delta) in [(0.3, 0.05), (0.5, 0.01), (1.0, 0.1), (2.0, 1e-3)] {
        let (e, d) = (
            Epsilon::new(epsilon).expect("valid"),
            Delta::new(delta).expect("valid"),
        );
        for rate in Rate::ALL {
            let rate = rate.value(e, d).expect("a rate");
            for element in 0..5 {
                let smaller: Vec<usize> = (0..5).filter(|&x| x != element).collect();
                let (without, with) = (
                    law(&plan(), &smaller, rate),
                    law(&plan(), &[0, 1, 2, 3, 4], rate),
                );
                let (there, back) = (
                    divergence(&without, &with, epsilon),
                    divergence(&with, &without, epsilon),
                );
                assert!(
                    there <= delta && back <= delta,
                    "{element}: {there}, {back} above {delta}"
                );
            }
        }
    }
}

#[test]
fn two_elements_cost_more_than_one() {
    // The twin of the test above: at a rate that keeps (ε, δ) for one element, neighbors at distance two exceed it.
    for (epsilon, delta) in [(0.3, 0.05), (1.0, 0.1)] {
        let rate = Rate::Largest.value(
            Epsilon::new(epsilon).expect("valid"),
            Delta::new(delta).expect("valid"),
        );
        let rate = rate.expect("a rate");
        let all = law(&plan(), &[1, 2, 4], rate);
        let most = |fewer: &[usize]| {
            let fewer = law(&plan(), fewer, rate);
            let (there, back) = (
                divergence(&fewer, &all, epsilon),
                divergence(&all, &fewer, epsilon),
            );
            if there > back { there } else { back }
        };
        let (one, two) = (most(&[2, 4]), most(&[4]));
        assert!(one <= delta && delta < two, "{one}, {two} around {delta}");
    }
}

#[test]
fn the_family_is_what_it_is_whatever_the_private_set() {
    let sets = vec![vec![0, 1], vec![], vec![0, 1], vec![2]];
    for private in [vec![], vec![0, 1, 2], vec![7]] {
        let coverage = SetCoverage::new(sets.clone(), private);
        assert_eq!(coverage.len(), 4);
    }
    // All sets are picked in the end, empty and equal ones too, each once; more is not asked for.
    let mut noise = InsecureSeededRng::new(3);
    let (epsilon, delta) = (
        Epsilon::new(1.0).expect("valid"),
        Delta::new(0.1).expect("valid"),
    );
    let mut session = Session::new(
        Budget::approx(epsilon, delta),
        NeighboringRelation::AddRemove,
        &mut noise,
    );
    let (event, rate) = picks_event(Rate::Largest, epsilon, delta).expect("a rate");
    let picker = Picker::new(&mut session, event, rate).expect("within the budget");
    let mut picks = picker.pick(&mut session, &mut SetCoverage::new(sets, [0, 2]), 100);
    picks.sort_unstable();
    assert_eq!(picks, [0, 1, 2, 3]);
}

#[test]
fn all_picks_are_one_event_of_the_ledger() {
    let mut noise = InsecureSeededRng::new(3);
    let (epsilon, delta) = (
        Epsilon::new(0.7).expect("valid"),
        Delta::new(1e-6).expect("valid"),
    );
    let mut session = Session::new(
        Budget::approx(epsilon, delta),
        NeighboringRelation::AddRemove,
        &mut noise,
    );
    let (event, rate) = picks_event(Rate::Largest, epsilon, delta).expect("a rate");
    let picker = Picker::new(&mut session, event, rate).expect("within the budget");
    for _ in 0..50 {
        let sets = (0..20).map(|i| (i..i + 3).collect()).collect();
        picker.pick(&mut session, &mut SetCoverage::new(sets, 0..20), 5);
    }
    assert_eq!(session.ledger().events().len(), 1);
    assert!(session.guarantee().epsilon <= 0.7 && session.guarantee().delta <= 1e-6);
}
