use dp_core::NeighboringRelation;
use metric_space::{FramedSource, LatticeSource};
use ndarray::{Array2, array};
use proptest::prelude::*;

use super::cost::CostScale;
use super::*;
use crate::error::ParamsError;
use crate::testing::{frame, neighbors, odd_tables, public, pure, replay, run};

fn small(k: usize, epsilon: f64) -> PrivGeneParams {
    PrivGeneParams::new(k, pure(epsilon)).population(12, 3)
}

fn two_clusters() -> Array2<f64> {
    Array2::from_shape_fn((2000, 2), |(i, j)| {
        let side = if i % 2 == 0 { 0.5 } else { -0.5 };
        side + ((i / 2 * (j + 3)) % 11) as f64 / 100.0 - 0.05
    })
}

#[test]
fn costs_are_exact_sums_of_integers_in_their_range() {
    let frame = frame(2);
    let records = array![[0.5, -0.5], [1.0, 1.0], [-1.0, 0.25]];
    let scale = CostScale::new(&frame);
    let candidates = vec![vec![2048, 0, -4096, 4096], vec![0, 0, 0, 0]];
    let width = scale.width(&frame, &candidates);
    let costs = scale
        .costs(&FramedSource::new(&records, &frame), &candidates, width)
        .expect("read");
    // 2^12 units per one: squared distances of up to 8·2^24 = 2^27 units, kept to 24 bits: steps of 2^4.
    let exact = |candidate: &[i64]| -> i64 {
        [[2048, -2048], [4096, 4096], [-4096, 1024]]
            .iter()
            .map(|x: &[i64; 2]| {
                let sq = |c: &[i64]| (x[0] - c[0]).pow(2) + (x[1] - c[1]).pow(2);
                candidate.chunks(2).map(sq).min().expect("two centers") >> 4
            })
            .sum()
    };
    assert_eq!(
        costs,
        [exact(&[2048, 0, -4096, 4096]), exact(&[0, 0, 0, 0])]
    );
    // The farthest corner from the best placed center: (1 + 1/2)² + 1 of the first, 1 + 1 of the second candidate.
    assert_eq!(width, (6144_u64.pow(2) + 4096_u64.pow(2)) >> 4);
}

#[test]
fn the_search_spends_what_it_plans_and_no_more_than_the_budget() {
    for relation in NeighboringRelation::ALL {
        for params in [
            small(2, 1.0),
            small(2, 1.0).n_rounds(1),
            small(2, 1.0).n_hint(Some(2000)),
        ] {
            let search = params.check().expect("valid");
            let (_, guarantee) = run(
                pure(1.0),
                relation,
                1,
                &two_clusters(),
                |source, session| {
                    let planned = search.plan(source.frame(), relation)?;
                    let fit = search.fit(source, session, &mut public())?;
                    let count =
                        |events: &[dp_core::Event]| events.iter().map(|e| e.count).sum::<u64>();
                    assert_eq!(count(&planned), count(session.ledger().events()));
                    Ok(fit)
                },
            );
            assert!(
                guarantee.epsilon <= 1.0 && guarantee.epsilon > 0.999,
                "{}",
                guarantee.epsilon
            );
        }
    }
}

#[test]
fn with_much_budget_the_private_search_finds_what_the_exact_one_finds() {
    let records = two_clusters();
    let search = PrivGeneParams::new(2, pure(100.0))
        .n_rounds(20)
        .check()
        .expect("valid");
    let frame = frame(2);
    let exact = search_not_private(
        &search,
        &FramedSource::new(&records, &frame),
        20,
        &mut public(),
    )
    .expect("read");
    let (private, _) = run(
        pure(100.0),
        NeighboringRelation::AddRemove,
        3,
        &records,
        |source, session| search.fit(source, session, &mut public()),
    );
    for centers in [exact, private.clustering.centers] {
        for truth in [-0.5, 0.5] {
            let near = |c: &f64| (c - truth).abs() < 0.25;
            assert!(
                centers
                    .rows()
                    .into_iter()
                    .any(|center| center.iter().all(near)),
                "{centers}"
            );
        }
    }
}

#[test]
fn rounds_follow_the_size() {
    // Adult at ε = 1: 1.25·10⁻³·48,842/10 = 6.1 rounds, at least 8; a million records: 125.
    assert_eq!(PrivGeneParams::new(5, pure(1.0)).rounds(48_842.0), 8);
    assert_eq!(PrivGeneParams::new(5, pure(1.0)).rounds(1e6), 125);
    for odd in [f64::NAN, -1.0] {
        assert_eq!(PrivGeneParams::new(5, pure(1.0)).rounds(odd), 8);
    }
}

#[test]
fn no_table_makes_a_fit_fail() {
    for d in [1, 2, 50] {
        for table in odd_tables(d) {
            for relation in NeighboringRelation::ALL {
                let search = small(4, 0.5).check().expect("valid");
                let (fit, _) = run(pure(0.5), relation, 2, &table, |source, session| {
                    search.fit(source, session, &mut public())
                });
                assert!(fit.clustering.centers.iter().all(|c| c.abs() <= 1.0));
            }
        }
    }
}

#[test]
fn parameters_out_of_range_are_refused_one_by_one() {
    let refused = |params: PrivGeneParams| params.check().expect_err("must be refused");
    assert_eq!(refused(small(0, 1.0)), ParamsError::NoClusters);
    for (population, survivors) in [(1, 1), (10, 0), (10, 10)] {
        assert!(matches!(
            refused(small(2, 1.0).population(population, survivors)),
            ParamsError::Population { .. }
        ));
    }
    assert_eq!(
        refused(small(2, 1.0).n_rounds(0)),
        ParamsError::Iterations { got: 0 }
    );
    assert_eq!(
        refused(small(2, 1.0).n_hint(Some(0))),
        ParamsError::SizeHint
    );
    assert!(matches!(
        refused(small(2, 1.0).first_shift(0.0)),
        ParamsError::Radius { .. }
    ));
}

#[cfg(dp_faults)]
#[test]
fn a_search_that_overspends_is_refused() {
    let search = small(2, 1.0).check().expect("valid");
    let records = two_clusters();
    let frame = frame(2);
    let mut rng = dp_core::rng::InsecureSeededRng::new(1);
    let mut session = dp_core::Session::new(pure(1.0), NeighboringRelation::AddRemove, &mut rng);
    dp_core::faults::plant(Some("pgkm-overspend"));
    let fitted = search.fit(
        &FramedSource::new(&records, &frame),
        &mut session,
        &mut public(),
    );
    dp_core::faults::plant(None);
    assert!(matches!(fitted, Err(crate::error::FitError::Spend(_))));
    assert!(session.ledger().events().is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn one_record_moves_all_scores_within_the_claimed_width(pair in neighbors(2, 24)) {
        let search = small(3, 1.0).n_rounds(3).check().expect("valid");
        let report = replay(pure(1.0), &pair, |source, session| search.fit(source, session, &mut public()));
        prop_assert!(report.differences.is_empty(), "{:?}", report.differences);
    }
}
