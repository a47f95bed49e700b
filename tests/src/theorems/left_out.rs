//! Probabilities of the events that theorems leave out: a count that is overestimated, a scale that is too small.
//!
//! What guards against them, a margin or a raise, is added to a noisy number after it was released, and no event says how much it was. It shows in
//! what is drawn next: the sensitivity of a mean is a public function of the estimated count and of the raised scale. So both are found
//! from a tape, and the tail of the noise beyond them is compared with the δ that the theorem has for it.

use dp_audit::charges::{Draws, within};
use dp_core::Budget;
use dp_core::tape::{Call, Output};
use ktuple::friendly::{Filter, FriendlyAverages, FriendlyCore, RadiusSearch};
use ktuple::paper::{NoisyComposition, PrivateKNoisyCenters};
use metric_space::Lattice;

use super::charges::{
    DELTA, FAILURE_PROBABILITY, FILTERS, before_filter, enough, enough_to_test, first, tape,
};
use super::{Check, must, text};
use crate::subjects::budget;

/// Units per one of logarithms of gaps.
const LN_UNITS: f64 = 1_048_576.0;

/// Steps per lattice step of the grid of means.
const FINE: f64 = 4096.0;

/// Columns of the tuples.
const DIMENSION: usize = 2;

/// Tails are exponentials of numbers of which a part in 10⁹ may be lost.
const TAIL: f64 = 1.0 + 1e-6;

/// δ of each of the two events: a quarter of δ₀ by the proportional filter, an eighth of δ by the Gaussian one.
fn delta_of_event(filter: Filter, t: usize, budget: Budget) -> f64 {
    match filter {
        Filter::Proportional => before_filter(t as f64, budget) / 4.0,
        Filter::Gaussian => budget.delta.get() / 8.0,
    }
}

/// What was answered to one draw.
fn answer(draws: &Draws<'_>) -> Result<Vec<f64>, String> {
    match draws.calls().first().map(|call| &call.output) {
        Some(Output::Integers(values)) => Ok(values.iter().map(|&x| x as f64).collect()),
        other => Err(format!("{other:?} is no vector")),
    }
}

/// How far a neighbor moves the vector of a draw, in Euclidean length.
fn moved(call: &Call, coordinates: usize) -> f64 {
    let squared = call.event.sensitivity.l2_squared(coordinates);
    squared.map_or(f64::NAN, f64::sqrt)
}

/// A bound on the probability that sub-Gaussian noise exceeds z standard deviations.
fn sub_gaussian(z: f64) -> f64 {
    if z > 0.0 { (-z * z / 2.0).exp() } else { 1.0 }
}

/// The probability that discrete Laplace noise exceeds a number: q^(⌊x⌋ + 1)/(1 + q), q = e^(−1/scale).
fn laplace(x: f64, scale: f64) -> f64 {
    if x >= 0.0 {
        (-(x.floor() + 1.0) / scale).exp() / (1.0 + (-1.0 / scale).exp())
    } else {
        1.0
    }
}

/// The probability that the noise of a count exceeds a whole number: exactly for discrete Laplace noise.
fn beyond(count: &Draws<'_>, margin: f64) -> Result<f64, String> {
    if let Ok(scale) = count.parameter("scale") {
        return Ok(laplace(margin, first(&scale)));
    }
    let std_dev = count.parameter("std_dev").map_err(text)?;
    Ok(sub_gaussian(margin / first(&std_dev)))
}

/// FriendlyCore's count of kept tuples is overestimated, and one of its k scales is too small, with no more than the probability of Lemma 3.
///
/// # Errors
///
/// The probabilities.
pub fn friendly_core() -> Check {
    let points = 2;
    for (filter, epsilon, _) in FILTERS {
        let core = FriendlyCore::new(1.0 / 12.0, filter).map_err(text)?;
        let t = enough(&core, points, epsilon)?;
        let tape = tape(&core, t, points, epsilon)?;
        let draws = Draws::under(&tape, "friendly-core");
        let delta = delta_of_event(filter, t, budget(epsilon, DELTA));
        let ratio = first(&draws.parameter("match_ratio").map_err(text)?);
        let kappa = 2.0 * (2.0 * ratio).ln_1p();
        let reach = 2.0 * ratio * (1.0 + ratio) * (kappa * kappa / 8.0).exp();
        let count = draws.of("kept tuples", 1).map_err(text)?;
        let noisy = first(&answer(&count)?);
        let logarithms = draws.of("logarithms of gaps", 1).map_err(text)?;
        let means = draws.of("mean of a cluster", points).map_err(text)?;
        // Declared for two steps of the average; all k move by w.
        let wide = moved(logarithms.calls()[0], points) / 2.0 / (points as f64).sqrt();
        let wide = wide.round();
        let std_dev = first(&logarithms.parameter("std_dev").map_err(text)?);
        // w = ⌈(κ·2²⁰ + 2)/n̂⌉ + 1 leaves few whole numbers for n̂, most often one.
        let units = kappa * LN_UNITS + 2.0;
        let released = answer(&logarithms)?;
        let mut estimate = (units / (wide - 1.0)).ceil();
        let mut found = Vec::new();
        while estimate < units / (wide - 2.0) {
            // R = reach·exp((mean + raise)/2²⁰), and the mean of a cluster moves by R/n̂ and a step per column.
            let raises = means.calls().iter().zip(&released).map(|(call, mean)| {
                let step = moved(call, DIMENSION) / 2.0 - (DIMENSION as f64).sqrt();
                (step * estimate / FINE / reach).ln() * LN_UNITS - mean
            });
            let least = raises.fold(
                f64::INFINITY,
                |least, raise| {
                    if raise < least { raise } else { least }
                },
            );
            // w + 1 of the raise is for what a tuple moves.
            let small = points as f64 * sub_gaussian((least - wide - 1.0) / std_dev);
            found.push((beyond(&count, noisy - estimate)?, small));
            estimate += 1.0;
        }
        let kept = found
            .iter()
            .any(|&(over, small)| over <= delta && small <= delta * TAIL);
        must(kept, || {
            format!(
                "{filter:?}: an event of probability {delta} has {found:?} (too large a count, too small a scale)"
            )
        })?;
    }
    Ok(())
}

/// The count of FriendlyCore for points is overestimated with no more than the probability of Lemma 3.
///
/// # Errors
///
/// The probability.
pub fn friendly_averages() -> Check {
    let one = Lattice::default().units_per_one() as f64;
    for (search, least) in [
        (RadiusSearch::Public(0.1), 0.1),
        (RadiusSearch::Above(0.01), 0.01),
    ] {
        for (filter, epsilon, _) in FILTERS {
            let averages = FriendlyAverages::new(search, filter).map_err(text)?;
            let t = enough(&averages, 1, epsilon)?;
            let tape = tape(&averages, t, 1, epsilon)?;
            let draws = Draws::under(&tape, "friendly-average");
            let mut radius = (least * one).floor();
            let mut spent = 0.0;
            if let RadiusSearch::Above(_) = search {
                let chosen = draws.of("radius", 1).map_err(text)?;
                spent = first(&chosen.epsilons().map_err(text)?);
                let Some(Output::Choice(Some(chosen))) = chosen.calls().first().map(|c| &c.output)
                else {
                    return Err("no radius was chosen".to_owned());
                };
                radius *= 2.0 * (*chosen as f64).exp2();
            }
            let count = draws.of("kept tuples", 1).map_err(text)?;
            let mean = draws.of("mean of a cluster", 1).map_err(text)?;
            let step = moved(mean.calls()[0], DIMENSION) / 2.0 - (DIMENSION as f64).sqrt();
            let estimate = 2.0 * radius * FINE / step;
            must((estimate - estimate.round()).abs() < 1e-3, || {
                format!("an estimate of {estimate} tuples")
            })?;
            let margin = first(&answer(&count)?) - estimate.round();
            let delta = delta_of_event(filter, t, budget(epsilon - spent, DELTA));
            let over = beyond(&count, margin)?;
            within("too large a count of points", over, delta, 0.0).map_err(text)?;
        }
    }
    Ok(())
}

/// One of the k scales of `PrivatekNoisyCenters` is too small with a probability of at most δ/8.
///
/// # Errors
///
/// The probability.
pub fn noisy_centers() -> Check {
    // So wide that the scales are not cut at the domain's diameter.
    let (separation, points) = (5000.0, 2);
    let alpha = 4.0 / (separation - 2.0);
    let relative = 2.0 / separation * (1.0 + alpha / 2.0);
    let n = enough_to_test()?;
    for composition in [NoisyComposition::Basic, NoisyComposition::Advanced] {
        let centers = PrivateKNoisyCenters::new(separation, FAILURE_PROBABILITY, composition);
        let tape = tape(&centers.map_err(text)?, n, points, 1.0)?;
        let draws = Draws::under(&tape, "private-k-noisy-centers");
        let logarithms = draws.of("logarithms of gaps", 1).map_err(text)?;
        let centers = draws.of("center of a ball", points).map_err(text)?;
        for (call, logarithm) in centers.calls().iter().zip(answer(&logarithms)?) {
            let raise = (moved(call, DIMENSION) / relative).ln() * LN_UNITS - logarithm;
            // One unit is for the rounding of the logarithm.
            let (each, share) = match composition {
                // The proof's bound e^(−x/scale) leaves out a factor of about ½.
                NoisyComposition::Basic => {
                    let scale = first(&logarithms.parameter("scale").map_err(text)?);
                    (laplace(raise - 1.0, scale), 0.499)
                }
                NoisyComposition::Advanced => {
                    let std_dev = first(&logarithms.parameter("std_dev").map_err(text)?);
                    (sub_gaussian((raise - 1.0) / std_dev), 0.999)
                }
            };
            let small = points as f64 * each;
            within("too small a scale", small, DELTA / 8.0 * TAIL, share).map_err(text)?;
        }
    }
    Ok(())
}
