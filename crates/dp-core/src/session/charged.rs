//! Draws that a charge pays for: steps of a theorem that bounds a whole algorithm at once.
//!
//! The loss stands in the ledger once, with the charge. Each draw still goes through the door, so it is recorded and
//! replayed; its event names the charge, the kind of draw, how far the theorem lets a neighbor move the statistic, and what the
//! draw loses by itself if it moves so far ([`OwnLoss`](super::OwnLoss)).

use crate::mechanism::{AdditiveMechanism, SelectionMechanism, SelectionRule};
use crate::release::Confidential;
use crate::sampler::{self, uniform};
use crate::sensitivity::Sensitivity;
use crate::tape::{Output, Statistic};

use super::{Charge, Session, own_loss};

impl Session<'_> {
    /// Adds noise to a vector of integers, paid for by a charge.
    ///
    /// # Privacy
    ///
    /// The theorem behind the charge covers the draw and says whether the result may be released; `sensitivity` is
    /// how far it lets a neighbor move the statistic (for replays).
    pub fn add_noise_charged(
        &mut self,
        charge: &Charge,
        mechanism: &AdditiveMechanism,
        purpose: &str,
        sensitivity: impl Into<Sensitivity>,
        statistic: &Confidential<Vec<i64>>,
    ) -> Vec<i128> {
        let event = Self::under(charge, "noise", sensitivity).purpose(purpose);
        let event = own_loss::of_noise(event, mechanism, statistic.peek().len());
        self.draw_noise(&event, statistic, |rng, noise| match mechanism {
            AdditiveMechanism::Laplace(laplace) => laplace.sampler().fill(rng, noise),
            AdditiveMechanism::Gaussian(gaussian) => gaussian.sampler().fill(rng, noise),
        })
    }

    /// Chooses a candidate by private scores, paid for by a charge; `None` if no candidate has a positive weight.
    ///
    /// # Privacy
    ///
    /// As [`add_noise_charged`](Self::add_noise_charged).
    pub fn choose_charged(
        &mut self,
        charge: &Charge,
        mechanism: &SelectionMechanism,
        purpose: &str,
        sensitivity: impl Into<Sensitivity>,
        scores: &Confidential<Vec<i64>>,
        base_weights: Option<&[u64]>,
    ) -> Option<usize> {
        let event = Self::under(charge, "selection", sensitivity).purpose(purpose);
        let event = own_loss::of_selection(event, mechanism.eta());
        let eta = mechanism.exact_eta();
        self.choose(&event, scores, |rng, scores| match mechanism.rule() {
            SelectionRule::Exponential => {
                sampler::exponential::select(scores, eta, base_weights, rng)
            }
            SelectionRule::PermuteAndFlip => sampler::permute_and_flip::select(scores, eta, rng),
            SelectionRule::NoisyMax => sampler::noisy_max::select(scores, eta, rng),
        })
    }

    /// Chooses a point of a public grid by a private score that is constant on steps of the grid, paid for by a charge:
    /// point y with probability proportional to exp(η·score(y)). `None` if the grid is empty.
    ///
    /// `steps` are the lengths of the steps, in grid points, and the scores on them. The law is that of the exponential mechanism on
    /// all points: a step with probability proportional to length·exp(η·score), then a uniform point of it.
    ///
    /// # Privacy
    ///
    /// As [`add_noise_charged`](Self::add_noise_charged), with the scores of single grid points as the statistic.
    pub fn choose_on_grid_charged(
        &mut self,
        charge: &Charge,
        mechanism: &SelectionMechanism,
        purpose: &str,
        sensitivity: impl Into<Sensitivity>,
        steps: &Confidential<Vec<(u64, i64)>>,
    ) -> Option<u64> {
        let event = Self::under(charge, "point of a grid", sensitivity).purpose(purpose);
        let event = own_loss::of_selection(event, mechanism.eta());
        let steps = steps.peek();
        let rng = &mut *self.rng;
        let output = self.deck.call(
            &event,
            || Statistic::Steps(steps.clone()),
            || {
                let scores: Vec<i64> = steps.iter().map(|&(_, score)| score).collect();
                let lengths: Vec<u64> = steps.iter().map(|&(length, _)| length).collect();
                let eta = mechanism.exact_eta();
                let chosen = sampler::exponential::select(&scores, eta, Some(&lengths), rng);
                let point = chosen.map(|step| {
                    let before: u64 = lengths[..step].iter().sum();
                    i128::from(before + uniform::below_u64(lengths[step], rng))
                });
                Output::Integers(point.into_iter().collect())
            },
        );
        let point = output.into_integers().first().copied()?;
        u64::try_from(point).ok()
    }

    /// A secret uniform sample of `sample_size` of `0..population` without replacement, in random order, paid for by a
    /// charge. A sample larger than the population is the whole population.
    ///
    /// # Privacy
    ///
    /// Depends on public numbers alone and stays secret: the theorem behind the charge counts on that.
    pub fn sample_charged(
        &mut self,
        charge: &Charge,
        purpose: &str,
        sample_size: usize,
        population: usize,
    ) -> Vec<usize> {
        let event = Self::under(charge, "sample", Sensitivity::ByTheorem).purpose(purpose);
        let rng = &mut *self.rng;
        let output = self.deck.call(
            &event,
            || Statistic::Integers(Vec::new()),
            || {
                // The first steps of a Fisher–Yates shuffle, with the moved entries alone in memory.
                let mut moved = std::collections::BTreeMap::new();
                let mut sample = Vec::with_capacity(sample_size.min(population));
                for i in 0..sample_size.min(population) {
                    let left = (population - i) as u64;
                    let step = usize::try_from(uniform::below_u64(left, rng)).unwrap_or(0);
                    let at = i + step;
                    let taken = moved.get(&at).copied().unwrap_or(at);
                    let here = moved.get(&i).copied().unwrap_or(i);
                    moved.insert(at, here);
                    sample.push(taken as i128);
                }
                Output::Integers(sample)
            },
        );
        let indices = output.into_integers().into_iter();
        indices
            .filter_map(|index| usize::try_from(index).ok())
            .collect()
    }
}
