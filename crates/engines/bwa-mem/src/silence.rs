//! What the library does behind our back: it looks for variables in the environment, and writes to the C library's
//! `stderr`. Both is kept off.

use std::sync::Once;

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

/// From now on, what the C library's `stderr` is given by a thread inside the library is lost. All that others write to
/// it, MPI for example, goes where it went.
pub(crate) fn begin() {
    static BEGUN: Once = Once::new();
    BEGUN.call_once(stream::replace);
}

#[cfg(target_env = "gnu")]
mod stream {
    use crate::crashes::is_inside;
    use std::ffi::{c_char, c_void};
    use std::ptr::{null, null_mut};

    /// What a stream of one's own does (fopencookie(3)): this one only writes.
    #[repr(C)]
    struct Functions {
        read: *const c_void,
        write: extern "C" fn(*mut c_void, *const c_char, usize) -> isize,
        seek: *const c_void,
        close: *const c_void,
    }

    unsafe extern "C" {
        static mut stderr: *mut libc::FILE;
        fn fopencookie(cookie: *mut c_void, mode: *const c_char, functions: Functions) -> *mut libc::FILE;
    }

    extern "C" fn write(_: *mut c_void, bytes: *const c_char, length: usize) -> isize {
        if is_inside() {
            return length as isize;
        }
        // SAFETY: the stream passes bytes that are there to be read. 0 says that they could not be written.
        unsafe { libc::write(libc::STDERR_FILENO, bytes.cast(), length) }.max(0)
    }

    /// Puts our stream in the place of `stderr`. It has no buffer, so that whoever writes calls `write` itself.
    pub(super) fn replace() {
        let functions = Functions { read: null(), write, seek: null(), close: null() };
        // SAFETY: the functions have the types that fopencookie(3) asks for. `stderr` is a pointer that a program may
        // replace at any time (stderr(3) of glibc); neither stream is ever closed, so C code that is just writing to
        // the old one goes on.
        unsafe {
            let stream = fopencookie(null_mut(), c"w".as_ptr(), functions);
            if !stream.is_null() {
                libc::setvbuf(stream, null_mut(), libc::_IONBF, 0);
                stderr = stream;
            }
        }
    }
}

#[cfg(not(target_env = "gnu"))]
mod stream {
    /// Where `stderr` cannot be replaced, the library's words are seen.
    pub(super) fn replace() {}
}
