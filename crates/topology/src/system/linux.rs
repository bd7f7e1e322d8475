//! Linux.

use libc::{c_int, c_ulong, off_t};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;
use zerohop_model::machine::Bytes;

/// Bytes of the unit in which getrusage(2) tells memory.
pub(crate) const PEAK_UNIT: u64 = 1024;

/// Keeps the calling thread on the CPUs of a mask.
pub(crate) fn set_affinity(mask: &[c_ulong]) -> io::Result<()> {
    // SAFETY: the pointer and the length in bytes are those of `mask`, which lives until the call returns; the kernel
    // only reads it.
    done(unsafe { libc::sched_setaffinity(0, size_of_val(mask), mask.as_ptr().cast()) })
}

/// Writes the CPUs on which the calling thread may run to a mask. `EINVAL` when it has no room for all CPUs that the
/// kernel could ever have.
pub(crate) fn affinity(mask: &mut [c_ulong]) -> io::Result<()> {
    // SAFETY: the pointer and the length in bytes are those of `mask`, which lives until the call returns and may be
    // written as any bits are a valid `c_ulong`.
    done(unsafe { libc::sched_getaffinity(0, size_of_val(mask), mask.as_mut_ptr().cast()) })
}

fn done(answer: c_int) -> io::Result<()> {
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// What is not known of this machine because `/sys` or `/proc` is missing, a sentence each.
pub(crate) fn unknown() -> Vec<String> {
    let missing = |path: &str| !Path::new(path).exists();
    let sys = (
        missing("/sys/devices/system/cpu"),
        "/sys is missing: nodes, distances and caches are not known; the machine counts as one node.",
    );
    let proc = (
        missing("/proc/self"),
        "/proc is missing: limits of control groups are not known, and free memory only roughly.",
    );
    [sys, proc].into_iter().filter(|(missing, _)| *missing).map(|(_, words)| words.to_owned()).collect()
}

/// All memory, and what of it is free (`sysinfo(2)`, which does not count the page cache as free); zeros where the
/// kernel does not tell.
pub(crate) fn memory() -> (Bytes, Bytes) {
    // SAFETY: sysinfo is plain numbers, for which zeros are values.
    let mut told: libc::sysinfo = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel writes one such structure, for which there is room.
    if unsafe { libc::sysinfo(&raw mut told) } != 0 {
        return (Bytes(0), Bytes(0));
    }
    let bytes = |units| Bytes(u64::from(told.mem_unit).saturating_mul(units));
    (bytes(told.totalram), bytes(told.freeram.saturating_add(told.bufferram)))
}

/// Takes room for the first bytes of a file (`posix_fallocate(3)`).
pub(crate) fn allocate(file: &File, bytes: off_t) -> io::Result<()> {
    loop {
        // SAFETY: the descriptor is open; the function takes numbers.
        match unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, bytes) } {
            0 => return Ok(()),
            libc::EINTR => {}
            error => return Err(io::Error::from_raw_os_error(error)),
        }
    }
}
