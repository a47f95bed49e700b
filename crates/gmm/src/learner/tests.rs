use dp_core::mechanism::GaussianSpend;
use dp_core::rng::InsecureSeededRng;
use dp_core::{Budget, Delta, Epsilon, Rho};
use metric_space::{BoxDomain, Frame, FramedSource, Lattice};
use ndarray::{Array2, array};
use proptest::num::f64::ANY;
use proptest::prelude::*;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::mixture::GaussianMixture;
use crate::spd::Factor;

fn budget() -> Budget {
    let epsilon = Epsilon::new(40.0).expect("positive");
    Budget::approx(epsilon, Delta::new(1e-6).expect("a probability"))
}

fn spend(rho: f64) -> GaussianSpend {
    Rho::new(rho).expect("positive").into()
}

fn frame(d: usize) -> Frame {
    Frame::new(BoxDomain::unit(d).expect("columns"), Lattice::default())
}

fn learn(
    learner: &dyn GaussianLearner,
    records: &Array2<f64>,
    centers: Array2<f64>,
    rho: f64,
    relation: NeighboringRelation,
) -> Learned {
    let d = records.ncols();
    let frame = frame(d);
    let mut rng = InsecureSeededRng::new(3);
    let mut session = Session::new(budget(), relation, &mut rng);
    let prior = Prior {
        centers,
        sigmas: Sigmas::of_widths(d),
    };
    let source = FramedSource::new(records, &frame);
    let learned = learner
        .learn(&Passes::new(&source), &prior, spend(rho), &mut session)
        .expect("a budget that is large enough");
    let spent = session.guarantee().rho.expect("concentrated");
    assert!(spent <= rho && spent > 0.999 * rho, "{spent} of {rho}");
    learned
}

fn tilted() -> GaussianMixture {
    GaussianMixture::new(
        array![1.0],
        array![[0.21, -0.1]],
        array![[[0.01, 0.0018], [0.0018, 0.0004]]],
    )
    .expect("positive definite")
}

/// A planted Σ with a condition number of 130 and a center two standard deviations off: the answer is within a few errors of noise and
/// sampling (ρ = 0.01 and n = 20,000 give about 1 % of Σ); each bound is at least five of them.
#[test]
fn coin_press_finds_a_tilted_normal() {
    let truth = tilted();
    let (records, _) = truth.sample(20_000, &mut ChaCha8Rng::seed_from_u64(1));
    for relation in NeighboringRelation::ALL {
        let learned = learn(
            &CoinPress::default(),
            &records,
            array![[0.0, 0.0]],
            0.02,
            relation,
        );
        let error = &learned.means.row(0) - &truth.means().row(0);
        assert!(error[0].abs() < 0.005 && error[1].abs() < 0.002, "{error}");
        // Whitened by the truth it is the identity, nearly.
        let factor = Factor::new(learned.covariances[0].view()).expect("positive definite");
        let white = factor.inverse_lower();
        let ratio = white
            .dot(&truth.covariances().index_axis(ndarray::Axis(0), 0))
            .dot(&white.t());
        assert!(
            (ratio - Array2::<f64>::eye(2))
                .iter()
                .all(|x| x.abs() < 0.2),
            "{learned:?}"
        );
    }
}

#[test]
fn rounds_beat_the_baseline_where_bounds_are_wide() {
    let truth = tilted();
    let (records, _) = truth.sample(20_000, &mut ChaCha8Rng::seed_from_u64(2));
    let error = |learner: &dyn GaussianLearner| {
        let relation = NeighboringRelation::AddRemove;
        let learned = learn(learner, &records, array![[0.0, 0.0]], 0.02, relation);
        (learned.covariances[0][[1, 1]] - 0.0004).abs()
    };
    let press = error(&CoinPress::default());
    assert!(
        press < 1e-4 && press < 0.1 * error(&ClipAndNoise),
        "{press}"
    );
}

#[test]
fn a_public_start_comes_to_the_same_answer() {
    let truth = GaussianMixture::new(array![1.0], array![[0.2]], array![[[0.04]]]).expect("valid");
    let (records, _) = truth.sample(20_000, &mut ChaCha8Rng::seed_from_u64(3));
    let params = CoinPressParams::default().start(Start::Public).n_rounds(5);
    let press = params.check().expect("few rounds");
    let relation = NeighboringRelation::AddRemove;
    let learned = learn(&press, &records, array![[0.0]], 0.05, relation);
    assert!((learned.means[[0, 0]] - 0.2).abs() < 0.02, "{learned:?}");
    assert!(
        (learned.covariances[0][[0, 0]] / 0.04 - 1.0).abs() < 0.2,
        "{learned:?}"
    );
}

/// As published: R, the largest standard deviation and n are public, and nothing is paid for a count.
#[test]
fn a_public_radius_and_a_public_count_are_used() {
    let truth = GaussianMixture::new(array![1.0], array![[0.2]], array![[[0.04]]]).expect("valid");
    let (records, _) = truth.sample(2000, &mut ChaCha8Rng::seed_from_u64(3));
    let params = CoinPressParams::default()
        .start(Start::Within(0.3))
        .public_count(Some(2000));
    let press = params.check().expect("in range");
    for relation in NeighboringRelation::ALL {
        let events = press.plan(1, spend(0.05), relation).expect("large enough");
        assert_eq!(events.len(), 4);
        let learned = learn(&press, &records, array![[0.0]], 0.05, relation);
        assert_eq!(learned.noisy_counts, [2000.0]);
        // Noise of the last round moves the mean by about 0.003.
        assert!((learned.means[[0, 0]] - 0.2).abs() < 0.03, "{learned:?}");
        assert!((learned.covariances[0][[0, 0]] / 0.04 - 1.0).abs() < 0.2);
    }
}

/// A rough center many standard deviations off: the second histogram of radii is around the mean that the sums gave.
#[test]
fn a_rough_center_does_not_widen_the_clip() {
    let truth = GaussianMixture::new(
        array![1.0],
        array![[0.3, 0.3]],
        array![[[1e-4, 0.0], [0.0, 1e-4]]],
    )
    .expect("valid");
    let (records, _) = truth.sample(20_000, &mut ChaCha8Rng::seed_from_u64(7));
    let relation = NeighboringRelation::AddRemove;
    let press = CoinPress::default();
    let error = |center: f64| {
        let learned = learn(&press, &records, array![[center, 0.3]], 0.002, relation);
        (&learned.covariances[0] / 1e-4 - Array2::<f64>::eye(2))
            .iter()
            .map(|x| x * x)
            .sum::<f64>()
            .sqrt()
    };
    // Ten standard deviations off: a clip of that length would have noise of 0.6 in each entry.
    assert!(
        error(0.2) < 0.3 && error(0.3) < 0.3,
        "{} {}",
        error(0.2),
        error(0.3)
    );
}

#[test]
fn karwa_and_vadhan_learn_one_column_and_no_more() {
    let truth =
        GaussianMixture::new(array![1.0], array![[0.3]], array![[[0.0025]]]).expect("valid");
    let (records, _) = truth.sample(20_000, &mut ChaCha8Rng::seed_from_u64(4));
    let relation = NeighboringRelation::AddRemove;
    let learned = learn(&KarwaVadhan, &records, array![[0.0]], 0.02, relation);
    assert!((learned.means[[0, 0]] - 0.3).abs() < 0.01, "{learned:?}");
    assert!(
        (learned.covariances[0][[0, 0]] / 0.0025 - 1.0).abs() < 0.3,
        "{learned:?}"
    );
    assert_eq!(
        KarwaVadhan.plan(2, spend(0.1), relation).err(),
        Some(ParamsError::OneColumn {
            learner: "karwa-vadhan",
            got: 2
        })
    );
}

#[test]
fn only_the_mean_or_only_the_covariance() {
    let truth = tilted();
    let (records, _) = truth.sample(20_000, &mut ChaCha8Rng::seed_from_u64(5));
    let relation = NeighboringRelation::AddRemove;
    let of = |target| {
        CoinPressParams::default()
            .target(target)
            .check()
            .expect("valid")
    };
    let mean = learn(
        &of(Target::Mean),
        &records,
        array![[0.0, 0.0]],
        0.02,
        relation,
    );
    assert!((mean.means[[0, 0]] - 0.21).abs() < 0.005);
    assert_eq!(mean.covariances[0], Sigmas::of_widths(2).fallback());
    let centers = truth.means().clone();
    let covariance = learn(
        &of(Target::Covariance),
        &records,
        centers.clone(),
        0.02,
        relation,
    );
    assert_eq!(covariance.means, centers);
    assert!((covariance.covariances[0][[0, 0]] / 0.01 - 1.0).abs() < 0.2);
}

/// Nobody there, too few, all alike: the center that was given and the largest variances, or a covariance at its floor; never an error.
#[test]
fn degenerate_clusters_end_in_the_public_fallback() {
    let relation = NeighboringRelation::AddRemove;
    let sigmas = Sigmas::of_widths(3);
    let centers = array![[0.5, 0.5, 0.5], [-0.5, -0.5, -0.5]];
    for n in [0, 1, 3] {
        let few = Array2::from_elem((n, 3), 0.5);
        let learned = learn(&CoinPress::default(), &few, centers.clone(), 0.01, relation);
        assert_eq!(learned.means, centers);
        assert!(
            learned.covariances.iter().all(|c| *c == sigmas.fallback()),
            "{learned:?}"
        );
    }
    let same = Array2::from_elem((50_000, 3), 0.4);
    let learned = learn(&CoinPress::default(), &same, centers.clone(), 0.1, relation);
    assert_eq!(learned.covariances[1], sigmas.fallback());
    assert!(Factor::new(learned.covariances[0].view()).is_some());
    assert!((learned.means[[0, 0]] - 0.4).abs() < 0.01, "{learned:?}");
}

#[test]
fn bounds_out_of_order_are_refused() {
    assert!(Sigmas::new(vec![0.1], vec![0.2]).is_ok());
    assert!(matches!(
        Sigmas::new(vec![0.2], vec![0.1]).err(),
        Some(ParamsError::Sigmas { .. })
    ));
    assert!(matches!(
        Sigmas::new(vec![0.2], vec![]).err(),
        Some(ParamsError::Columns { .. })
    ));
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(Sigmas::new(vec![bad], vec![1.0]).is_err());
        assert!(Sigmas::new(vec![0.1], vec![bad]).is_err());
    }
    assert!(CoinPressParams::default().n_rounds(0).check().is_err());
    assert!(CoinPressParams::default().n_rounds(17).check().is_err());
    assert!(
        CoinPressParams::default()
            .public_count(Some(0))
            .check()
            .is_err()
    );
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let params = CoinPressParams::default().start(Start::Within(bad));
        assert!(params.check().is_err());
    }
    let relation = NeighboringRelation::AddRemove;
    assert!(
        CoinPress::default()
            .plan(2, spend(f64::MIN_POSITIVE), relation)
            .is_err()
    );
}

/// 10^5 matrices of any floats, with bounds from narrow to the widest that a lattice can show: a factor exists, the matrix is symmetric bit for bit.
#[test]
fn projected_covariances_are_positive_definite_whatever_comes() {
    let mut rng = ChaCha8Rng::seed_from_u64(6);
    for case in 0..100_000_usize {
        let d = [3, 1, 2, 6, 12][if case % 50 < 46 { 0 } else { case % 50 - 45 }];
        let sigmas = match case % 7 {
            0 => Sigmas::new(vec![1e-300; d], vec![1e300; d]),
            1 => Sigmas::new(vec![0.1; d], vec![0.10001; d]),
            _ => Sigmas::new(
                (0..d)
                    .map(|_| 10_f64.powi(rng.random_range(-9..-1)))
                    .collect(),
                (0..d).map(|_| rng.random_range(0.1..2.0)).collect(),
            ),
        };
        let sigmas = sigmas.expect("in order").seen_by(&frame(d)).expect("seen");
        let matrix = Array2::from_shape_fn((d, d), |_| match case % 5 {
            // Any bits at all: NaN, infinities, subnormal numbers among them.
            0 => f64::from_bits(rng.random()),
            1 => rng.random_range(-1.0..1.0),
            2 => 10_f64.powi(rng.random_range(-30..30)) * rng.random_range(-1.0..1.0),
            3 => [0.0, 1.0, -1.0, f64::NAN][rng.random_range(0..4)],
            _ => 1.0 + rng.random_range(-1e-15..1e-15),
        });
        let projected = sigmas.project(&matrix);
        assert!(
            Factor::new(projected.view()).is_some(),
            "{matrix:?} {projected:?}"
        );
        assert_eq!(projected, projected.t());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_records_are_learned_from(
        (d, rows) in (1_usize..4).prop_flat_map(|d| (Just(d), prop::collection::vec(prop::collection::vec(prop_oneof![ANY, -1.0..1.0], d), 0..40))),
        rho in prop_oneof![Just(1e-6), Just(0.01), Just(4.0)],
    ) {
        let records = Array2::from_shape_fn((rows.len(), d), |(i, j)| rows[i][j]);
        let centers = Array2::from_shape_fn((2, d), |(i, _)| i as f64 - 0.5);
        for learner in [&CoinPress::default() as &dyn GaussianLearner, &ClipAndNoise] {
            let learned = learn(learner, &records, centers.clone(), rho, NeighboringRelation::AddRemove);
            prop_assert!(learned.means.iter().all(|x| x.abs() <= 1.0));
            prop_assert!(learned.covariances.iter().all(|c| Factor::new(c.view()).is_some()));
        }
    }
}
