//! All arms of an experiment.

use crate::arm::{Arm, InputKind, LockKind, OutputKind};

/// The values that are combined with one another.
#[derive(Debug, Clone, PartialEq)]
pub struct Grid {
    /// Ways of taking reads.
    pub inputs: Vec<InputKind>,
    /// Kinds of lock.
    pub locks: Vec<LockKind>,
    /// Kinds of output.
    pub outputs: Vec<OutputKind>,
    /// Numbers of threads, over all processes.
    pub threads: Vec<usize>,
    /// Numbers of processes; those that do not divide the threads evenly are left out.
    pub processes: Vec<usize>,
}

impl Grid {
    /// Every combination once; where no lock is used, the first kind stands for all.
    pub fn arms(&self) -> Vec<Arm> {
        let mut arms = Vec::new();
        for &threads in &self.threads {
            for &processes in self.processes.iter().filter(|&&processes| threads % processes == 0) {
                for &input in &self.inputs {
                    for &output in &self.outputs {
                        let with = |lock: &LockKind| Arm { input, lock: *lock, output, threads, processes };
                        let locks = if self.locks.first().is_some_and(|lock| with(lock).uses_lock()) {
                            self.locks.len()
                        } else {
                            1
                        };
                        arms.extend(self.locks.iter().take(locks).map(with));
                    }
                }
            }
        }
        arms
    }
}
