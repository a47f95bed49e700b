use ndarray::{Array3, array};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::*;

fn pair(distance: f64) -> GaussianMixture {
    GaussianMixture::new(
        array![1.0, 3.0],
        array![[0.0, 0.0], [distance, 0.0]],
        array![[[1.0, 0.0], [0.0, 1.0]], [[2.0, 0.5], [0.5, 1.0]]],
    )
    .expect("valid")
}

#[test]
fn what_is_no_mixture_is_refused() {
    let one = array![[[1.0]]];
    let new = GaussianMixture::new;
    assert_eq!(
        new(
            Array1::zeros(0),
            Array2::zeros((0, 1)),
            Array3::zeros((0, 1, 1))
        )
        .err(),
        Some(MixtureError::Empty)
    );
    assert!(matches!(
        new(array![1.0, 1.0], array![[0.0]], one.clone()).err(),
        Some(MixtureError::Shape {
            what: "weights",
            ..
        })
    ));
    assert_eq!(
        new(array![-1.0], array![[0.0]], one.clone()).err(),
        Some(MixtureError::Weights)
    );
    assert_eq!(
        new(array![0.0], array![[0.0]], one.clone()).err(),
        Some(MixtureError::Weights)
    );
    assert_eq!(
        new(array![1.0], array![[f64::NAN]], one).err(),
        Some(MixtureError::Mean { component: 0 })
    );
    assert_eq!(
        new(array![1.0], array![[0.0]], array![[[0.0]]]).err(),
        Some(MixtureError::Covariance { component: 0 })
    );
    assert_eq!(
        new(
            array![1.0],
            array![[0.0, 0.0]],
            array![[[1.0, 0.5], [0.1, 1.0]]]
        )
        .err(),
        Some(MixtureError::Covariance { component: 0 })
    );
}

#[test]
fn the_density_is_the_textbook_one() {
    let mixture = pair(3.0);
    // ln(1/4·N(0; I) + 3/4·N((3, 0); Σ)) at (1, 1), by hand: det Σ = 1.75, Σ⁻¹ = [[1, -0.5], [-0.5, 2]]/1.75.
    let first = 0.25 / (2.0 * std::f64::consts::PI) * (-1.0_f64).exp();
    let squared: f64 = (4.0 * 1.0 + 2.0 * (-2.0) * (-0.5) + 2.0) / 1.75;
    let second = 0.75 / (2.0 * std::f64::consts::PI * 1.75_f64.sqrt()) * (-0.5 * squared).exp();
    assert!((mixture.log_density(&[1.0, 1.0]) - (first + second).ln()).abs() < 1e-12);
}

#[test]
fn responsibilities_add_up_and_agree_with_labels() {
    let mixture = pair(2.0);
    let (records, _) = mixture.sample(500, &mut ChaCha8Rng::seed_from_u64(1));
    let responsibilities = mixture.predict_proba(records.view());
    let labels = mixture.predict(records.view());
    for (row, label) in responsibilities.rows().into_iter().zip(labels) {
        assert!((row.sum() - 1.0).abs() < 1e-12);
        assert!(row.iter().all(|&x| x <= row[label]));
    }
}

/// Moments of 10^5 draws against the mixture's own; each bound is 6 standard errors or more: a correct sampler misses one
/// with probability below 1e-8.
#[test]
fn samples_have_the_moments_of_the_mixture() {
    let mixture = pair(3.0);
    let n = 100_000;
    let (records, labels) = mixture.sample(n, &mut ChaCha8Rng::seed_from_u64(2));
    let share = labels.iter().filter(|&&label| label == 1).count() as f64 / n as f64;
    assert!((share - 0.75).abs() < 6.0 * (0.75 * 0.25 / n as f64).sqrt());
    let mean = records.mean_axis(Axis(0)).expect("not empty");
    assert!((mean[0] - 2.25).abs() < 0.05 && mean[1].abs() < 0.03);
}

#[test]
fn identical_mixtures_are_at_distance_zero_and_far_ones_at_one() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let near = pair(3.0)
        .total_variation(&pair(3.0), 2_000, &mut rng)
        .expect("same columns");
    assert!(near.value < 1e-9);
    let far = pair(0.0)
        .total_variation(&pair(1e4), 2_000, &mut rng)
        .expect("same columns");
    assert!((far.value - 0.75).abs() < 0.05, "{far:?}");
}

#[test]
fn two_normals_have_the_distance_of_the_formula() {
    let normal = |mean: f64| {
        GaussianMixture::new(array![1.0], array![[mean]], array![[[1.0]]]).expect("valid")
    };
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let distance = normal(0.0)
        .total_variation(&normal(1.0), 0, &mut rng)
        .expect("one column");
    // 2Φ(1/2) − 1.
    assert!(
        (distance.value - 0.382_924_922_548_026).abs() < 1e-8,
        "{distance:?}"
    );
}

/// Read back to the last bit; lists that are no mixture are refused, whatever their lengths.
#[test]
fn a_mixture_is_written_and_read() {
    let mixture = GaussianMixture::new(
        array![0.1, 0.2, 0.4],
        array![[0.1, 1e-300], [1.0 / 3.0, -2.0], [5.0, 1e10]],
        Array3::from_shape_fn(
            (3, 2, 2),
            |(c, i, j)| if i == j { 0.7 + c as f64 } else { 0.3 },
        ),
    )
    .expect("valid");
    let text = serde_json::to_string(&mixture).expect("numbers");
    let read: GaussianMixture = serde_json::from_str(&text).expect("the same");
    assert_eq!(read.weights(), mixture.weights());
    assert_eq!(read.means(), mixture.means());
    assert_eq!(read.covariances(), mixture.covariances());
    let record = [0.3, 0.4];
    assert_eq!(
        read.log_density(&record).to_bits(),
        mixture.log_density(&record).to_bits()
    );
    for bad in [
        r#"{"weights":[],"means":[],"covariances":[]}"#,
        r#"{"weights":[1],"means":[[]],"covariances":[[]]}"#,
        r#"{"weights":[1],"means":[[0]],"covariances":[[[-1]]]}"#,
        r#"{"weights":[1],"means":[[0,0]],"covariances":[[[1,0,0],[1]]]}"#,
        r#"{"weights":[1],"means":[[0]],"covariances":[]}"#,
        r#"{"weights":[1,1],"means":[[0],[0,1]],"covariances":[[[1]],[[1]]]}"#,
        r#"{"weights":[-1],"means":[[0]],"covariances":[[[1]]]}"#,
        r#"{"weights":[1],"means":[[0]],"covariances":[[[1]]],"more":0}"#,
    ] {
        assert!(
            serde_json::from_str::<GaussianMixture>(bad).is_err(),
            "{bad}"
        );
    }
}

#[test]
fn criteria_count_the_parameters_of_the_kind() {
    assert_eq!(CovarianceKind::Full.n_parameters(2, 3), 12 + 6 + 1);
    assert_eq!(CovarianceKind::Tied.n_parameters(2, 3), 6 + 6 + 1);
    assert_eq!(CovarianceKind::Diagonal.n_parameters(2, 3), 6 + 6 + 1);
    assert_eq!(CovarianceKind::Spherical.n_parameters(2, 3), 2 + 6 + 1);
    for kind in CovarianceKind::ALL {
        assert_eq!(CovarianceKind::from_name(kind.name()), Some(kind));
    }
}
