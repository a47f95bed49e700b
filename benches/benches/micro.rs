//! Micro-benchmarks of the hot paths, one size each in the name: `cargo bench --package workspace-benches`.
//!
//! Time against a named peer is measured elsewhere: `cargo xtask bench kernel` and `… samplers`.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use dp_core::mechanism::LaplaceMechanism;
use dp_core::rng::InsecureSeededRng;
use dp_core::sensitivity::L1Sensitivity;
use dp_core::{Budget, Confidential, Epsilon, NeighboringRelation, Session};
use metric_space::nearest::{PackedCenters, lloyd_step};
use metric_space::{BoxDomain, Frame, Lattice, fold};
use ndarray::Array2;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

const N: usize = 100_000;

fn records(d: usize) -> Array2<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    Array2::from_shape_simple_fn((N, d), || rng.random_range(-1.0..1.0))
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "made-up records: any f32 will do"
)]
fn geometry(criterion: &mut Criterion) {
    let (k, d) = (16, 16);
    let records = records(d).mapv(|x| x as f32);
    let centers = records.slice(ndarray::s![..k, ..]);
    let packed = PackedCenters::new(centers).expect("16 centers");
    criterion.bench_function("lloyd-step-f32-n1e5-d16-k16", |bencher| {
        bencher.iter(|| lloyd_step(black_box(records.view()), &packed));
    });
    let domain = BoxDomain::new(vec![-1.0; d], vec![1.0; d]).expect("valid");
    let frame = Frame::new(domain, Lattice::new(20).expect("valid"));
    let wide = records.mapv(f64::from);
    criterion.bench_function("quantize-pass-f64-n1e5-d16", |bencher| {
        bencher.iter(|| {
            let count =
                |sum: &mut usize, block: &metric_space::LatticeBlock<'_>| *sum += block.len();
            fold(&wide, &frame, || 0, count, |total, part| *total += part)
        });
    });
}

fn privacy(criterion: &mut Criterion) {
    let one = L1Sensitivity::new(1).expect("valid");
    let epsilon = Epsilon::new(1e-3).expect("valid");
    let laplace = LaplaceMechanism::calibrate(one, epsilon).expect("drawable");
    let statistic = Confidential::new(vec![0; 10_000]);
    criterion.bench_function("session-laplace-1e4-coordinates", |bencher| {
        let mut rng = InsecureSeededRng::new(1);
        bencher.iter(|| {
            let budget = Budget::pure(epsilon);
            let mut session = Session::new(budget, NeighboringRelation::AddRemove, &mut rng);
            session.laplace(&laplace, "bench", &statistic)
        });
    });
}

criterion_group!(benches, geometry, privacy);
criterion_main!(benches);
