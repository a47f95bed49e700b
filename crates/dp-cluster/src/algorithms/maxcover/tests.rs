use dp_core::rng::InsecureSeededRng;
use dp_core::{Budget, Delta, Epsilon, NeighboringRelation, Value};
use maxcover::candidates::Source;
use metric_space::evaluation::Assignment;
use ndarray::{Array2, array};

use super::MetricChoice;
use crate::model::Model;
use crate::request::{FitRequest, Options, RequestError};
use crate::{evaluate, fit, plan};

/// A request in the square [0, 10]², or among places.
fn request(clusters: usize, options: &Options) -> FitRequest {
    let is_matrix = matches!(options.metric, Some(MetricChoice::Matrix(_)));
    let columns = if is_matrix {
        vec!["place"]
    } else {
        vec!["x", "y"]
    };
    let columns: Vec<String> = columns.into_iter().map(str::to_owned).collect();
    let bounds = vec![[0.0, 10.0]; columns.len()];
    let relation = NeighboringRelation::AddRemove;
    let budget = Budget::approx(
        Epsilon::new(2.0).expect("valid"),
        Delta::new(1e-6).expect("valid"),
    );
    FitRequest::new("maxcover", columns, bounds, clusters, relation).budget(budget)
}

fn released(request: &FitRequest, options: Options, records: &Array2<f64>) -> Model {
    let (mut noise, mut public) = (InsecureSeededRng::new(1), InsecureSeededRng::new(2));
    let request = request.clone().options(options);
    fit(&request, records, &mut noise, &mut public)
        .expect("a release")
        .model
}

/// 2,000 records at each of (2, 2) and (8, 8).
fn two_towns() -> Array2<f64> {
    Array2::from_shape_fn((4000, 2), |(i, _)| if i % 2 == 0 { 2.0 } else { 8.0 })
}

fn sites() -> Array2<f64> {
    array![[0.0, 0.0], [2.0, 2.5], [5.0, 5.0], [8.0, 7.5], [10.0, 0.0]]
}

#[test]
fn centers_are_sites_and_their_rows_are_told_under_every_metric() {
    for choice in [
        MetricChoice::Euclidean,
        MetricChoice::L1,
        MetricChoice::Linf,
        MetricChoice::Haversine,
    ] {
        let options = Options {
            sites: Some(sites()),
            metric: Some(choice.clone()),
            ..Options::default()
        };
        let model = released(&request(2, &options), options, &two_towns());
        assert_eq!(model.site_rows, Some(vec![1, 3]));
        assert_eq!(model.centers, [[2.0, 2.5], [8.0, 7.5]]);
        assert_eq!(model.metric.as_deref(), Some(choice.name()));
        assert_eq!(model.power, Some(1.0));
        let counts = model.noisy_counts.expect("released");
        // Noise of scale 1 on few candidates: 200 off has chance below e^-100.
        assert!(counts.iter().all(|count| (count - 2000.0).abs() < 200.0));
    }
}

#[test]
fn a_model_of_places_knows_the_distances_of_its_centers() {
    let distances = Array2::from_shape_fn((6, 6), |(i, j)| (i as f64 - j as f64).abs());
    let options = Options {
        metric: Some(MetricChoice::Matrix(distances)),
        ..Options::default()
    };
    let mut request = request(2, &options);
    request.bounds = vec![[0.0, 5.0]];
    let records = Array2::from_shape_fn((3000, 1), |(i, _)| if i % 3 == 0 { 1.0 } else { 4.0 });
    let model = released(&request, options, &records);
    assert_eq!(model.centers, [[1.0], [4.0]]);
    let Some(Value::List(rows)) = model.parameters.get("center_distances") else {
        panic!("the model keeps two rows");
    };
    let first = [1.0, 0.0, 1.0, 2.0, 3.0, 4.0].map(Value::from);
    assert_eq!(rows.first(), Some(&Value::List(first.to_vec())));
    // Records that name no place are moved to the nearest one, never refused.
    let odd = array![[-3.0], [0.4], [1.0], [99.0]];
    let mut labels = Vec::new();
    let visit = |seen: &[Assignment]| labels.extend(seen.iter().map(|record| record.label));
    evaluate(&model, &odd, visit).expect("labeled");
    assert_eq!(labels, [0, 0, 0, 1]);
}

#[test]
fn every_source_of_candidates_gives_centers_inside_the_bounds() {
    for source in Source::ALL {
        for power in [1.0, 2.0] {
            let options = Options {
                candidates: Some(source),
                power: Some(power),
                ..Options::default()
            };
            let request = request(3, &options);
            for records in [two_towns(), Array2::zeros((0, 2))] {
                let model = released(&request, options.clone(), &records);
                assert_eq!(model.centers.len(), 3, "{source:?}");
                let inside = |center: &Vec<f64>| center.iter().all(|x| (0.0..=10.0).contains(x));
                assert!(model.centers.iter().all(inside), "{source:?}");
                // Nobody has the table that rows of candidates would number.
                assert_eq!(model.site_rows, None);
                let guarantee = model.guarantee.expect("private");
                assert!(guarantee.epsilon <= 2.0 && guarantee.delta <= 1e-6);
            }
        }
    }
}

#[test]
fn public_mistakes_are_refused_before_a_record_is_read() {
    let refusal = |options: Options, clusters: usize, bounds: Option<[f64; 2]>| {
        let mut request = request(clusters, &options);
        if let Some(bounds) = bounds {
            request.bounds[0] = bounds;
        }
        match plan(&request.options(options)) {
            Err(RequestError::Parameter { parameter, reason }) => format!("{parameter}: {reason}"),
            other => format!("{other:?}"),
        }
    };
    let near = Options {
        sites: Some(sites()),
        ..Options::default()
    };
    let globe = Options {
        metric: Some(MetricChoice::Haversine),
        ..near.clone()
    };
    let places = |sites| Options {
        metric: Some(MetricChoice::Matrix(Array2::zeros((3, 3)))),
        sites: Some(sites),
        ..Options::default()
    };
    let mut swapped = request(2, &globe).options(globe.clone());
    swapped.columns = ["lon_deg", "latitude"].map(str::to_owned).to_vec();
    let swapped = plan(&swapped)
        .expect_err("longitude comes second")
        .to_string();
    for (got, words) in [
        (refusal(near, 6, None), "there are 5 sites, fewer than 6"),
        (
            refusal(globe.clone(), 2, Some([0.0, 120.0])),
            "latitude 120",
        ),
        (
            refusal(
                Options {
                    sites: Some(array![[-91.0, 0.0]]),
                    ..globe
                },
                1,
                None,
            ),
            "latitude -91",
        ),
        (swapped, "`latitude`, `lon_deg`"),
        (refusal(places(array![[3.0]]), 1, None), "0 to 2, got 3"),
        (refusal(places(array![[0.5]]), 1, None), "0 to 2, got 0.5"),
    ] {
        assert!(got.contains(words), "{got:?} should say {words:?}");
    }
}

#[test]
fn a_plan_says_where_a_table_breaks_the_triangle_inequality() {
    let notes = |far: f64| {
        let table = array![[0.0, 1.0, far], [1.0, 0.0, 1.0], [far, 1.0, 0.0]];
        let options = Options {
            metric: Some(MetricChoice::Matrix(table)),
            ..Options::default()
        };
        plan(&request(1, &options).options(options))
            .expect("a plan")
            .notes
    };
    assert_eq!(notes(2.0), Vec::<String>::new());
    let broken = notes(2.5);
    assert!(
        broken.len() == 1 && broken[0].contains("triangle"),
        "{broken:?}"
    );
}
