//! Linux.
#![allow(unsafe_code)]

use super::done;
use libc::{c_int, c_uint, c_ulong, sigset_t};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::path::PathBuf;

/// What only Linux ends a process with.
pub(crate) const ASKED: [c_int; 3] = [libc::SIGIO, libc::SIGPWR, libc::SIGSTKFLT];

/// What a library begins with.
pub(crate) const LIBRARY_MAGIC: &[u8] = b"\x7fELF";

/// What pipes, terminals and the like answer when they are to be synced (fsync(2)).
pub(crate) const NOT_TO_BE_SYNCED: [c_int; 2] = [libc::EINVAL, libc::EROFS];

/// The path at which a program finds its standard input; `/dev/stdin` is a link to this that not every system has.
pub const STDIN: &str = "/proc/self/fd/0";

/// The paths at which a child finds the first two files that it was [given](crate::ChildProgram::given); `/dev/fd` is a
/// link to their folder that not every system has.
pub const GIVEN_FDS: [&str; 2] = ["/proc/self/fd/3", "/proc/self/fd/4"];

/// The program of this process, to be started again, also when its file has another name by now.
///
/// # Errors
/// On other systems than Linux, what they say.
pub fn own_program() -> io::Result<PathBuf> {
    Ok(PathBuf::from("/proc/self/exe"))
}

/// How many files may be open at most, where this is the limit; none for no limit.
pub(crate) fn most_files(limit: Option<u64>) -> Option<u64> {
    limit
}

/// Has the kernel kill the process with the thread that spawned it.
pub(crate) fn end_with_parent() -> io::Result<()> {
    // SAFETY: this kind of prctl takes a number and no pointer.
    done(unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as c_ulong) })
}

/// Has exec close all descriptors from this one on. Kernels before 5.11 cannot do it; there it changes nothing.
pub(crate) fn close_by_exec(first: RawFd) {
    // SAFETY: this system call takes numbers; it marks descriptors to be closed by exec, and closes none now.
    unsafe { libc::syscall(libc::SYS_close_range, first as c_uint, c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC) };
}

/// Asks for another capacity of a pipe; whether it was granted.
pub(crate) fn set_pipe_capacity(pipe: BorrowedFd<'_>, bytes: c_int) -> bool {
    // SAFETY: fcntl with F_SETPIPE_SZ takes a number.
    unsafe { libc::fcntl(pipe.as_raw_fd(), libc::F_SETPIPE_SZ, bytes) >= 0 }
}

/// How many bytes a pipe holds; less than 0 for a descriptor that is not a pipe.
pub(crate) fn pipe_capacity(pipe: BorrowedFd<'_>) -> c_int {
    // SAFETY: fcntl with F_GETPIPE_SZ takes nothing else.
    unsafe { libc::fcntl(pipe.as_raw_fd(), libc::F_GETPIPE_SZ) }
}

/// What becomes readable when one of these signals comes, which the process holds back.
pub(crate) fn signal_descriptor(held: &sigset_t) -> io::Result<OwnedFd> {
    // SAFETY: the kernel reads one set and makes a descriptor, which belongs to nobody else.
    unsafe {
        let descriptor = libc::signalfd(-1, held, libc::SFD_NONBLOCK | libc::SFD_CLOEXEC);
        done(descriptor)?;
        Ok(OwnedFd::from_raw_fd(descriptor))
    }
}

/// The next of these signals, if one has come, and whether the kernel sent it.
pub(crate) fn next_signal(descriptor: BorrowedFd<'_>, _: &sigset_t) -> io::Result<Option<(c_int, bool)>> {
    // SAFETY: signalfd_siginfo is plain numbers, for which zeros are values.
    let mut told: libc::signalfd_siginfo = unsafe { std::mem::zeroed() };
    let size = size_of_val(&told);
    // SAFETY: the kernel writes at most `size` bytes, for which there is room.
    if unsafe { libc::read(descriptor.as_raw_fd(), (&raw mut told).cast(), size) } < 0 {
        let error = io::Error::last_os_error();
        return match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => Ok(None),
            _ => Err(error),
        };
    }
    Ok(Some((told.ssi_signo as c_int, told.ssi_code == libc::SI_KERNEL)))
}

/// Whether a signal of this code was raised by an instruction, if it is one that instructions raise: codes above 0 are
/// the kernel's.
pub(crate) fn is_of_kernel(code: c_int) -> bool {
    code > 0
}

/// Where this thread's errno is.
pub(crate) fn errno() -> *mut c_int {
    // SAFETY: it takes nothing, and may be called at any time, also in a signal handler.
    unsafe { libc::__errno_location() }
}
