//! What a job on record keeps of sorted records until they are merged, beside its journal: the runs of all ranks, the
//! header, and what each attempt has given up.

use crate::job::AlignError;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use zerohop_output::{Header, KEPT, KeptRuns};
use zerohop_process::cache;
use zerohop_ranks::{Transport, values};

/// A list of numbers: of each attempt that has ended, the first chunk of which its runs do not count.
fn attempts(folder: &Path) -> PathBuf {
    folder.join(format!("{KEPT}attempts.json"))
}

/// The file for the header of the output.
pub fn header_file(folder: &Path) -> PathBuf {
    folder.join(format!("{KEPT}header.json"))
}

/// Begins another attempt, of all ranks: the one before has finished the chunks before `done`, and what its runs hold
/// of others does not count, for these are aligned again. Gives where runs are kept now, and of each attempt before the
/// first chunk that does not count.
///
/// # Errors
/// A folder that cannot be read or written to; ranks that cannot go on together.
pub fn begin(transport: &dyn Transport, folder: &Path, done: u64) -> Result<(KeptRuns, Vec<u64>), AlignError> {
    let limits = match transport.rank() {
        0 => next(&attempts(folder), done)?,
        _ => Vec::new(),
    };
    let limits = values(transport, &limits)?.swap_remove(0);
    Ok((KeptRuns { folder: folder.to_owned(), attempt: limits.len(), rank: transport.rank() }, limits))
}

/// The limits of all attempts before this one, which are recorded then.
fn next(path: &Path, done: u64) -> Result<Vec<u64>, AlignError> {
    let limits = match std::fs::read(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
        read => {
            let of = |what: &dyn std::fmt::Display| {
                AlignError::Failed(format!("{}: {what}: begin anew with --restart", path.display()))
            };
            let before: Vec<u64> = serde_json::from_slice(&read.map_err(|error| of(&error))?).map_err(|e| of(&e))?;
            // Of a job that was thrown away, and not wholly, less may be done than before.
            before.into_iter().map(|limit| limit.min(done)).chain([done]).collect()
        }
    };
    cache::write(path, &limits)?;
    Ok(limits)
}

/// The header of the output, the same on all ranks; none if no aligner has said one.
///
/// # Errors
/// Ranks that cannot go on together.
pub fn header(transport: &dyn Transport, file: &Path) -> Result<Option<Header>, AlignError> {
    let own: Option<Header> = match transport.rank() {
        0 => cache::read(file),
        _ => None,
    };
    Ok(values(transport, &own)?.swap_remove(0))
}
