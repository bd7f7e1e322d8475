//! Locks as files, for what several runs share. The kernel gives them back when their holder ends, however it ends.

use crate::charge::Charge;
use crate::reaper::{Charged, charge};
use crate::temporary::Temporary;
use std::fs::{File, TryLockError};
use std::io::{Error, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The errors of file systems that have no locks (errno(3)).
const NO_LOCKS: [i32; 4] = [libc::ENOSYS, libc::ENOLCK, libc::EOPNOTSUPP, libc::ENOTSUP];
/// What NFS answers for a file that is not open for writing.
const NOT_FOR_WRITING: i32 = libc::EBADF;

/// A lock cannot be taken.
#[derive(Debug, thiserror::Error)]
#[error("{}: {source}", path.display())]
pub struct LockError {
    /// The lock's file.
    pub path: PathBuf,
    /// What the system said.
    pub source: Error,
}

impl LockError {
    fn of(path: &Path) -> impl FnOnce(Error) -> LockError {
        move |source| LockError { path: path.to_owned(), source }
    }
}

/// How a lock is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hold {
    /// Others may hold it, too.
    Shared,
    /// Nobody else may hold it.
    Alone,
}

/// Takes a lock, waiting for it. Its file is made if need be.
///
/// # Errors
/// What the system says.
pub fn take(path: &Path, hold: Hold) -> Result<File, LockError> {
    loop {
        let file = open(path)?;
        let outcome = match hold {
            Hold::Shared => file.lock_shared(),
            Hold::Alone => file.lock(),
        };
        outcome.map_err(LockError::of(path))?;
        if is_still_there(&file, path) {
            return Ok(file);
        }
    }
}

/// Takes a file that is there already, and need not be writable, as a lock alone, waiting for it. None where the file
/// system has no such locks (flock(2)): NFS locks only what is open for writing.
///
/// # Errors
/// A file that cannot be opened, and what the system says otherwise.
pub fn take_file(path: &Path) -> Result<Option<File>, LockError> {
    let file = File::open(path).map_err(LockError::of(path))?;
    match file.lock() {
        Ok(()) => Ok(Some(file)),
        Err(error) if has_no_locks(&error) || error.raw_os_error() == Some(NOT_FOR_WRITING) => Ok(None),
        Err(error) => Err(LockError::of(path)(error)),
    }
}

/// Takes a lock alone if nobody holds it.
///
/// # Errors
/// As for [`take`].
pub fn try_take_alone(path: &Path) -> Result<Option<File>, LockError> {
    loop {
        let file = open(path)?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(LockError::of(path)(error)),
            Ok(()) if is_still_there(&file, path) => return Ok(Some(file)),
            Ok(()) => {}
        }
    }
}

/// A lock of this process alone, whose file is removed with it, also when a signal ends the process.
#[derive(Debug)]
pub struct OwnLock {
    // Removed while it is held.
    _entered: Option<Temporary>,
    _file: Option<File>,
    _charged: Charged,
}

impl OwnLock {
    /// Takes it; none if another process holds it. Where the file system has no locks nobody is kept out.
    ///
    /// # Errors
    /// What the system says.
    pub fn try_take(path: &Path) -> Result<Option<Self>, LockError> {
        let path = &std::path::absolute(path).map_err(LockError::of(path))?;
        let charged = charge(Charge::lock(path)).map_err(LockError::of(path))?;
        let file = match try_take_alone(path) {
            Ok(Some(file)) => file,
            Ok(None) => return Ok(None),
            Err(error) if has_no_locks(&error.source) => {
                let _ = std::fs::remove_file(path);
                return Ok(Some(OwnLock { _entered: None, _file: None, _charged: charged }));
            }
            Err(error) => return Err(error),
        };
        let entered = Temporary::enter(path).map_err(LockError::of(path))?;
        Ok(Some(OwnLock { _entered: Some(entered), _file: Some(file), _charged: charged }))
    }
}

fn open(path: &Path) -> Result<File, LockError> {
    let file = File::options().create(true).truncate(false).write(true).open(path);
    file.map_err(LockError::of(path))
}

/// Whether the file system cannot lock files at all.
pub fn has_no_locks(error: &Error) -> bool {
    error.kind() == ErrorKind::Unsupported || error.raw_os_error().is_some_and(|code| NO_LOCKS.contains(&code))
}

/// Whether `path` still names `file`. Whoever removes what is locked removes the lock's file too. Then one that was
/// held open is nobody's any more: others may hold the lock at the same path, in another file.
pub fn is_still_there(file: &File, path: &Path) -> bool {
    match (file.metadata(), std::fs::metadata(path)) {
        (Ok(ours), Ok(there)) => (ours.dev(), ours.ino()) == (there.dev(), there.ino()),
        _ => false,
    }
}

/// Opens a file of which several processes, on several hosts perhaps, write different parts.
///
/// Of a page of which Linux's NFS client has been given a part, it sends all from the beginning, and so zeros over what
/// another host has written there, unless the file is locked (nfs_can_extend_write() in fs/nfs/write.c): a shared lock,
/// which keeps nobody out, is held as long as the file is open. A file system without locks has no such client.
///
/// # Errors
/// What the system says.
pub fn open_shared(path: &Path) -> std::io::Result<File> {
    let file = File::options().read(true).write(true).open(path)?;
    match file.try_lock_shared() {
        Err(TryLockError::Error(error)) if !has_no_locks(&error) => Err(error),
        _ => Ok(file),
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
