//! What system calls answer.

use libc::c_int;
use std::io;

/// What a system call says that answers with less than 0 on failure.
pub(crate) fn done(answer: c_int) -> io::Result<()> {
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
