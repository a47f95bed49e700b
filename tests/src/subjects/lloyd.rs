//! Variants of `DPLloyd` that the facade does not offer: every noise, sum and split.

use lloyd_dp::dplloyd::{DpLloydParams, Noise, RadiusSchedule, Split, Sums};
use metric_space::{BoxDomain, Frame, FramedSource, Lattice};
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
                    let lloyd = DpLloydParams::new(3, promise.budget)
                        .noise(noise)
                        .sums(sums)
                        .split(split)
                        .n_iterations(3)
                        .check()
                        .expect("valid parameters");
                    let frame = frame(2, 12);
                    let settings = format!("{noise:?}, {sums:?}, {split:?}");
                    subjects.push(Subject::new(
                        "dplloyd variants",
                        settings,
                        promise,
                        2,
                        move |records, session| {
                            let mut public = ChaCha8Rng::seed_from_u64(5);
                            let source = FramedSource::new(records, &frame);
                            lloyd
                                .fit(&source, session, &mut public)
                                .map(drop)
                                .map_err(|error| error.to_string())
                        },
                    ));
                }
            }
        }
    }
    subjects
}
