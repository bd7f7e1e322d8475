//! Files that htslib opens by a name of ours: `zerohop:PATH`. htslib takes such a file for a remote one, so it looks
//! for no index beside it, and makes none.
#![allow(unsafe_code)]

use std::ffi::{CStr, OsStr, c_char, c_int};
use std::fs::File;
use std::os::fd::{FromRawFd, IntoRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;

/// What names begin with, and a colon.
const SCHEME: &CStr = c"zerohop";

/// How htslib opens names of a scheme (`struct hFILE_scheme_handler`, hfile_internal.h, which its plugins use).
#[repr(C)]
struct Handler {
    open: unsafe extern "C" fn(*const c_char, *const c_char) -> *mut hts_sys::hFILE,
    is_remote: unsafe extern "C" fn(*const c_char) -> c_int,
    provider: *const c_char,
    priority: c_int,
    /// Not looked at where the priority is less than 2000.
    open_with_arguments: usize,
}

// SAFETY: nobody writes to it.
unsafe impl Sync for Handler {}

static HANDLER: Handler =
    Handler { open, is_remote, provider: c"zerohop".as_ptr(), priority: 50, open_with_arguments: 0 };

unsafe extern "C" {
    fn hfile_add_scheme_handler(scheme: *const c_char, handler: *const Handler);
}

/// Has htslib know such names. To be called once, before any other thread calls htslib: it takes no lock.
pub(crate) fn register() {
    // SAFETY: the name is a string with its end. This has htslib make the table of schemes.
    unsafe { hts_sys::hisremote(c"zerohop:".as_ptr()) };
    // SAFETY: both live as long as the program, and no other thread uses the table yet.
    unsafe { hfile_add_scheme_handler(SCHEME.as_ptr(), &raw const HANDLER) };
}

unsafe extern "C" fn is_remote(_name: *const c_char) -> c_int {
    1
}

/// Opens the file to be read.
unsafe extern "C" fn open(name: *const c_char, mode: *const c_char) -> *mut hts_sys::hFILE {
    // SAFETY: htslib gives a string with its end, which nobody changes meanwhile.
    let name = unsafe { CStr::from_ptr(name) }.to_bytes();
    let path = name.strip_prefix(SCHEME.to_bytes()).and_then(|rest| rest.strip_prefix(b":"));
    let Some(Ok(file)) = path.map(|path| File::open(OsStr::from_bytes(path))) else {
        return std::ptr::null_mut();
    };
    let descriptor = file.into_raw_fd();
    // SAFETY: htslib owns the descriptor if it takes it; the mode is a string with its end.
    let stream = unsafe { hts_sys::hdopen(descriptor, mode) };
    if stream.is_null() {
        // SAFETY: htslib did not take it, so it is ours still.
        drop(unsafe { OwnedFd::from_raw_fd(descriptor) });
    }
    stream
}
