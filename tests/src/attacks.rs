//! Published attacks on floating-point noise, against a float implementation of this file (they succeed) and against the
//! door (they fail).
//!
//! * Mironov, "On significance of the least significant bits for differential privacy", CCS 2012: which floats can come out at all
//!   depends on the exact value.
//! * Haney, Desfontaines, Hartman, Shrestha, Hay, "Precision-based attacks and interval refining", 2022: the precision of the
//!   result tells the size of the exact value.
//! * Casacuberta, Shoemate, Vadhan, Wagaman, "Widespread underestimation of sensitivity in differentially private libraries and how
//!   to fix it", CCS 2022: sums of floats move by more than the largest term, by rounding, repeated rounding, or re-ordering.

use dp_audit::black_box::BlackBox;
use dp_core::Confidential;
use dp_core::mechanism::AdditiveMechanism;
use dp_core::rng::InsecureSeededRng;
use metric_space::{FramedSource, LatticeSource};
use ndarray::Array2;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::door::{laplace, rich};
use crate::subjects::lattice_frame;

/// False-positive rate of each bound here.
const RATE: f64 = 1e-6;

/// What an attack finds against floats and against the door; both promise the same ε.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Attack {
    /// Name.
    pub name: &'static str,
    /// Lower bound of ε against the float implementation.
    pub floats: f64,
    /// Lower bound of ε against the door.
    pub door: f64,
    /// What both promise.
    pub promised: f64,
}

impl Attack {
    /// Whether floats break and the door holds.
    #[must_use]
    pub fn is_as_published(&self) -> bool {
        self.floats > self.promised && self.door <= self.promised
    }
}

/// All of them.
#[must_use]
pub fn all(runs: u64) -> Vec<Attack> {
    vec![
        least_significant_bits(runs),
        precision(runs),
        repeated_rounding(runs),
        re_ordering(runs),
    ]
}

/// Laplace noise as everyone writes it first: scale times the logarithm of a uniform float.
fn float_laplace(rng: &mut ChaCha8Rng, scale: f64) -> f64 {
    let u: f64 = rng.random::<f64>() - 0.5;
    -scale * u.signum() * (1.0 - 2.0 * u.abs()).ln()
}

fn audit(runs: u64) -> BlackBox {
    BlackBox {
        runs,
        false_positive_rate: RATE,
        delta: 0.0,
    }
}

/// An attack on values `first` and `second` whose distance is the sensitivity, by what `look` sees of a float.
fn on_floats<O: Ord + Clone>(
    runs: u64,
    values: [f64; 2],
    scale: f64,
    look: impl Fn(f64) -> O,
) -> f64 {
    let draw = |value: f64, seed| {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let look = &look;
        move || look(value + float_laplace(&mut rng, scale))
    };
    audit(runs)
        .attack(draw(values[0], 1), draw(values[1], 2))
        .epsilon
}

/// The same on integers out of the door.
fn on_the_door<O: Ord + Clone>(
    runs: u64,
    values: [i64; 2],
    promised: f64,
    look: impl Fn(i128) -> O,
) -> f64 {
    on_mechanism(
        runs,
        values,
        &laplace(values[0].abs_diff(values[1]), promised),
        look,
    )
}

fn on_mechanism<O: Ord + Clone>(
    runs: u64,
    values: [i64; 2],
    mechanism: &AdditiveMechanism,
    look: impl Fn(i128) -> O,
) -> f64 {
    let draw = |value: i64, seed| {
        let mut rng = InsecureSeededRng::new(seed);
        let statistic = Confidential::new(vec![value]);
        let look = &look;
        move || {
            let noisy = rich(&mut rng).add_noise(mechanism, "audit", &statistic);
            look(noisy.map_or(i128::MAX, |noisy| noisy[0]))
        }
    };
    audit(runs)
        .attack(draw(values[0], 3), draw(values[1], 4))
        .epsilon
}

/// 2^20 lattice units stand for 1.0.
const ONE: i64 = 1 << 20;

fn least_significant_bits(runs: u64) -> Attack {
    // Near 0, a float 1 + noise is a multiple of 2^-53, a float 0 + noise is finer.
    let grid = 2_f64.powi(53);
    let floats = on_floats(runs, [1.0, 0.0], 1.0, |y| {
        (y.abs() < 0.125, (y * grid).fract() == 0.0)
    });
    let door = on_the_door(runs, [ONE, 0], 1.0, |y| {
        (y.abs() < i128::from(ONE) / 8, y.trailing_zeros().min(8))
    });
    Attack {
        name: "least significant bits (Mironov 2012)",
        floats,
        door,
        promised: 1.0,
    }
}

fn precision(runs: u64) -> Attack {
    // A sum near 1024 keeps ten bits less below the point than one near 0.
    let grid = 2_f64.powi(43);
    let floats = on_floats(runs, [1024.0, 0.0], 1024.0 / 0.5, |y| {
        (y * grid).fract() == 0.0
    });
    let door = on_the_door(runs, [1024 * ONE, 0], 0.5, |y| y.trailing_zeros().min(12));
    Attack {
        name: "precision (Haney et al. 2022)",
        floats,
        door,
        promised: 0.5,
    }
}

/// A large value, then many small ones, of which each is a little more than half a unit in the last place of the sum: each
/// addition rounds up to a whole one.
const LARGE: f32 = 8_388_608.0; // 2^23: units of 1
const SMALL: f32 = 0.500_001;
const MANY: usize = 1 << 22;

/// A sum in f32, one after another.
fn float_sum(values: impl Iterator<Item = f32>) -> f64 {
    f64::from(values.fold(0.0, |sum, x| sum + x))
}

/// The same values over LARGE, rounded to the lattice, summed in integers; a few of the small ones, made large enough to count.
fn lattice_sum(values: &[f64]) -> i64 {
    let frame = lattice_frame(1, 20);
    let shape = (values.len(), 1);
    let records = Array2::from_shape_vec(shape, values.to_vec()).unwrap_or_default();
    let sum = FramedSource::new(&records, &frame).fold(
        || 0_i64,
        |sum, block| {
            for i in 0..block.len() {
                *sum += i64::from(block.units(i, 0));
            }
        },
        |total, part| *total += part,
    );
    sum.unwrap_or(i64::MAX)
}

/// To a sixteenth of `unit`.
fn coarse(y: f64, unit: f64) -> i64 {
    #[expect(clippy::cast_possible_truncation, reason = "`as` saturates")]
    let coarse = (16.0 * y / unit).round() as i64;
    coarse
}

fn sums_attack(
    name: &'static str,
    runs: u64,
    floats: [f64; 2],
    door: [i64; 2],
    promised: f64,
) -> Attack {
    // Both add noise for a sensitivity of one large value at ε = 1.
    let scale = f64::from(LARGE);
    let floats = on_floats(runs, floats, scale, |y| coarse(y - floats[1], scale));
    let mechanism = laplace(ONE.unsigned_abs(), 1.0);
    let door = on_mechanism(runs, door, &mechanism, |y| {
        coarse((y - i128::from(door[1])) as f64, ONE as f64)
    });
    Attack {
        name,
        floats,
        door,
        promised,
    }
}

fn repeated_rounding(runs: u64) -> Attack {
    // One record less, the large one: the sum should move by LARGE, and moves by a quarter more.
    let small = || std::iter::repeat_n(SMALL, MANY);
    let floats = [
        float_sum(std::iter::once(LARGE).chain(small())),
        float_sum(small()),
    ];
    let mut records = vec![0.300_000_1; 60_000];
    let less = lattice_sum(&records);
    records.insert(0, 1.0);
    let name = "repeated rounding (Casacuberta et al. 2022)";
    sums_attack(name, runs, floats, [lattice_sum(&records), less], 1.0)
}

fn re_ordering(runs: u64) -> Attack {
    // The same records in another order should not be told apart at all.
    let small = || std::iter::repeat_n(SMALL, MANY);
    let floats = [
        float_sum(std::iter::once(LARGE).chain(small())),
        float_sum(small().chain(std::iter::once(LARGE))),
    ];
    let mut records = vec![0.300_000_1; 60_000];
    records.insert(0, 1.0);
    let first = lattice_sum(&records);
    records.reverse();
    let name = "re-ordering (Casacuberta et al. 2022)";
    sums_attack(name, runs, floats, [first, lattice_sum(&records)], 0.0)
}
