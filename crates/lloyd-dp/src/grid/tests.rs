use std::collections::BTreeSet;

use dp_core::NeighboringRelation::{self, AddRemove, ReplaceOne};
use metric_space::{FramedSource, LatticeSource};
use ndarray::Array2;
use proptest::prelude::*;

use super::*;
use crate::error::{FitError, ParamsError};
use crate::testing::{Neighbors, approx, frame, neighbors, odd_tables, public, pure, replay, run};

fn rules() -> [CellRule; 4] {
    [
        CellRule::UG,
        CellRule::EUG,
        CellRule::GRID_K,
        CellRule::PerAxis(5),
    ]
}

/// Two clusters of 500 records, at −0.5 and 0.5 on every axis.
fn two_clusters(d: usize) -> Array2<f64> {
    Array2::from_shape_fn((1000, d), |(i, j)| {
        let side = if i % 2 == 0 { 0.5 } else { -0.5 };
        side + ((i / 2 * (j + 3)) % 11) as f64 / 100.0 - 0.05
    })
}

#[test]
fn cells_partition_the_domain_and_hold_every_record_once() {
    for m in [1, 2, 3, 7, 64] {
        let records = Array2::from_shape_fn((999, 2), |(i, j)| {
            ((i * 37 + j * 11) % 201) as f64 / 100.0 - 1.0
        });
        let frame = frame(2);
        let cells = count::Cells::new(m, frame.lattice().units_per_one());
        let n_cells = usize::try_from(m * m).expect("small");
        let source = FramedSource::new(&records, &frame);
        let counts = count::dense(&source, cells, n_cells).expect("read");
        assert_eq!(counts.iter().sum::<i64>(), 999);
        let sparse = count::sparse(&source, cells).expect("read");
        for (cell, count) in sparse {
            let index = cell
                .iter()
                .fold(0, |index, &i| index * i64::try_from(m).expect("small") + i);
            assert_eq!(counts[usize::try_from(index).expect("inside")], count);
        }
    }
}

#[test]
fn a_record_lies_in_the_cell_whose_center_is_nearest() {
    let records = Array2::from_shape_fn((400, 1), |(i, _)| i as f64 / 200.0 - 0.999);
    let frame = frame(1);
    let cells = count::Cells::new(10, frame.lattice().units_per_one());
    let counts = count::dense(&FramedSource::new(&records, &frame), cells, 10).expect("read");
    let synopsis = GridSynopsis::new(1, 10, 1.0, CellCounts::Dense(counts.clone())).expect("valid");
    let (centers, _) = synopsis.weighted_cells();
    let mut expected = vec![0; 10];
    let source = FramedSource::new(&records, &frame);
    let rows = source
        .fold(
            Vec::new,
            |all, block| all.extend_from_slice(block.rows),
            |all, mut part| all.append(&mut part),
        )
        .expect("read");
    for x in rows {
        let distance = |c: &f64| (c - f64::from(x)).abs();
        let nearest = (0..10)
            .min_by(|&a, &b| distance(&centers[[a, 0]]).total_cmp(&distance(&centers[[b, 0]])));
        expected[nearest.expect("ten cells")] += 1;
    }
    assert_eq!(counts, expected);
}

#[test]
fn the_rules_give_the_published_numbers_of_cells() {
    // S1 at ε = 1: 500 cells, 22 per axis; the rules agree in two columns.
    assert_eq!(CellRule::UG.per_axis(5000.0, 1.0, 2, 15), 22);
    assert_eq!(CellRule::EUG.per_axis(5000.0, 1.0, 2, 15), 22);
    // Adult at ε = 1: (4884.2)^1.5 = 341,342 cells, 8.36 per axis.
    assert_eq!(CellRule::EUG.per_axis(48_842.0, 1.0, 6, 5), 8);
    for odd in [0.0, -3.0, f64::NAN] {
        assert_eq!(CellRule::EUG.per_axis(odd, 1.0, 2, 3), 1);
    }
    assert_eq!(
        CellRule::EUG.per_axis(f64::INFINITY, 1.0, 2, 3),
        MAX_CELLS_PER_AXIS
    );
}

#[test]
fn every_variant_spends_what_it_plans_and_no_more_than_the_budget() {
    let records = two_clusters(2);
    for relation in NeighboringRelation::ALL {
        for rule in rules() {
            for layout in [Layout::Dense, Layout::Sparse] {
                for n_hint in [None, Some(1000)] {
                    let budget = approx(1.0, 1e-6);
                    let params = GridParams::new(2, budget, rule)
                        .layout(layout)
                        .n_hint(n_hint);
                    let grid = params.check().expect("valid");
                    let planned = grid.plan(&frame(2), relation).expect("valid");
                    let (_, guarantee) = run(budget, relation, 1, &records, |source, session| {
                        let fit = grid.fit(source, session, &mut public())?;
                        assert_eq!(session.ledger().events(), planned);
                        Ok(fit)
                    });
                    assert!(
                        guarantee.epsilon <= 1.0 && guarantee.epsilon > 0.999,
                        "{rule:?}"
                    );
                    let delta = if layout == Layout::Dense { 0.0 } else { 1e-6 };
                    assert!(guarantee.delta <= delta && guarantee.delta >= 0.9 * delta);
                }
            }
        }
    }
}

#[test]
fn centers_of_clear_clusters_are_found() {
    for (params, tolerance) in [
        (GridParams::ug(2, pure(1.0)), 0.1),
        (GridParams::eug(2, pure(1.0)), 0.1),
        (GridParams::grid_k(2, pure(1.0)), 0.1),
        (
            GridParams::eug(2, pure(1.0)).starts(Starts::SpherePacking),
            0.1,
        ),
        (GridParams::sparse(2, approx(1.0, 1e-6)), 0.1),
    ] {
        let grid = params.n_hint(Some(1000)).check().expect("valid");
        let budget = grid.params().budget;
        let (fit, _) = run(budget, AddRemove, 7, &two_clusters(2), |source, session| {
            grid.fit(source, session, &mut public())
        });
        let centers = fit.clustering.centers;
        for truth in [-0.5, 0.5] {
            let found = centers
                .rows()
                .into_iter()
                .any(|center| center.iter().all(|c| (c - truth).abs() < tolerance));
            assert!(found, "{truth} not in {centers}");
        }
        let counts = fit.clustering.noisy_counts.expect("released");
        assert!(
            counts.iter().all(|count| (count - 500.0).abs() < 150.0),
            "{counts:?}"
        );
    }
}

#[test]
fn no_table_makes_a_fit_fail() {
    for d in [1, 2, 50] {
        for records in odd_tables(d) {
            for relation in NeighboringRelation::ALL {
                for rule in rules() {
                    let sparse = GridParams::new(3, approx(0.5, 1e-6), rule).layout(Layout::Sparse);
                    let dense = GridParams::new(3, approx(0.5, 1e-6), rule);
                    // Five cells on each of 50 axes are refused, from public facts.
                    let dense = if d == 50 {
                        dense.rule(CellRule::UG)
                    } else {
                        dense
                    };
                    for params in [sparse, dense] {
                        let grid = params.check().expect("valid");
                        let (fit, _) = run(
                            approx(0.5, 1e-6),
                            relation,
                            2,
                            &records,
                            |source, session| grid.fit(source, session, &mut public()),
                        );
                        assert_eq!(fit.clustering.centers.dim(), (3, d));
                        assert!(fit.clustering.centers.iter().all(|c| c.abs() <= 1.0));
                    }
                }
            }
        }
    }
}

#[test]
fn a_grid_that_does_not_fit_is_refused_before_anything_is_spent_and_a_noisy_size_caps_it() {
    let grid = GridParams::eug(3, pure(1.0))
        .n_hint(Some(1_000_000))
        .check()
        .expect("valid");
    assert!(matches!(
        grid.plan(&frame(10), AddRemove),
        Err(ParamsError::TooManyCells {
            most: 10_000_000,
            ..
        })
    ));
    let records = two_clusters(10);
    let frame = frame(10);
    let mut rng = dp_core::rng::InsecureSeededRng::new(1);
    let mut session = dp_core::Session::new(pure(1.0), AddRemove, &mut rng);
    let refused = grid.fit(
        &FramedSource::new(&records, &frame),
        &mut session,
        &mut public(),
    );
    assert!(matches!(
        refused,
        Err(FitError::Params(ParamsError::TooManyCells { .. }))
    ));
    assert!(session.ledger().events().is_empty());

    let capped = GridParams::eug(3, pure(1000.0))
        .max_cells(5000)
        .check()
        .expect("valid");
    let (fit, _) = run(pure(1000.0), AddRemove, 1, &records, |source, session| {
        capped.fit(source, session, &mut public())
    });
    assert_eq!(fit.synopsis.cells_per_axis(), 2); // 2^10 fits 5000, 3^10 does not
}

#[test]
fn parameters_out_of_range_are_refused_one_by_one() {
    let refused = |params: GridParams| params.check().expect_err("must be refused");
    assert_eq!(
        refused(GridParams::eug(0, pure(1.0))),
        ParamsError::NoClusters
    );
    assert_eq!(
        refused(GridParams::sparse(2, pure(1.0))),
        ParamsError::NoThresholdDelta
    );
    assert_eq!(
        refused(GridParams::eug(2, pure(1.0)).n_hint(Some(0))),
        ParamsError::SizeHint
    );
    for got in [0.0, -1.0, f64::INFINITY] {
        for rule in [
            CellRule::Uniform { theta: got },
            CellRule::Extended { theta: got },
            CellRule::ClusterAware { bias: got },
        ] {
            let params = GridParams::new(2, pure(1.0), rule);
            assert_eq!(refused(params), ParamsError::CellFactor { got });
        }
    }
    for got in [0, MAX_CELLS_PER_AXIS + 1] {
        let params = GridParams::new(2, pure(1.0), CellRule::PerAxis(got));
        assert_eq!(refused(params), ParamsError::CellsPerAxis { got });
    }
    let solver = SynopsisSolverParams::new(2);
    assert_eq!(
        solver.clone().n_starts(0).check().expect_err("refused"),
        ParamsError::NoStarts
    );
    assert!(solver.seed_threshold(f64::NAN).check().is_err());
}

#[test]
fn a_synopsis_comes_back_from_json_and_a_wrong_one_is_refused() {
    let dense = GridSynopsis::new(2, 2, 1.5, CellCounts::Dense(vec![3, -1, 0, 9])).expect("valid");
    let sparse = CellCounts::Sparse(vec![(vec![0, 1], 20), (vec![1, 0], 30)]);
    let sparse = GridSynopsis::new(2, 2, 1.5, sparse).expect("valid");
    for synopsis in [dense, sparse] {
        let text = serde_json::to_string(&synopsis).expect("serializable");
        assert_eq!(
            serde_json::from_str::<GridSynopsis>(&text).expect("valid"),
            synopsis
        );
    }
    for wrong in [
        r#"{"dimension":2,"cells_per_axis":2,"noise_scale":1.5,"counts":{"dense":[1,2,3]}}"#,
        r#"{"dimension":64,"cells_per_axis":1048576,"noise_scale":1.5,"counts":{"dense":[1]}}"#,
        r#"{"dimension":0,"cells_per_axis":1,"noise_scale":1.5,"counts":{"dense":[1]}}"#,
        r#"{"dimension":1,"cells_per_axis":0,"noise_scale":1.5,"counts":{"dense":[]}}"#,
        r#"{"dimension":1,"cells_per_axis":1,"noise_scale":0.0,"counts":{"dense":[1]}}"#,
        r#"{"dimension":1,"cells_per_axis":2,"noise_scale":1.0,"counts":{"sparse":[[[2],1]]}}"#,
        r#"{"dimension":1,"cells_per_axis":2,"noise_scale":1.0,"counts":{"sparse":[[[1],1],[[0],1]]}}"#,
    ] {
        assert!(
            serde_json::from_str::<GridSynopsis>(wrong).is_err(),
            "{wrong}"
        );
    }
}

#[test]
fn a_synopsis_can_be_clustered_for_other_numbers_of_clusters() {
    let grid = GridParams::eug(2, pure(1.0))
        .n_hint(Some(1000))
        .check()
        .expect("valid");
    let (synopsis, _) = run(
        pure(1.0),
        AddRemove,
        7,
        &two_clusters(2),
        |source, session| grid.synopsis(source, session),
    );
    for k in [1, 2, 5, 600] {
        let solver = SynopsisSolverParams::new(k).check().expect("valid");
        let clustering = solver.cluster(&synopsis, &mut public());
        assert_eq!(clustering.centers.dim(), (k, 2));
        // The same public numbers give the same centers.
        assert_eq!(solver.cluster(&synopsis, &mut public()), clustering);
    }
}

#[test]
fn the_result_does_not_depend_on_the_number_of_threads() {
    let fit = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("a pool");
        pool.install(|| {
            let grid = GridParams::eug(4, pure(1.0)).check().expect("valid");
            run(
                pure(1.0),
                AddRemove,
                7,
                &two_clusters(2),
                |source, session| grid.fit(source, session, &mut public()),
            )
        })
    };
    assert_eq!(fit(1), fit(3));
}

/// The pair that a fault shows on: one record moves from one cell to another.
fn moved(relation: NeighboringRelation) -> Neighbors {
    let records = two_clusters(2);
    match relation {
        ReplaceOne => {
            let mut neighbor = records.clone();
            neighbor.row_mut(3).fill(0.9);
            let edit = dp_core::tape::Edit::Replaced(3);
            Neighbors {
                records,
                neighbor,
                edit,
                relation,
            }
        }
        AddRemove => {
            let keep: BTreeSet<usize> = (1..1000).collect();
            let keep: Vec<usize> = keep.into_iter().collect();
            let neighbor = records.select(ndarray::Axis(0), &keep);
            let edit = dp_core::tape::Edit::Removed(0);
            Neighbors {
                records,
                neighbor,
                edit,
                relation,
            }
        }
    }
}

#[test]
fn the_worst_pairs_stay_within_the_claimed_sensitivity() {
    for relation in NeighboringRelation::ALL {
        let grid = GridParams::eug(2, pure(1.0)).check().expect("valid");
        let report = replay(pure(1.0), &moved(relation), |source, session| {
            grid.fit(source, session, &mut public())
        });
        assert!(report.differences.is_empty(), "{:?}", report.differences);
        assert!(report.calls >= 1);
    }
}

#[cfg(dp_faults)]
#[test]
fn planted_faults_are_caught() {
    for (fault, relation) in [("grid-replace-as-remove", ReplaceOne)] {
        let grid = GridParams::eug(2, pure(1.0)).check().expect("valid");
        dp_core::faults::plant(Some(fault));
        let report = replay(pure(1.0), &moved(relation), |source, session| {
            grid.fit(source, session, &mut public())
        });
        dp_core::faults::plant(None);
        assert!(!report.differences.is_empty(), "{fault}");
    }
    // The number of records decides about the cells although only its noisy count was paid for: sizes on both sides of a
    // step of m give statistics of different lengths.
    let caught = (900..1000).any(|n| {
        let records = two_clusters(2).select(ndarray::Axis(0), &(0..n).collect::<Vec<_>>());
        let neighbor = records.select(ndarray::Axis(0), &(1..n).collect::<Vec<_>>());
        let edit = dp_core::tape::Edit::Removed(0);
        let pair = Neighbors {
            records,
            neighbor,
            edit,
            relation: AddRemove,
        };
        let grid = GridParams::eug(2, pure(1.0)).check().expect("valid");
        dp_core::faults::plant(Some("grid-n-in-m"));
        let report = replay(pure(1.0), &pair, |source, session| {
            grid.fit(source, session, &mut public())
        });
        dp_core::faults::plant(None);
        !report.differences.is_empty()
    });
    assert!(caught, "grid-n-in-m");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn one_record_moves_the_counts_by_no_more_than_claimed(
        pair in neighbors(2, 24),
        rule in 0..4_usize,
        sparse in any::<bool>(),
    ) {
        let layout = if sparse { Layout::Sparse } else { Layout::Dense };
        let params = GridParams::new(3, approx(0.8, 1e-3), rules()[rule]).layout(layout);
        let grid = params.check().expect("valid");
        let report = replay(approx(0.8, 1e-3), &pair, |source, session| {
            grid.fit(source, session, &mut public())
        });
        prop_assert!(report.differences.is_empty(), "{:?}", report.differences);
    }
}
