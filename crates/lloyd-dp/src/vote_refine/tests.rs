use dp_core::rng::InsecureSeededRng;
use dp_core::{Budget, Delta, Epsilon, NeighboringRelation, Session};
use metric_space::{FramedSource, Records, mean_cost};
use ndarray::Array2;
use proptest::prelude::*;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::error::{FitError, ParamsError};
use crate::init::Init;
use crate::testing::{Neighbors, frame, neighbors_of_each_kind, public, replay};

fn budget(epsilon: f64, delta: f64) -> Budget {
    Budget {
        epsilon: Epsilon::new(epsilon).expect("valid"),
        delta: Delta::new(delta).expect("valid"),
    }
}

#[test]
fn rules_hold_for_any_number_of_clusters() {
    for k in [1, 409, 410, 5_000, 1 << 20] {
        for n in [None, Some(1.0), Some(1e6), Some(1e300)] {
            let params = VoteRefineParams::new(k, budget(1.0, 1e-6)).start(Start::Votes);
            let rules = params.rules(n, 12, NeighboringRelation::AddRemove);
            assert!(
                rules.n_candidates >= 2 * k && rules.n_centers >= k,
                "{k}, {n:?}"
            );
        }
    }
}

/// Pure and approximate budgets, with and without a public size.
fn variants(k: usize) -> Vec<VoteRefineParams> {
    let mut all = Vec::new();
    for delta in [0.0, 1e-6] {
        for n_hint in [None, Some(50)] {
            let params = VoteRefineParams::new(k, budget(1.0, delta)).n_hint(n_hint);
            all.push(params.clone());
            all.push(params.clone().start(Start::Votes));
            let few = params.n_rounds(1).steps(1, 2).n_candidates(Some(7));
            all.push(few.start(Start::Votes));
        }
    }
    all
}

fn run(
    params: &VoteRefineParams,
    records: &Array2<f64>,
    session: &mut Session<'_>,
) -> Result<VoteRefineFit, FitError> {
    let frame = frame(records.ncols());
    let checked = params.clone().check().expect("valid");
    checked.fit(&FramedSource::new(records, &frame), session, &mut public())
}

#[test]
fn every_variant_spends_what_it_plans_and_no_more_than_the_budget() {
    let records = Array2::from_shape_fn((60, 2), |(i, j)| ((i * 7 + j) % 13) as f64 / 7.0 - 1.0);
    for relation in NeighboringRelation::ALL {
        for params in variants(3) {
            let mut rng = InsecureSeededRng::new(1);
            let mut session = Session::new(params.budget, relation, &mut rng);
            run(&params, &records, &mut session).expect("total");
            let guarantee = session.guarantee();
            assert!(guarantee.epsilon <= 1.0 && guarantee.delta <= params.budget.delta.get());
            assert!(
                guarantee.epsilon > 0.999,
                "{params:?} spends {}",
                guarantee.epsilon
            );
            let planned = params
                .clone()
                .check()
                .expect("valid")
                .plan(&frame(2), relation);
            // One event each, whatever the radii turn out to be: the ledger joins those that are alike.
            let each = |events: &[dp_core::Event]| -> Vec<(std::borrow::Cow<'static, str>, dp_core::Loss)> {
                let repeated = events.iter().flat_map(|event| {
                    std::iter::repeat_n(event, usize::try_from(event.count).expect("few"))
                });
                repeated
                    .map(|event| (event.mechanism.clone(), event.loss))
                    .collect()
            };
            let planned = planned.expect("valid");
            // Without a size the plan shows a usual number of rounds and steps, of the same total.
            if params.n_hint.is_some() {
                assert_eq!(
                    each(&planned),
                    each(session.ledger().events()),
                    "{params:?}"
                );
            }
        }
    }
}

/// Where noise is always 0 and every record lies on its center, nothing is left to weigh a step by: 0 over 0 must not become a center.
#[test]
fn without_noise_the_centers_are_the_points() {
    let points = [[0.5, -0.5, 0.25, 0.0], [-0.5, 0.5, 0.0, -0.25]];
    let records = Array2::from_shape_fn((2000, 4), |(i, j)| points[i % 2][j]);
    for delta in [0.0, 1e-6] {
        for epsilon in [1e5, 1e9] {
            let params = VoteRefineParams::new(2, budget(epsilon, delta));
            let mut rng = InsecureSeededRng::new(1);
            let mut session = Session::new(params.budget, NeighboringRelation::AddRemove, &mut rng);
            let fit = run(&params, &records, &mut session).expect("total");
            for point in points {
                let near = fit.clustering.centers.outer_iter().any(|center| {
                    let mut pairs = center.iter().zip(point);
                    pairs.all(|(x, p)| (x - p).abs() < 1e-3)
                });
                assert!(near, "epsilon = {epsilon}: {}", fit.clustering.centers);
            }
        }
    }
}

#[test]
fn parameters_out_of_range_are_refused_one_by_one() {
    let params = || VoteRefineParams::new(2, budget(1.0, 1e-6));
    let refused = |params: VoteRefineParams| params.check().expect_err("must be refused");
    assert_eq!(
        refused(VoteRefineParams::new(0, budget(1.0, 0.0))),
        ParamsError::NoClusters
    );
    assert_eq!(refused(params().n_hint(Some(0))), ParamsError::SizeHint);
    assert_eq!(
        refused(params().n_candidates(Some(0))),
        ParamsError::Candidates { got: 0 }
    );
    assert_eq!(
        refused(params().n_rounds(0)),
        ParamsError::Iterations { got: 0 }
    );
    assert_eq!(
        refused(params().steps(0, 1)),
        ParamsError::Iterations { got: 0 }
    );
    for share in [0.0, 1.0, f64::NAN] {
        assert!(matches!(
            refused(params().quantile(share)),
            ParamsError::Share { .. }
        ));
        assert!(matches!(
            refused(params().radius_share(share)),
            ParamsError::Share { .. }
        ));
        assert!(matches!(
            refused(params().shares(share, 0.5)),
            ParamsError::Share { .. }
        ));
    }
    assert!(matches!(
        refused(params().shares(0.5, 0.5)),
        ParamsError::Share { .. }
    ));
    for factor in [0.5, f64::NAN, f64::INFINITY] {
        assert!(matches!(
            refused(params().over_provision(factor)),
            ParamsError::Factor { .. }
        ));
    }
}

#[test]
fn a_session_without_budget_refuses_before_anything_is_read() {
    let params = VoteRefineParams::new(2, budget(1.0, 1e-6));
    let mut rng = InsecureSeededRng::new(1);
    let mut session = Session::new(budget(0.5, 1e-6), NeighboringRelation::AddRemove, &mut rng);
    let refused = run(&params, &Array2::zeros((4, 2)), &mut session);
    assert!(matches!(refused, Err(FitError::Spend(_))));
    assert!(session.ledger().events().is_empty());
}

#[test]
fn odd_data_never_fail() {
    let odd = [
        Array2::zeros((0, 3)),
        Array2::zeros((1, 3)),
        Array2::from_elem((5, 3), f64::NAN),
        Array2::from_elem((50, 3), 1e300),
        Array2::from_shape_fn(
            (6, 3),
            |(i, _)| if i % 2 == 0 { f64::INFINITY } else { -1.0 },
        ),
    ];
    for records in odd {
        for params in variants(7) {
            let mut rng = InsecureSeededRng::new(2);
            let mut session = Session::new(params.budget, NeighboringRelation::AddRemove, &mut rng);
            let fitted = run(&params, &records, &mut session)
                .expect("total")
                .clustering;
            assert_eq!(fitted.centers.dim(), (7, 3));
            assert!(fitted.centers.iter().all(|x| x.abs() <= 1.0));
        }
    }
}

#[test]
fn extreme_budgets_and_dimensions_never_fail() {
    for epsilon in [1e-6, 50.0] {
        for (k, d) in [(1, 1), (40, 1), (2, 200)] {
            for delta in [0.0, 1e-9] {
                let records =
                    Array2::from_shape_fn((30, d), |(i, j)| ((i + j) % 5) as f64 / 2.0 - 1.0);
                let params = VoteRefineParams::new(k, budget(epsilon, delta));
                let mut rng = InsecureSeededRng::new(2);
                let mut session =
                    Session::new(params.budget, NeighboringRelation::ReplaceOne, &mut rng);
                let fitted = run(&params, &records, &mut session).expect("total");
                assert_eq!(fitted.clustering.centers.dim(), (k, d));
            }
        }
    }
}

/// Six tight groups in six columns. Twin: centers that are independent of the records are far off.
#[test]
fn groups_far_apart_are_found() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let groups = Array2::from_shape_simple_fn((6, 6), || rng.random_range(-0.8..0.8));
    let records = Array2::from_shape_fn((12_000, 6), |(i, j)| {
        groups[[i % 6, j]] + rng.random_range(-0.05..0.05)
    });
    let cost = |centers: &Array2<f64>| {
        mean_cost(Records::from(&records), centers.view(), None).expect("shapes fit")
    };
    let public = Init::SpherePacking.centers(6, &frame(6), &mut rng);
    assert!(cost(&public.expect("drawn")) > 10.0 * cost(&groups));
    for delta in [0.0, 1e-6] {
        let params = VoteRefineParams::new(6, budget(2.0, delta));
        let mut noise = InsecureSeededRng::new(3);
        let mut session = Session::new(params.budget, NeighboringRelation::AddRemove, &mut noise);
        let fitted = run(&params, &records, &mut session).expect("total");
        let ratio = cost(&fitted.clustering.centers) / cost(&groups);
        assert!(ratio < 1.1, "δ = {delta}: {ratio}");
    }
}

/// Whether a replay on the neighbor makes the same calls, with statistics as near as declared.
fn replays(params: &VoteRefineParams, pair: &Neighbors) -> bool {
    let checked = params.clone().check().expect("valid");
    let report = replay(params.budget, pair, |source, session| {
        checked.fit(source, session, &mut public())
    });
    report.differences.is_empty()
}

/// The twin of the replays: faults that they must see.
#[cfg(dp_faults)]
#[test]
fn a_replay_sees_votes_that_count_twice_and_moments_that_are_not_clipped() {
    // Four hundred records in the middle, one in a corner, which goes.
    let mut pair = Neighbors {
        records: Array2::zeros((401, 3)),
        neighbor: Array2::zeros((400, 3)),
        edit: dp_core::tape::Edit::Removed(400),
        relation: NeighboringRelation::AddRemove,
    };
    pair.records.row_mut(400).fill(1.0);
    let params = VoteRefineParams::new(3, budget(20.0, 1e-6))
        .n_hint(Some(400))
        .start(Start::Votes);
    let passes = || replays(&params, &pair);
    assert!(passes());
    for fault in [
        "vote-refine-votes-twice",
        "vote-refine-moments-unclipped",
        "lloyd-clip-unused",
    ] {
        dp_core::faults::plant(Some(fault));
        let seen = !passes();
        dp_core::faults::plant(None);
        assert!(seen, "{fault}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// The claim of the module: the same calls, and statistics within the declared sensitivity.
    #[test]
    fn a_neighbor_changes_no_call_and_no_statistic_by_more_than_declared(
        pairs in neighbors_of_each_kind(),
    ) {
        for params in variants(3) {
            for pair in &pairs {
                prop_assert!(replays(&params, pair));
            }
        }
    }
}
