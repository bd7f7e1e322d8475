//! The files of trimmed reads and of those that are dropped.

use crate::job::saved::level;
use crate::job::{AlignError, Job, mate_paths};
use std::path::PathBuf;
use std::sync::Arc;
use zerohop_input::{OpenLane, SavedFile, SavedReads};
use zerohop_model::error::{Error, shown_path};
use zerohop_process::{NewFile, WriteError};

/// Files that have no names yet.
pub struct Saved {
    files: Vec<NewFile>,
    reads: Arc<SavedReads>,
}

impl Saved {
    /// Ends the files.
    ///
    /// # Errors
    /// What the system says.
    pub fn end(self) -> Result<Vec<NewFile>, Error> {
        self.reads.files().try_for_each(SavedFile::end)?;
        Ok(self.files)
    }
}

/// Opens the files, if some are wanted: the first of several processes those with the names that they will have; the
/// others, where each reads a part of the lanes, files for their parts, which the first one puts together.
///
/// # Errors
/// Single reads, for files of mates; what the system says.
pub fn open(job: &Job, lanes: Vec<OpenLane>, rank: usize) -> Result<(Option<Saved>, Vec<OpenLane>), AlignError> {
    if job.saved.paths().is_empty() || rank > 0 && !lanes.iter().all(OpenLane::is_counted) {
        return Ok((None, lanes));
    }
    let single = lanes.iter().find(|lane| !lane.is_paired() && lane.is_fasta().is_some());
    if let Some(single) = single
        && let Some((option, path)) = job.saved.named().find(|(_, path)| mate_paths(path).len() > 1)
    {
        return Err(AlignError::Usage(format!(
            "{option} {}: '%' stands for the mates of pairs, and the reads of {} are single: leave out the '%'",
            path.display(),
            single.paths().next().map(|path| shown_path(path)).unwrap_or_default()
        )));
    }
    let mut files = Vec::new();
    let mut open = |wanted: &Option<PathBuf>| -> Result<Vec<SavedFile>, WriteError> {
        let level = wanted.as_ref().and_then(|path| level(job, path)).flatten();
        let paths = wanted.iter().flat_map(|path| mate_paths(path));
        let open = |path: PathBuf| {
            // All ranks have files of that name in work: what is left of a rank that was killed goes with the next run.
            let new = NewFile::create(&path)?;
            let file = new.file().try_clone().map_err(WriteError::of(&path))?;
            let written_at = new.temporary_path().unwrap_or(&path).to_owned();
            files.push(new);
            Ok(SavedFile::new(path, written_at, file, level))
        };
        paths.map(open).collect()
    };
    let reads = SavedReads { trimmed: open(&job.saved.trimmed)?, failed: open(&job.saved.failed)? };
    let reads = Arc::new(reads);
    let lanes = lanes.into_iter().map(|lane| lane.saving(Some(Arc::clone(&reads)))).collect();
    Ok((Some(Saved { files, reads }), lanes))
}
