//! What the draws under a charge lose together, composed once more by the rule of each theorem, against what the charge paid for.
//!
//! Replays and the ledger law see neither: a replay compares two runs with the same wrong noise, and the ledger has the loss of the theorem as a
//! whole. Each check runs an algorithm on made-up data, reads from the tape with which noise its steps were drawn, and refuses more than was paid by one
//! part in 10⁹, less than was paid by one in 10⁶, and draws of which the theorem does not know. The rules are those of
//! `docs/proofs/friendly-core.md`, `docs/proofs/ktuple.md` and `docs/proofs/maxcover.md`. δ that a theorem leaves to events of its own is taken as
//! divided there, because it does not follow from the noise alone: see [`left_out`](super::left_out).

use dp_audit::charges::{Concentrated, Draws, greatest, within};
use dp_core::composition::{ApproxLoss, advanced};
use dp_core::rng::InsecureSeededRng;
use dp_core::tape::Tape;
use dp_core::{Budget, Delta, Epsilon, Loss, NeighboringRelation, Session};
use ktuple::averages::Axes;
use ktuple::friendly::{Filter, FriendlyAverages, FriendlyCore, RadiusSearch};
use ktuple::means::{KMeansOutcome, PrivateKMeansParams, Refine};
use ktuple::paper::{NoisyComposition, PrivateKAverages, PrivateKNoisyCenters};
use ktuple::{Aggregate, TupleAggregator, TupleShape, TupleSpend, Tuples};
use maxcover::Rate;
use maxcover::greedy::{Picker, SetCoverage, picks_event};
use metric_space::{FramedSource, Lattice};
use ndarray::{Array2, array};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{Check, must, text};
use crate::subjects::{budget, lattice_frame};

/// The least share of what was paid that draws must lose, where a theorem spends all of it.
const LEAST: f64 = 1.0 - 1e-6;

pub(super) const DELTA: f64 = 1e-6;

/// β of the tuple test, with which it fails on perfect tuples.
pub(super) const FAILURE_PROBABILITY: f64 = 0.05;

/// Units per passing tuple in which the tuple test counts.
const PASS_UNITS: f64 = 1024.0;

fn shape(n_tuples: usize, points: usize) -> TupleShape {
    TupleShape {
        n_tuples,
        n_clusters: points,
        dimension: 2,
        lattice: Lattice::default(),
    }
}

/// The tape of an aggregation of n tuples that agree.
pub(super) fn tape(
    aggregator: &dyn TupleAggregator,
    n: usize,
    points: usize,
    epsilon: f64,
) -> Result<Tape, String> {
    let mut data = ChaCha8Rng::seed_from_u64(17);
    let mut tuples = Tuples::new(points, 2, Lattice::default());
    for _ in 0..n {
        let tuple = Array2::from_shape_fn((points, 2), |(i, _)| {
            0.6 - 1.2 * i as f64 + data.random_range(-2e-5..2e-5)
        });
        tuples.push(tuple.view());
    }
    let budget = budget(epsilon, DELTA);
    let mut rng = InsecureSeededRng::new(2);
    let mut session = Session::new(budget, NeighboringRelation::ReplaceOne, &mut rng).recorded();
    let mut public = ChaCha8Rng::seed_from_u64(2);
    let answer = aggregator
        .aggregate(
            &tuples,
            TupleSpend::direct(budget),
            &mut session,
            &mut public,
        )
        .map_err(text)?;
    must(matches!(answer, Aggregate::Centers(_)), || {
        "tuples that agree were refused".to_owned()
    })?;
    Ok(session.into_tape().unwrap_or_default())
}

/// A few more tuples than an aggregator needs.
pub(super) fn enough(
    aggregator: &dyn TupleAggregator,
    points: usize,
    epsilon: f64,
) -> Result<usize, String> {
    let needed = aggregator.tuples_needed(shape(1, points), budget(epsilon, DELTA));
    let needed = usize::try_from(needed.map_err(text)?).map_err(text)?;
    Ok(needed + needed / 4 + 8)
}

/// The number of a list that has one.
pub(super) fn first(each: &[f64]) -> f64 {
    each.first().copied().unwrap_or(f64::NAN)
}

/// The count, the logarithms of gaps if there are k > 1, and the k means of the average after a filter.
struct Average {
    /// ε of the count, by Laplace noise, or its ρ, for one tuple more or less.
    count: Count,
    /// ρ of all else, for one tuple more or less.
    rest: Concentrated,
}

enum Count {
    Pure(f64),
    Rho(Concentrated),
}

/// The average's draws. Of the count a replaced tuple moves as much as one that comes or goes. All else is declared for a replaced tuple, which
/// is two steps of the average: half as far is one. A tuple has a point in each of the k clusters, so the means add up.
fn average(draws: &Draws<'_>, points: usize) -> Result<Average, String> {
    let count = draws.of("kept tuples", 1).map_err(text)?;
    let count = match (count.epsilons(), count.rhos()) {
        (Ok(epsilons), _) => Count::Pure(first(&epsilons)),
        (_, Ok(rhos)) => Count::Rho(Concentrated::sum(&rhos)),
        (Err(error), Err(_)) => return Err(text(error)),
    };
    let mut rest = draws.of("mean of a cluster", points).map_err(text)?;
    let mut all = rest.rhos().map_err(text)?;
    if points > 1 {
        rest = draws.of("logarithms of gaps", 1).map_err(text)?;
        all.extend(rest.rhos().map_err(text)?);
    }
    Ok(Average {
        count,
        rest: Concentrated::sum(&all).moved(0.5),
    })
}

/// The ε of a filter over an average of t tuples that may spend `budget`.
///
/// Proportional (Lemma 2): (t − 1)·ln(1 + (e^ε₀ − 1)/(t/2 − 2)) + 2ε₀, where ε₀ is that of the count and of one Gaussian for all else (Lemma 3) at
/// half of δ₀ = δ/(e^ε·(s + 2)), s = (t − 1)/(t/2 − 2). The other half is for the two events that Lemma 3 leaves out.
///
/// Gaussian: ρ₁ + 4ρ₀ at half of δ, ρ₁ for counts of matches that move by √(t − 1) together, ρ₀ for one step of the average, of which a replaced
/// tuple is two. The other half is for events, too.
fn filtered(
    filter: Filter,
    draws: &Draws<'_>,
    (t, points): (usize, usize),
    budget: Budget,
) -> Result<f64, String> {
    let average = average(draws, points)?;
    let t = t as f64;
    match (filter, average.count) {
        (Filter::Proportional, Count::Pure(count)) => {
            let room = t / 2.0 - 2.0;
            let one = count + average.rest.epsilon(before_filter(t, budget) / 2.0);
            Ok((t - 1.0) * (one.exp_m1() / room).ln_1p() + 2.0 * one)
        }
        (Filter::Gaussian, Count::Rho(count)) => {
            let matches = draws.of("matches per tuple", 1).map_err(text)?;
            let std_dev = first(&matches.parameter("std_dev").map_err(text)?);
            let filter = Concentrated {
                rho: (t - 1.0) / (2.0 * std_dev * std_dev),
                gaussian: false,
            };
            let steps = [count, average.rest].map(|step| step.moved(2.0));
            let all = Concentrated::sum(&[filter, steps[0], steps[1]]);
            Ok(all.epsilon(budget.delta.get() / 2.0))
        }
        _ => Err("the count has the noise of the other filter".to_owned()),
    }
}

/// δ₀ of the average before a proportional filter of t tuples that may spend `budget` in all.
pub(super) fn before_filter(t: f64, budget: Budget) -> f64 {
    let steps = (t - 1.0) / (t / 2.0 - 2.0);
    budget.delta.get() / (budget.epsilon.get().exp() * (steps + 2.0))
}

/// The draws of an average after a filter: without noise of its own, and with it.
const OF_AVERAGE: &[&str] = &["kept tuples", "logarithms of gaps", "mean of a cluster"];
const OF_GAUSSIAN_FILTER: &[&str] = &[
    "matches per tuple",
    "kept tuples",
    "logarithms of gaps",
    "mean of a cluster",
];

/// Both filters, with budgets at which they need few tuples, and the draws under them.
pub(super) const FILTERS: [(Filter, f64, &[&str]); 3] = [
    (Filter::Proportional, 1.0, OF_AVERAGE),
    (Filter::Proportional, 8.0, OF_AVERAGE),
    (Filter::Gaussian, 40.0, OF_GAUSSIAN_FILTER),
];

/// FriendlyCore's noise is worth its ε, by either filter.
///
/// # Errors
///
/// What the draws lose.
pub fn friendly_core() -> Check {
    for (filter, epsilon, purposes) in FILTERS {
        let core = FriendlyCore::new(1.0 / 12.0, filter).map_err(text)?;
        let t = enough(&core, 2, epsilon)?;
        let tape = tape(&core, t, 2, epsilon)?;
        let draws = Draws::under(&tape, "friendly-core");
        draws.only(purposes).map_err(text)?;
        let used = filtered(filter, &draws, (t, 2), budget(epsilon, DELTA))?;
        within("friendly core", used, epsilon, LEAST).map_err(text)?;
    }
    Ok(())
}

/// The noise of FriendlyCore for points is worth its ε, by either filter: that of the radius, where one is searched, and of the filtered average.
///
/// # Errors
///
/// What the draws lose.
pub fn friendly_averages() -> Check {
    for search in [RadiusSearch::Public(0.1), RadiusSearch::Above(0.01)] {
        let searches = usize::from(matches!(search, RadiusSearch::Above(_)));
        for (filter, epsilon, purposes) in FILTERS {
            let averages = FriendlyAverages::new(search, filter).map_err(text)?;
            let t = enough(&averages, 1, epsilon)?;
            let tape = tape(&averages, t, 1, epsilon)?;
            let draws = Draws::under(&tape, "friendly-average");
            draws
                .only(&[purposes, &["radius"]].concat())
                .map_err(text)?;
            let radius = draws.of("radius", searches).map_err(text)?;
            let radius: f64 = radius.epsilons().map_err(text)?.iter().sum();
            must(radius < epsilon, || {
                format!("the radius alone loses {radius}")
            })?;
            let rest = budget(epsilon - radius, DELTA);
            let used = radius + filtered(filter, &draws, (t, 1), rest)?;
            within("friendly average", used, epsilon, LEAST).map_err(text)?;
        }
    }
    Ok(())
}

/// The draws of the tuple test.
const OF_TEST: [&str; 3] = [
    "tuples that test",
    "tuples outside of the balls",
    "passing tuples",
];

/// ε of the status of the tuple test, and m, the number of tuples drawn of n. As a function of the tuples that are counted it loses ε₂: each of them
/// moves all m noisy counts by at most 1. As a function of those drawn it loses ε₁, for one passing tuple more or less, and ln(1 + (m/n)(e^ε₁ − 1)) after
/// sampling. A drawn tuple's own count may be anything, which is why neither follows from a sensitivity.
fn tested(draws: &Draws<'_>, n: usize) -> Result<(f64, f64), String> {
    let [drawn, counted, passing] = OF_TEST;
    let drawn = draws.of(drawn, 1).map_err(text)?.lengths();
    let counted = draws.of(counted, 1).map_err(text)?;
    must(counted.lengths() == drawn, || {
        format!("{:?} counts of {drawn:?} tuples", counted.lengths())
    })?;
    let m = drawn.first().copied().unwrap_or(0) as f64;
    let counted = m / first(&counted.parameter("scale").map_err(text)?);
    let passing = draws.of(passing, 1).map_err(text)?;
    let passing = PASS_UNITS / first(&passing.parameter("scale").map_err(text)?);
    Ok((counted + (m / n as f64 * passing.exp_m1()).ln_1p(), m))
}

/// Tuples that the test takes at ε = 1.
pub(super) fn enough_to_test() -> Result<usize, String> {
    let test = PrivateKNoisyCenters::new(7.0, FAILURE_PROBABILITY, NoisyComposition::Basic);
    enough(&test.map_err(text)?, 2, 1.0)
}

/// The noise of the tuple test is worth half of its algorithm's ε.
///
/// # Errors
///
/// What the draws lose.
pub fn partition_test() -> Check {
    let n = enough_to_test()?;
    let centers = PrivateKNoisyCenters::new(100.0, FAILURE_PROBABILITY, NoisyComposition::Basic);
    let tape = tape(&centers.map_err(text)?, n, 2, 1.0)?;
    let (used, _) = tested(&Draws::under(&tape, "private-k-noisy-centers"), n)?;
    within("the tuple test", used, 0.5, LEAST)
        .map(drop)
        .map_err(text)
}

/// The noise of `PrivatekNoisyCenters` is worth its ε, by either composition: the test, the k logarithms of gaps, and the k centers.
///
/// # Errors
///
/// What the draws lose.
pub fn noisy_centers() -> Check {
    let (epsilon, points) = (1.0, 2);
    let n = enough_to_test()?;
    for composition in [NoisyComposition::Basic, NoisyComposition::Advanced] {
        let centers = PrivateKNoisyCenters::new(100.0, FAILURE_PROBABILITY, composition);
        let tape = tape(&centers.map_err(text)?, n, points, epsilon)?;
        let draws = Draws::under(&tape, "private-k-noisy-centers");
        let (scales, each) = ("logarithms of gaps", "center of a ball");
        let [a, b, c] = OF_TEST;
        draws.only(&[a, b, c, scales, each]).map_err(text)?;
        let scales = draws.of(scales, 1).map_err(text)?;
        let each = draws.of(each, points).map_err(text)?.rhos().map_err(text)?;
        let rest = match composition {
            // All k logarithms may move; each center is (ε/(4k), δ/(8k)).
            NoisyComposition::Basic => {
                let of_each = |center: &Concentrated| center.epsilon(DELTA / (8 * points) as f64);
                first(&scales.epsilons().map_err(text)?) + each.iter().map(of_each).sum::<f64>()
            }
            // One Gaussian for all, at δ/8.
            NoisyComposition::Advanced => {
                let mut all = each;
                all.extend(scales.rhos().map_err(text)?);
                Concentrated::sum(&all).epsilon(DELTA / 8.0)
            }
        };
        let used = tested(&draws, n)?.0 + rest;
        within("noisy centers", used, epsilon, LEAST).map_err(text)?;
    }
    Ok(())
}

/// What one axis of an average draws, for one point more or less.
struct Axis {
    /// The two ends of the segment and the count.
    pure: f64,
    /// The sum.
    sum: Concentrated,
}

impl Axis {
    fn epsilon(&self, delta: f64) -> f64 {
        self.pure + self.sum.epsilon(delta)
    }
}

/// ε of d axes for one point more or less, at δ: the better of (ε̃, δ/d) by basic and (ε̃, δ/(2d)) by advanced composition with slack δ/2.
fn of_axes(axes: &[Axis], delta: f64) -> f64 {
    let d = axes.len() as f64;
    let basic: f64 = axes.iter().map(|axis| axis.epsilon(delta / d)).sum();
    let each = ApproxLoss {
        epsilon: greatest(axes.iter().map(|axis| axis.epsilon(delta / (2.0 * d)))),
        delta: delta / (2.0 * d),
    };
    let advanced = advanced(axes.len() as u64, each, delta / 2.0).epsilon;
    if advanced < basic { advanced } else { basic }
}

/// The noise of `PrivatekAverages` is worth its ε: the test, and 2k(ℓ + 1) points by which the clusters differ.
///
/// Statistics are declared for as many points as may differ, all of them in any one cluster. The theorem lets s_i differ in cluster i with
/// Σ s_i ≤ 2k(ℓ + 1), by group privacy: so what counts is the dearest cluster's loss per point, times that number, at δ̂ with
/// e^(ε/2)·2k(ℓ + 1)·δ̂ = δ/4.
///
/// # Errors
///
/// What the draws lose.
pub fn averages() -> Check {
    let (epsilon, points, dimension) = (1.0, 2, 2);
    let n = enough_to_test()?;
    for axes in [Axes::Own, Axes::Rotated] {
        let averages = PrivateKAverages::new(0.01, FAILURE_PROBABILITY, axes).map_err(text)?;
        let tape = tape(&averages, n, points, epsilon)?;
        let draws = Draws::under(&tape, "private-k-averages");
        let (low, high, count, sum) = ("lower end", "upper end", "points", "sum in a segment");
        let [a, b, c] = OF_TEST;
        draws
            .only(&[a, b, c, low, high, count, sum])
            .map_err(text)?;
        let (test, m) = tested(&draws, n)?;
        // ℓ = (2m/ε)·ln(m²/(βδ)) of the call (ε/2, δ/4, β/2).
        let odds = FAILURE_PROBABILITY / 2.0 * DELTA / 4.0;
        let outside = 2.0 * m / (epsilon / 2.0) * (m * m / odds).ln();
        let changed = 2.0 * points as f64 * (outside + 1.0);
        let lines = points * dimension;
        let of = |purpose| draws.of(purpose, lines).map_err(text);
        // How many points the sensitivities were declared for: the count moves by one for each.
        let declared: Vec<f64> = of(count)?
            .calls()
            .iter()
            .map(|call| call.event.sensitivity.l1(1).unwrap_or(f64::NAN))
            .collect();
        let (low, high) = (of(low)?.epsilons(), of(high)?.epsilons());
        let (low, high) = (low.map_err(text)?, high.map_err(text)?);
        let count = of(count)?.epsilons().map_err(text)?;
        let sum = of(sum)?.rhos().map_err(text)?;
        let lines: Vec<Axis> = (0..lines)
            .map(|line| Axis {
                pure: (low[line] + high[line] + count[line]) / declared[line],
                sum: sum[line].moved(1.0 / declared[line]),
            })
            .collect();
        let delta = DELTA / 4.0 / ((epsilon / 2.0).exp() * changed);
        let clusters = lines.chunks(dimension);
        let used = test + changed * greatest(clusters.map(|axes| of_axes(axes, delta)));
        within("averages", used, epsilon, LEAST).map_err(text)?;
    }
    Ok(())
}

/// The ε at δ of the rounds of [`Refine`] on k clusters: the histograms of radii, which the ledger has one by one, and in each round one Gaussian for the
/// dearest of the k sums. A record is in one cluster, or a replaced one leaves one and enters another: the sums are declared for both at once in
/// one cluster, and half as far in each of two costs half of that.
fn refined(
    tape: &Tape,
    clusters: usize,
    rounds: usize,
    delta: f64,
    relation: NeighboringRelation,
) -> Result<f64, String> {
    let draws = Draws::under(tape, "discrete-gaussian-per-cluster");
    draws.only(&["sum of a cluster"]).map_err(text)?;
    let sums = draws.of("sum of a cluster", clusters * rounds);
    let sums = sums.map_err(text)?.rhos().map_err(text)?;
    let most: Vec<Concentrated> = sums.chunks(clusters).map(Concentrated::most).collect();
    // Round by round, too: the charge is that of its own round.
    for (round, most) in most.iter().enumerate() {
        let Some(Loss::Zcdp(paid)) = draws.calls().get(round * clusters).map(|c| c.event.loss)
        else {
            return Err("a round of sums without a charge".to_owned());
        };
        within("sums of a round", most.rho, paid.get(), LEAST).map_err(text)?;
    }
    let radii: Vec<f64> = tape
        .calls()
        .iter()
        .filter(|call| {
            call.event.mechanism == "discrete-laplace" && call.event.relation == relation
        })
        .map(|call| match call.event.loss {
            Loss::Pure(epsilon) => epsilon.get(),
            Loss::Approx(..) | Loss::Zcdp(_) => f64::NAN,
        })
        .collect();
    must(radii.len() == rounds, || {
        format!("{} histograms in {rounds} rounds", radii.len())
    })?;
    Ok(radii.iter().sum::<f64>() + Concentrated::sum(&most).epsilon(delta))
}

/// Two groups of records around (±0.6, ±0.6).
fn groups(n: usize) -> Array2<f64> {
    let mut data = ChaCha8Rng::seed_from_u64(19);
    Array2::from_shape_fn((n, 2), |(i, _)| {
        let place = if i % 2 == 0 { -0.6 } else { 0.6 };
        place + data.random_range(-0.01..0.01)
    })
}

/// The noise of the rounds that refine centers is worth their ε, under both relations.
///
/// # Errors
///
/// What the draws lose.
pub fn refine() -> Check {
    let (epsilon, refine) = (1.0, Refine::default());
    for relation in NeighboringRelation::ALL {
        let mut rng = InsecureSeededRng::new(3);
        let session = Session::new(budget(epsilon, DELTA), relation, &mut rng);
        let mut session = session.recorded();
        let (records, frame) = (groups(200), lattice_frame(2, 12));
        let centers = array![[-0.5, -0.5], [0.5, 0.5], [0.0, 0.9]];
        let spend = refine.spend(epsilon, DELTA).map_err(text)?;
        let source = FramedSource::new(&records, &frame);
        refine
            .run(&source, &centers, spend, &mut session)
            .map_err(text)?;
        let tape = session.into_tape().unwrap_or_default();
        let used = refined(&tape, 3, refine.n_rounds, DELTA, relation)?;
        within("refined centers", used, epsilon, LEAST).map_err(text)?;
    }
    Ok(())
}

/// The noise of all of `PrivatekMeans` is worth its ε, under both relations: that of the tuples, one of which holds a record, and that of the rounds.
///
/// # Errors
///
/// What the draws lose.
pub fn private_k_means() -> Check {
    let (epsilon, delta) = (40.0, 1e-3);
    for relation in NeighboringRelation::ALL {
        let params = PrivateKMeansParams::new(2, budget(epsilon, delta)).n_restarts(1);
        let means = params.check().map_err(text)?;
        let frame = lattice_frame(2, 20);
        let t = means.n_blocks(&frame, relation).map_err(text)?;
        let records = groups(12 * t);
        let mut rng = InsecureSeededRng::new(4);
        let session = Session::new(budget(epsilon, delta), relation, &mut rng);
        let mut session = session.recorded();
        let mut public = ChaCha8Rng::seed_from_u64(5);
        let source = FramedSource::new(&records, &frame);
        let answer = means
            .fit(&source, &mut session, &mut public)
            .map_err(text)?;
        must(matches!(answer, KMeansOutcome::Released { .. }), || {
            "groups that are easy to find were refused".to_owned()
        })?;
        let tape = session.into_tape().unwrap_or_default();
        let draws = Draws::under(&tape, "friendly-core");
        draws.only(OF_AVERAGE).map_err(text)?;
        let paid = draws.calls().first().map(|call| call.event.loss);
        let Some(Loss::Approx(for_tuples, delta_tuples)) = paid else {
            return Err(format!("the tuples were charged {paid:?}"));
        };
        let spend = Budget::approx(for_tuples, delta_tuples);
        let tuples = filtered(Filter::Proportional, &draws, (t, 2), spend)?;
        within("the tuples", tuples, for_tuples.get(), LEAST).map_err(text)?;
        let rounds = Refine::default().n_rounds;
        let rest = refined(&tape, 2, rounds, delta - delta_tuples.get(), relation)?;
        within("PrivatekMeans", tuples + rest, epsilon, LEAST).map_err(text)?;
    }
    Ok(())
}

/// Picks of maximum coverage are made at the rate that was paid for: with x the most that a pick loses by itself, the whole loses ε at a δ of at most
/// (1 − e^(−x))·exp(−(ε + x)/(e^x − 1)), however many picks there are.
///
/// # Errors
///
/// The δ.
pub fn coverage_picks() -> Check {
    let (epsilon, delta) = (1.0, DELTA);
    for rate in Rate::ALL {
        let (e, d) = (
            Epsilon::new(epsilon).map_err(text)?,
            Delta::new(delta).map_err(text)?,
        );
        let (event, rate) = picks_event(rate, e, d).ok_or("no rate")?;
        let mut rng = InsecureSeededRng::new(6);
        let relation = NeighboringRelation::AddRemove;
        let mut session = Session::new(budget(epsilon, delta), relation, &mut rng).recorded();
        let picker = Picker::new(&mut session, event, rate).map_err(text)?;
        let sets = vec![vec![0, 1], vec![2], vec![3], vec![]];
        picker.pick(&mut session, &mut SetCoverage::new(sets, 0..4), 4);
        let tape = session.into_tape().unwrap_or_default();
        let picks = Draws::under(&tape, "maximum-coverage");
        let each = picks.of("candidate centers", 4).map_err(text)?.epsilons();
        let x = greatest(each.map_err(text)?);
        let used = (1.0 - (-x).exp()) * (-(epsilon + x) / x.exp_m1()).exp();
        // Two of the three rates spend less: how much is a matter of their formulas. The exponent is large: a part in 10⁹ of x is more of δ.
        within("all picks", used, delta * (1.0 + 1e-6), 0.0).map_err(text)?;
    }
    Ok(())
}
