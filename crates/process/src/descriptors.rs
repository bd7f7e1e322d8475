//! Which descriptors a child gets, and copies of our own.
//!
//! What runs between `fork` and `exec` runs in a copy of a process whose other threads are gone, and with them whoever
//! held a lock: it makes system calls that are safe there (`signal-safety(7)`) and nothing else; it does not allocate.
#![allow(unsafe_code)]

use crate::system::{close_by_exec, done};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Where [`give_fds`] begins: after standard input, output and error.
const FIRST_GIVEN: RawFd = 3;

/// In a child: leaves it standard input, output and error, and no other descriptor of ours, also none that a library
/// has opened without the flag to be closed by exec, as MPIs do with their sockets: whoever the child leaves behind
/// would keep our connections open, and the other side would not hear that we are gone.
///
/// Linux before 5.11 cannot do it; there it changes nothing.
pub(crate) fn close_others() {
    close_by_exec(FIRST_GIVEN);
}

/// Has a child begin with [`close_others`].
pub(crate) fn close_others_in(command: &mut Command) {
    let close = || {
        close_others();
        Ok(())
    };
    // SAFETY: the closure makes system calls, which are safe between fork and exec, and does not allocate.
    unsafe { command.pre_exec(close) };
}

/// Gives the child these descriptors as 3, 4, ... in their order (`/dev/fd/3`). Call it once for a command, after
/// whatever closes descriptors.
///
/// They stay open in this process until the command is dropped. So drop it after spawning: as long as this process has
/// the reading end of a pipe too, it will not learn that the child has closed its own.
pub(crate) fn give_fds(command: &mut Command, fds: Vec<OwnedFd>) {
    let Some(any) = fds.first() else { return };
    let end = FIRST_GIVEN.saturating_add(RawFd::try_from(fds.len()).unwrap_or(RawFd::MAX));
    let taken = take_free_numbers(any, end);
    let mut aside: Vec<RawFd> = vec![-1; fds.len()];
    let in_child = move || {
        // The closure owns them until the command is dropped.
        let _ = &taken;
        // SAFETY: between fork and exec, what the numbers from 3 on stood for is of no use to anyone in the child: they
        // would be closed by exec, and `take_free_numbers` keeps the pipe by which spawn learns of failures off them.
        unsafe { put(&fds, &mut aside, FIRST_GIVEN) }
    };
    // SAFETY: the closure makes system calls that are safe between fork and exec; the room that it writes to is there.
    unsafe { command.pre_exec(in_child) };
}

/// A copy of a descriptor of this number, which has the same place in the file: opened again by its name, a file would
/// be written from its beginning.
///
/// # Errors
/// `EBADF` where no such file is open; too many open files.
pub(crate) fn copy_of(number: RawFd) -> io::Result<File> {
    // SAFETY: fcntl takes no pointer here, and fails for a descriptor that is not open.
    let copy = unsafe { libc::fcntl(number, libc::F_DUPFD_CLOEXEC, FIRST_GIVEN) };
    done(copy)?;
    // SAFETY: the descriptor is new, so nobody else owns it.
    Ok(unsafe { File::from_raw_fd(copy) })
}

/// Takes the numbers below `end` that are free, by copies of `any`.
///
/// For the pipe by which `Command::spawn` learns that the program could not be executed gets the lowest free number.
/// Were it one that the child puts something else on, all would look well. (If somebody else closes a low descriptor
/// between here and spawning, that may happen still: then a program that cannot be executed shows as a child that
/// aborts.)
fn take_free_numbers(any: &OwnedFd, end: RawFd) -> Vec<OwnedFd> {
    let mut taken = Vec::new();
    // A copy that cannot be made (too many open files) leaves spawning to fail, or not, as it will.
    while let Ok(copy) = any.try_clone() {
        if copy.as_raw_fd() >= end {
            break;
        }
        taken.push(copy);
    }
    taken
}

/// Puts copies of `fds` on `first` and the following numbers, without the flag to be closed by exec. Whatever else had
/// these numbers is closed. In the child: no allocation; `aside` is room for as many numbers.
///
/// # Safety
/// Nobody uses what the numbers from `first` on, one for each of `fds`, stood for before, unless it is one of `fds`.
unsafe fn put(fds: &[OwnedFd], aside: &mut [RawFd], first: RawFd) -> io::Result<()> {
    // Sources may have the numbers of targets. Copies beyond the targets cannot.
    let end = first + fds.len() as RawFd;
    for (fd, aside) in fds.iter().zip(&mut *aside) {
        // SAFETY: fcntl with F_DUPFD_CLOEXEC takes a number and makes a new descriptor.
        *aside = unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_DUPFD_CLOEXEC, end) };
        done(*aside)?;
    }
    for (&mut aside, target) in aside.iter_mut().zip(first..) {
        // SAFETY: the caller promises that the target's number may be taken. The two differ, so the flag is cleared.
        done(unsafe { libc::dup2(aside, target) })?;
        // SAFETY: the copy was made above and is known to nobody else.
        unsafe { libc::close(aside) };
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipe;
    use proptest::prelude::*;
    use std::fs::File;
    use std::io::{Read, Write};
    use std::os::fd::{BorrowedFd, FromRawFd};

    /// Copies of `any` on `count` numbers in a row from `first` on, which nobody else has.
    fn row(any: &OwnedFd, first: RawFd, count: usize) -> Vec<OwnedFd> {
        let copy = |number: RawFd| {
            // SAFETY: fcntl with F_DUPFD_CLOEXEC takes a number and makes a new descriptor, ours.
            let copy = unsafe { OwnedFd::from_raw_fd(libc::fcntl(any.as_raw_fd(), libc::F_DUPFD_CLOEXEC, number)) };
            assert_eq!(copy.as_raw_fd(), number);
            copy
        };
        (first..).take(count).map(copy).collect()
    }

    /// Puts `content` where `place` is.
    fn replace(place: &OwnedFd, content: &OwnedFd) {
        // SAFETY: both are open, and the number belongs to the test.
        done(unsafe { libc::dup3(content.as_raw_fd(), place.as_raw_fd(), libc::O_CLOEXEC) }).unwrap();
    }

    proptest! {
        #[test]
        fn overlapping_numbers_are_no_matter(
            order in Just((0..6).collect::<Vec<usize>>()).prop_shuffle(),
            given in 1usize..6,
        ) {
            // Six numbers that are sources in any order, and the first of them targets as well.
            static ONE_AT_A_TIME: std::sync::Mutex<()> = std::sync::Mutex::new(());
            let _turn = ONE_AT_A_TIME.lock();
            let first = 800;
            let pipes: Vec<_> = (0..given).map(|_| pipe(4096).unwrap()).collect();
            let mut places: Vec<Option<OwnedFd>> = row(&pipes[0].0, first, 6).into_iter().map(Some).collect();
            let sources: Vec<OwnedFd> = pipes
                .iter()
                .zip(&order)
                .map(|((read, _), &place)| {
                    let place = places[place].take().unwrap();
                    replace(&place, read);
                    place
                })
                .collect();
            let mut aside = vec![-1; given];
            // SAFETY: all these numbers belong to this test.
            unsafe { put(&sources, &mut aside, first) }.unwrap();
            for ((_, write), number) in pipes.iter().zip(first..) {
                File::from(write.try_clone().unwrap()).write_all(&[number as u8]).unwrap();
                // SAFETY: the number is open, and nobody closes it meanwhile.
                let target = unsafe { BorrowedFd::borrow_raw(number) };
                let mut byte = [0];
                File::from(target.try_clone_to_owned().unwrap()).read_exact(&mut byte).unwrap();
                assert_eq!(byte[0], number as u8);
                // SAFETY: fcntl with F_GETFD takes nothing else.
                assert_eq!(unsafe { libc::fcntl(number, libc::F_GETFD) }, 0, "inherited by exec");
            }
            // All six numbers are open and owned by these two.
            drop((places, sources));
        }
    }
}
