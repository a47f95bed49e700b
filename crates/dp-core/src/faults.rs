//! Planted faults: wrong versions of single steps, to show that the checks would see them.
//!
//! They exist only in builds under `--cfg dp_faults` (never behind a cargo feature, which another
//! package's build could switch on) and are chosen at run time. In every other build [`planted!`](crate::planted)
//! is its sound branch and nothing else.

#[cfg(dp_faults)]
use std::sync::RwLock;

#[cfg(dp_faults)]
static ACTIVE: RwLock<Option<String>> = RwLock::new(None);

/// Chooses the fault that is active from now on in this process; `None` for none.
#[cfg(dp_faults)]
pub fn plant(name: Option<&str>) {
    if let Ok(mut active) = ACTIVE.write() {
        *active = name.map(str::to_owned);
    }
}

/// Whether this fault is active.
#[cfg(dp_faults)]
#[must_use]
pub fn active(name: &str) -> bool {
    ACTIVE
        .read()
        .is_ok_and(|active| active.as_deref() == Some(name))
}

/// `planted!("name": faulty; sound)`: the faulty expression while that fault is active, else the sound one.
#[doc(hidden)]
#[macro_export]
macro_rules! planted {
    ($name:literal: $faulty:expr; $sound:expr) => {{
        #[cfg(dp_faults)]
        let value = if $crate::faults::active($name) {
            $faulty
        } else {
            $sound
        };
        #[cfg(not(dp_faults))]
        let value = $sound;
        value
    }};
}
