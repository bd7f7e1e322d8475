//! macOS: what Linux has and it has not is left out, or done by what POSIX and BSD have.
#![allow(unsafe_code)]

use super::done;
use libc::{c_int, sigset_t};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::path::PathBuf;
use std::ptr::{null, null_mut};

/// What ends a process on this system alone: nothing.
pub(crate) const ASKED: [c_int; 0] = [];

/// What a library begins with (`MH_MAGIC_64`).
pub(crate) const LIBRARY_MAGIC: &[u8] = b"\xcf\xfa\xed\xfe";

/// What pipes, terminals, devices and network shares answer when they are to be synced (fcntl(2), `F_FULLFSYNC`).
pub(crate) const NOT_TO_BE_SYNCED: [c_int; 6] =
    [libc::EINVAL, libc::EROFS, libc::EBADF, libc::ENODEV, libc::ENOTTY, libc::ENOTSUP];

/// The path at which a program finds its standard input.
pub const STDIN: &str = "/dev/fd/0";

/// The paths at which a child finds the first two files that it was [given](crate::ChildProgram::given).
pub const GIVEN_FDS: [&str; 2] = ["/dev/fd/3", "/dev/fd/4"];

/// What a pipe holds at once; it grows to four times as much while there is room for pipes (xnu, `sys/pipe.h`).
const PIPE_BYTES: c_int = 16 << 10;

/// More files than this are refused, whatever the limit (setrlimit(2), `sys/syslimits.h`).
const OPEN_MAX: u64 = 10_240;

/// The code of a signal that a process sent (`SI_USER` in xnu's `sys/signal.h`).
const SENT: c_int = 0x10001;

/// Signals are numbered below this.
const SIGNALS: c_int = 32;

/// The program of this process, to be started again.
///
/// # Errors
/// When its file has gone.
pub fn own_program() -> io::Result<PathBuf> {
    std::env::current_exe()
}

/// How many files may be open at most, where this is the limit; none for no limit.
pub(crate) fn most_files(limit: Option<u64>) -> Option<u64> {
    Some(limit.unwrap_or(OPEN_MAX).min(OPEN_MAX))
}

/// There is no such thing: the child goes on, and the reaper, which was charged with it, ends it.
pub(crate) fn end_with_parent() -> io::Result<()> {
    Ok(())
}

/// Has exec close all descriptors from this one on.
pub(crate) fn close_by_exec(first: RawFd) {
    // SAFETY: both calls take numbers at most, and are system calls, which is safe between fork and exec; a number that
    // is no descriptor is refused.
    unsafe {
        for descriptor in first..libc::getdtablesize() {
            libc::fcntl(descriptor, libc::F_SETFD, libc::FD_CLOEXEC);
        }
    }
}

/// A pipe's capacity is the kernel's choice.
pub(crate) fn set_pipe_capacity(_: BorrowedFd<'_>, _: c_int) -> bool {
    false
}

/// How many bytes a pipe holds at least.
pub(crate) fn pipe_capacity(_: BorrowedFd<'_>) -> c_int {
    PIPE_BYTES
}

/// What becomes readable when one of these signals comes, which the process holds back: a queue of events, which hears
/// of signals that are held back, too (kqueue(2), `EVFILT_SIGNAL`).
pub(crate) fn signal_descriptor(held: &sigset_t) -> io::Result<OwnedFd> {
    // SAFETY: the kernel makes a descriptor, which belongs to nobody else.
    let queue = unsafe {
        let queue = libc::kqueue();
        done(queue)?;
        OwnedFd::from_raw_fd(queue)
    };
    for signal in (1..SIGNALS).filter(|&signal| holds(held, signal)) {
        // SAFETY: kevent is plain numbers and a pointer that the kernel only hands back, for which zeros are values.
        let mut wanted: libc::kevent = unsafe { std::mem::zeroed() };
        wanted.ident = signal as usize;
        wanted.filter = libc::EVFILT_SIGNAL;
        wanted.flags = libc::EV_ADD | libc::EV_CLEAR;
        // SAFETY: the kernel reads one kevent, and is given no room to write to.
        done(unsafe { libc::kevent(queue.as_raw_fd(), &raw const wanted, 1, null_mut(), 0, null()) })?;
    }
    Ok(queue)
}

/// The next of these signals, if one has come. Who sent it is not told.
pub(crate) fn next_signal(queue: BorrowedFd<'_>, held: &sigset_t) -> io::Result<Option<(c_int, bool)>> {
    let signal = match pending(held)? {
        Some(signal) => Some(signal),
        None => {
            forget_events(queue)?;
            // One may have come meanwhile, whose event was forgotten with the others.
            pending(held)?
        }
    };
    signal.map(|signal| take(signal).map(|()| (signal, false))).transpose()
}

/// A signal of a set that has come and is held back.
fn pending(held: &sigset_t) -> io::Result<Option<c_int>> {
    let mut come: sigset_t = 0;
    // SAFETY: the kernel writes one set, for which there is room.
    done(unsafe { libc::sigpending(&raw mut come) })?;
    Ok((1..SIGNALS).find(|&signal| holds(held, signal) && holds(&come, signal)))
}

/// Takes a signal that has come.
fn take(signal: c_int) -> io::Result<()> {
    let (mut only, mut taken): (sigset_t, c_int) = (0, 0);
    // SAFETY: the functions write to the set and to the number, for which there is room.
    let error = unsafe {
        libc::sigaddset(&raw mut only, signal);
        libc::sigwait(&raw const only, &raw mut taken)
    };
    if error == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(error)) }
}

/// Takes all events out of a queue, without waiting for any.
fn forget_events(queue: BorrowedFd<'_>) -> io::Result<()> {
    let at_once = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: kevent is plain numbers and a pointer, for which zeros are values.
    let mut events: [libc::kevent; SIGNALS as usize] = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel writes at most as many events as there is room for.
    done(unsafe { libc::kevent(queue.as_raw_fd(), null(), 0, events.as_mut_ptr(), SIGNALS, &raw const at_once) })
}

fn holds(set: &sigset_t, signal: c_int) -> bool {
    // SAFETY: the function reads one set.
    unsafe { libc::sigismember(set, signal) == 1 }
}

/// Whether a signal of this code was raised by an instruction, if it is one that instructions raise. The code of those
/// that processes send is above the others here.
pub(crate) fn is_of_kernel(code: c_int) -> bool {
    (1..SENT).contains(&code)
}

/// Where this thread's errno is.
pub(crate) fn errno() -> *mut c_int {
    // SAFETY: it takes nothing, and may be called at any time, also in a signal handler.
    unsafe { libc::__error() }
}
