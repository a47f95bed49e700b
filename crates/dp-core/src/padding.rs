//! Padding against the clock: work that depends on secrets, shown to an observer of time as a whole number of public slots.
//!
//! Exact samplers take a random number of steps, and large noise takes a little longer than small noise: whoever can time a single
//! draw learns something of its size (`cargo xtask study timing` measures how much). A batch that is padded to a slot that it hardly
//! ever exceeds shows the slot alone. The crate looks at no clock: the caller brings one.

use std::time::Duration;

/// Pads work to whole slots of a public length.
///
/// # Privacy
///
/// The time that passes is a function of the number of slots. If the work ends within the first one, it says nothing; the
/// probability that it does not is up to the choice of the slot (public facts: number of draws, machine). Padding hides the total alone:
/// caches, power and memory remain, see `docs/threat-model.md`.
///
/// # Complexity
///
/// The slot, whatever the work: a slot of four usual times makes the batch four times as long.
///
/// ```
/// use std::time::{Duration, Instant};
/// use dp_core::{padding::Padding, rng::InsecureSeededRng, sampler::DiscreteLaplace};
/// use dashu_ratio::RBig;
///
/// let law = DiscreteLaplace::new(RBig::from(10))?;
/// let mut noise = [0_i128; 100];
/// let start = Instant::now();
/// let clock = || start.elapsed();
/// Padding::new(Duration::from_millis(1)).run(&clock, || {
///     law.fill(&mut InsecureSeededRng::new(7), &mut noise);
/// });
/// assert!(start.elapsed() >= Duration::from_millis(1));
/// # Ok::<(), dp_core::sampler::SamplerError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Padding {
    slot: Duration,
}

impl Padding {
    /// Padding to multiples of `slot` (at least one nanosecond).
    #[must_use]
    pub fn new(slot: Duration) -> Self {
        Self {
            slot: slot.max(Duration::from_nanos(1)),
        }
    }

    /// A slot for a batch: `per_draw` for each of `draws`, from public facts.
    #[must_use]
    pub fn per_draw(per_draw: Duration, draws: u32) -> Self {
        Self::new(per_draw.saturating_mul(draws))
    }

    /// The slot.
    #[must_use]
    pub const fn slot(self) -> Duration {
        self.slot
    }

    /// Runs `work`, then waits, busily, until a whole number of slots has passed on `clock` (time since any fixed moment).
    pub fn run<T>(self, clock: &dyn Fn() -> Duration, work: impl FnOnce() -> T) -> T {
        let start = clock();
        let result = work();
        // The end of the slot in which the work ended: the first one, hardly ever a later one.
        let now = clock();
        let mut end = start.saturating_add(self.slot);
        while end < now {
            end = end.saturating_add(self.slot);
        }
        while clock() < end {
            std::hint::spin_loop();
        }
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// A clock that moves by a microsecond per look, and by as much as the work says.
    fn padded(slot: u64, work: u64) -> u64 {
        let micros = Cell::new(1000);
        let clock = || {
            micros.set(micros.get() + 1);
            Duration::from_micros(micros.get())
        };
        let padding = Padding::new(Duration::from_micros(slot));
        let result = padding.run(&clock, || {
            micros.set(micros.get() + work);
            7
        });
        assert_eq!(result, 7);
        micros.get() - 1000
    }

    #[test]
    fn any_work_within_a_slot_takes_the_slot() {
        let times: Vec<u64> = [0, 1, 50, 90]
            .iter()
            .map(|&work| padded(100, work))
            .collect();
        // The looks after the end are the same for all.
        assert!(
            times
                .iter()
                .all(|&time| time == times[0] && time.abs_diff(100) <= 3),
            "{times:?}"
        );
    }

    #[test]
    fn longer_work_takes_whole_slots() {
        assert!(padded(100, 150).abs_diff(200) <= 3);
        assert!(padded(100, 350).abs_diff(400) <= 3);
    }

    #[test]
    fn a_slot_is_never_empty() {
        assert_eq!(Padding::new(Duration::ZERO).slot(), Duration::from_nanos(1));
        let batch = Padding::per_draw(Duration::from_nanos(200), 1000);
        assert_eq!(batch.slot(), Duration::from_micros(200));
    }
}
