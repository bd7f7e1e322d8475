//! What the library does behind our back: it looks for variables in the environment, and writes to the C library's
//! `stderr`. Both is kept off.

use std::sync::{Mutex, OnceLock, PoisonError};

/// What begins the names of variables that the library looks for in the environment. One of them ends the process.
const VARIABLES: [&str; 4] = ["BWA3_", "BWAMEM3_", "BWA_MEM3_", "BWA_INDEX_"];

/// Takes the library's variables out of the environment: options are what the user typed. The program must have one
/// thread.
pub(crate) fn forget_variables() {
    let is_its =
        |name: &std::ffi::OsString| VARIABLES.iter().any(|begin| name.as_encoded_bytes().starts_with(begin.as_bytes()));
    let names: Vec<std::ffi::OsString> = std::env::vars_os().map(|(name, _)| name).filter(is_its).collect();
    for name in names {
        // SAFETY: there is one thread, as `IndexProvider::prepare` says.
        unsafe { std::env::remove_var(name) };
    }
}

/// Runs `body`; what C code writes to `stderr` meanwhile is lost.
pub(crate) fn silently<T>(body: impl FnOnce() -> T) -> T {
    // One at a time: the stream is the whole process's.
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    stream::without(body)
}

#[cfg(target_env = "gnu")]
mod stream {
    use super::OnceLock;

    unsafe extern "C" {
        static mut stderr: *mut libc::FILE;
    }

    /// A stream that leads nowhere. It is never closed: C code of another thread may just be writing to it.
    struct Nowhere(*mut libc::FILE);
    // SAFETY: streams have locks of their own (stdio(3)).
    unsafe impl Send for Nowhere {}
    // SAFETY: as above.
    unsafe impl Sync for Nowhere {}

    /// Runs `body` while the C library's `stderr` leads nowhere. The caller lets only one thread in at a time.
    pub(super) fn without<T>(body: impl FnOnce() -> T) -> T {
        static NOWHERE: OnceLock<Nowhere> = OnceLock::new();
        // SAFETY: both are strings.
        let nowhere = NOWHERE.get_or_init(|| Nowhere(unsafe { libc::fopen(c"/dev/null".as_ptr(), c"w".as_ptr()) }));
        if nowhere.0.is_null() {
            return body();
        }
        // SAFETY: a pointer that C code may replace at any time (stderr(3) of glibc); both streams live for ever.
        let before = unsafe {
            let before = stderr;
            stderr = nowhere.0;
            before
        };
        let result = body();
        // SAFETY: as above.
        unsafe { stderr = before };
        result
    }
}

#[cfg(not(target_env = "gnu"))]
mod stream {
    /// Where `stderr` cannot be replaced, the library's words are seen.
    pub(super) fn without<T>(body: impl FnOnce() -> T) -> T {
        body()
    }
}
