//! Locks as files, for what several runs share. The kernel gives them back when their holder ends, however it ends.

use crate::error::ExternalError;
use std::fs::{File, TryLockError};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// How a lock is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hold {
    /// With others.
    Shared,
    /// By one alone.
    Alone,
}

/// Takes a lock, waiting for it. Its file is made if need be.
///
/// # Errors
/// What the system says.
pub(crate) fn take(path: &Path, hold: Hold) -> Result<File, ExternalError> {
    loop {
        let file = open(path)?;
        let outcome = match hold {
            Hold::Shared => file.lock_shared(),
            Hold::Alone => file.lock(),
        };
        outcome.map_err(ExternalError::system(path.display().to_string()))?;
        if is_still_there(&file, path) {
            return Ok(file);
        }
    }
}

/// Takes a lock alone if nobody holds it.
///
/// # Errors
/// As for [`take`].
pub(crate) fn try_take_alone(path: &Path) -> Result<Option<File>, ExternalError> {
    loop {
        let file = open(path)?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(ExternalError::system(path.display().to_string())(error)),
            Ok(()) if is_still_there(&file, path) => return Ok(Some(file)),
            Ok(()) => {}
        }
    }
}

fn open(path: &Path) -> Result<File, ExternalError> {
    let file = File::options().create(true).truncate(false).write(true).open(path);
    file.map_err(ExternalError::system(path.display().to_string()))
}

/// Whoever removes what is locked removes the lock's file too. Then one that was held open is nobody's any more: others
/// may hold the lock at the same path, in another file.
fn is_still_there(file: &File, path: &Path) -> bool {
    match (file.metadata(), std::fs::metadata(path)) {
        (Ok(ours), Ok(there)) => (ours.dev(), ours.ino()) == (there.dev(), there.ino()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_whose_file_was_removed_is_taken_anew() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let first = take(&path, Hold::Shared).unwrap();
        assert!(try_take_alone(&path).unwrap().is_none());
        std::fs::remove_file(&path).unwrap();
        let second = try_take_alone(&path).unwrap();
        assert!(second.is_some() && is_still_there(&second.unwrap(), &path) && !is_still_there(&first, &path));
    }
}
