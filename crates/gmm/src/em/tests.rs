use ndarray::{Array2, array};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::*;

fn truth() -> GaussianMixture {
    GaussianMixture::new(
        array![0.3, 0.7],
        array![[-4.0, 0.0], [4.0, 1.0]],
        array![[[1.0, 0.4], [0.4, 0.5]], [[2.0, 0.0], [0.0, 1.0]]],
    )
    .expect("valid")
}

fn fit(kind: CovarianceKind, records: &Array2<f64>) -> EmSolution {
    let em = EmParams::new(2)
        .kind(kind)
        .tolerance(1e-6)
        .check()
        .expect("valid");
    em.fit(records.view(), &mut ChaCha8Rng::seed_from_u64(7))
}

#[test]
fn it_finds_a_separated_mixture() {
    let (records, _) = truth().sample(20_000, &mut ChaCha8Rng::seed_from_u64(1));
    let solution = fit(CovarianceKind::Full, &records);
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let distance = truth()
        .total_variation(&solution.mixture, 20_000, &mut rng)
        .expect("same columns");
    // The parameters are off by about 1/√n: a distance of 0.02 would take errors many times as large.
    assert!(distance.value < 0.02, "{distance:?}");
    assert!((solution.mean_log_likelihood - truth().score(records.view())).abs() < 1e-2);
}

#[test]
fn every_round_gains_likelihood() {
    let (records, _) = truth().sample(2_000, &mut ChaCha8Rng::seed_from_u64(3));
    let mut before = f64::NEG_INFINITY;
    for rounds in 1..8 {
        let em = EmParams::new(3)
            .max_iterations(rounds)
            .tolerance(1e-12)
            .check()
            .expect("valid");
        let solution = em.fit(records.view(), &mut ChaCha8Rng::seed_from_u64(4));
        assert!(solution.mean_log_likelihood >= before - 1e-9);
        before = solution.mean_log_likelihood;
    }
}

#[test]
fn the_pass_agrees_with_the_plain_formulas() {
    let (records, _) = truth().sample(1_300, &mut ChaCha8Rng::seed_from_u64(5));
    let mixture = truth();
    let (moments, mean_log_likelihood) = expectation(records.view(), &mixture);
    assert!((mean_log_likelihood - mixture.score(records.view())).abs() < 1e-10);
    let responsibilities = mixture.predict_proba(records.view());
    for component in 0..2 {
        let weights = responsibilities.column(component);
        let total = weights.sum();
        assert!((moments.weights()[component] - total).abs() < 1e-8);
        let (mean, covariance) = moments.component(component).expect("has weight");
        let plain = weights.dot(&records) / total;
        assert!((&mean - &plain).iter().all(|x| x.abs() < 1e-10));
        let centered = &records - &plain;
        let weighted = &centered * &weights.insert_axis(Axis(1));
        let plain = weighted.t().dot(&centered) / total;
        assert!((covariance - plain).iter().all(|x| x.abs() < 1e-10));
    }
}

#[test]
fn kinds_have_their_shapes() {
    let (records, _) = truth().sample(3_000, &mut ChaCha8Rng::seed_from_u64(6));
    let covariances = |kind| fit(kind, &records).mixture.covariances().clone();
    let spherical = covariances(CovarianceKind::Spherical);
    assert!((spherical[[0, 0, 0]] - spherical[[0, 1, 1]]).abs() < 1e-12);
    let diagonal = covariances(CovarianceKind::Diagonal);
    assert!(diagonal[[0, 0, 1]].abs() < 1e-12 && diagonal[[0, 0, 0]] > 0.0);
    let tied = covariances(CovarianceKind::Tied);
    assert_eq!(tied.index_axis(Axis(0), 0), tied.index_axis(Axis(0), 1));
}

#[test]
fn odd_records_still_give_a_mixture() {
    let odd = [
        Array2::zeros((0, 2)),
        Array2::zeros((1, 2)),
        Array2::from_elem((40, 2), 3.0),
        Array2::from_elem((9, 2), f64::NAN),
        array![[0.0, 0.0], [f64::INFINITY, 1.0], [1.0, 1.0]],
        Array2::from_elem((5, 2), 1e300),
    ];
    for records in odd {
        let em = EmParams::new(4).check().expect("valid");
        let solution = em.fit(records.view(), &mut ChaCha8Rng::seed_from_u64(8));
        assert_eq!(solution.mixture.n_components(), 4);
    }
}

#[test]
fn parameters_out_of_range_are_refused() {
    assert_eq!(
        EmParams::new(0).check().err(),
        Some(ParamsError::NoClusters)
    );
    assert!(EmParams::new(1).max_iterations(0).check().is_err());
    for bad in [0.0, f64::NAN, -1.0] {
        assert!(EmParams::new(1).tolerance(bad).check().is_err());
        assert!(EmParams::new(1).floor(bad).check().is_err());
    }
}
