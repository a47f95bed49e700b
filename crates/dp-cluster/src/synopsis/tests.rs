use dp_core::rng::InsecureSeededRng;
use dp_core::{Budget, Epsilon, NeighboringRelation};
use lloyd_dp::grid::Starts;
use ndarray::Array2;

use super::*;
use crate::codec::CodecError;
use crate::{FitRequest, fit};

/// Two groups of 500 records, at 2 and at 8 of [0, 10] in both columns.
fn records() -> Array2<f64> {
    Array2::from_shape_fn((1000, 2), |(i, j)| {
        let middle = if i % 2 == 0 { 2.0 } else { 8.0 };
        middle + ((i / 2 * (j + 3)) % 11) as f64 / 20.0
    })
}

fn request(algorithm: &str) -> FitRequest {
    let columns = vec!["a".to_owned(), "b".to_owned()];
    let budget = Budget::pure(Epsilon::new(1.0).expect("valid"));
    FitRequest::new(
        algorithm,
        columns,
        vec![[0.0, 10.0]; 2],
        2,
        NeighboringRelation::AddRemove,
    )
    .budget(budget)
    .n_hint(1000)
}

fn released(algorithm: &str) -> Synopsis {
    let (mut noise, mut public) = (InsecureSeededRng::new(1), InsecureSeededRng::new(2));
    let fitted = fit(&request(algorithm), &records(), &mut noise, &mut public).expect("fits");
    fitted
        .synopsis
        .expect("a grid algorithm releases its synopsis")
}

#[test]
fn a_synopsis_comes_back_from_both_forms() {
    for algorithm in ["ug", "eug", "grid-k", "hybrid", "hybrid-refine"] {
        let synopsis = released(algorithm);
        let json = synopsis.to_json().expect("valid");
        assert_eq!(Synopsis::load(json.as_bytes()).expect("valid"), synopsis);
        let binary = synopsis.to_binary().expect("valid");
        assert_eq!(Synopsis::load(&binary).expect("valid"), synopsis);
        for cut in [0, 7, 27, binary.len() / 2, binary.len() - 1] {
            assert!(Synopsis::load(&binary[..cut]).is_err());
        }
        // Neither is a model.
        assert_eq!(Model::load(&binary), Err(CodecError::Unknown));
        assert!(Model::load(json.as_bytes()).is_err());
    }
}

#[test]
fn reclustering_finds_the_groups_and_keeps_the_guarantee() {
    let synopsis = released("eug");
    for starts in Starts::ALL {
        let model = recluster(&synopsis, 2, starts, &mut InsecureSeededRng::new(3)).expect("valid");
        model.check().expect("valid");
        assert_eq!(model.guarantee.as_ref(), Some(&synopsis.guarantee));
        assert_eq!(model.ledger, synopsis.ledger);
        for truth in [2.25, 8.25] {
            let near = |center: &Vec<f64>| center.iter().all(|x| (x - truth).abs() < 0.7);
            assert!(model.centers.iter().any(near), "{:?}", model.centers);
        }
    }
    for k in [1, 7] {
        let model = recluster(&synopsis, k, Starts::Greedy, &mut InsecureSeededRng::new(3));
        assert_eq!(model.expect("valid").n_clusters(), k);
    }
    assert!(recluster(&synopsis, 0, Starts::Greedy, &mut InsecureSeededRng::new(3)).is_err());
}

#[test]
fn a_synopsis_that_promises_less_than_it_spent_is_refused() {
    let mut synopsis = released("eug");
    synopsis.guarantee.epsilon = 0.5;
    assert_eq!(synopsis.check(), Err(ModelError::Ledger));
    let mut synopsis = released("eug");
    synopsis.columns.pop();
    synopsis.bounds.pop();
    assert!(synopsis.check().is_err());
}

#[test]
fn algorithms_without_a_grid_release_none() {
    let (mut noise, mut public) = (InsecureSeededRng::new(1), InsecureSeededRng::new(2));
    let fitted = fit(&request("gkm"), &records(), &mut noise, &mut public).expect("fits");
    assert_eq!(fitted.synopsis, None);
}
