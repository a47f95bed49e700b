use dp_core::rng::InsecureSeededRng;
use dp_core::tape::Edit;
use dp_core::{Budget, Delta, Epsilon};
use metric_space::{BoxDomain, Domain, Euclidean, MatrixMetric};
use ndarray::{Axis, array};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::black_box::{Exact, FasterPam, FreeLloyd};

fn budget(epsilon: f64) -> Budget {
    Budget::approx(
        Epsilon::new(epsilon).expect("valid"),
        Delta::new(1e-6).expect("valid"),
    )
}

fn unit_square() -> Domain {
    Domain::from(BoxDomain::unit(2).expect("valid"))
}

fn uniform(rows: usize, seed: u64) -> Array2<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    Array2::from_shape_simple_fn((rows, 2), || rng.random_range(-1.0..1.0))
}

fn run(
    k: usize,
    sites: &Array2<f64>,
    records: &Array2<f64>,
    relation: NeighboringRelation,
    seed: u64,
) -> Result<Facilities, FitError> {
    let domain = unit_square();
    let space = Space::new(&Euclidean, &domain, sites.view())?;
    let mut noise = InsecureSeededRng::new(seed);
    let mut session = Session::new(budget(1.0), relation, &mut noise);
    let fitted = MaxCoverParams::new(k, budget(1.0), Power::MEDIANS)
        .check()?
        .fit(
            &space,
            records,
            &FasterPam::default(),
            &mut session,
            &mut ChaCha8Rng::seed_from_u64(seed),
        );
    assert!(session.guarantee().epsilon <= 1.0 && session.guarantee().delta <= 1e-6);
    fitted
}

#[test]
fn both_relations_spend_at_most_what_was_asked_and_nearly_all() {
    let records = uniform(500, 1);
    let domain = unit_square();
    let sites = uniform(50, 2);
    let space = Space::new(&Euclidean, &domain, sites.view()).expect("valid");
    for relation in NeighboringRelation::ALL {
        let mut noise = InsecureSeededRng::new(1);
        let mut session = Session::new(budget(1.0), relation, &mut noise);
        let maxcover = MaxCoverParams::new(3, budget(1.0), Power::MEANS)
            .check()
            .expect("valid");
        let mut public = ChaCha8Rng::seed_from_u64(1);
        maxcover
            .fit(
                &space,
                &records,
                &FasterPam::default(),
                &mut session,
                &mut public,
            )
            .expect("a release");
        let guarantee = session.guarantee();
        assert!(
            guarantee.epsilon <= 1.0 && guarantee.epsilon > 0.999,
            "{guarantee:?}"
        );
        assert!(
            guarantee.delta <= 1e-6 && guarantee.delta > 0.999e-6,
            "{guarantee:?}"
        );
        // What was planned is what was spent, but for parameters that name the space.
        let losses = |events: &[Event]| {
            events
                .iter()
                .map(|e| (e.mechanism.clone(), e.loss))
                .collect::<Vec<_>>()
        };
        let planned = maxcover.plan(relation).expect("a plan");
        assert_eq!(losses(&planned), losses(session.ledger().events()));
    }
}

#[test]
fn a_public_number_of_records_makes_the_first_threshold_finer() {
    let (domain, sites, records) = (unit_square(), uniform(50, 2), uniform(5000, 1));
    let space = Space::new(&Euclidean, &domain, sites.view()).expect("valid");
    let thresholds = |relation: NeighboringRelation, n_hint: Option<u64>| {
        let mut params = MaxCoverParams::new(3, budget(1.0), Power::MEDIANS);
        if let Some(n) = n_hint {
            params = params.n_hint(n);
        }
        let maxcover = params.check().expect("valid");
        let n_records = relation.size_is_public().then_some(5000);
        let (planned, _) = maxcover.schedule(&space, n_records);
        let mut noise = InsecureSeededRng::new(1);
        let mut session = Session::new(budget(1.0), relation, &mut noise);
        let mut public = ChaCha8Rng::seed_from_u64(1);
        let black_box = FasterPam::default();
        maxcover
            .fit(&space, &records, &black_box, &mut session, &mut public)
            .expect("a release");
        let picks = &session.ledger().events()[0];
        assert_eq!(picks.parameters["thresholds"], planned.into());
        planned
    };
    // ⌈log 50⌉ + 1 and ⌈log 5000⌉ + 1 to the base 1.3: under add-remove the number of records is private.
    let (few, many) = (16, 34);
    assert_eq!(thresholds(NeighboringRelation::AddRemove, None), few);
    assert_eq!(thresholds(NeighboringRelation::AddRemove, Some(5000)), many);
    assert_eq!(thresholds(NeighboringRelation::ReplaceOne, None), many);
    assert_eq!(thresholds(NeighboringRelation::ReplaceOne, Some(40)), few);
}

/// Replays a recorded run on a neighbor: true if calls, parameters and sensitivities all fit.
fn replays(
    recorded: &Array2<f64>,
    neighbor: &Array2<f64>,
    edit: Edit,
    relation: NeighboringRelation,
) -> bool {
    let domain = unit_square();
    let sites = uniform(80, 5);
    let space = Space::new(&Euclidean, &domain, sites.view()).expect("valid");
    let maxcover = MaxCoverParams::new(4, budget(1.0), Power::MEDIANS)
        .check()
        .expect("valid");
    let mut noise = InsecureSeededRng::new(11);
    let mut session = Session::new(budget(1.0), relation, &mut noise).recorded();
    let mut public = ChaCha8Rng::seed_from_u64(1);
    let first = maxcover
        .fit(
            &space,
            recorded,
            &FasterPam::default(),
            &mut session,
            &mut public,
        )
        .expect("a release");
    let tape = session.into_tape().expect("was recorded");
    let mut noise = InsecureSeededRng::new(12);
    let mut session = Session::new(budget(1.0), relation, &mut noise).replayed(&tape, edit);
    let mut public = ChaCha8Rng::seed_from_u64(1);
    let second = maxcover
        .fit(
            &space,
            neighbor,
            &FasterPam::default(),
            &mut session,
            &mut public,
        )
        .expect("a release");
    let report = session.into_report().expect("was replayed");
    assert!(report.calls > 100);
    // The release is a function of what went through the door.
    report.differences.is_empty() && first == second
}

#[test]
fn neighbors_replay_within_the_declared_widths() {
    let mut records = uniform(300, 3);
    records.row_mut(7).assign(&array![f64::NAN, 7.0]);
    for left_out in [0, 7, 150] {
        let kept: Vec<usize> = (0..300).filter(|&i| i != left_out).collect();
        let smaller = records.select(Axis(0), &kept);
        let edit = Edit::Removed(left_out as u64);
        assert!(replays(
            &records,
            &smaller,
            edit,
            NeighboringRelation::AddRemove
        ));
    }
}

#[test]
fn two_records_more_do_not_replay() {
    // The twin: the histogram alone moves by 2.
    let records = uniform(300, 3);
    let smaller = records.select(Axis(0), &(0..298).collect::<Vec<_>>());
    assert!(!replays(
        &records,
        &smaller,
        Edit::Removed(298),
        NeighboringRelation::AddRemove
    ));
}

#[test]
fn clusters_are_found_and_order_and_threads_do_not_matter() {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let centers = array![[-0.6, -0.6], [0.6, -0.5], [0.0, 0.7]];
    let records = Array2::from_shape_fn((6000, 2), |(i, j)| {
        centers[[i % 3, j]] + rng.random_range(-0.05..0.05)
    });
    let sites = uniform(300, 6);
    let fitted = run(3, &sites, &records, NeighboringRelation::AddRemove, 1).expect("a release");
    let found = cost(
        &Euclidean,
        Power::MEDIANS,
        records.view(),
        fitted.centers.view(),
    );
    let nearest = |center: ndarray::ArrayView1<'_, f64>| {
        let (row, _) = nearest_site(
            &Euclidean,
            &center.to_vec(),
            sites.as_slice().expect("standard"),
            2,
        );
        sites.row(row).to_vec()
    };
    let good: Vec<f64> = centers.rows().into_iter().flat_map(nearest).collect();
    let good = Array2::from_shape_vec((3, 2), good).expect("3 rows");
    assert!(found <= 1.2 * cost(&Euclidean, Power::MEDIANS, records.view(), good.view()));
    assert!((fitted.noisy_counts.iter().sum::<f64>() - 6000.0).abs() < 1000.0);

    let reversed = records.select(Axis(0), &(0..records.nrows()).rev().collect::<Vec<_>>());
    assert_eq!(
        fitted,
        run(3, &sites, &reversed, NeighboringRelation::AddRemove, 1).expect("a release")
    );
    let one_thread = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .expect("a pool");
    let alone = one_thread.install(|| run(3, &sites, &records, NeighboringRelation::AddRemove, 1));
    assert_eq!(fitted, alone.expect("a release"));
}

#[test]
fn odd_inputs_give_a_release() {
    let duplicates =
        Array2::from_shape_fn(
            (40, 2),
            |(i, j)| if i < 30 { 0.25 } else { (i + j) as f64 / 50.0 },
        );
    let empty = Array2::zeros((0, 2));
    let odd = array![
        [f64::NAN, f64::INFINITY],
        [1e300, -1e300],
        [0.1, 0.1],
        [f64::NEG_INFINITY, 0.0]
    ];
    for records in [&empty, &odd, &uniform(20, 9)] {
        for k in [1, 5, 40] {
            for relation in NeighboringRelation::ALL {
                let fitted = run(k, &duplicates, records, relation, 3).expect("a release");
                let rows = fitted.site_rows.expect("sites");
                assert_eq!(rows.len(), k);
                assert!(
                    rows.windows(2).all(|pair| pair[0] < pair[1]),
                    "distinct rows, even of equal sites"
                );
            }
        }
    }
    let too_many = run(41, &duplicates, &empty, NeighboringRelation::AddRemove, 3);
    assert!(matches!(
        too_many,
        Err(FitError::Params(ParamsError::TooManyClusters {
            sites: 40,
            got: 41
        }))
    ));
}

#[test]
fn a_matrix_that_is_no_metric_is_private_all_the_same_and_found_out_on_demand() {
    let mut distances =
        Array2::from_shape_fn((12, 12), |(i, j): (usize, usize)| i.abs_diff(j) as f64);
    distances[[0, 11]] = 90.0;
    distances[[11, 0]] = 90.0;
    let matrix = MatrixMetric::new(distances).expect("symmetric");
    assert!(matrix.check_triangles().is_err());
    let domain = Domain::from(BoxDomain::new(vec![0.0], vec![11.0]).expect("valid"));
    let sites = Array2::from_shape_fn((12, 1), |(i, _)| i as f64);
    let space = Space::new(&matrix, &domain, sites.view()).expect("valid");
    let records = Array2::from_shape_fn((400, 1), |(i, _)| if i % 2 == 0 { 2.0 } else { 9.0 });
    let mut noise = InsecureSeededRng::new(1);
    let mut session = Session::new(budget(2.0), NeighboringRelation::AddRemove, &mut noise);
    let maxcover = MaxCoverParams::new(2, budget(2.0), Power::MEDIANS)
        .check()
        .expect("valid");
    let mut public = ChaCha8Rng::seed_from_u64(1);
    let fitted = maxcover
        .fit(
            &space,
            &records,
            &Exact::default(),
            &mut session,
            &mut public,
        )
        .expect("a release");
    assert_eq!(fitted.site_rows, Some(vec![2, 9]));
}

#[test]
fn free_centers_have_no_rows() {
    let domain = unit_square();
    let sites = uniform(200, 5);
    let space = Space::new(&Euclidean, &domain, sites.view()).expect("valid");
    let mut noise = InsecureSeededRng::new(1);
    let mut session = Session::new(budget(1.0), NeighboringRelation::AddRemove, &mut noise);
    let maxcover = MaxCoverParams::new(4, budget(1.0), Power::MEANS)
        .check()
        .expect("valid");
    let mut public = ChaCha8Rng::seed_from_u64(1);
    let fitted = maxcover
        .fit(
            &space,
            &uniform(3000, 8),
            &FreeLloyd::default(),
            &mut session,
            &mut public,
        )
        .expect("a release");
    assert_eq!((fitted.site_rows, fitted.centers.dim()), (None, (4, 2)));
}

#[test]
fn parameters_out_of_range_are_refused_by_name() {
    let pure = Budget::pure(Epsilon::new(1.0).expect("valid"));
    let params = |k| MaxCoverParams::new(k, budget(1.0), Power::MEDIANS);
    assert_eq!(params(0).check(), Err(ParamsError::NoClusters));
    assert_eq!(
        MaxCoverParams::new(1, pure, Power::MEDIANS).check(),
        Err(ParamsError::NoDelta)
    );
    assert!(matches!(
        params(1).quality(0.7).check(),
        Err(ParamsError::Quality { .. })
    ));
    assert!(matches!(
        params(1).quality(f64::NAN).check(),
        Err(ParamsError::Quality { .. })
    ));
    assert!(matches!(
        params(1).selection_share(1.0).check(),
        Err(ParamsError::Share { .. })
    ));
    assert!(matches!(
        params(1).n_hint(0).check(),
        Err(ParamsError::Count { .. })
    ));
    // 1/3 is too large from p = 4 on; the default is not.
    let fourth = |quality: Option<f64>| {
        let params = MaxCoverParams::new(1, budget(1.0), Power::new(4.0).expect("valid"));
        quality
            .map_or(params.clone(), |quality| params.quality(quality))
            .check()
    };
    assert!(fourth(Some(1.0 / 3.0)).is_err() && fourth(None).is_ok());
    let domain = unit_square();
    let no_sites = Array2::zeros((0, 2));
    assert_eq!(
        Space::new(&Euclidean, &domain, no_sites.view()).err(),
        Some(ParamsError::NoSites)
    );
    let odd = array![[0.0, 0.0], [f64::NAN, 0.0]];
    assert_eq!(
        Space::new(&Euclidean, &domain, odd.view()).err(),
        Some(ParamsError::SiteNotFinite { row: 1 })
    );
    assert!(Space::new(&Euclidean, &domain, array![[1.0]].view()).is_err());
}
