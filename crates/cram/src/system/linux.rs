//! Linux.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::os::fd::{FromRawFd, OwnedFd};

/// The folder in which a process finds its open files.
pub(crate) const OPEN_FILES: &str = "/proc/self/fd";

/// An empty file in memory.
pub(crate) fn in_memory() -> io::Result<File> {
    // SAFETY: the name is a string with its end.
    let descriptor = unsafe { libc::memfd_create(c"cram".as_ptr(), libc::MFD_CLOEXEC) };
    if descriptor < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: it was just made, and belongs to nobody else.
    Ok(File::from(unsafe { OwnedFd::from_raw_fd(descriptor) }))
}
