//! macOS: it has neither nodes nor affinities, and tells with sysctl(3) what Linux tells in files.

use libc::{c_int, c_ulong, off_t};
use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::ptr::null_mut;
use zerohop_model::machine::Bytes;

/// Bytes of the unit in which getrusage(2) tells memory.
pub(crate) const PEAK_UNIT: u64 = 1;

/// Changes nothing: threads cannot be kept on CPUs, which [`unknown`] tells.
pub(crate) fn set_affinity(_: &[c_ulong]) -> io::Result<()> {
    Ok(())
}

/// Writes all CPUs to a mask: any thread may run on any.
pub(crate) fn affinity(mask: &mut [c_ulong]) -> io::Result<()> {
    let bits = c_ulong::BITS as usize;
    for cpu in 0..std::thread::available_parallelism()?.get().min(mask.len() * bits) {
        mask[cpu / bits] |= 1 << (cpu % bits);
    }
    Ok(())
}

/// What is not known of this machine, a sentence each.
pub(crate) fn unknown() -> Vec<String> {
    vec!["macOS shows no nodes and pins no threads: the machine counts as one node.".to_owned()]
}

/// All memory, and what of it is free, with half of the page cache: the rest may be dirty or in use. Zeros where the
/// kernel does not tell.
pub(crate) fn memory() -> (Bytes, Bytes) {
    let pages = number(c"vm.page_free_count") + number(c"vm.page_pageable_external_count") / 2;
    (Bytes(number(c"hw.memsize")), Bytes(pages.saturating_mul(number(c"hw.pagesize"))))
}

/// A number of sysctl(3), of 4 or 8 bytes; 0 where there is none of that name.
fn number(name: &CStr) -> u64 {
    let (mut told, mut size) = (0u64, size_of::<u64>());
    // SAFETY: the name ends with a zero; the kernel writes at most `size` bytes, for which there is room. The processor
    // is little-endian: the lower half of a number is its beginning.
    let outcome = unsafe { libc::sysctlbyname(name.as_ptr(), (&raw mut told).cast(), &raw mut size, null_mut(), 0) };
    if outcome == 0 { told } else { 0 }
}

/// Takes room for the first bytes of a file (`F_PREALLOCATE` of fcntl(2)).
pub(crate) fn allocate(file: &File, bytes: off_t) -> io::Result<()> {
    let mut wanted = libc::fstore_t {
        fst_flags: libc::F_ALLOCATEALL,
        fst_posmode: libc::F_PEOFPOSMODE,
        fst_offset: 0,
        fst_length: bytes,
        fst_bytesalloc: 0,
    };
    // SAFETY: the descriptor is open; the kernel reads and writes one such structure.
    done(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_PREALLOCATE, &raw mut wanted) })?;
    file.set_len(bytes.cast_unsigned())
}

fn done(answer: c_int) -> io::Result<()> {
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
