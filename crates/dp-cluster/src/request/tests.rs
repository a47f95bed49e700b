use dp_core::{Budget, Delta, Epsilon, NeighboringRelation};
use ndarray::Array2;

use super::*;

fn request(algorithm: &str) -> FitRequest {
    let columns = vec!["x".to_owned(), "y".to_owned()];
    let bounds = vec![[0.0, 1.0], [-5.0, 5.0]];
    FitRequest::new(
        algorithm,
        columns,
        bounds,
        3,
        NeighboringRelation::AddRemove,
    )
    .budget(Budget::pure(Epsilon::new(1.0).expect("positive")))
}

#[track_caller]
fn refuses(request: &FitRequest, words: &[&str]) {
    let error = request.check().err().expect("must be refused").to_string();
    for word in words {
        assert!(error.contains(word), "{error:?} should say {word:?}");
    }
}

#[test]
fn a_usual_request_is_accepted() {
    assert!(request("dplloyd").check().is_ok());
    assert!(request("lloyd").not_private().check().is_ok());
}

#[test]
fn errors_name_what_is_wrong() {
    refuses(&request("kmeans"), &["kmeans", "dplloyd-paper"]);
    refuses(&request("lloyd"), &["--not-private"]);
    refuses(&request("dplloyd").not_private(), &["--not-private"]);
    let mut bad = request("dplloyd");
    bad.epsilon = None;
    refuses(&bad, &["epsilon"]);
    let mut bad = request("dplloyd");
    bad.bounds[1] = [5.0, 5.0];
    refuses(&bad, &["`y`", "[5, 5]"]);
    let mut bad = request("dplloyd");
    bad.columns[1] = "x".to_owned();
    refuses(&bad, &["`x`", "twice"]);
    let mut bad = request("dplloyd");
    bad.bounds.pop();
    refuses(&bad, &["2 columns", "1 bounds"]);
    let mut bad = request("dplloyd");
    bad.n_hint = Some(0);
    refuses(&bad, &["--n-hint"]);
    for clusters in [0, usize::MAX] {
        let mut bad = request("dplloyd");
        bad.n_clusters = clusters;
        refuses(&bad, &["number of clusters"]);
    }
}

#[test]
fn a_setting_of_another_algorithm_is_refused_and_says_whose_it_is() {
    let options = Options {
        schedule: Some(lloyd_dp::schedule::BudgetSchedule::Uniform),
        ..Options::default()
    };
    let request = request("lloyd").not_private().options(options);
    refuses(&request, &["--schedule", "`lloyd`", "dplloyd"]);
}

#[test]
fn every_setting_of_every_algorithm_exists() {
    for algorithm in algorithm::all() {
        for option in algorithm.facts().options {
            assert!(Options::NAMES.contains(option), "{option}");
        }
    }
}

#[test]
fn first_centers_must_fit() {
    let options = Options {
        init_centers: Some(Array2::zeros((2, 2))),
        ..Options::default()
    };
    refuses(
        &request("dplloyd").options(options),
        &["3 rows of 2", "2 of 2"],
    );
    let options = Options {
        init_centers: Some(Array2::from_elem((3, 2), f64::NAN)),
        ..Options::default()
    };
    refuses(&request("dplloyd").options(options), &["finite"]);
}

#[test]
fn an_algorithm_without_a_pure_form_says_what_to_give() {
    // None is built yet that needs one: the rule itself.
    for algorithm in algorithm::all() {
        let facts = algorithm.facts();
        if facts.delta == DeltaNeed::Required {
            refuses(&request(facts.name), &["--delta"]);
        }
    }
    let with_delta = request("dplloyd").budget(Budget::approx(
        Epsilon::new(1.0).expect("positive"),
        Delta::new(1e-6).expect("a probability"),
    ));
    assert!(with_delta.check().is_ok());
}

#[test]
fn bounds_whose_squares_are_no_numbers_are_refused_for_mixtures_before_data() {
    for half in [1e-165, 1e160] {
        let mut wide = request("gmm");
        wide.delta = Delta::new(1e-6).expect("valid");
        wide.bounds[1] = [-half, half];
        let algorithm = wide.check().expect("fine for others");
        let error = algorithm.plan(&wide).expect_err("no covariance there");
        assert!(error.to_string().contains("`y`"), "{error}");
    }
}
