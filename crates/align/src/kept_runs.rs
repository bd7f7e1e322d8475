//! What a job on record keeps of sorted records until they are merged, beside its journal: the runs of all ranks, the
//! header, and what each attempt has given up.

use crate::error::AlignError;
use crate::gather;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use zerohop_output::{Header, KEPT, KeptRuns};
use zerohop_process::cache;
use zerohop_ranks::Transport;

/// A list of numbers: of each attempt that has ended, the first chunk of which its runs do not count.
fn attempts(folder: &Path) -> PathBuf {
    folder.join(format!("{KEPT}attempts.json"))
}

fn header_file(folder: &Path) -> PathBuf {
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
    let limits = gather::values(transport, &limits)?.swap_remove(0);
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

/// Keeps the header of the output, unless there is one: that of any rank will do, for they may differ only in what
/// their aligners say of themselves.
///
/// # Errors
/// A folder that cannot be written to.
pub fn keep_header(kept: &KeptRuns, header: &Header) -> Result<(), zerohop_process::WriteError> {
    let path = header_file(&kept.folder);
    if path.exists() { Ok(()) } else { cache::write(&path, header) }
}

/// The header of the output, the same on all ranks; none if no aligner has said one.
///
/// # Errors
/// Ranks that cannot go on together.
pub fn header(transport: &dyn Transport, kept: &KeptRuns) -> Result<Option<Header>, AlignError> {
    let own: Option<Header> = match transport.rank() {
        0 => cache::read(&header_file(&kept.folder)),
        _ => None,
    };
    Ok(gather::values(transport, &own)?.swap_remove(0))
}
