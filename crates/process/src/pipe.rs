//! Pipes to and from children, and what can be asked of them.
#![allow(unsafe_code)]

use crate::system::{self, done};
use libc::c_int;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// A pipe (reading end, writing end) that no child inherits unless it is given to it.
///
/// It holds `capacity_bytes`, rounded up to a power of two, or as much of that as the system grants an ordinary user
/// (`/proc/sys/fs/pipe-max-size`, `pipe-user-pages-soft`), which is no error; [`pipe_capacity`] tells.
///
/// # Errors
/// When there are too many open files.
pub fn pipe(capacity_bytes: usize) -> io::Result<(OwnedFd, OwnedFd)> {
    let (read, write) = io::pipe()?;
    let (read, write) = (OwnedFd::from(read), OwnedFd::from(write));
    set_capacity(&write, capacity_bytes)?;
    Ok((read, write))
}

/// Sets the capacity, or as much of it as is granted; what the pipe has anyway is not made less by a refusal.
fn set_capacity(pipe: &OwnedFd, wanted: usize) -> io::Result<()> {
    let had = pipe_capacity(pipe.as_fd())?;
    let mut bytes = c_int::try_from(wanted).unwrap_or(1 << 30);
    while !system::set_pipe_capacity(pipe.as_fd(), bytes) {
        bytes /= 2;
        if bytes as usize <= had {
            break;
        }
    }
    Ok(())
}

/// How many bytes a pipe holds.
///
/// # Errors
/// `EBADF` for what is not a pipe.
pub fn pipe_capacity(pipe: BorrowedFd<'_>) -> io::Result<usize> {
    usize::try_from(system::pipe_capacity(pipe)).map_err(|_| io::Error::last_os_error())
}

/// Makes reading or writing say `WouldBlock` instead of waiting (`O_NONBLOCK`), through all copies of this descriptor,
/// also in children. The two ends of a pipe are independent of each other.
///
/// # Errors
/// What the kernel says.
pub fn set_nonblocking(fd: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: fcntl with F_GETFL takes nothing else.
    let flags = unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_GETFL) };
    done(flags)?;
    // SAFETY: fcntl with F_SETFL takes a number.
    done(unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_SETFL, flags | libc::O_NONBLOCK) })
}

/// Bytes that were written to a pipe and not read yet (`FIONREAD`); both ends can be asked.
///
/// # Errors
/// `ENOTTY` or others for what is not a pipe, terminal or socket.
pub fn unread_bytes(fd: BorrowedFd<'_>) -> io::Result<usize> {
    let mut bytes: c_int = 0;
    // SAFETY: the kernel writes one c_int, for which there is room.
    done(unsafe { libc::ioctl(fd.as_raw_fd(), libc::FIONREAD, &raw mut bytes) })?;
    Ok(usize::try_from(bytes).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_children::LONG;
    use crate::{Interest, Readiness, poll};
    use std::fs::File;
    use std::io::{Read, Write};
    use std::time::{Duration, Instant};

    #[test]
    fn pipes_hold_what_is_wanted_or_granted() {
        let capacity = |wanted| pipe_capacity(pipe(wanted).unwrap().1.as_fd()).unwrap();
        assert!(capacity(256 << 10) >= 64 << 10);
        assert_eq!(capacity(4096), 4096.max(capacity(1)));
        // More than anyone gets: what an ordinary user gets at least.
        assert!(capacity(usize::MAX) >= 64 << 10);
        assert!(pipe_capacity(File::open("/dev/null").unwrap().as_fd()).is_err());
    }

    #[test]
    fn pipes_can_be_asked() {
        let (read, write) = pipe(64 << 10).unwrap();
        set_nonblocking(write.as_fd()).unwrap();
        let ask = |time| {
            let both = [(read.as_fd(), Interest::Read), (write.as_fd(), Interest::Write)];
            poll(&both, time).map(|ready| (ready[0], ready[1])).unwrap()
        };
        let (readable, writable) = (
            Readiness { readable: true, ..Readiness::default() },
            Readiness { writable: true, ..Readiness::default() },
        );
        assert_eq!(ask(LONG), (Readiness::default(), writable));
        assert_eq!(unread_bytes(read.as_fd()).unwrap(), 0);
        let mut writer = File::from(write.try_clone().unwrap());
        writer.write_all(b"some").unwrap();
        assert_eq!(ask(LONG), (readable, writable));
        assert_eq!((unread_bytes(read.as_fd()).unwrap(), unread_bytes(write.as_fd()).unwrap()), (4, 4));
        let full = std::iter::repeat_with(|| writer.write(&[0; 4096])).find_map(Result::err).unwrap();
        assert_eq!(full.kind(), io::ErrorKind::WouldBlock);
        assert_eq!(ask(LONG), (readable, Readiness::default()));

        drop(read);
        once_closed(|| poll(&[(write.as_fd(), Interest::Write)], LONG).unwrap()[0]);
        assert_eq!(writer.write(b"x").unwrap_err().kind(), io::ErrorKind::BrokenPipe);
    }

    /// Asks until the other end is closed: a child of a test beside this one has a copy of it between its fork and its
    /// exec.
    fn once_closed(ask: impl Fn() -> Readiness) -> Readiness {
        let start = Instant::now();
        loop {
            let ready = ask();
            if ready.closed || start.elapsed() > LONG {
                assert!(ready.closed);
                return ready;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn the_end_of_a_pipe_is_closed_and_not_readable() {
        let (read, write) = pipe(4096).unwrap();
        File::from(write).write_all(b"last").unwrap();
        let ask = || poll(&[(read.as_fd(), Interest::Read)], LONG).unwrap()[0];
        assert_eq!(once_closed(ask), Readiness { readable: true, writable: false, closed: true });
        File::from(read.try_clone().unwrap()).read_exact(&mut [0; 4]).unwrap();
        assert_eq!(ask(), Readiness { readable: false, writable: false, closed: true });
    }
}
