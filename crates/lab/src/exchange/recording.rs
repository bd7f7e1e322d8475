//! What a search did, as `zerohop search --record` wrote it down.

use std::path::{Path, PathBuf};
use zerohop_model::exchange::{RECORDING_VERSION, Recording, Searched};

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
enum RecordingError {
    #[error("it has no rank, or no batch")]
    Empty,
    /// Every rank searches every batch.
    #[error("rank {0} has another number of batches than rank 0")]
    Batches(usize),
    #[error(
        "rank {rank}, batch {batch}: a time below 0, results without queries or without bytes, or results of more than \
         1 MiB each"
    )]
    Impossible { rank: usize, batch: usize },
}

/// The most bytes of one result.
const MOST_OF_RESULT: u64 = 1 << 20;

/// Reads one that can be used: what each rank did, batch by batch.
///
/// # Errors
/// A file that cannot be read, is none of these, or contradicts itself.
pub fn read(path: &Path) -> Result<Vec<Vec<Searched>>, RecordedError> {
    let fault = |what: String| RecordedError { path: path.to_owned(), what };
    let text = std::fs::read(path).map_err(|error| fault(format!("cannot be read: {error}")))?;
    let none = |error| fault(format!("this is no recording that 'zerohop search --record' made: {error}"));
    let recording: Recording = serde_json::from_slice(&text).map_err(none)?;
    let version = recording.schema_version;
    if version != RECORDING_VERSION {
        return Err(fault(format!(
            "a recording of version {version}, and {RECORDING_VERSION} is needed: record it anew"
        )));
    }
    check(&recording.ranks).map_err(|error| fault(format!("the recording cannot be used: {error}")))?;
    Ok(recording.ranks)
}

/// Whether it can be used.
fn check(ranks: &[Vec<Searched>]) -> Result<(), RecordingError> {
    let batches = ranks.first().map_or(0, Vec::len);
    if batches == 0 {
        return Err(RecordingError::Empty);
    }
    for (rank, of_rank) in ranks.iter().enumerate() {
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
pub fn faster(mut ranks: Vec<Vec<Searched>>, times: f64) -> Vec<Vec<Searched>> {
    ranks.iter_mut().flatten().for_each(|one| one.search_s /= times);
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranks() -> Vec<Vec<Searched>> {
        let one = |records, result_bytes| Searched { search_s: 0.5, queries: 7, records, result_bytes };
        vec![vec![one(10, 1234), one(0, 0)], vec![one(3, 7), one(1, 99)]]
    }

    #[test]
    fn a_recording_that_makes_no_sense_is_refused() {
        assert_eq!(check(&ranks()), Ok(()));
        assert_eq!(check(&[]), Err(RecordingError::Empty));
        let mut uneven = ranks();
        uneven[1].pop();
        assert_eq!(check(&uneven), Err(RecordingError::Batches(1)));
        let spoil: [fn(&mut Searched); 4] = [
            |one| one.search_s = -1.0,
            |one| one.search_s = f64::NAN,
            |one| one.queries = 0,
            |one| one.result_bytes = u64::MAX,
        ];
        for spoil in spoil {
            let mut wrong = ranks();
            spoil(&mut wrong[1][0]);
            assert_eq!(check(&wrong), Err(RecordingError::Impossible { rank: 1, batch: 0 }));
        }
    }
}
