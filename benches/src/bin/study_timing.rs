//! `cargo xtask study timing [--quick]`: how much of the size of noise the time of its sampling shows, and what padding leaves of it.
#![forbid(unsafe_code)]
#![expect(clippy::disallowed_methods, reason = "it measures time")]

use std::io::Write;
use std::time::{Duration, Instant};

use dashu_ratio::RBig;
use dp_core::padding::Padding;
use dp_core::rng::InsecureSeededRng;
use dp_core::sampler::{DiscreteGaussian, DiscreteLaplace};

/// Draws of a batch: noise on the sums of twenty centers in ten columns.
const BATCH: usize = 200;

/// The slot of a draw, in units of the usual time.
const SLOT: f64 = 4.0;

fn main() {
    let quick = std::env::args().any(|argument| argument == "--quick");
    let draws = if quick { 100_000 } else { 1_000_000 };
    say(
        "law | single draws: correlation (error) | ns | batches: correlation (error) | padded: correlation (error) | within the slot | cost",
    );
    for scale in [10_u32, 1_000_000] {
        let laplace = DiscreteLaplace::new(RBig::from(scale)).expect("a scale above 0");
        study(&format!("Laplace, scale {scale}"), draws, |rng, out| {
            laplace.fill(rng, out);
        });
        let variance = RBig::from(u64::from(scale) * u64::from(scale));
        let gaussian = DiscreteGaussian::new(variance).expect("a variance above 0");
        study(&format!("Gaussian, std dev {scale}"), draws, |rng, out| {
            gaussian.fill(rng, out);
        });
    }
}

fn study(name: &str, draws: usize, fill: impl Fn(&mut InsecureSeededRng, &mut [i128])) {
    let mut rng = InsecureSeededRng::new(1);
    let mut warm = vec![0; 10_000];
    fill(&mut rng, &mut warm);

    let single = measure(draws, 1, &mut rng, &fill, None);
    let usual = median(&single.times);
    let batches = measure(draws / BATCH * 4, BATCH, &mut rng, &fill, None);
    // Four usual times of a batch, measured: on a quiet machine hardly one is longer.
    let slot = Duration::from_secs_f64(median(&batches.times) * SLOT * 1e-9);
    let padded = measure(
        draws / BATCH * 4,
        BATCH,
        &mut rng,
        &fill,
        Some(Padding::new(slot)),
    );
    let inside = padded
        .times
        .iter()
        .filter(|&&ns| ns < 1.5 * slot.as_nanos() as f64)
        .count();
    say(&format!(
        "{name} | {} | {usual:.0} | {} | {} | {:.2} % | {:.1}",
        single.correlation(),
        batches.correlation(),
        padded.correlation(),
        100.0 * inside as f64 / padded.times.len() as f64,
        mean(&padded.times) / mean(&batches.times),
    ));
}

/// Times in nanoseconds and the sums of the sizes of the noise.
struct Measured {
    times: Vec<f64>,
    sizes: Vec<f64>,
}

fn measure(
    count: usize,
    batch: usize,
    rng: &mut InsecureSeededRng,
    fill: &impl Fn(&mut InsecureSeededRng, &mut [i128]),
    padding: Option<Padding>,
) -> Measured {
    let mut measured = Measured {
        times: Vec::with_capacity(count),
        sizes: Vec::with_capacity(count),
    };
    let mut noise = vec![0_i128; batch];
    let origin = Instant::now();
    let clock = || origin.elapsed();
    for _ in 0..count {
        let start = Instant::now();
        match padding {
            None => fill(rng, &mut noise),
            Some(padding) => padding.run(&clock, || fill(rng, &mut noise)),
        }
        measured.times.push(start.elapsed().as_nanos() as f64);
        measured
            .sizes
            .push(noise.iter().map(|x| x.unsigned_abs() as f64).sum());
    }
    measured
}

impl Measured {
    /// Spearman's correlation, which outliers of the machine do not spoil, and its standard error without any dependence.
    fn correlation(&self) -> String {
        let (times, sizes) = (ranks(&self.times), ranks(&self.sizes));
        let (t, s) = (mean(&times), mean(&sizes));
        let product = |a: &[f64], ma: f64, b: &[f64], mb: f64| -> f64 {
            a.iter().zip(b).map(|(x, y)| (x - ma) * (y - mb)).sum()
        };
        let r = product(&times, t, &sizes, s)
            / (product(&times, t, &times, t) * product(&sizes, s, &sizes, s)).sqrt();
        format!("{r:+.4} ({:.4})", 1.0 / (times.len() as f64).sqrt())
    }
}

/// Ranks, equal values sharing their mean.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    let mut from = 0;
    for run in order.chunk_by(|&a, &b| values[a].total_cmp(&values[b]).is_eq()) {
        let shared = from as f64 + (run.len() - 1) as f64 / 2.0;
        for &i in run {
            ranks[i] = shared;
        }
        from += run.len();
    }
    ranks
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

fn say(line: &str) {
    // Nobody is left to tell if standard output is gone.
    let _ = writeln!(std::io::stdout().lock(), "{line}");
}
