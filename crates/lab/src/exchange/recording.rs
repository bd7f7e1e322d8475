//! What a search did, batch by batch and rank by rank, in a file: to be replayed by `zerohop-lab exchange`.

use crate::made_up::Searched;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use zerohop_process::{WriteError, json};

/// The file.
#[derive(Debug, Serialize, Deserialize)]
struct Recorded {
    schema_version: u32,
    /// What was recorded.
    command: String,
    #[serde(flatten)]
    recording: Recording,
}

const SCHEMA_VERSION: u32 = 1;

/// A file is no recording that can be used.
#[derive(Debug, thiserror::Error)]
#[error("{}: {what}", path.display())]
pub struct RecordedError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub what: String,
}

/// Why a recording cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RecordingError {
    /// Nothing in it.
    #[error("it has no rank, or no batch")]
    Empty,
    /// Every rank searches every batch.
    #[error("rank {0} has another number of batches than rank 0")]
    Batches(usize),
    /// What no search can be.
    #[error(
        "rank {rank}, batch {batch}: a time below 0, results without queries or without bytes, or results of more than \
         1 MiB each"
    )]
    Impossible {
        /// The rank.
        rank: usize,
        /// The batch.
        batch: usize,
    },
}

/// What each rank of a real search did, batch by batch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Recording {
    /// By rank and batch.
    pub ranks: Vec<Vec<Searched>>,
}

/// The most bytes of one result.
const MOST_OF_RESULT: u64 = 1 << 20;

impl Recording {
    /// Writes it to a file: the recording that `command` made.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn write(self, path: &Path, command: String) -> Result<(), WriteError> {
        json::write(path, &Recorded { schema_version: SCHEMA_VERSION, command, recording: self })
    }

    /// Reads one that can be used.
    ///
    /// # Errors
    /// A file that cannot be read, is none of these, or makes no sense.
    pub fn read(path: &Path) -> Result<Self, RecordedError> {
        let fault = |what: String| RecordedError { path: path.to_owned(), what };
        let text = std::fs::read(path).map_err(|error| fault(format!("cannot be read: {error}")))?;
        let none = |error| fault(format!("this is no recording that 'zerohop search --record' made: {error}"));
        let recorded: Recorded = serde_json::from_slice(&text).map_err(none)?;
        if recorded.schema_version != SCHEMA_VERSION {
            let version = recorded.schema_version;
            return Err(fault(format!(
                "a recording of version {version}, and {SCHEMA_VERSION} is needed: record it anew"
            )));
        }
        recorded.recording.check().map_err(|error| fault(format!("the recording cannot be used: {error}")))?;
        Ok(recorded.recording)
    }

    /// Whether it can be used.
    ///
    /// # Errors
    /// [`RecordingError`].
    pub fn check(&self) -> Result<(), RecordingError> {
        let batches = self.ranks.first().map_or(0, Vec::len);
        if batches == 0 {
            return Err(RecordingError::Empty);
        }
        for (rank, of_rank) in self.ranks.iter().enumerate() {
            if of_rank.len() != batches {
                return Err(RecordingError::Batches(rank));
            }
            let fits = |one: &Searched| {
                let most = u64::from(one.records).saturating_mul(MOST_OF_RESULT);
                let results = one.records == 0 || one.queries > 0 && one.result_bytes > 0;
                (0.0..1e7).contains(&one.search_s) && results && one.result_bytes <= most
            };
            if let Some(batch) = of_rank.iter().position(|one| !fits(one)) {
                return Err(RecordingError::Impossible { rank, batch });
            }
        }
        Ok(())
    }

    /// The same with searches that take so many times less; results stay as they are.
    pub fn faster(mut self, times: f64) -> Self {
        self.ranks.iter_mut().flatten().for_each(|one| one.search_s /= times);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recording() -> Recording {
        let one = |records, result_bytes| Searched { search_s: 0.5, queries: 7, records, result_bytes };
        Recording { ranks: vec![vec![one(10, 1234), one(0, 0)], vec![one(3, 7), one(1, 99)]] }
    }

    #[test]
    fn a_recording_that_makes_no_sense_is_refused() {
        assert_eq!(recording().check(), Ok(()));
        assert_eq!(Recording { ranks: vec![] }.check(), Err(RecordingError::Empty));
        let mut uneven = recording();
        uneven.ranks[1].pop();
        assert_eq!(uneven.check(), Err(RecordingError::Batches(1)));
        let spoil: [fn(&mut Searched); 4] = [
            |one| one.search_s = -1.0,
            |one| one.search_s = f64::NAN,
            |one| one.queries = 0,
            |one| one.result_bytes = u64::MAX,
        ];
        for spoil in spoil {
            let mut wrong = recording();
            spoil(&mut wrong.ranks[1][0]);
            assert_eq!(wrong.check(), Err(RecordingError::Impossible { rank: 1, batch: 0 }));
        }
    }
}
