use dp_core::rng::InsecureSeededRng;
use dp_core::{Budget, Delta, Epsilon, NeighboringRelation};
use ndarray::Array2;

use crate::request::{FitRequest, Options, RequestError};
use crate::{fit, plan};

fn request(columns: usize, clusters: usize, epsilon: f64, delta: f64) -> FitRequest {
    let budget = Budget::approx(
        Epsilon::new(epsilon).expect("valid"),
        Delta::new(delta).expect("valid"),
    );
    let names = (0..columns).map(|j| format!("x{j}")).collect();
    let bounds = vec![[-1.0, 1.0]; columns];
    FitRequest::new(
        "auto",
        names,
        bounds,
        clusters,
        NeighboringRelation::AddRemove,
    )
    .budget(budget)
}

fn chosen(request: &FitRequest) -> String {
    let plan = plan(request).expect("planned");
    plan.parameters["chosen"]
        .to_string()
        .trim_matches('"')
        .to_owned()
}

#[test]
fn the_choice_follows_public_facts() {
    assert_eq!(chosen(&request(2, 50, 0.1, 1e-6).n_hint(5_000)), "grid-k");
    assert_eq!(
        chosen(&request(2, 15, 1.0, 1e-6).n_hint(5_000)),
        "vote-refine"
    );
    assert_eq!(
        chosen(&request(10, 10, 1.0, 1e-6).n_hint(10_000)),
        "vote-refine"
    );
    assert_eq!(chosen(&request(10, 10, 1.0, 0.0)), "vote-refine");
}

#[test]
fn it_releases_k_centers_of_any_records_and_says_what_ran() {
    for records in [
        Array2::zeros((0, 2)),
        Array2::from_elem((3, 2), f64::NAN),
        Array2::from_shape_fn((50, 2), |(i, j)| ((i + j) % 7) as f64 / 7.0),
    ] {
        for delta in [0.0, 1e-6] {
            for hint in [None, Some(60)] {
                let mut request = request(2, 4, 0.5, delta);
                request.n_hint = hint;
                let (mut noise, mut public) =
                    (InsecureSeededRng::new(1), InsecureSeededRng::new(2));
                let model = fit(&request, &records, &mut noise, &mut public)
                    .expect("total")
                    .model;
                assert_eq!(model.algorithm, "auto");
                assert_eq!(model.centers.len(), 4);
                let chosen = model.chosen.expect("says what ran");
                let guarantee = model.guarantee.expect("private");
                assert!(
                    guarantee.epsilon <= 0.5 && guarantee.delta <= delta,
                    "{chosen}"
                );
            }
        }
    }
}

#[test]
fn the_plan_shows_the_alternatives() {
    let plan = plan(&request(2, 5, 1.0, 1e-6).n_hint(10_000)).expect("planned");
    for name in ["vote-refine", "grid-k", "dplloyd"] {
        let shown = plan
            .notes
            .iter()
            .any(|note| note.contains(&format!("by `{name}`")));
        assert!(shown, "{name}: {:?}", plan.notes);
    }
}

#[test]
fn settings_of_single_algorithms_are_refused() {
    let options = Options {
        iterations: Some(5),
        ..Options::default()
    };
    let refused = plan(&request(2, 5, 1.0, 1e-6).options(options));
    assert!(
        matches!(refused, Err(RequestError::Option { .. })),
        "{refused:?}"
    );
}
