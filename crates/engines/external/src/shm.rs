//! /dev/shm: our folder in it, and its room.

use crate::error::ExternalError;
use std::fs::DirBuilder;
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use zerohop_model::machine::Bytes;
use zerohop_topology::free_bytes;

/// Where the kernel keeps files in memory.
pub const SHM: &str = "/dev/shm";

/// Whether the system has such a place. Where it has none there are no copies, and none can be made.
const IS_THERE: bool = cfg!(target_os = "linux");

/// The folder of this user's copies, made if need be.
pub(crate) fn root() -> Result<PathBuf, ExternalError> {
    if !IS_THERE {
        return Err(ExternalError::Failed(format!("index copies in {SHM} are only for Linux")));
    }
    let root = place(user()?);
    let fault = ExternalError::system(root.display().to_string());
    DirBuilder::new().recursive(true).mode(0o700).create(&root).map_err(fault)?;
    existing_root()?.ok_or_else(|| ExternalError::Failed(format!("{} has gone", root.display())))
}

/// The folder of this user's copies, if there is one.
pub(crate) fn existing_root() -> Result<Option<PathBuf>, ExternalError> {
    if !IS_THERE {
        return Ok(None);
    }
    let user = user()?;
    let root = place(user);
    let fault = |e| ExternalError::System { what: root.display().to_string(), source: e };
    match std::fs::symlink_metadata(&root) {
        Ok(owner) if owner.uid() == user && owner.is_dir() => Ok(Some(root)),
        Ok(_) => Err(fault(std::io::Error::other(
            "is not a folder of this user's, in which copies of the index are kept: an administrator can remove it",
        ))),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(fault(error)),
    }
}

fn user() -> Result<u32, ExternalError> {
    Ok(std::fs::metadata("/proc/self").map_err(ExternalError::system("/proc/self"))?.uid())
}

fn place(user: u32) -> PathBuf {
    Path::new(SHM).join(format!("zerohop-{user}"))
}

/// Whether files there lie on huge pages, where the system has some, by the options that it was mounted with
/// (tmpfs(5)), unless the system says the same for all mounts (the kernel's transhuge.rst).
pub fn has_huge_pages() -> bool {
    let text = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    match &text("/sys/kernel/mm/transparent_hugepage/shmem_enabled") {
        of_all if of_all.contains("[force]") => true,
        of_all if of_all.contains("[deny]") => false,
        _ => gives_huge_pages(&text("/proc/self/mounts")),
    }
}

/// Of several that were mounted there, the last one counts.
fn gives_huge_pages(mounts: &str) -> bool {
    let mut fields = mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    let options = fields.rfind(|fields| fields.get(1) == Some(&SHM)).and_then(|fields| fields.get(3).copied());
    let gives = |option: &str| matches!(option, "huge=always" | "huge=within_size");
    options.is_some_and(|options| options.split(',').any(gives))
}

/// Refuses copies for which there is no room.
///
/// # Errors
/// [`ExternalError::Failed`].
pub fn check_room(needed: u64) -> Result<(), ExternalError> {
    let free = free_bytes(Path::new(SHM)).map_err(ExternalError::system(SHM))?;
    if free < needed { Err(no_room(needed)) } else { Ok(()) }
}

/// A copy that needs so many bytes could not be made for this reason.
pub fn not_copied(needed: u64, error: std::io::Error) -> ExternalError {
    match error.kind() {
        ErrorKind::StorageFull => no_room(needed),
        _ => ExternalError::system(format!("the index cannot be copied to {SHM}"))(error),
    }
}

/// An index copy does not fit.
fn no_room(needed: u64) -> ExternalError {
    let free = free_bytes(Path::new(SHM)).map_or("less".to_owned(), |free| Bytes(free).to_string());
    let needed = Bytes(needed);
    ExternalError::Failed(format!(
        "{SHM} is too small for the index: copies need {needed}, and {free} are free: enlarge {SHM} ('mount -o \
         remount,size=...', docker --shm-size), remove copies there ('zerohop cache --clear --all'), or do without \
         --farm and --keep"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn huge_pages_are_an_option_of_the_mount() {
        let shm = "tmpfs /dev/shm tmpfs rw,relatime,size=24684092k";
        assert!(
            !gives_huge_pages(shm) && !gives_huge_pages("") && !gives_huge_pages("x /run tmpfs rw,huge=always 0 0")
        );
        assert!(gives_huge_pages(&format!("{shm} 0 0\n{shm},huge=within_size 0 0\nproc /proc proc rw 0 0\n")));
        assert!(!gives_huge_pages(&format!("{shm},huge=always 0 0\n{shm},huge=never 0 0\n")));
    }

    #[test]
    fn an_index_that_does_not_fit_is_refused() {
        check_room(1).unwrap();
        let error = check_room(u64::MAX).unwrap_err().to_string();
        assert!(error.starts_with("/dev/shm is too small for the index: copies need 16777216.0 TiB, and "), "{error}");
    }
}
