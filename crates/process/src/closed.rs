//! Standard output that is closed.
//!
//! It may have been closed before the program was started. Rust's runtime opens /dev/null in the place of standard
//! streams that are closed, before `main` (library/std/src/sys/pal/unix/mod.rs, `sanitize_standard_fds`): what is
//! written there is lost, and no error says so. In `main` this cannot be told from a /dev/null that was asked for. It
//! is opened for reading and writing, where a shell's `> /dev/null` is for writing alone, but Python's
//! `subprocess.DEVNULL` is for both as well (Lib/subprocess.py, `_get_devnull`). So the descriptor is looked at before:
//! the loader calls the functions in `.init_array` ahead of `main` (System V ABI, "Initialization and Termination
//! Functions"; on macOS those in `__mod_init_func`).

#![allow(unsafe_code)]

use std::sync::atomic::{AtomicBool, Ordering};

static WAS_CLOSED: AtomicBool = AtomicBool::new(false);

extern "C" fn look() {
    // SAFETY: F_GETFD takes no pointer and changes nothing; for a descriptor that is closed it fails.
    let is_closed = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) } == -1;
    WAS_CLOSED.store(is_closed, Ordering::Relaxed);
}

// SAFETY: the section holds addresses of functions that are called once, in one thread, with arguments that a C
// function may ignore. `look` needs nothing that is set up later: it makes one system call, and writes to an atomic.
#[used]
#[cfg_attr(target_os = "linux", unsafe(link_section = ".init_array"))]
#[cfg_attr(target_os = "macos", unsafe(link_section = "__DATA,__mod_init_func"))]
static LOOK: extern "C" fn() = look;

/// Standard output was closed (`>&-` in a shell) when the program was started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("standard output is closed: what would be written there would be lost")]
pub struct ClosedError;

/// For whoever is about to do something that ends on standard output.
///
/// # Errors
/// [`ClosedError`].
pub fn check_open() -> Result<(), ClosedError> {
    if WAS_CLOSED.load(Ordering::Relaxed) { Err(ClosedError) } else { Ok(()) }
}
