//! A clock that stands still while the job is suspended.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// What passes between two calls counts up to this: more than any wait for a child or a rank sleeps.
const LONGEST_STEP: Duration = Duration::from_secs(1);

static CLOCK: RunningClock = RunningClock::new();

/// The time that this process has run, as far as somebody asked: for limits of how long a child or another rank may be
/// silent. A scheduler suspends a job as a whole (`scontrol suspend`, SIGSTOP, a frozen control group), and meanwhile
/// nobody can do anything. Who waits asks at least once a second.
pub fn running_time() -> Duration {
    static START: OnceLock<Instant> = OnceLock::new();
    CLOCK.at(START.get_or_init(Instant::now).elapsed())
}

struct RunningClock {
    /// Microseconds at the latest call.
    last: AtomicU64,
    /// Microseconds that count.
    sum: AtomicU64,
}

impl RunningClock {
    const fn new() -> Self {
        RunningClock { last: AtomicU64::new(0), sum: AtomicU64::new(0) }
    }

    /// What counts until `now`, which another clock says.
    fn at(&self, now: Duration) -> Duration {
        let now = now.as_micros() as u64;
        let step = now.saturating_sub(self.last.fetch_max(now, Ordering::AcqRel)).min(LONGEST_STEP.as_micros() as u64);
        Duration::from_micros(self.sum.fetch_add(step, Ordering::AcqRel) + step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_stands_still_while_nobody_can_ask() {
        let (clock, seconds) = (RunningClock::new(), |seconds: f64| Duration::from_secs_f64(seconds));
        assert_eq!([0.5, 1.5, 1.75].map(|now| clock.at(seconds(now))), [0.5, 1.5, 1.75].map(seconds));
        assert_eq!(clock.at(seconds(3600.0)), seconds(2.75), "an hour of suspension");
        assert_eq!(clock.at(seconds(3000.0)), seconds(2.75), "a thread that looked at the clock before");
        assert_eq!(clock.at(seconds(3600.25)), seconds(3.0));
    }
}
