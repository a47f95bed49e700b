use dp_core::rng::InsecureSeededRng;
use dp_core::{Budget, Epsilon, NeighboringRelation, Value};
use ndarray::{Array2, array};

use super::CenterOrderChoice;
use crate::model::Model;
use crate::request::{FitRequest, Options};
use crate::{fit, plan};

fn request(algorithm: &str, options: Options) -> FitRequest {
    let columns = vec!["x".to_owned(), "y".to_owned()];
    let relation = NeighboringRelation::AddRemove;
    FitRequest::new(algorithm, columns, vec![[0.0, 10.0]; 2], 2, relation)
        .budget(Budget::pure(Epsilon::new(200.0).expect("valid")))
        .n_hint(4000)
        .options(options)
}

/// 2,000 records at each of (5, 2) and (5, 8), whose first coordinates say nothing of where they belong.
fn stacked() -> Array2<f64> {
    Array2::from_shape_fn((4000, 2), |(i, j)| match (j, i % 2) {
        (0, _) => 4.0 + (i * 37 % 200) as f64 / 100.0,
        (_, 0) => 2.0,
        _ => 8.0,
    })
}

fn released(algorithm: &str, options: Options) -> Model {
    let (mut noise, mut public) = (InsecureSeededRng::new(1), InsecureSeededRng::new(2));
    let request = request(algorithm, options);
    fit(&request, &stacked(), &mut noise, &mut public)
        .expect("a release")
        .model
}

fn second_coordinates(model: &Model) -> Vec<f64> {
    let mut second: Vec<f64> = model.centers.iter().map(|center| center[1]).collect();
    second.sort_by(f64::total_cmp);
    second
}

#[test]
fn public_centers_tell_blocks_apart_where_the_first_column_cannot() {
    let reference = Options {
        init_centers: Some(array![[5.0, 1.0], [5.0, 9.0]]),
        ..Options::default()
    };
    for algorithm in ["gkm", "gkm-3k"] {
        let model = released(algorithm, reference.clone());
        let second = second_coordinates(&model);
        assert!(
            (second[0] - 2.0).abs() < 0.5 && (second[1] - 8.0).abs() < 0.5,
            "{second:?}"
        );
        assert_eq!(model.parameters["center_order"], Value::from("reference"));
        // The twin: in the order of the first column both averages fall between the clusters.
        let model = released(algorithm, Options::default());
        let second = second_coordinates(&model);
        assert!(second.iter().all(|y| (3.0..7.0).contains(y)), "{second:?}");
        assert_eq!(
            model.parameters["center_order"],
            Value::from("first-coordinate")
        );
    }
}

#[test]
fn a_reference_that_nobody_gives_is_spread_over_the_bounds() {
    let options = Options {
        center_order: Some(CenterOrderChoice::Reference),
        ..Options::default()
    };
    let planned = plan(&request("gkm-3k", options.clone())).expect("a plan");
    assert_eq!(planned.parameters["center_order"], Value::from("spread"));
    let model = released("gkm-3k", options);
    assert_eq!(model.parameters["center_order"], Value::from("spread"));
    assert_eq!(model.centers.len(), 2);
}

#[test]
fn first_centers_that_are_no_reference_are_refused() {
    let options = Options {
        center_order: Some(CenterOrderChoice::FirstCoordinate),
        init_centers: Some(array![[5.0, 1.0], [5.0, 9.0]]),
        ..Options::default()
    };
    let refused = plan(&request("gkm", options)).expect_err("they would be ignored");
    assert!(refused.to_string().contains("matched"), "{refused}");
}
