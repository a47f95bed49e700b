use dp_core::NeighboringRelation::{self, AddRemove};
use dp_core::Session;
use dp_core::rng::InsecureSeededRng;
use metric_space::FramedSource;
use ndarray::{Array2, array};
use proptest::prelude::*;

use super::params::most_blocks;
use super::*;
use crate::error::{FitError, ParamsError};
use crate::testing::{frame, neighbors, odd_tables, public, pure, replay, run};

/// Two clusters of 3,000 records each.
fn two_clusters() -> Array2<f64> {
    Array2::from_shape_fn((6000, 2), |(i, j)| {
        let side = if i % 2 == 0 { 0.5 } else { -0.5 };
        side + ((i / 2 * (j + 3)) % 101) as f64 / 1000.0 - 0.05
    })
}

fn variants(k: usize) -> Vec<SampleAggregateParams> {
    let reference = Array2::from_shape_fn((k, 2), |(j, _)| j as f64 / k as f64);
    vec![
        SampleAggregateParams::gkm(k, pure(1.0)),
        SampleAggregateParams::gkm_3k(k, pure(1.0)),
        SampleAggregateParams::gkm(k, pure(1.0)).order(CenterOrder::Reference(reference)),
        SampleAggregateParams::gkm_3k(k, pure(1.0)).order(CenterOrder::Spread),
    ]
}

#[test]
fn every_variant_spends_what_it_plans_and_no_more_than_the_budget() {
    for relation in NeighboringRelation::ALL {
        for params in variants(2) {
            for n_hint in [None, Some(6000)] {
                let aggregate = params.clone().n_hint(n_hint).check().expect("valid");
                let (_, guarantee) = run(
                    pure(1.0),
                    relation,
                    1,
                    &two_clusters(),
                    |source, session| {
                        let planned =
                            aggregate.plan(metric_space::LatticeSource::frame(source), relation)?;
                        let fit = aggregate.fit(source, session, &mut public())?;
                        let count =
                            |events: &[dp_core::Event]| events.iter().map(|e| e.count).sum::<u64>();
                        assert_eq!(count(&planned), count(session.ledger().events()));
                        Ok(fit)
                    },
                );
                assert!(guarantee.epsilon <= 1.0 && guarantee.epsilon > 0.999);
            }
        }
    }
}

#[test]
fn with_much_budget_the_average_of_clear_clusters_is_near_their_centers() {
    for params in [
        SampleAggregateParams::gkm_3k(2, pure(200.0)),
        SampleAggregateParams::gkm(2, pure(200.0)),
        SampleAggregateParams::gkm(2, pure(200.0)).order(CenterOrder::Spread),
        SampleAggregateParams::gkm(2, pure(200.0))
            .order(CenterOrder::Reference(array![[0.6, 0.6], [-0.6, -0.6]])),
    ] {
        let aggregate = params.n_hint(Some(6000)).check().expect("valid");
        let (fit, _) = run(
            pure(200.0),
            AddRemove,
            3,
            &two_clusters(),
            |source, session| aggregate.fit(source, session, &mut public()),
        );
        for truth in [-0.5, 0.5] {
            let near = |c: &f64| (c - truth).abs() < 0.2;
            assert!(
                fit.clustering
                    .centers
                    .rows()
                    .into_iter()
                    .any(|center| center.iter().all(near)),
                "{}",
                fit.clustering.centers
            );
        }
    }
}

#[test]
fn the_reference_says_the_order_of_centers() {
    let reference = vec![vec![100, 0], vec![-100, 0], vec![0, 100]];
    let centers = vec![vec![-90, 5], vec![1, 80], vec![95, 2]];
    let order = CenterOrder::Reference(Array2::zeros((3, 2)));
    let arranged = order.arrange(centers.clone(), &reference);
    assert_eq!(arranged, vec![vec![95, 2], vec![-90, 5], vec![1, 80]]);
    let by_first = CenterOrder::FirstCoordinate.arrange(centers, &[]);
    assert_eq!(by_first, vec![vec![-90, 5], vec![1, 80], vec![95, 2]]);
}

#[test]
fn numbers_of_blocks_follow_their_rules() {
    // 48,842^0.4 = 75.1; Adult in blocks of 15.
    assert_eq!(BlockRule::Power(0.4).blocks(48_842.0, 5), 75);
    assert_eq!(BlockRule::SizeFactor(3.0).blocks(48_842.0, 5), 3256);
    for odd in [f64::NAN, -1.0, 0.0] {
        assert_eq!(BlockRule::Power(0.4).blocks(odd, 5), 1);
    }
    assert_eq!(BlockRule::SizeFactor(3.0).blocks(1e18, 5), MAX_BLOCKS);
}

#[test]
fn centers_that_would_not_fit_in_memory_are_refused_before_anything_is_spent() {
    // 256 MiB of centers: fewer blocks where a block has more of them, none where one alone is too large.
    assert_eq!(most_blocks(5, 6).expect("few"), MAX_BLOCKS);
    assert_eq!(most_blocks(1000, 100).expect("many"), 671);
    let huge = SampleAggregateParams::gkm_3k(1 << 22, pure(1.0));
    let aggregate = huge.check().expect("valid in one column");
    let (mut noise, records) = (InsecureSeededRng::new(1), Array2::<f64>::zeros((3, 2)));
    let mut session = Session::new(pure(1.0), AddRemove, &mut noise);
    let frame = frame(2);
    let source = FramedSource::new(&records, &frame);
    let refused = aggregate.fit(&source, &mut session, &mut public());
    let params = ParamsError::CenterMemory {
        numbers: 1 << 23,
        most: 1 << 22,
    };
    assert!(matches!(refused, Err(FitError::Params(error)) if error == params));
    assert!(session.ledger().events().is_empty());
}

#[test]
fn no_table_makes_a_fit_fail() {
    for d in [1, 2, 50] {
        for table in odd_tables(d) {
            for relation in NeighboringRelation::ALL {
                for params in [
                    SampleAggregateParams::gkm(4, pure(0.5)),
                    SampleAggregateParams::gkm_3k(4, pure(0.5)),
                ] {
                    let aggregate = params.check().expect("valid");
                    let (fit, _) = run(pure(0.5), relation, 2, &table, |source, session| {
                        aggregate.fit(source, session, &mut public())
                    });
                    assert!(fit.clustering.centers.iter().all(|c| c.abs() <= 1.0));
                }
            }
        }
    }
}

#[test]
fn parameters_out_of_range_are_refused_one_by_one() {
    let refused = |params: SampleAggregateParams| params.check().expect_err("must be refused");
    let gkm = || SampleAggregateParams::gkm(2, pure(1.0));
    assert_eq!(
        refused(SampleAggregateParams::gkm(0, pure(1.0))),
        ParamsError::NoClusters
    );
    assert_eq!(
        refused(gkm().blocks(BlockRule::Power(1.5))),
        ParamsError::Blocks { got: 1.5 }
    );
    assert_eq!(
        refused(gkm().blocks(BlockRule::SizeFactor(0.0))),
        ParamsError::Blocks { got: 0.0 }
    );
    assert_eq!(
        refused(gkm().blocks(BlockRule::Fixed(0))),
        ParamsError::Blocks { got: 0.0 }
    );
    assert_eq!(
        refused(gkm().quantiles([0.7, 0.3])),
        ParamsError::Quantiles {
            low: 0.7,
            high: 0.3
        }
    );
    assert_eq!(refused(gkm().n_hint(Some(0))), ParamsError::SizeHint);
    let order = CenterOrder::Reference(Array2::zeros((3, 2)));
    assert_eq!(
        refused(gkm().order(order)),
        ParamsError::Reference { expected: 2 }
    );
}

#[cfg(dp_faults)]
#[test]
fn half_of_the_range_is_caught() {
    use crate::testing::Neighbors;
    // Two blocks; a record moves one of them from end to end.
    let records = Array2::from_shape_fn((40, 1), |(i, _)| if i % 2 == 0 { 0.9 } else { -0.9 });
    let caught = (0..40).any(|i| {
        let mut neighbor = records.clone();
        neighbor.column_mut(0).fill(0.9);
        let mut first = records.clone();
        first.column_mut(0).fill(0.9);
        first[[i, 0]] = -0.9;
        let edit = dp_core::tape::Edit::Replaced(i as u64);
        let pair = Neighbors {
            records: first,
            neighbor,
            edit,
            relation: NeighboringRelation::ReplaceOne,
        };
        let params = SampleAggregateParams::gkm(1, pure(1.0))
            .blocks(BlockRule::Fixed(40))
            .quantiles([0.0, 1.0]);
        let aggregate = params.check().expect("valid");
        dp_core::faults::plant(Some("gkm-half-range"));
        let report = replay(pure(1.0), &pair, |source, session| {
            aggregate.fit(source, session, &mut public())
        });
        dp_core::faults::plant(None);
        !report.differences.is_empty()
    });
    assert!(caught);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn one_record_moves_one_block_and_no_statistic_by_more_than_claimed(pair in neighbors(2, 24), which in 0..4_usize) {
        let aggregate = variants(2)[which].clone().blocks(BlockRule::Fixed(5)).check().expect("valid");
        let report = replay(pure(1.0), &pair, |source, session| aggregate.fit(source, session, &mut public()));
        prop_assert!(report.differences.is_empty(), "{:?}", report.differences);
    }
}
