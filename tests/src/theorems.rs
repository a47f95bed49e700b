//! Facts that theorems rest on and no replay shows: each checked against a formula written here once more.
//!
//! [`charges`] has those about the noise under a charge, [`left_out`] those about events that a theorem leaves to δ.

use dp_core::conversion::delta_of_gaussians;
use dp_core::mechanism::GaussianMechanism;
use dp_core::pld::{Bound, ComposedLoss, Mechanism, Precision};
use dp_core::rng::InsecureSeededRng;
use dp_core::sensitivity::L2Sensitivity;
use dp_core::tape::{Call, Edit, Output, Statistic};
use dp_core::{Delta, Epsilon, Event, Loss, NeighboringRelation, Session, Value};
use ktuple::averages::{
    BoundedAverage, Columns, Counted, Directions, PointLoss, Range, bounding_segment,
    interior_point,
};
use ktuple::friendly::FriendlyCore;
use ktuple::paper::{NoisyComposition, PrivateKNoisyCenters};
use ktuple::{TupleAggregator, TupleShape, TupleSpend, Tuples};
use lloyd_dp::dplloyd::{DpLloydParams, Noise, RadiusSchedule, Split, Sums};
use lloyd_dp::init::Init;
use maxcover::Rate;
use maxcover::greedy::{Picker, SetCoverage, picks_event};
use metric_space::{FramedSource, Lattice};
use ndarray::{Array2, array};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use testkit::rates::implausible_cell;

use crate::subjects::{budget, lattice_frame};

pub mod charges;
pub mod left_out;

type Check = Result<(), String>;

/// All checks of this module, for audits that leave none out.
pub const ALL: &[fn() -> Check] = &[
    count_share,
    gaussian_loss,
    far_record_counts,
    coverage_rate,
    coverage_family,
    friendly,
    filtered_loss,
    segment,
    interior_points,
    average_noise,
    average_sum,
    noisy_center_scales,
    void_partitions_nothing,
    equal_points,
    charges::friendly_core,
    charges::friendly_averages,
    charges::partition_test,
    charges::noisy_centers,
    charges::averages,
    charges::refine,
    charges::private_k_means,
    charges::coverage_picks,
    left_out::friendly_core,
    left_out::friendly_averages,
    left_out::noisy_centers,
];

fn must(holds: bool, what: impl FnOnce() -> String) -> Check {
    if holds { Ok(()) } else { Err(what()) }
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// With a share of 0.3 for the counts, they are charged 0.3 of each iteration.
///
/// # Errors
///
/// What they are charged.
pub fn count_share() -> Check {
    let lloyd = DpLloydParams::new(2, budget(1.0, 0.0))
        .noise(Noise::Laplace)
        .split(Split::CountShare(0.3))
        .n_iterations(4)
        .check()
        .map_err(text)?;
    let events = lloyd
        .plan(&lattice_frame(2, 12), NeighboringRelation::AddRemove)
        .map_err(text)?;
    for (i, event) in events.iter().enumerate() {
        let share = if i % 2 == 0 { 0.3 } else { 0.7 } / 4.0;
        let Loss::Pure(epsilon) = event.loss else {
            return Err("not pure".to_owned());
        };
        must((epsilon.get() - share).abs() < 1e-12, || {
            format!("{event} where {share} was asked for")
        })?;
    }
    must(events.len() == 8, || format!("{} events", events.len()))
}

/// The exact loss distribution of the noise that a whole Gaussian budget buys for one count is within the claim at every ε.
///
/// # Errors
///
/// The ε at which it is not.
pub fn gaussian_loss() -> Check {
    for nats in [0.5, 2.0, 6.0] {
        let whole = budget(nats, 1e-6).gaussian().ok_or("there is a delta")?;
        let one = L2Sensitivity::from_squared(1).map_err(text)?;
        let std_dev = GaussianMechanism::calibrate(one, whole)
            .map_err(text)?
            .std_dev();
        let noise = Mechanism::DiscreteGaussian {
            std_dev,
            sensitivity: 1,
        };
        let exact = ComposedLoss::of(&[(noise, 1)], Bound::Lower, Precision::default());
        let exact = exact.map_err(text)?;
        for i in 0..400 {
            let epsilon = 0.02 * f64::from(i);
            let claimed = delta_of_gaussians(whole.rho().get(), epsilon);
            must(exact.delta(epsilon) <= claimed, || {
                format!("delta at {epsilon} is above {claimed}")
            })?;
        }
    }
    Ok(())
}

/// Nine records on a center and one far away move it by a tenth of the radius, with hardly any noise.
///
/// # Errors
///
/// Where the center went.
pub fn far_record_counts() -> Check {
    let radii = RadiusSchedule {
        first: Some(0.2),
        ..RadiusSchedule::default()
    };
    let budget = budget(1e5, 0.0);
    let lloyd = DpLloydParams::new(1, budget)
        .sums(Sums::BoundedRadius(radii))
        .n_iterations(1)
        .init(Init::Given(array![[0.0]]))
        .check()
        .map_err(text)?;
    let mut records = Array2::zeros((10, 1));
    records[[9, 0]] = 1.0;
    let mut rng = InsecureSeededRng::new(1);
    let mut session = Session::new(budget, NeighboringRelation::AddRemove, &mut rng);
    let frame = lattice_frame(1, 20);
    let mut public = ChaCha8Rng::seed_from_u64(1);
    let fitted = lloyd
        .fit(
            &FramedSource::new(&records, &frame),
            &mut session,
            &mut public,
        )
        .map_err(text)?;
    let center = fitted.centers[[0, 0]];
    must((center - 0.02).abs() < 1e-3, || {
        format!("the center is at {center}")
    })
}

/// Every rate ε′ = x of maximum coverage keeps (1 − e^(−x))·exp(−(ε + x)/(e^x − 1)) ≤ δ or x ≤ ε with that bound at ε.
///
/// # Errors
///
/// The rate that does not.
pub fn coverage_rate() -> Check {
    for epsilon in [0.01, 0.3, 1.0, 4.0] {
        for delta in [1e-12, 1e-6, 1e-2] {
            for rate in Rate::ALL {
                let (e, d) = (
                    Epsilon::new(epsilon).map_err(text)?,
                    Delta::new(delta).map_err(text)?,
                );
                let x = rate.value(e, d).ok_or("no rate")?;
                let divergence = (1.0 - (-x).exp()) * (-(epsilon + x) / x.exp_m1()).exp();
                must(divergence <= delta * (1.0 + 1e-6), || {
                    format!("{rate:?} gives {x} at ({epsilon}, {delta}): divergence {divergence}")
                })?;
            }
        }
    }
    Ok(())
}

/// All sets of a family are picked in the end, those too that cover no record: which sets there are is public.
///
/// # Errors
///
/// How many were picked.
pub fn coverage_family() -> Check {
    let budget = budget(1.0, 1e-6);
    for private in [vec![], vec![0], vec![0, 1, 2, 3]] {
        let mut noise = InsecureSeededRng::new(1);
        let mut session = Session::new(budget, NeighboringRelation::AddRemove, &mut noise);
        let picks = picks_event(Rate::Largest, budget.epsilon, budget.delta);
        let (event, rate) = picks.ok_or("no rate")?;
        let picker = Picker::new(&mut session, event, rate).map_err(text)?;
        let sets = vec![vec![0, 1], vec![], vec![2], vec![2], vec![3]];
        let mut coverage = SetCoverage::new(sets, private);
        let picks = picker.pick(&mut session, &mut coverage, 5).len();
        must(picks == 5, || format!("{picks} of 5 sets were picked"))?;
    }
    Ok(())
}

/// What an aggregator asks the door, on tuples.
fn calls(
    aggregator: &dyn TupleAggregator,
    tuples: &Tuples,
    epsilon: f64,
) -> Result<Vec<Call>, String> {
    let budget = budget(epsilon, 1e-6);
    let mut rng = InsecureSeededRng::new(2);
    let mut session = Session::new(budget, NeighboringRelation::ReplaceOne, &mut rng).recorded();
    let mut public = ChaCha8Rng::seed_from_u64(2);
    aggregator
        .aggregate(
            tuples,
            TupleSpend::direct(budget),
            &mut session,
            &mut public,
        )
        .map_err(text)?;
    Ok(session.into_tape().unwrap_or_default().calls().to_vec())
}

fn shape(n_tuples: usize) -> TupleShape {
    TupleShape {
        n_tuples,
        n_clusters: 2,
        dimension: 1,
        lattice: Lattice::default(),
    }
}

fn needed(aggregator: &dyn TupleAggregator, epsilon: f64) -> Result<usize, String> {
    let needed = aggregator.tuples_needed(shape(1), budget(epsilon, 1e-6));
    usize::try_from(needed.map_err(text)?).map_err(text)
}

/// Tuples of two camps of equal size match half of the others: none may be kept, with any probability.
///
/// # Errors
///
/// A positive probability.
pub fn friendly() -> Check {
    let core = FriendlyCore::default();
    let n = 2 * needed(&core, 8.0)?.div_ceil(2);
    let mut tuples = Tuples::new(2, 1, Lattice::default());
    for t in 0..n {
        let points = if t % 2 == 0 {
            array![[-0.8], [0.1]]
        } else {
            array![[0.8], [-0.1]]
        };
        tuples.push(points.view());
    }
    for call in calls(&core, &tuples, 8.0)? {
        if let Statistic::Fractions(kept) = &call.statistic {
            let most = kept.iter().map(|(top, _)| *top).max().unwrap_or(0);
            return must(most == 0, || {
                format!("a tuple is kept with probability {most}/{n}")
            });
        }
    }
    Err("no tuple was filtered".to_owned())
}

/// The loss of the average after the filter: (t − 1)·ln(1 + (e^ε₀ − 1)/(t/2 − 2)) + 2ε₀ ≤ ε.
///
/// # Errors
///
/// The loss.
pub fn filtered_loss() -> Check {
    let core = FriendlyCore::default();
    let n = needed(&core, 2.0)?;
    let events = core
        .plan(
            shape(n),
            NeighboringRelation::ReplaceOne,
            TupleSpend::direct(budget(2.0, 1e-6)),
        )
        .map_err(text)?;
    let average = real(events.first().ok_or("no event")?, "average_epsilon")?;
    let t = n as f64;
    let loss = (t - 1.0) * (average.exp_m1() / (t / 2.0 - 2.0)).ln_1p() + 2.0 * average;
    must(loss <= 2.0, || format!("the whole loses {loss} of 2"))
}

fn real(event: &Event, name: &str) -> Result<f64, String> {
    match event.parameters.get(name) {
        Some(Value::Real(x)) => Ok(*x),
        other => Err(format!("{name} is {other:?}")),
    }
}

/// The two ends of a bounding segment together cost what is charged: Σ η·width ≤ ε.
///
/// # Errors
///
/// What they cost.
pub fn segment() -> Check {
    let budget = budget(1.0, 0.0);
    let mut rng = InsecureSeededRng::new(3);
    let mut session = Session::new(budget, NeighboringRelation::ReplaceOne, &mut rng).recorded();
    let event = Event::new(
        "segment",
        dp_core::sensitivity::Sensitivity::ByTheorem,
        NeighboringRelation::ReplaceOne,
        Loss::Pure(budget.epsilon),
    );
    let charge = session.charge(event).map_err(text)?;
    bounding_segment(
        &Counted::new(0..400),
        Range::new(1000, 10),
        1.0,
        0.1,
        1,
        &charge,
        &mut session,
    );
    let tape = session.into_tape().unwrap_or_default();
    let costs: Result<Vec<f64>, String> = tape
        .calls()
        .iter()
        .map(|call| Ok(2.0 * real(&call.event, "eta")?))
        .collect();
    let costs = costs?;
    let total: f64 = costs.iter().sum();
    must(costs.len() == 2 && total <= 1.0 + 1e-12, || {
        format!("{} selections cost {total}", costs.len())
    })
}

/// The noise of an average on a line has nothing to do with how many points lie inside the segment: a point more, in it or out of it, and
/// every call is the same.
///
/// # Errors
///
/// What differs.
pub fn average_noise() -> Check {
    let average = BoundedAverage {
        range: Range::new(1000, 500),
        failure_probability: 0.1,
    };
    let points: Vec<i32> = (0..400).map(|i| 300 + i % 7).collect();
    one_point_more(average, &points, &[-1000, 0, 303, 1000])
}

/// The sum of an average moves no farther than half of the segment, also where a part of the points lies outside of it: they are moved inside, not
/// dropped.
///
/// # Errors
///
/// What differs.
pub fn average_sum() -> Check {
    let average = BoundedAverage {
        range: Range::new(1000, 10),
        failure_probability: 0.1,
    };
    // A tenth at either end of the range, too few for the ends of the segment to follow.
    let points: Vec<i32> = (0..400)
        .map(|i| match i % 10 {
            0 => -1000,
            1 => 1000,
            _ => 300 + i % 7,
        })
        .collect();
    one_point_more(average, &points, &[-1000, 290, 295, 315, 1000])
}

/// An average of points, replayed with one more: every call must be the same, and every statistic within what was declared.
fn one_point_more(average: BoundedAverage, points: &[i32], more: &[i32]) -> Check {
    let budget = budget(1.0, 1e-6);
    let loss = PointLoss {
        epsilon: 1.0,
        delta: 1e-6,
    };
    let run = |points: Vec<i32>, session: &mut Session<'_>| -> Check {
        let event = Event::new(
            "average",
            dp_core::sensitivity::Sensitivity::ByTheorem,
            NeighboringRelation::AddRemove,
            Loss::Approx(budget.epsilon, budget.delta),
        );
        let charge = session.charge(event).map_err(text)?;
        let columns = Columns::new(vec![points]);
        let center = average.release(&columns, &Directions::default(), loss, 1, &charge, session);
        center.map(drop).map_err(text)
    };
    let mut rng = InsecureSeededRng::new(3);
    let mut session = Session::new(budget, NeighboringRelation::AddRemove, &mut rng).recorded();
    run(points.to_vec(), &mut session)?;
    let tape = session.into_tape().unwrap_or_default();
    for &more in more {
        let mut neighbor = points.to_vec();
        neighbor.push(more);
        let mut rng = InsecureSeededRng::new(5);
        let session = Session::new(budget, NeighboringRelation::AddRemove, &mut rng);
        let mut session = session.replayed(&tape, Edit::Inserted(points.len() as u64));
        run(neighbor, &mut session)?;
        let report = session.into_report().unwrap_or_default();
        must(report.calls >= 4, || format!("{} calls", report.calls))?;
        must(report.differences.is_empty(), || {
            format!("with one more at {more}: {:?}", report.differences)
        })?;
    }
    Ok(())
}

/// Interior points follow the law of the exponential mechanism with the quality of `docs/proofs/ktuple.md`, point by point of the grid (exact binomial
/// tails, false-positive rate 1e-9).
///
/// # Errors
///
/// How often each point was chosen.
pub fn interior_points() -> Check {
    let epsilon = Epsilon::new(1.5).map_err(text)?;
    let relation = NeighboringRelation::ReplaceOne;
    let values = [-2_i64, 0, 0, 1];
    let grid = -3..=3_i64;
    // At each y the smaller of how many values are at most y and how many at least: exp(εq/2).
    let weights: Vec<f64> = grid
        .clone()
        .map(|y| {
            let below = values.iter().filter(|&&x| x <= y).count();
            let above = values.iter().filter(|&&x| x >= y).count();
            (epsilon.get() * below.min(above) as f64 / 2.0).exp()
        })
        .collect();
    let all: f64 = weights.iter().sum();
    let law: Vec<f64> = weights.iter().map(|weight| weight / all).collect();
    let mut rng = InsecureSeededRng::new(9);
    let mut session = Session::new(budget(1.5, 0.0), relation, &mut rng);
    let event = Event::new(
        "interior",
        dp_core::sensitivity::Sensitivity::ByTheorem,
        relation,
        Loss::Pure(epsilon),
    );
    let charge = session.charge(event).map_err(text)?;
    let counted = Counted::new(values.into_iter());
    let mut chosen = std::collections::BTreeMap::new();
    for _ in 0..20_000 {
        let purpose = ("interior", 1);
        let range = Range::new(3, 1);
        let point = interior_point(&counted, range, epsilon, purpose, &charge, &mut session);
        *chosen.entry(point).or_insert(0_u64) += 1;
    }
    let counts: Vec<u64> = grid.map(|y| chosen.get(&y).copied().unwrap_or(0)).collect();
    must(implausible_cell(&counts, &law, 1e-9).is_none(), || {
        format!("interior points {counts:?}, law {law:.4?}")
    })
}

/// The noise of `PrivatekNoisyCenters`' centers follows from what was released of their gaps: a tuple that tests, replaced by one that
/// is a little wider, and every call is the same.
///
/// # Errors
///
/// What differs.
pub fn noisy_center_scales() -> Check {
    let centers =
        PrivateKNoisyCenters::new(100.0, 0.05, NoisyComposition::default()).map_err(text)?;
    let n = needed(&centers, 1.0)?;
    let list = |wide: Option<usize>| {
        let mut tuples = Tuples::new(2, 1, Lattice::default());
        for t in 0..n {
            let at = if wide == Some(t) { 0.405 } else { 0.4 };
            tuples.push(array![[-at], [at]].view());
        }
        tuples
    };
    let budget = budget(1.0, 1e-6);
    let mut rng = InsecureSeededRng::new(2);
    let mut session = Session::new(budget, NeighboringRelation::ReplaceOne, &mut rng).recorded();
    let mut public = ChaCha8Rng::seed_from_u64(2);
    let spend = TupleSpend::direct(budget);
    centers
        .aggregate(&list(None), spend, &mut session, &mut public)
        .map_err(text)?;
    let tape = session.into_tape().unwrap_or_default();
    let drawn = tape.calls().first().map(|call| call.output.clone());
    let Some(Output::Integers(drawn)) = drawn else {
        return Err("no tuples were drawn".to_owned());
    };
    // One of them is the one whose balls pass first.
    for at in drawn {
        let at = usize::try_from(at).map_err(text)?;
        let session = Session::new(budget, NeighboringRelation::ReplaceOne, &mut rng);
        let mut session = session.replayed(&tape, Edit::Replaced(at as u64));
        centers
            .aggregate(&list(Some(at)), spend, &mut session, &mut public)
            .map_err(text)?;
        let report = session.into_report().unwrap_or_default();
        must(report.calls >= 6, || format!("{} calls", report.calls))?;
        must(report.differences.is_empty(), || {
            format!("with tuple {at} wider: {:?}", report.differences)
        })?;
    }
    Ok(())
}

/// Void tuples partition nothing: each has all tuples outside of its balls.
///
/// # Errors
///
/// How many it has outside.
pub fn void_partitions_nothing() -> Check {
    let centers =
        PrivateKNoisyCenters::new(100.0, 0.05, NoisyComposition::default()).map_err(text)?;
    let n = needed(&centers, 1.0)?;
    let mut tuples = Tuples::new(2, 1, Lattice::default());
    for _ in 0..n {
        tuples.push_void();
    }
    let calls = calls(&centers, &tuples, 1.0)?;
    let outside = calls.iter().find(|call| {
        call.event.parameters.get("purpose")
            == Some(&Value::Text("tuples outside of the balls".to_owned()))
    });
    let Some(Statistic::Integers(outside)) = outside.map(|call| &call.statistic) else {
        return Err("no tuple was tested".to_owned());
    };
    let least = outside.iter().copied().min().unwrap_or(0);
    must(least >= n as i128, || {
        format!("a void tuple has {least} of {n} outside")
    })
}

/// A tuple with two equal points is void, whatever the other points are.
///
/// # Errors
///
/// If it is not.
pub fn equal_points() -> Check {
    let mut tuples = Tuples::new(3, 1, Lattice::default());
    tuples.push(array![[0.5], [-0.2], [0.5]].view());
    tuples.push(array![[0.5], [-0.2], [0.1]].view());
    must(tuples.is_void(0) && !tuples.is_void(1), || {
        "equal points passed".to_owned()
    })
}
