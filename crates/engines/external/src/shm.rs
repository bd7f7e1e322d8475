//! /dev/shm: our folder in it, and its room.

use crate::error::ExternalError;
use std::fs::DirBuilder;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use zerohop_model::machine::Bytes;
use zerohop_topology::free_bytes;

/// Where the kernel keeps files in memory.
pub(crate) const SHM: &str = "/dev/shm";

/// The folder of this user's copies, made if need be.
pub(crate) fn root() -> Result<PathBuf, ExternalError> {
    let user = std::fs::metadata("/proc/self").map_err(ExternalError::system("/proc/self"))?.uid();
    let root = Path::new(SHM).join(format!("zerohop-{user}"));
    let fault = |e| ExternalError::System { what: root.display().to_string(), source: e };
    DirBuilder::new().recursive(true).mode(0o700).create(&root).map_err(fault)?;
    let owner = std::fs::symlink_metadata(&root).map_err(fault)?;
    if owner.uid() != user || !owner.is_dir() {
        return Err(fault(std::io::Error::other("is not a folder of this user's")));
    }
    Ok(root)
}

/// Refuses a copy for which there is no room.
///
/// # Errors
/// [`ExternalError::Failed`].
pub(crate) fn check_room(needed: u64) -> Result<(), ExternalError> {
    let free = free_bytes(Path::new(SHM)).map_err(ExternalError::system(SHM))?;
    if free < needed { Err(no_room(needed)) } else { Ok(()) }
}

/// An index copy does not fit.
pub(crate) fn no_room(needed: u64) -> ExternalError {
    let free = free_bytes(Path::new(SHM)).map_or("less".to_owned(), |free| Bytes(free).to_string());
    let needed = Bytes(needed);
    ExternalError::Failed(format!(
        "{SHM} is too small for a copy of the index: it needs {needed}, and {free} are free: enlarge {SHM} \
         ('mount -o remount,size=...'), remove copies there ('zerohop cache --clear --all'), or do without --farm"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_that_does_not_fit_is_refused() {
        check_room(1).unwrap();
        let error = check_room(u64::MAX).unwrap_err().to_string();
        assert!(
            error.starts_with("/dev/shm is too small for a copy of the index: it needs 16777216.0 TiB, and "),
            "{error}"
        );
    }
}
