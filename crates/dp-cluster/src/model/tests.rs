use std::collections::BTreeMap;

use dp_core::mechanism::{AdditiveMechanism, LaplaceMechanism};
use dp_core::sensitivity::{L1Sensitivity, L2Sensitivity};
use dp_core::{Budget, Delta, Epsilon, NeighboringRelation, Rho};

use super::*;
use crate::total::{TotalError, total_of};

/// A valid model of one column that spent ε = 1.
pub(crate) fn small() -> Model {
    let laplace = LaplaceMechanism::calibrate(
        L1Sensitivity::new(1).expect("positive"),
        Epsilon::new(1.0).expect("positive"),
    )
    .expect("usual noise");
    let event = laplace.event(NeighboringRelation::AddRemove, "counts");
    model_of(vec![event], 1.0, 0.0)
}

/// A valid model with (k × d × d) covariances and every key that a model may have.
pub(crate) fn rich() -> Model {
    let mut model = small();
    model.chosen = Some("gmm".to_owned());
    model.weights = Some(vec![0.25, 0.75]);
    model.covariances = Some(vec![vec![vec![1.5]], vec![vec![0.1]]]);
    model.metric = Some("euclidean".to_owned());
    model.power = Some(1.5);
    model.site_rows = Some(vec![3, 0]);
    let nested = Value::List(vec![
        Value::List(vec![0.1.into(), Value::Null]),
        true.into(),
    ]);
    model.parameters.insert("nested".to_owned(), nested);
    model
}

fn model_of(events: Vec<dp_core::Event>, epsilon: f64, delta: f64) -> Model {
    let ledger: Ledger = events.into_iter().collect();
    let relation = NeighboringRelation::AddRemove;
    let mut guarantee = dp_core::accountant::total(&ledger, relation, delta).expect("composes");
    guarantee.epsilon = epsilon;
    Model {
        format_version: FORMAT_VERSION,
        algorithm: "dplloyd".to_owned(),
        chosen: None,
        outcome: ModelOutcome::Released,
        private: true,
        seeded: false,
        columns: vec!["age".to_owned()],
        bounds: vec![[0.0, 100.0]],
        centers: vec![vec![0.1 + 0.2], vec![100.0]],
        noisy_counts: Some(vec![-3.5, 17.0]),
        weights: None,
        covariances: None,
        metric: None,
        power: None,
        site_rows: None,
        guarantee: Some(guarantee),
        ledger,
        parameters: BTreeMap::from([("iterations".to_owned(), 5_i64.into())]),
    }
}

/// A model that spent ρ with this ε at δ = 1e-6.
fn concentrated(epsilon: f64) -> Model {
    let budget = Budget::approx(
        Epsilon::new(epsilon).expect("positive"),
        Delta::new(1e-6).expect("a probability"),
    );
    let rho: Rho = budget.rho().expect("there is a delta");
    let one = L2Sensitivity::from_squared(1).expect("positive");
    let gaussian = AdditiveMechanism::gaussian(one, rho).expect("usual noise");
    let event = gaussian.event(NeighboringRelation::AddRemove, "counts");
    model_of(vec![event], epsilon, 1e-6)
}

#[track_caller]
fn refuses(change: impl FnOnce(&mut Model), words: &str) {
    let mut model = rich();
    change(&mut model);
    let error = model.check().expect_err("must be refused").to_string();
    assert!(error.contains(words), "{error:?} should say {words:?}");
}

#[test]
fn valid_models_are_accepted() {
    small().check().expect("valid");
    rich().check().expect("valid");
    concentrated(1.0).check().expect("valid");
}

#[test]
fn whatever_does_not_hold_together_is_refused() {
    refuses(|m| m.format_version = 2, "version 2");
    refuses(|m| m.bounds.clear(), "bounds");
    refuses(|m| m.bounds[0] = [1.0, 0.0], "bounds");
    refuses(|m| m.bounds[0] = [f64::NAN, 0.0], "bounds");
    refuses(|m| m.columns.clear(), "columns");
    refuses(|m| m.centers[0].clear(), "`centers`");
    refuses(|m| m.centers[1][0] = f64::NAN, "`centers`");
    refuses(
        |m| {
            m.site_rows = None;
            m.centers[1][0] = 100.5;
        },
        "center 1",
    );
    refuses(|m| m.centers.clear(), "no centers");
    refuses(|m| m.outcome = ModelOutcome::Refused, "refused");
    refuses(|m| m.noisy_counts = Some(vec![1.0]), "`noisy_counts`");
    refuses(
        |m| m.noisy_counts = Some(vec![1.0, f64::INFINITY]),
        "`noisy_counts`",
    );
    refuses(|m| m.weights = None, "go together");
    refuses(|m| m.weights = Some(vec![0.5, 1.5]), "`weights`");
    refuses(
        |m| m.covariances = Some(vec![vec![vec![1.0]]]),
        "`covariances`",
    );
    refuses(
        |m| m.covariances = Some(vec![vec![vec![-1.0]]; 2]),
        "`covariances`",
    );
    refuses(|m| m.power = Some(0.0), "`power`");
    refuses(|m| m.site_rows = Some(vec![1]), "`site_rows`");
}

#[test]
fn a_guarantee_below_its_ledger_is_refused() {
    refuses(|m| m.guarantee = None, "no guarantee");
    refuses(|m| m.private = false, "not private");
    refuses(
        |m| m.guarantee.as_mut().expect("there is one").epsilon = 0.999,
        "ledger",
    );
    refuses(
        |m| m.guarantee.as_mut().expect("there is one").relation = NeighboringRelation::ReplaceOne,
        "ledger",
    );
    let mut model = concentrated(1.0);
    model.guarantee.as_mut().expect("there is one").delta = 1e-7;
    assert_eq!(model.check(), Err(ModelError::Ledger));
    let mut model = concentrated(1.0);
    model.guarantee.as_mut().expect("there is one").rho = None;
    assert_eq!(model.check(), Err(ModelError::Ledger));
}

#[test]
fn an_enormous_count_is_no_way_round_the_ledger() {
    for relation in NeighboringRelation::ALL {
        let mut model = small();
        let mut event = model.ledger.events()[0].clone();
        event.count = u64::MAX;
        model.ledger = [event.clone(), event].into_iter().collect();
        model.guarantee.as_mut().expect("there is one").relation = relation;
        assert_eq!(model.check(), Err(ModelError::Ledger));
    }
}

#[test]
fn several_models_add_up() {
    let total = total_of(&[(&small()).into(), (&small()).into()])
        .expect("composes")
        .expect("two models");
    assert!((total.epsilon - 2.0).abs() < 1e-12 && total.delta <= 0.0);
    // Concentrated parts are converted once: less than the sum of both.
    let model = concentrated(1.0);
    let total = total_of(&[(&model).into(), (&model).into()])
        .expect("composes")
        .expect("two models");
    assert!(total.epsilon < 1.5, "{}", total.epsilon);
    assert!((total.delta - 2e-6).abs() < 1e-18);
    assert_eq!(total_of(&[]), Ok(None));
}

#[test]
fn models_under_different_relations_add_up_under_replace_one() {
    let mut other = small();
    let mut event = other.ledger.events()[0].clone();
    event.relation = NeighboringRelation::ReplaceOne;
    other.ledger = [event].into_iter().collect();
    other.guarantee.as_mut().expect("there is one").relation = NeighboringRelation::ReplaceOne;
    other.check().expect("valid");
    let total = total_of(&[(&small()).into(), (&other).into()])
        .expect("composes")
        .expect("two models");
    assert_eq!(total.relation, NeighboringRelation::ReplaceOne);
    // ε = 1 under add-remove is 2 under replace-one.
    assert!((total.epsilon - 3.0).abs() < 1e-12, "{}", total.epsilon);
}

#[test]
fn nothing_is_promised_with_a_model_that_promises_nothing() {
    let mut public = small();
    public.private = false;
    public.guarantee = None;
    public.ledger = Ledger::new();
    public.check().expect("valid");
    let private = small();
    let both = [(&private).into(), (&public).into()];
    assert_eq!(total_of(&both), Err(TotalError::NotPrivate));
}
