//! What the reports cost, in time of the workers.

use serde::{Deserialize, Serialize};
use std::ops::AddAssign;
use std::time::{Duration, Instant};

/// One record of so many is timed: a clock that is asked for each would cost more than some reports do.
const TIMED: u64 = 64;

/// Time that workers spent on reports: that of parts, and that of records, which is estimated.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct Cost {
    records: u64,
    timed: u64,
    of_timed: Duration,
    of_parts: Duration,
}

impl Cost {
    /// Begins a record; gives the time now if it is to be timed.
    #[inline]
    pub(crate) fn begin_record(&mut self) -> Option<Instant> {
        self.records += 1;
        (self.records % TIMED == 1).then(Instant::now)
    }

    /// Ends a record that is timed.
    #[inline]
    pub(crate) fn end_record(&mut self, begun: Option<Instant>) {
        if let Some(begun) = begun {
            self.timed += 1;
            self.of_timed += begun.elapsed();
        }
    }

    /// Adds what was done of a part, or of all.
    pub(crate) fn add_since(&mut self, begun: Instant) {
        self.of_parts += begun.elapsed();
    }

    /// All of it.
    pub(crate) fn time(&self) -> Duration {
        let share = self.records as f64 / self.timed.max(1) as f64;
        self.of_parts + self.of_timed.mul_f64(share)
    }
}

impl AddAssign for Cost {
    fn add_assign(&mut self, more: Cost) {
        self.records += more.records;
        self.timed += more.timed;
        self.of_timed += more.of_timed;
        self.of_parts += more.of_parts;
    }
}
