//! Who writes to a job: each rank locks a file of its own. The first rank alone holds the lock on the job, and others
//! may outlive it, for a moment or until they notice, which may take long on a host that is cut off. A run that is
//! begun meanwhile must not write to the same file as they do.

use super::fault;
use crate::error::RanksError;
use crate::launch::host;
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;
use zerohop_process::{has_no_locks, lock, running_time, tell};

/// What the names of these files begin with.
pub(super) const PREFIX: &str = "writer-";
/// How long a run waits for ranks of an earlier one: most launchers have ended them by then.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);
/// How often it looks.
const LOOK: Duration = Duration::from_millis(100);

/// Says that `rank` writes, as long as the file is open; none where the file system has no locks.
///
/// # Errors
/// A file that cannot be made or locked; another process that writes as this rank.
pub(super) fn enter(folder: &Path, rank: usize) -> Result<Option<File>, RanksError> {
    let path = folder.join(format!("{PREFIX}{rank}"));
    let mut file = match lock::try_take_alone(&path) {
        Ok(Some(file)) => file,
        Ok(None) => return Err(still_writes(&path)),
        Err(error) if has_no_locks(&error.source) => return Ok(None),
        Err(error) => return Err(fault(&path, error.source)),
    };
    let words = format!("rank {rank}, process {} on host {}", std::process::id(), host());
    file.set_len(0).and_then(|()| file.write_all(words.as_bytes())).map_err(|error| fault(&path, error))?;
    Ok(Some(file))
}

/// Waits until no rank of an earlier run writes to a job.
///
/// # Errors
/// A rank that still does after so long; a folder that cannot be read.
pub(super) fn until_none(folder: &Path, patience: Duration) -> Result<(), RanksError> {
    let (begun, mut is_told) = (running_time(), false);
    while let Some(path) = one_of(folder)? {
        if running_time().saturating_sub(begun) >= patience {
            return Err(still_writes(&path));
        }
        if !is_told {
            let (folder, who) = (folder.display(), who(&path));
            tell::note(&format!("{folder}: {who}, of an earlier run, still writes to it: waiting until it ends"));
            is_told = true;
        }
        std::thread::sleep(LOOK);
    }
    Ok(())
}

/// The file of a rank that writes, if there is one.
fn one_of(folder: &Path) -> Result<Option<PathBuf>, RanksError> {
    for found in std::fs::read_dir(folder).map_err(|error| fault(folder, error))? {
        let found = found.map_err(|error| fault(folder, error))?;
        if !found.file_name().to_string_lossy().starts_with(PREFIX) {
            continue;
        }
        match lock::try_take_alone(&found.path()) {
            Ok(Some(_)) => {}
            Ok(None) => return Ok(Some(found.path())),
            Err(error) if has_no_locks(&error.source) || error.source.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(fault(&found.path(), error.source)),
        }
    }
    Ok(None)
}

/// What the rank has said of itself.
fn who(path: &Path) -> String {
    let words = std::fs::read_to_string(path).unwrap_or_default();
    if words.is_empty() { "a rank".to_owned() } else { words }
}

fn still_writes(path: &Path) -> RanksError {
    let folder = path.parent().unwrap_or(path).display();
    RanksError::Failed(format!(
        "{folder}: {}, of an earlier run, still writes to it: end that process, or wait until it has ended, and give \
         the command again",
        who(path)
    ))
}
