//! Room in a file system: asked for, and taken before it is written to.
//!
//! A file in memory that is mapped, and for whose pages there is no room, ends who writes to it with SIGBUS; a file
//! whose pages were allocated before does not.

use crate::system;
use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Bytes that this user can still write to the file system that `path` is in (`statvfs(3)`).
///
/// # Errors
/// What the system says.
pub fn free_bytes(path: &Path) -> io::Result<u64> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    // SAFETY: statvfs is plain numbers, for which zeros are values.
    let mut told: libc::statvfs = unsafe { std::mem::zeroed() };
    // SAFETY: the path ends with a zero; the kernel writes one statvfs, for which there is room.
    match unsafe { libc::statvfs(path.as_ptr(), &raw mut told) } {
        0 => Ok((told.f_bavail as u64).saturating_mul(told.f_frsize)),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Takes room for the first `bytes` bytes of a file, which is as long then (`posix_fallocate(3)` on Linux). In memory,
/// pages lie where the memory policy of the calling thread wants them.
///
/// # Errors
/// `StorageFull` when there is not so much; else what the system says.
pub fn allocate(file: &File, bytes: u64) -> io::Result<()> {
    if bytes == 0 {
        return Ok(());
    }
    let bytes = libc::off_t::try_from(bytes).map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge))?;
    system::allocate(file, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_told_and_taken() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert!(free_bytes(file.path()).unwrap() > 0);
        allocate(file.as_file(), 0).unwrap();
        allocate(file.as_file(), 5000).unwrap();
        assert_eq!(file.as_file().metadata().unwrap().len(), 5000);
        assert!(allocate(file.as_file(), 1 << 60).is_err());
        assert!(free_bytes(Path::new("/no/such/folder")).is_err());
    }
}
