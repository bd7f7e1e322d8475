//! Measures a time that is about as short as it takes to look at the clock: now and then.

use std::time::{Duration, Instant};

/// One call in so many is measured, on average.
const EVERY: u64 = 16;
/// Looks at the clock when it is calibrated.
const LOOKS: usize = 64;

/// Adds up the time of calls. The first one, which finds everything cold, counts for itself alone; of the others some
/// are measured, at irregular distances (what they do may be regular), and the time that it takes to look at the clock
/// is taken off.
#[derive(Debug)]
pub struct Stopwatch {
    calls: u64,
    first: Duration,
    measured: u64,
    sum: Duration,
    /// The next call that is measured.
    next: u64,
    random: u64,
    /// What a look at the clock takes.
    look: Duration,
}

impl Default for Stopwatch {
    fn default() -> Self {
        let look = (0..LOOKS).map(|_| Instant::now().elapsed()).min().unwrap_or_default();
        let (first, sum) = (Duration::ZERO, Duration::ZERO);
        Stopwatch { calls: 0, first, measured: 0, sum, next: 1, random: 0x9e37_79b9_7f4a_7c15, look }
    }
}

impl Stopwatch {
    /// Starts a call; it is measured or not.
    pub fn start(&mut self) -> Option<Instant> {
        self.calls += 1;
        if self.calls < self.next {
            return None;
        }
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.next = self.calls + 1 + self.random % (2 * EVERY - 1);
        Some(Instant::now())
    }

    /// Ends it.
    pub fn stop(&mut self, started: Option<Instant>) {
        let Some(started) = started else { return };
        let took = started.elapsed().saturating_sub(self.look);
        if self.calls == 1 {
            self.first = took;
        } else {
            self.measured += 1;
            self.sum += took;
        }
    }

    /// The time of all calls, if those that were not measured took as long as those that were.
    pub fn estimate(&self) -> Duration {
        let others = self.calls.saturating_sub(1) as f64 / self.measured.max(1) as f64;
        self.first + self.sum.mul_f64(others)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_that_were_not_measured_count_as_those_that_were() {
        let mut watch = Stopwatch { look: Duration::ZERO, ..Stopwatch::default() };
        let mut measured = 0;
        for _ in 0..10_000 {
            let started = watch.start();
            measured += u32::from(started.is_some());
            // As if each had taken a second.
            watch.stop(started.and_then(|now| now.checked_sub(Duration::from_secs(1))));
        }
        assert!((400..900).contains(&measured), "{measured}");
        let estimate = watch.estimate().as_secs_f64();
        assert!((10_000.0..10_100.0).contains(&estimate), "{estimate}");
    }
}
