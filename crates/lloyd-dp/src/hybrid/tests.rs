use dp_core::NeighboringRelation;
use ndarray::Array2;
use proptest::prelude::*;

use super::*;
use crate::error_model::hybrid_refines;
use crate::testing::{approx, frame, neighbors, odd_tables, public, pure, replay, run};

fn records() -> Array2<f64> {
    Array2::from_shape_fn((400, 2), |(i, j)| {
        ((i * 7 + j * 3) % 41) as f64 / 21.0 - 1.0
    })
}

#[test]
fn both_branches_spend_what_they_plan_and_no_more_than_the_budget() {
    for relation in NeighboringRelation::ALL {
        for params in [
            HybridParams::new(3, pure(1.0)),
            HybridParams::refine(3, pure(1.0)),
        ] {
            for n_hint in [None, Some(400)] {
                let hybrid = params.clone().n_hint(n_hint).check().expect("valid");
                let (fit, guarantee) =
                    run(pure(1.0), relation, 1, &records(), |source, session| {
                        hybrid.fit(source, session, &mut public())
                    });
                assert!(guarantee.epsilon <= 1.0 && guarantee.epsilon > 0.999);
                assert_eq!(fit.clustering.centers.dim(), (3, 2));
                let planned = hybrid.plan(&frame(2), relation).expect("valid");
                let refined = fit.branch == Branch::Refined;
                assert!(!refined || planned.len() >= 2);
            }
        }
    }
}

/// In many columns the noise of the second half is Gaussian, for all of δ; in few, and in the paper's form, δ is not spent.
#[test]
fn delta_is_spent_where_it_makes_the_noise_smaller() {
    let budget = approx(1.0, 1e-6);
    for relation in NeighboringRelation::ALL {
        for (d, params, delta) in [
            (2, HybridParams::refine(3, budget), 0.0),
            (12, HybridParams::refine(3, budget), 1e-6),
            (12, HybridParams::new(3, budget), 0.0),
        ] {
            let hybrid = params.n_hint(Some(50)).check().expect("valid");
            let table = Array2::from_shape_fn((50, d), |(i, j)| ((i + j) % 5) as f64 / 5.0);
            let (_, guarantee) = run(budget, relation, 3, &table, |source, session| {
                hybrid.fit(source, session, &mut public())
            });
            assert!(guarantee.epsilon <= 1.0 && guarantee.epsilon > 0.999);
            assert!((guarantee.delta - delta).abs() <= 0.0, "{d}");
        }
    }
}

#[test]
fn the_decision_follows_the_papers_inequality() {
    // (15) by hand, d = 2, ‖o‖² = 0.405, k = 1, Nε = 10,000: the left side 8·9·2.405/10^8 = 1.73·10^-6, the right one
    // (4/3)·1000/10^8 = 1.33·10^-5: refine. Nε = 100: 1.73·10^-2 against (4/3)·10/10^4 = 1.33·10^-3: do not.
    assert!(hybrid_refines(1, 2, 10_000.0, 1.0));
    assert!(!hybrid_refines(1, 2, 100.0, 1.0));
    // Adult at ε = 0.05 falls back (the paper reports it), and refines at ε = 1.
    assert!(!hybrid_refines(5, 6, 48_842.0, 0.05));
    assert!(hybrid_refines(5, 6, 48_842.0, 1.0));
    let always = HybridParams::refine(5, pure(0.05)).check().expect("valid");
    assert_eq!(
        always.branch(100.0, 6, NeighboringRelation::AddRemove),
        Branch::Refined
    );
}

#[test]
fn no_table_makes_a_fit_fail() {
    for d in [1, 2, 50] {
        for table in odd_tables(d) {
            for relation in NeighboringRelation::ALL {
                for params in [
                    HybridParams::new(4, pure(0.5)),
                    HybridParams::refine(4, pure(0.5)),
                ] {
                    let hybrid = params.check().expect("valid");
                    let (fit, _) = run(pure(0.5), relation, 2, &table, |source, session| {
                        hybrid.fit(source, session, &mut public())
                    });
                    assert!(fit.clustering.centers.iter().all(|c| c.abs() <= 1.0));
                }
            }
        }
    }
}

#[cfg(dp_faults)]
#[test]
fn halves_that_are_not_halved_are_refused_by_the_session() {
    let hybrid = HybridParams::refine(3, pure(1.0))
        .n_hint(Some(400))
        .check()
        .expect("valid");
    let records = records();
    let frame = frame(2);
    let mut rng = dp_core::rng::InsecureSeededRng::new(1);
    let mut session = Session::new(pure(1.0), NeighboringRelation::AddRemove, &mut rng);
    dp_core::faults::plant(Some("hybrid-halves-not-halved"));
    let fitted = hybrid.fit(
        &metric_space::FramedSource::new(&records, &frame),
        &mut session,
        &mut public(),
    );
    dp_core::faults::plant(None);
    assert!(matches!(fitted, Err(FitError::Spend(_))));
    assert!(session.ledger().events().is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn one_record_moves_the_statistics_by_no_more_than_claimed(pair in neighbors(2, 24), refine in any::<bool>()) {
        let params = if refine { HybridParams::refine(3, pure(0.8)) } else { HybridParams::new(3, pure(0.8)) };
        let hybrid = params.check().expect("valid");
        let report = replay(pure(0.8), &pair, |source, session| hybrid.fit(source, session, &mut public()));
        prop_assert!(report.differences.is_empty(), "{:?}", report.differences);
    }

    /// With Gaussian noise in the second half.
    #[test]
    fn one_record_moves_the_statistics_by_no_more_than_claimed_in_many_columns(pair in neighbors(12, 12)) {
        let budget = approx(0.8, 1e-6);
        let hybrid = HybridParams::refine(2, budget).check().expect("valid");
        let report = replay(budget, &pair, |source, session| hybrid.fit(source, session, &mut public()));
        prop_assert!(report.differences.is_empty(), "{:?}", report.differences);
    }
}
