//! A sign of life on a terminal. It shows stages and time, which are no one's secret, and never how far the records
//! are.

use std::io::{self, IsTerminal};
use std::time::Duration;

use indicatif::ProgressBar;

/// A spinner, if stderr is a terminal and nobody asked for silence.
pub(crate) struct Progress(Option<ProgressBar>);

impl Progress {
    pub(crate) fn start(quiet: bool) -> Self {
        if quiet || !io::stderr().is_terminal() {
            return Self(None);
        }
        let spinner = ProgressBar::new_spinner();
        spinner.enable_steady_tick(Duration::from_millis(120));
        Self(Some(spinner))
    }

    /// Names the stage that begins.
    pub(crate) fn stage(&self, name: String) {
        if let Some(spinner) = &self.0 {
            spinner.set_message(name);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(spinner) = &self.0 {
            spinner.finish_and_clear();
        }
    }
}
