//! Waiting for one of several descriptors.
#![allow(unsafe_code)]

use crate::system::done;
use libc::{c_int, c_short};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::{Duration, Instant};

/// What to wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interest {
    /// That there is something to read, or the end.
    Read,
    /// That there is room to write.
    Write,
}

/// What can be done with a descriptor at once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Readiness {
    /// There is something to read.
    pub readable: bool,
    /// There is room to write. Also true for a pipe whose reading ends are all closed.
    pub writable: bool,
    /// The other side is closed, or the descriptor is not one (`POLLHUP`, `POLLERR`, `POLLNVAL`). Looked for whatever
    /// the interest is. What was written before can still be read: the end is where this is true and `readable` is not.
    pub closed: bool,
}

impl Readiness {
    fn of(events: c_short) -> Self {
        let any = |wanted: c_short| events & wanted != 0;
        let closed = any(libc::POLLHUP | libc::POLLERR | libc::POLLNVAL);
        Self { readable: any(libc::POLLIN), writable: any(libc::POLLOUT), closed }
    }
}

/// Waits until at least one of these is ready or closed, or the time is over, and tells each one's state, in their
/// order (`poll(2)`). With none it sleeps. Less than a millisecond is waited as one.
///
/// # Errors
/// What the kernel says, but for interruptions by signals: then it goes on waiting.
pub fn poll(fds: &[(BorrowedFd<'_>, Interest)], timeout: Duration) -> io::Result<Vec<Readiness>> {
    // None: further away than clocks go.
    let end = Instant::now().checked_add(timeout);
    let mut asked: Vec<libc::pollfd> = fds.iter().map(|&(fd, interest)| question(fd, interest)).collect();
    loop {
        let left = end.map_or(Duration::MAX, |end| end.saturating_duration_since(Instant::now()));
        // SAFETY: the pointer and the length are those of `asked`; the descriptors in it are borrowed meanwhile.
        match done(unsafe { libc::poll(asked.as_mut_ptr(), asked.len() as libc::nfds_t, milliseconds(left)) }) {
            Ok(()) => return Ok(asked.iter().map(|answer| Readiness::of(answer.revents)).collect()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

fn question(fd: BorrowedFd<'_>, interest: Interest) -> libc::pollfd {
    let events = match interest {
        Interest::Read => libc::POLLIN,
        Interest::Write => libc::POLLOUT,
    };
    libc::pollfd { fd: fd.as_raw_fd(), events, revents: 0 }
}

/// Rounded up: rounded down, the last fraction of a millisecond would be a busy loop of the caller's.
fn milliseconds(time: Duration) -> c_int {
    c_int::try_from(time.as_nanos().div_ceil(1_000_000)).unwrap_or(c_int::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipe;
    use crate::test_children::SHORT;
    use std::os::fd::AsFd;

    #[test]
    fn waiting_takes_as_long_as_said() {
        let (read, _write) = pipe(4096).unwrap();
        let start = Instant::now();
        assert_eq!(poll(&[(read.as_fd(), Interest::Read)], SHORT).unwrap(), [Readiness::default()]);
        assert_eq!(poll(&[], Duration::from_micros(1)).unwrap(), []);
        assert!(start.elapsed() >= SHORT);
        assert_eq!(milliseconds(Duration::from_nanos(1)), 1);
        assert_eq!(milliseconds(Duration::ZERO), 0);
        assert_eq!(milliseconds(Duration::MAX), c_int::MAX);
    }
}
