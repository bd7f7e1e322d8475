//! Waiting for what will come soon, without a lock: spin, then yield, then sleep ever longer.

use std::time::{Duration, Instant};

/// The longest sleep: what a worker may come too late.
const LONGEST: Duration = Duration::from_millis(1);

/// The shortest sleep.
const SHORTEST: Duration = Duration::from_micros(10);

/// One wait. Cheap when short; when long, it neither burns the core nor collapses when threads outnumber cores.
#[derive(Debug)]
pub(crate) struct BackOff {
    rounds: u32,
    started: Option<Instant>,
}

impl BackOff {
    pub(crate) fn new() -> Self {
        BackOff { rounds: 0, started: None }
    }

    /// Waits a little, each time longer.
    pub(crate) fn wait(&mut self) {
        self.started.get_or_insert_with(Instant::now);
        self.rounds += 1;
        match self.rounds {
            0..=6 => (0..1 << self.rounds).for_each(|_| std::hint::spin_loop()),
            7..=12 => std::thread::yield_now(),
            // Too late by a quarter of the wait at most.
            _ => std::thread::sleep((self.waited() / 4).clamp(SHORTEST, LONGEST)),
        }
    }

    /// How long the waiting took in all.
    pub(crate) fn waited(&self) -> Duration {
        self.started.map_or(Duration::ZERO, |s| s.elapsed())
    }
}
