use ndarray::Array2;
use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;

use super::*;
use crate::distance::squared_euclidean;

#[test]
fn squared_distances_are_kept_within_the_stated_distortion() {
    let (n, d, distortion) = (20, 400, 0.5);
    // The union bound leaves a failure probability of 1e-6, the false-positive rate of this test.
    let reduced = projected_dimension(n, distortion, 1e-6);
    let mut rng = ChaCha20Rng::seed_from_u64(3);
    let points = Array2::from_shape_simple_fn((n, d), || rng.random_range(-1.0..1.0));
    let images = GaussianProjection::new(d, reduced, &mut rng)
        .project_rows(points.view())
        .unwrap();
    let sq = |a: &Array2<f64>, i: usize, j: usize| {
        squared_euclidean(&a.row(i).to_vec(), &a.row(j).to_vec())
    };
    for i in 0..n {
        for j in 0..i {
            let ratio = sq(&images, i, j) / sq(&points, i, j);
            assert!(
                (1.0 - distortion..=1.0 + distortion).contains(&ratio),
                "{ratio}"
            );
        }
    }
    // The twin: a tenth of the columns breaks the promise for some pair.
    let few = GaussianProjection::new(d, reduced / 40, &mut rng)
        .project_rows(points.view())
        .unwrap();
    let broken = (0..n)
        .any(|i| (0..i).any(|j| (sq(&few, i, j) / sq(&points, i, j) - 1.0).abs() > distortion));
    assert!(broken);
}

#[test]
fn one_record_and_many_have_the_same_image_bit_for_bit() {
    let mut rng = ChaCha20Rng::seed_from_u64(4);
    let projection = GaussianProjection::new(7, 3, &mut rng);
    let points = Array2::from_shape_simple_fn((5, 7), || rng.random_range(-1.0..1.0));
    let images = projection.project_rows(points.view()).unwrap();
    for (point, image) in points.outer_iter().zip(images.outer_iter()) {
        let mut alone = [0.0; 3];
        projection.project(&point.to_vec(), &mut alone).unwrap();
        assert_eq!(image.to_vec(), alone);
    }
    assert!(projection.project(&[0.0; 6], &mut [0.0; 3]).is_err());
    assert!(projection.project(&[0.0; 7], &mut [0.0; 2]).is_err());
}

#[test]
fn odd_arguments_give_some_dimension() {
    assert_eq!(projected_dimension(0, f64::NAN, 0.1), 1);
    assert!(projected_dimension(2, 7.0, 2.0) >= 1);
    assert!(projected_dimension(1000, 0.1, 0.01) > projected_dimension(1000, 0.2, 0.01));
}
