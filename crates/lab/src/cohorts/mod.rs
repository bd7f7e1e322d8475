//! How well workers are used where an engine maps in two phases, with statistics over a cohort between them: for any
//! number of workers by a simulation, which is driven by the runtime's own rules ([`zerohop_runtime::cohorts`]), and
//! for few by a run of `zerohop align` with an engine that sleeps as long as the simulation says.

mod costs;
mod measured;
mod simulated;

pub use costs::Costs;
pub use measured::measure;
pub use simulated::{Simulated, simulate, with_barriers, with_whole_cohorts};

use std::time::Duration;

/// Workers, and what they have to do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Case {
    /// Workers, each with a core of its own.
    pub workers: usize,
    /// Cohorts.
    pub cohorts: u64,
    /// Pieces of each.
    pub pieces: u32,
    /// What a piece costs.
    pub costs: Costs,
}

impl Case {
    /// The time that all pieces cost together.
    pub fn work(&self) -> Duration {
        let piece = |number| self.costs.first(number) + self.costs.second(number);
        let pieces: Duration = (0..self.cohorts * u64::from(self.pieces)).map(piece).sum();
        pieces + self.costs.combine * u32::try_from(self.cohorts).unwrap_or(u32::MAX)
    }

    /// The part of the workers' time that is work, if it all takes so long.
    pub fn efficiency(&self, makespan: Duration) -> f64 {
        self.work().as_secs_f64() / (self.workers as f64 * makespan.as_secs_f64())
    }
}
