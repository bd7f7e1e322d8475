//! Index copies that one run after the other reads.

use crate::engines::embedded::replicas::IndexCopies;
use crate::engines::embedded::taken::ReadsTaken;
use crate::job::AlignError;
use crate::plan::tuning_key::AlignedWith;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use zerohop_model::machine::Machine;
use zerohop_model::plan::Plan;

/// The index of an embedded engine, ready to be read.
#[derive(Clone)]
pub struct PreparedIndex {
    /// The canonical length of the reads that it is for, in bases; 0 if it is for any.
    pub read_length: usize,
    /// The machine.
    pub machine: Machine,
    /// Where the copies lie, and who reads which.
    pub plan: Plan,
    /// The copies.
    pub replicas: IndexCopies,
    /// What records depend on.
    pub with: AlignedWith,
    /// Its files.
    pub files: Vec<PathBuf>,
}

/// What runs on one index share: the copies for one length of reads at a time.
#[derive(Default)]
pub struct IndexOfRuns(Mutex<RunsState>);

#[derive(Default)]
struct RunsState {
    made: Option<PreparedIndex>,
    /// The lengths of reads for which there is none.
    failed: Vec<usize>,
}

impl IndexOfRuns {
    /// The index for reads of this canonical length: that of the run before, or what `make` makes.
    ///
    /// # Errors
    /// What `make` says.
    pub fn prepared(
        &self,
        read_length: usize,
        make: impl FnOnce() -> Result<PreparedIndex, AlignError>,
    ) -> Result<PreparedIndex, AlignError> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(made) = state.made.as_ref().filter(|made| made.read_length == read_length) {
            return Ok(PreparedIndex { replicas: made.replicas.again(), ..made.clone() });
        }
        // Its memory is for the next one.
        state.made = None;
        match make() {
            Ok(made) => {
                state.made = Some(made.clone());
                Ok(made)
            }
            Err(error) => {
                state.failed.push(read_length);
                Err(error)
            }
        }
    }

    /// Whether the index for reads of this canonical length could not be made: then no other run can read it, either.
    pub fn has_failed(&self, read_length: usize) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).failed.contains(&read_length)
    }
}

/// What a run has to do with others that read the same index.
#[derive(Clone, Copy)]
pub struct OneOfMany<'a> {
    /// The index.
    pub index: &'a IndexOfRuns,
    /// Which of them it is.
    pub run: u32,
    /// Is told when the reads of the run are dealt.
    pub taken: &'a Arc<ReadsTaken>,
}
