use dp_core::rng::InsecureSeededRng;
use dp_core::tape::{Edit, ReplayReport, Tape};
use dp_core::{Budget, Delta, Epsilon, NeighboringRelation, Session};
use metric_space::{BoxDomain, Frame, FramedSource, Lattice};
use ndarray::{Array1, Array2, Array3};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::error::ParamsError;
use crate::learner::{KarwaVadhan, Sigmas};
use crate::mixture::{CovarianceKind, GaussianMixture};

fn budget() -> Budget {
    Budget::approx(
        Epsilon::new(1.0).expect("positive"),
        Delta::new(1e-6).expect("a probability"),
    )
}

fn frame() -> Frame {
    Frame::new(BoxDomain::unit(2).expect("columns"), Lattice::default())
}

fn truth() -> GaussianMixture {
    let covariance = |i: usize, j: usize| [[4e-4, 1e-4], [1e-4, 2e-4]][i][j];
    GaussianMixture::new(
        Array1::from(vec![0.5, 0.2, 0.3]),
        ndarray::array![[-0.6, -0.5], [0.7, 0.0], [-0.2, 0.8]],
        Array3::from_shape_fn((3, 2, 2), |(_, i, j)| covariance(i, j)),
    )
    .expect("positive definite")
}

fn gmm() -> PrivateGmmParams {
    PrivateGmmParams::new(3, budget())
}

fn fit(
    gmm: &PrivateGmm,
    records: &Array2<f64>,
    relation: NeighboringRelation,
    replay: Option<(&Tape, Edit)>,
) -> (GmmOutcome, Option<Tape>, Option<ReplayReport>) {
    let frame = frame();
    let mut rng = InsecureSeededRng::new(5);
    let session = Session::new(budget(), relation, &mut rng);
    let mut session = match replay {
        None => session.recorded(),
        Some((tape, edit)) => session.replayed(tape, edit),
    };
    let mut public = ChaCha8Rng::seed_from_u64(1);
    let source = FramedSource::new(records, &frame);
    let outcome = gmm.fit(&source, &mut session, &mut public).expect("fits");
    assert!(session.guarantee().epsilon <= 1.0 && session.guarantee().delta <= 1e-6);
    match replay {
        None => (outcome, session.into_tape(), None),
        Some(_) => (outcome, None, session.into_report()),
    }
}

fn released(outcome: GmmOutcome) -> GaussianMixture {
    match outcome {
        GmmOutcome::Released { mixture, .. } => mixture,
        GmmOutcome::Refused(refusal) => panic!("refused: {refusal}"),
    }
}

/// Noise alone moves the mixture by a distance of about 0.03 here (0.05 under replace-one).
#[test]
fn a_separated_mixture_is_learned_under_both_relations() {
    let gmm = gmm().check().expect("valid");
    let (records, _) = truth().sample(60_000, &mut ChaCha8Rng::seed_from_u64(1));
    for relation in NeighboringRelation::ALL {
        let mixture = released(fit(&gmm, &records, relation, None).0);
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        let distance = truth()
            .total_variation(&mixture, 20_000, &mut rng)
            .expect("same columns")
            .value;
        assert!(distance < 0.15, "{relation}: {distance} {mixture:?}");
    }
}

#[test]
fn kinds_of_covariances_are_kept() {
    let (records, _) = truth().sample(40_000, &mut ChaCha8Rng::seed_from_u64(1));
    for kind in CovarianceKind::ALL {
        let gmm = gmm().kind(kind).check().expect("valid");
        let mixture = released(fit(&gmm, &records, NeighboringRelation::AddRemove, None).0);
        let covariances = mixture.covariances();
        let same = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-6;
        match kind {
            CovarianceKind::Spherical => {
                assert!(same(covariances[[0, 0, 0]], covariances[[0, 1, 1]]));
            }
            CovarianceKind::Diagonal => assert!(covariances[[0, 0, 1]].abs() < 1e-12),
            CovarianceKind::Tied => {
                assert!(same(covariances[[0, 0, 0]], covariances[[2, 0, 0]]));
            }
            CovarianceKind::Full => assert!(covariances[[0, 0, 1]].abs() > 1e-6),
        }
    }
}

/// One variance in original units where columns have different widths, within the bounds; the truth is such a mixture.
#[test]
fn spherical_is_meant_in_original_units() {
    let domain = BoxDomain::new(vec![-100.0, 0.0], vec![100.0, 40.0]).expect("bounds");
    let frame = Frame::new(domain, Lattice::default());
    let variance = 1.44;
    let truth = GaussianMixture::new(
        Array1::from(vec![0.5, 0.5]),
        ndarray::array![[-50.0, 10.0], [50.0, 30.0]],
        Array3::from_shape_fn((2, 2, 2), |(_, i, j)| if i == j { variance } else { 0.0 }),
    )
    .expect("positive definite");
    let (records, _) = truth.sample(40_000, &mut ChaCha8Rng::seed_from_u64(1));
    let fitted = |least: f64| -> GaussianMixture {
        let scaled = |sigma: f64| vec![sigma / 100.0, sigma / 20.0];
        let sigmas = Sigmas::new(scaled(least), scaled(20.0)).expect("in order");
        let params = PrivateGmmParams::new(2, budget()).kind(CovarianceKind::Spherical);
        let gmm = params.sigmas(Some(sigmas)).check().expect("valid");
        let mut rng = InsecureSeededRng::new(5);
        let mut session = Session::new(budget(), NeighboringRelation::AddRemove, &mut rng);
        let mut public = ChaCha8Rng::seed_from_u64(1);
        let source = FramedSource::new(&records, &frame);
        released(gmm.fit(&source, &mut session, &mut public).expect("fits"))
    };
    // Noise moves a variance by about a hundredth of itself; a mean of the scaled variances would be 25 times as much in one column as in the other.
    let mixture = fitted(0.1);
    for covariance in mixture.covariances().outer_iter() {
        let original = [covariance[[0, 0]] * 1e4, covariance[[1, 1]] * 400.0];
        assert!(
            (original[0] / original[1] - 1.0).abs() < 1e-9,
            "{original:?}"
        );
        assert!((original[0] / variance - 1.0).abs() < 0.1, "{original:?}");
    }
    // A bound above the truth: what comes out is the bound, in both columns.
    for covariance in fitted(3.0).covariances().outer_iter() {
        let original = [covariance[[0, 0]] * 1e4, covariance[[1, 1]] * 400.0];
        assert!(
            original.iter().all(|x| (x / 9.0 - 1.0).abs() < 1e-8),
            "{original:?}"
        );
    }
}

#[test]
fn records_without_groups_are_refused_and_odd_records_do_no_harm() {
    let gmm = gmm().check().expect("valid");
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let mut noise = Array2::from_shape_fn((20_000, 2), |_| rng.random_range(-1.0..1.0));
    noise[(0, 0)] = f64::NAN;
    noise[(1, 0)] = f64::INFINITY;
    for n in [20_000, 0, 1, 2] {
        let few = Array2::from_shape_fn((n, 2), |at| noise[at]);
        let (outcome, ..) = fit(&gmm, &few, NeighboringRelation::AddRemove, None);
        assert!(matches!(outcome, GmmOutcome::Refused(_)));
    }
}

#[test]
fn one_component_needs_no_tuples() {
    let gmm = PrivateGmmParams::new(1, budget()).check().expect("valid");
    for n in [0, 1, 30_000] {
        let (records, _) = truth().sample(n, &mut ChaCha8Rng::seed_from_u64(3));
        let mixture = released(fit(&gmm, &records, NeighboringRelation::AddRemove, None).0);
        assert_eq!(mixture.n_components(), 1);
        if n > 1 {
            // Means −0.22 and −0.01, variances of the mixture of three.
            let error = (mixture.means()[[0, 0]] + 0.22).hypot(mixture.means()[[0, 1]] + 0.01);
            assert!(error < 0.03, "{mixture:?}");
        }
    }
}

/// Bounds whose squares underflow or overflow are cut to what the lattice can show, before anything is spent.
#[test]
fn bounds_beyond_all_numbers_do_no_harm() {
    let (records, _) = truth().sample(60_000, &mut ChaCha8Rng::seed_from_u64(1));
    for (least, most) in [(1e-300, 1.0), (f64::MIN_POSITIVE, f64::MAX), (1e-9, 1e200)] {
        let sigmas = Sigmas::new(vec![least; 2], vec![most; 2]).expect("in order");
        let gmm = gmm().sigmas(Some(sigmas)).check().expect("valid");
        let mixture = released(fit(&gmm, &records, NeighboringRelation::AddRemove, None).0);
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        let distance = truth().total_variation(&mixture, 20_000, &mut rng);
        let distance = distance.expect("same columns").value;
        assert!(distance < 0.15, "{least} {most}: {distance} {mixture:?}");
    }
    for (least, most) in [(1e-300, 1e-200), (1e200, 1e300)] {
        let sigmas = Sigmas::new(vec![least; 2], vec![most; 2]).expect("in order");
        let gmm = gmm().sigmas(Some(sigmas)).check().expect("valid");
        let refused = gmm.plan(&frame(), NeighboringRelation::AddRemove);
        assert!(matches!(refused, Err(ParamsError::Range { .. })));
    }
}

/// Each record in one stage, the whole budget for either: learned all the same, one entry in the ledger, replays that find no record in both.
#[test]
fn halves_are_disjoint_and_cost_the_budget_once() {
    let params = gmm().n_hint(Some(60_000)).split(Split::Halves);
    let gmm = params.check().expect("valid");
    let (all, _) = truth().sample(60_000, &mut ChaCha8Rng::seed_from_u64(1));
    for relation in NeighboringRelation::ALL {
        let plan = gmm.plan(&frame(), relation).expect("feasible");
        assert_eq!(plan.len(), 1);
        let mut rng = InsecureSeededRng::new(5);
        let mut session = Session::new(budget(), relation, &mut rng).recorded();
        let frame = frame();
        let source = FramedSource::new(&all, &frame);
        let mut public = ChaCha8Rng::seed_from_u64(1);
        let outcome = gmm.fit(&source, &mut session, &mut public).expect("fits");
        assert_eq!(session.ledger().events(), plan);
        let guarantee = session.guarantee();
        assert_eq!(guarantee.epsilon.to_bits(), 1.0_f64.to_bits());
        assert_eq!(guarantee.delta.to_bits(), 1e-6_f64.to_bits());
        let mixture = released(outcome);
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        let distance = truth().total_variation(&mixture, 20_000, &mut rng);
        let distance = distance.expect("same columns").value;
        assert!(distance < 0.15, "{relation}: {distance} {mixture:?}");
    }
    let (_, tape, _) = fit(&gmm, &all, NeighboringRelation::AddRemove, None);
    let tape = tape.expect("recorded");
    // Some of these are in the first half, some in the second.
    for at in [0_usize, 7, 100, 30_000, 59_999] {
        let mut fewer = all.clone();
        fewer.remove_index(ndarray::Axis(0), at);
        let replay = Some((&tape, Edit::Removed(at as u64)));
        let report = fit(&gmm, &fewer, NeighboringRelation::AddRemove, replay);
        let report = report.2.expect("replayed");
        assert!(report.differences.is_empty(), "{:?}", report.differences);
    }
    let (_, tape, _) = fit(&gmm, &all, NeighboringRelation::ReplaceOne, None);
    let tape = tape.expect("recorded");
    for at in [0_usize, 1, 2, 3, 4, 5] {
        let mut moved = all.clone();
        moved.row_mut(at).fill(0.9);
        let replay = Some((&tape, Edit::Replaced(at as u64)));
        let report = fit(&gmm, &moved, NeighboringRelation::ReplaceOne, replay);
        let report = report.2.expect("replayed");
        assert!(report.differences.is_empty(), "{:?}", report.differences);
    }
}

/// Control flow and statistics on neighbors, under both relations and for records far from all others.
#[test]
fn replays_on_neighbors_stay_inside_the_declared_sensitivities() {
    let gmm = gmm().check().expect("valid");
    let (all, _) = truth().sample(30_000, &mut ChaCha8Rng::seed_from_u64(4));
    let (_, tape, _) = fit(&gmm, &all, NeighboringRelation::AddRemove, None);
    let tape = tape.expect("recorded");
    assert!(tape.calls().len() > 8);
    for at in [0_usize, 7, 29_999] {
        let mut fewer = all.clone();
        fewer.remove_index(ndarray::Axis(0), at);
        let replay = Some((&tape, Edit::Removed(at as u64)));
        let report = fit(&gmm, &fewer, NeighboringRelation::AddRemove, replay)
            .2
            .expect("replayed");
        assert!(report.differences.is_empty(), "{:?}", report.differences);
    }
    let (_, tape, _) = fit(&gmm, &all, NeighboringRelation::ReplaceOne, None);
    let tape = tape.expect("recorded");
    for value in [[1.0, -1.0], [0.7, 0.0], [f64::NAN, f64::NEG_INFINITY]] {
        let mut moved = all.clone();
        moved[(12, 0)] = value[0];
        moved[(12, 1)] = value[1];
        let replay = Some((&tape, Edit::Replaced(12)));
        let report = fit(&gmm, &moved, NeighboringRelation::ReplaceOne, replay)
            .2
            .expect("replayed");
        assert!(report.differences.is_empty(), "{:?}", report.differences);
    }
}

#[test]
fn parameters_out_of_range_are_refused() {
    assert_eq!(
        PrivateGmmParams::new(0, budget()).check().err(),
        Some(ParamsError::NoClusters)
    );
    let pure = Budget::pure(Epsilon::new(1.0).expect("positive"));
    assert_eq!(
        PrivateGmmParams::new(2, pure).check().err(),
        Some(ParamsError::NoDelta)
    );
    assert!(gmm().n_blocks(Some(0)).check().is_err());
    assert!(gmm().n_hint(Some(0)).check().is_err());
    for share in [0.0, 1.0, f64::NAN] {
        assert!(gmm().tuple_share(Some(share)).check().is_err());
    }
    let relation = NeighboringRelation::AddRemove;
    let narrow = gmm()
        .sigmas(Some(Sigmas::of_widths(3)))
        .check()
        .expect("columns are not known yet");
    assert!(matches!(
        narrow.plan(&frame(), relation).err(),
        Some(ParamsError::Columns { .. })
    ));
    let one_column = gmm()
        .learner(LearnerChoice::KarwaVadhan(KarwaVadhan))
        .check()
        .expect("same");
    assert!(matches!(
        one_column.plan(&frame(), relation).err(),
        Some(ParamsError::OneColumn { .. })
    ));
}
