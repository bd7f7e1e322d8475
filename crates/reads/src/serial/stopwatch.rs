//! Measures a time that is about as short as it takes to look at the clock: now and then.

use std::time::{Duration, Instant};

/// One call in so many is measured.
const EVERY: u64 = 16;

/// Adds up the time of calls.
#[derive(Debug, Default)]
pub(crate) struct Stopwatch {
    calls: u64,
    measured: u64,
    sum: Duration,
}

impl Stopwatch {
    /// Starts a call; it is measured or not.
    pub(crate) fn start(&mut self) -> Option<Instant> {
        self.calls += 1;
        (self.calls % EVERY == 1).then(Instant::now)
    }

    /// Ends it.
    pub(crate) fn stop(&mut self, started: Option<Instant>) {
        if let Some(started) = started {
            self.measured += 1;
            self.sum += started.elapsed();
        }
    }

    /// The time of all calls, if those that were not measured took as long as those that were.
    pub(crate) fn estimate(&self) -> Duration {
        if self.measured == 0 { Duration::ZERO } else { self.sum.mul_f64(self.calls as f64 / self.measured as f64) }
    }
}
