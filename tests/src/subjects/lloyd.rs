//! Variants of `DPLloyd` that the facade does not offer: every noise, sum and split.

use dp_audit::replay::Promise;
use dp_core::Session;
use lloyd_dp::dplloyd::{DpLloydParams, Noise, RadiusSchedule, Split, Sums};
use metric_space::{BoxDomain, Frame, FramedSource, Lattice};
use ndarray::Array2;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::{Subject, budget, promises};

/// The public domain [-1, 1]^d on a coarse lattice.
pub(crate) fn frame(columns: usize, bits: u32) -> Frame {
    let domain = BoxDomain::new(vec![-1.0; columns], vec![1.0; columns]).expect("bounds in order");
    Frame::new(domain, Lattice::new(bits).expect("few bits"))
}

pub(super) fn subjects() -> Vec<Subject> {
    let mut subjects = Vec::new();
    for noise in [Noise::Laplace, Noise::Gaussian] {
        for sums in [
            Sums::Origin,
            Sums::CenterRelative,
            Sums::BoundedRadius(RadiusSchedule::default()),
        ] {
            for split in [Split::Joint, Split::Optimal, Split::CountShare(0.3)] {
                let delta = if noise == Noise::Gaussian { 1e-6 } else { 0.0 };
                for promise in promises(budget(1.0, delta)) {
                    let lloyd = DpLloydParams::new(3, promise.budget).n_iterations(3);
                    let lloyd = lloyd.noise(noise).sums(sums).split(split);
                    let settings = format!("{noise:?}, {sums:?}, {split:?}");
                    subjects.push(subject(lloyd, settings, 2, promise));
                }
            }
        }
    }
    subjects
}

/// One round of one cluster in one column: for the black box.
pub(super) fn small(promise: Promise) -> Subject {
    let noise = if promise.budget.delta.is_zero() {
        Noise::Laplace
    } else {
        Noise::Gaussian
    };
    let lloyd = DpLloydParams::new(1, promise.budget)
        .noise(noise)
        .sums(Sums::Origin)
        .split(Split::Joint)
        .n_iterations(1);
    let settings = format!(
        "{noise:?}, {:?}, {:?}, one round",
        Sums::Origin,
        Split::Joint
    );
    subject(lloyd, settings, 1, promise)
}

fn subject(params: DpLloydParams, settings: String, columns: usize, promise: Promise) -> Subject {
    let lloyd = params.check().expect("valid parameters");
    let frame = frame(columns, 12);
    let run = move |records: &Array2<f64>, session: &mut Session<'_>| {
        let mut public = ChaCha8Rng::seed_from_u64(5);
        let source = FramedSource::new(records, &frame);
        lloyd
            .fit(&source, session, &mut public)
            .map(drop)
            .map_err(|error| error.to_string())
    };
    Subject::new("dplloyd variants", settings, promise, columns, run)
}
