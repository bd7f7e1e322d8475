//! What macOS shows of processes (`proc_pidinfo` in xnu's libproc, kill(2)).
#![allow(unsafe_code)]

use libc::{c_int, pid_t};

/// When a process was started, in microseconds since 1970; none if there is no such process.
pub(crate) fn start_ticks(pid: u32) -> Option<u64> {
    let pid = pid_t::try_from(pid).ok()?;
    // SAFETY: proc_bsdinfo is plain numbers, for which zeros are values.
    let mut told: libc::proc_bsdinfo = unsafe { std::mem::zeroed() };
    let size = size_of_val(&told) as c_int;
    // SAFETY: the kernel writes at most `size` bytes, for which there is room.
    let written = unsafe { libc::proc_pidinfo(pid, libc::PROC_PIDTBSDINFO, 0, (&raw mut told).cast(), size) };
    (written == size).then(|| told.pbi_start_tvsec * 1_000_000 + told.pbi_start_tvusec)
}

/// Not looked for: environments of others are not told as on Linux.
pub(crate) fn processes() -> Option<std::iter::Empty<u32>> {
    None
}

/// Not known, either.
pub(crate) fn environment_of(_: u32) -> Option<Vec<u8>> {
    None
}

/// Whether there is a process of a group.
pub(crate) fn group_runs(group: u32) -> bool {
    let group = pid_t::try_from(group).ok().filter(|&group| group > 1);
    // SAFETY: killpg takes no pointers, and signal 0 is none.
    group.is_some_and(|group| unsafe { libc::killpg(group, 0) == 0 })
}

/// Not known: whether a thread waits for a disk is not told, so no program is taken for one that does nothing.
pub(crate) fn used(_: u32) -> Option<u64> {
    None
}
