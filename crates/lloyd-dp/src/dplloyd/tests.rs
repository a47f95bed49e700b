use dp_core::rng::InsecureSeededRng;
use dp_core::{Budget, Delta, Epsilon, NeighboringRelation, Session, Value};
use metric_space::FramedSource;
use ndarray::Array2;
use proptest::prelude::*;

use super::step::clip;
use super::*;
use crate::clustering::Clustering;
use crate::error::{FitError, ParamsError};
use crate::init::Init;
use crate::schedule::BudgetSchedule;
use crate::testing::{frame, neighbors_of_each_kind, public, replay};

fn budget(epsilon: f64, delta: f64) -> Budget {
    Budget {
        epsilon: Epsilon::new(epsilon).expect("valid"),
        delta: Delta::new(delta).expect("valid"),
    }
}

/// Every combination of noise, sums, split and schedule that makes sense together.
fn variants(k: usize, budget: Budget) -> Vec<DpLloydParams> {
    let mut all = Vec::new();
    for noise in [Noise::Laplace, Noise::Gaussian] {
        for sums in [
            Sums::Origin,
            Sums::CenterRelative,
            Sums::BoundedRadius(RadiusSchedule::default()),
        ] {
            for split in [Split::Joint, Split::Optimal, Split::CountShare(0.3)] {
                for schedule in [BudgetSchedule::Uniform, BudgetSchedule::Trisection] {
                    all.push(
                        DpLloydParams::new(k, budget)
                            .noise(noise)
                            .sums(sums)
                            .split(split)
                            .schedule(schedule)
                            .n_iterations(3),
                    );
                }
            }
        }
    }
    all
}

fn run(
    lloyd: &DpLloyd,
    records: &Array2<f64>,
    session: &mut Session<'_>,
) -> Result<Clustering, FitError> {
    let frame = frame(records.ncols());
    let mut public = public();
    lloyd.fit(&FramedSource::new(records, &frame), session, &mut public)
}

#[test]
fn every_variant_spends_what_it_plans_and_no_more_than_the_budget() {
    let records = Array2::from_shape_fn((60, 2), |(i, j)| ((i * 7 + j) % 13) as f64 / 7.0 - 1.0);
    let budget = budget(1.0, 1e-6);
    for relation in NeighboringRelation::ALL {
        for params in variants(3, budget) {
            let lloyd = params.clone().check().expect("valid");
            let mut rng = InsecureSeededRng::new(1);
            let mut session = Session::new(budget, relation, &mut rng);
            run(&lloyd, &records, &mut session).expect("total");
            let guarantee = session.guarantee();
            assert!(
                guarantee.epsilon <= 1.0 && guarantee.delta <= 1e-6,
                "{params:?}"
            );
            assert!(
                guarantee.epsilon > 0.999,
                "{params:?} spends {}",
                guarantee.epsilon
            );
            let planned: u64 = lloyd
                .plan(&frame(2), relation)
                .expect("valid")
                .iter()
                .map(|event| event.count)
                .sum();
            let spent: u64 = session
                .ledger()
                .events()
                .iter()
                .map(|event| event.count)
                .sum();
            assert_eq!(planned, spent, "{params:?}");
        }
    }
}

#[test]
fn parameters_out_of_range_are_refused_one_by_one() {
    let pure = budget(1.0, 0.0);
    let refused = |params: DpLloydParams| params.check().expect_err("must be refused");
    assert_eq!(
        refused(DpLloydParams::new(0, pure)),
        ParamsError::NoClusters
    );
    assert_eq!(
        refused(DpLloydParams::new(2, pure).noise(Noise::Gaussian)),
        ParamsError::NoDelta
    );
    assert_eq!(
        refused(DpLloydParams::new(2, pure).n_iterations(0)),
        ParamsError::Iterations { got: 0 }
    );
    assert_eq!(
        refused(DpLloydParams::new(2, pure).n_hint(Some(0))),
        ParamsError::SizeHint
    );
    for share in [0.0, 1.0, f64::NAN] {
        assert!(matches!(
            refused(DpLloydParams::new(2, pure).split(Split::CountShare(share))),
            ParamsError::Share { .. }
        ));
    }
    for first in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let radii = RadiusSchedule {
            first: Some(first),
            ..RadiusSchedule::default()
        };
        assert!(matches!(
            refused(DpLloydParams::new(2, pure).sums(Sums::BoundedRadius(radii))),
            ParamsError::Radius { .. }
        ));
    }
}

#[test]
fn a_session_without_budget_refuses_before_anything_is_read() {
    let lloyd = DpLloydParams::new(2, budget(1.0, 0.0))
        .check()
        .expect("valid");
    let mut rng = InsecureSeededRng::new(1);
    let mut session = Session::new(budget(0.5, 0.0), NeighboringRelation::AddRemove, &mut rng);
    let records = Array2::zeros((4, 2));
    assert!(matches!(
        run(&lloyd, &records, &mut session),
        Err(FitError::Spend(_))
    ));
    assert!(session.ledger().events().is_empty());
}

#[test]
fn odd_data_never_fail() {
    let budget = budget(1.0, 1e-6);
    let odd = [
        Array2::zeros((0, 3)),
        Array2::zeros((1, 3)),
        Array2::from_elem((5, 3), f64::NAN),
        Array2::from_elem((50, 3), 1e300),
        Array2::from_shape_fn(
            (6, 3),
            |(i, _)| if i % 2 == 0 { f64::INFINITY } else { -1.0 },
        ),
    ];
    for records in odd {
        for params in variants(7, budget) {
            let lloyd = params.check().expect("valid");
            let mut rng = InsecureSeededRng::new(2);
            let mut session = Session::new(budget, NeighboringRelation::AddRemove, &mut rng);
            let fitted = run(&lloyd, &records, &mut session).expect("total");
            assert_eq!(fitted.centers.dim(), (7, 3));
            assert!(fitted.centers.iter().all(|x| x.abs() <= 1.0));
        }
    }
}

#[test]
fn extreme_budgets_and_dimensions_never_fail() {
    for epsilon in [1e-6, 50.0] {
        for (k, d) in [(1, 1), (40, 1), (2, 500)] {
            let budget = budget(epsilon, 1e-9);
            let records = Array2::from_shape_fn((30, d), |(i, j)| ((i + j) % 5) as f64 / 2.0 - 1.0);
            let lloyd = DpLloydParams::new(k, budget).check().expect("valid");
            let mut rng = InsecureSeededRng::new(2);
            let mut session = Session::new(budget, NeighboringRelation::ReplaceOne, &mut rng);
            let fitted = run(&lloyd, &records, &mut session).expect("total");
            assert_eq!(fitted.centers.dim(), (k, d));
        }
    }
}

/// What noise of the last iteration stays within, but for probability `rate`: of a sum and of a count, in their own units.
///
/// Discrete Laplace noise of scale b exceeds m with probability at most 2e^(−m/b), discrete Gaussian noise z·σ with at most 2e^(−z²/2).
fn last_noise(session: &Session<'_>, rate: f64) -> [f64; 2] {
    let one = f64::from(1_u32 << 12);
    let exponent = (2.0 / rate).ln();
    let bound = |purpose: &str| {
        let mut events = session.ledger().events().iter().rev();
        let event =
            events.find(|event| event.parameters.get("purpose") == Some(&purpose.into()))?;
        let real = |name: &str| match event.parameters.get(name) {
            Some(Value::Real(spread)) => Some(*spread),
            _ => None,
        };
        let laplace = real("scale").map(|scale| scale * exponent);
        laplace.or_else(|| real("std_dev").map(|std_dev| std_dev * (2.0 * exponent).sqrt()))
    };
    match bound("counts and sums") {
        Some(joint) => [joint / one; 2],
        None => [
            bound("sums").expect("released") / one,
            bound("counts").expect("released"),
        ],
    }
}

#[test]
fn with_a_huge_budget_it_is_lloyd() {
    // Two groups of 50 at ±0.5. Once the labels are right a center is c + (S + η)/(50 + ν), with |S/50| ≤ 0.5 and η, ν the noise of
    // that iteration alone: it errs by (η − ν·S/50)/(50 + ν). Four numbers decide a run, so a correct one misses the bound with
    // probability below 4·rate, and these three with below 1e-9. (In standard deviations of a center it is 23 or less for Laplace
    // noise and 7 for Gaussian; the bounds are below 1e-3 and 8e-3.)
    let rate = 1e-9 / 12.0;
    let records = Array2::from_shape_fn((100, 1), |(i, _)| if i % 2 == 0 { 0.5 } else { -0.5 });
    for (params, most) in [
        (DpLloydParams::paper(2, budget(1e4, 0.0)), 1e-3),
        (DpLloydParams::new(2, budget(1e4, 0.0)), 1e-3),
        (
            DpLloydParams::new(2, budget(1e4, 1e-6)).sums(Sums::CenterRelative),
            8e-3,
        ),
    ] {
        let start = Array2::from_shape_vec((2, 1), vec![-0.9, 0.7]).expect("shape");
        let lloyd = params.init(Init::Given(start)).check().expect("valid");
        let mut rng = InsecureSeededRng::new(3);
        let mut session = Session::new(budget(1e4, 1e-6), NeighboringRelation::AddRemove, &mut rng);
        let fitted = run(&lloyd, &records, &mut session).expect("total");
        let [sum, count] = last_noise(&session, rate);
        let bound = (sum + 0.5 * count) / (50.0 - count);
        assert!(bound < most, "{bound}");
        assert!((fitted.centers[[0, 0]] + 0.5).abs() < bound, "{fitted:?}");
        assert!((fitted.centers[[1, 0]] - 0.5).abs() < bound, "{fitted:?}");
        let counts = fitted.noisy_counts.expect("released");
        assert!(counts.iter().all(|noisy| (noisy - 50.0).abs() < count));
    }
}

#[test]
fn given_centers_must_have_the_right_shape() {
    let start = Array2::zeros((3, 1));
    let lloyd = DpLloydParams::new(2, budget(1.0, 0.0))
        .init(Init::Given(start))
        .check()
        .expect("valid");
    let mut rng = InsecureSeededRng::new(3);
    let mut session = Session::new(budget(1.0, 0.0), NeighboringRelation::AddRemove, &mut rng);
    assert!(matches!(
        run(&lloyd, &Array2::zeros((4, 1)), &mut session),
        Err(FitError::Params(ParamsError::InitShape { .. }))
    ));
}

/// In so many columns the squares of one vector add up to 2^64, which is 0 to a sum of 64 bits.
#[test]
fn a_vector_of_any_width_is_clipped() {
    let radius = 1 << 20;
    let mut vector = vec![1_i32 << 23; 1 << 18];
    clip(&mut vector, radius);
    let squared: u128 = vector
        .iter()
        .map(|&x| u128::from(x.unsigned_abs()).pow(2))
        .sum();
    assert!(squared <= u128::from(radius).pow(2), "{squared}");
    assert!(vector[0] > 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// The claim of the module: the same calls, and statistics within the declared sensitivity.
    #[test]
    fn a_neighbor_changes_no_call_and_no_statistic_by_more_than_declared(
        pairs in neighbors_of_each_kind(),
    ) {
        for params in variants(3, budget(1.0, 1e-6)) {
            let lloyd = params.clone().check().expect("valid");
            for pair in &pairs {
                let report = replay(params.budget, pair, |source, session| lloyd.fit(source, session, &mut public()));
                prop_assert!(report.differences.is_empty(), "{:?}", report.differences);
            }
        }
    }

    #[test]
    fn a_clipped_vector_is_never_longer_than_the_radius(
        mut vector in prop::collection::vec(-(1_i32 << 23)..(1 << 23), 1..64),
        radius in 1_u64..(1 << 24),
    ) {
        let before = vector.clone();
        clip(&mut vector, radius);
        let squared: u128 = vector.iter().map(|&x| u128::from(x.unsigned_abs()).pow(2)).sum();
        prop_assert!(squared <= u128::from(radius).pow(2));
        for (short, long) in vector.iter().zip(&before) {
            prop_assert!(short.unsigned_abs() <= long.unsigned_abs() && short.signum() * long.signum() >= 0);
        }
    }
}
