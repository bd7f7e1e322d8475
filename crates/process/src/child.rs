//! Child processes: that they end with us, which descriptors they get; and pipes that can be asked.
//!
//! A child inherits CPU affinity and memory policy from the thread that spawns it, so nothing of that is here. What runs
//! between `fork` and `exec` ([`die_with_parent`], [`keep_fds`], [`give_fds`]) runs in a copy of a process whose other threads are gone,
//! and with them whoever held a lock: it makes system calls that are safe there (`signal-safety(7)`) and nothing else; it
//! does not allocate.
#![allow(unsafe_code)]

use libc::{c_int, c_short, c_uint, c_ulong, pid_t};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::{Duration, Instant};

/// Where [`give_fds`] begins: after standard input, output and error.
const FIRST_GIVEN: RawFd = 3;

/// Has the kernel kill the child (`SIGKILL`) when its parent ends in whatever way (`PR_SET_PDEATHSIG`, `prctl(2)`).
///
/// The parent is the *thread* that spawns it: that thread must live as long as the child shall. The children of the child
/// are not killed ([`kill_group`] is for them), nor is a program with set-user-ID.
///
/// Spawning fails with `ESRCH` when the process that called this has ended meanwhile, or is another than the one that
/// spawns.
pub fn die_with_parent(command: &mut Command) {
    let parent = std::process::id();
    // SAFETY: the closure makes system calls that are safe between fork and exec, and does not allocate.
    unsafe { command.pre_exec(move || die_with(parent)) };
}

/// In the child.
fn die_with(parent: u32) -> io::Result<()> {
    // SAFETY: this kind of prctl takes a number and no pointer.
    done(unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as c_ulong) })?;
    // SAFETY: getppid takes nothing and cannot fail.
    let now = unsafe { libc::getppid() };
    // A parent that ended before the first call does not bring the signal: the child has another one now.
    if u32::try_from(now) == Ok(parent) { Ok(()) } else { Err(io::Error::from_raw_os_error(libc::ESRCH)) }
}

/// Kills all processes of a group (`SIGKILL`, `killpg(3)`); none left is no error.
///
/// A child has a group of its own, named by its process id, after
/// [`process_group(0)`](std::os::unix::process::CommandExt::process_group). As long as nobody has waited for the child, the
/// number cannot mean anybody else.
///
/// # Errors
/// `InvalidInput` for 0 (the group of this process), 1 (which the kernel takes for all processes there are) and what is no
/// process id; else what the kernel says, such as `EPERM`.
pub fn kill_group(group: u32) -> io::Result<()> {
    let group = pid_t::try_from(group).ok().filter(|&group| group > 1);
    let Some(group) = group else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a process group to kill"));
    };
    // SAFETY: killpg takes no pointers.
    match done(unsafe { libc::killpg(group, libc::SIGKILL) }) {
        Err(error) if error.raw_os_error() == Some(libc::ESRCH) => Ok(()),
        outcome => outcome,
    }
}

/// Waits until a child has ended, without taking its end from it: it still has to be waited for, and until then its number is
/// its own (`waitid(2)`, `WNOWAIT`).
///
/// # Errors
/// `ECHILD` for what is no child of this process.
pub fn wait_unreaped(child: u32) -> io::Result<()> {
    loop {
        match wait_id(child, 0) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            outcome => return outcome.map(|_| ()),
        }
    }
}

/// Whether a child has ended, without taking its end from it, as [`wait_unreaped`].
///
/// # Errors
/// As for [`wait_unreaped`].
pub fn has_ended(child: u32) -> io::Result<bool> {
    wait_id(child, libc::WNOHANG)
}

fn wait_id(child: u32, option: c_int) -> io::Result<bool> {
    // SAFETY: siginfo_t is plain numbers, for which zeros are values.
    let mut told: libc::siginfo_t = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel writes one siginfo_t, for which there is room.
    done(unsafe { libc::waitid(libc::P_PID, child, &raw mut told, libc::WEXITED | libc::WNOWAIT | option) })?;
    // SAFETY: the kernel has written it, or left the zeros: then no child has ended.
    Ok(unsafe { told.si_pid() } != 0)
}

/// Gives the child standard input, output and error, and no other descriptor of ours, also none that a library has opened without the flag
/// to be closed by exec, as MPIs do with their sockets: whoever the child leaves behind would keep our connections open, and the
/// other side would not hear that we are gone. To be called before [`give_fds`].
///
/// Kernels before 5.11 cannot do it; there it changes nothing.
pub fn keep_fds(command: &mut Command) {
    let close = || {
        // SAFETY: this system call takes numbers; it marks descriptors to be closed by exec, and closes none now.
        unsafe { libc::syscall(libc::SYS_close_range, FIRST_GIVEN as c_uint, c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC) };
        Ok(())
    };
    // SAFETY: the closure makes one system call, which is safe between fork and exec, and does not allocate.
    unsafe { command.pre_exec(close) };
}

/// Gives the child these descriptors as 3, 4, ... in their order (`/dev/fd/3`). Call it once for a command.
///
/// They stay open in this process until the command is dropped. So drop it after spawning: as long as this process has the
/// reading end of a pipe too, it will not learn that the child has closed its own.
pub fn give_fds(command: &mut Command, fds: Vec<OwnedFd>) {
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

/// Takes the numbers below `end` that are free, by copies of `any`.
///
/// For the pipe by which `Command::spawn` learns that the program could not be executed gets the lowest free number. Were
/// it one that the child puts something else on, all would look well. (If somebody else closes a low descriptor between
/// here and spawning, that may happen still: then a program that cannot be executed shows as a child that aborts.)
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

/// A pipe (reading end, writing end) that no child inherits unless it is given to it.
///
/// It holds `capacity_bytes`, rounded up to a power of two, or as much of that as the system grants an ordinary user
/// (`/proc/sys/fs/pipe-max-size`, `pipe-user-pages-soft`), which is no error; [`pipe_capacity`] tells.
///
/// # Errors
/// When there are too many open files.
pub fn pipe(capacity_bytes: usize) -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends: [RawFd; 2] = [-1; 2];
    // SAFETY: the kernel writes two descriptors, for which there is room.
    done(unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) })?;
    // SAFETY: both were made just now and belong to nobody else.
    let (read, write) = unsafe { (OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])) };
    set_capacity(&write, capacity_bytes)?;
    Ok((read, write))
}

/// Sets the capacity, or as much of it as is granted; what the pipe has anyway is not made less by a refusal.
fn set_capacity(pipe: &OwnedFd, wanted: usize) -> io::Result<()> {
    use std::os::fd::AsFd;
    let had = pipe_capacity(pipe.as_fd())?;
    let mut bytes = c_int::try_from(wanted).unwrap_or(1 << 30);
    // SAFETY: fcntl with F_SETPIPE_SZ takes a number.
    while unsafe { libc::fcntl(pipe.as_raw_fd(), libc::F_SETPIPE_SZ, bytes) } < 0 {
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
    // SAFETY: fcntl with F_GETPIPE_SZ takes nothing else.
    let bytes = unsafe { libc::fcntl(pipe.as_raw_fd(), libc::F_GETPIPE_SZ) };
    usize::try_from(bytes).map_err(|_| io::Error::last_os_error())
}

/// Makes reading or writing say `WouldBlock` instead of waiting (`O_NONBLOCK`), through all copies of this descriptor, also
/// in children. The two ends of a pipe are independent of each other.
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
pub struct Ready {
    /// There is something to read.
    pub readable: bool,
    /// There is room to write. Also true for a pipe whose reading ends are all closed.
    pub writable: bool,
    /// The other side is closed, or the descriptor is not one (`POLLHUP`, `POLLERR`, `POLLNVAL`). Looked for whatever the
    /// interest is. What was written before can still be read: the end is where this is true and `readable` is not.
    pub closed: bool,
}

impl Ready {
    fn of(events: c_short) -> Self {
        let any = |wanted: c_short| events & wanted != 0;
        let closed = any(libc::POLLHUP | libc::POLLERR | libc::POLLNVAL);
        Self { readable: any(libc::POLLIN), writable: any(libc::POLLOUT), closed }
    }
}

/// Waits until at least one of these is ready or closed, or the time is over, and tells each one's state, in their order
/// (`poll(2)`). With none it sleeps. Less than a millisecond is waited as one.
///
/// # Errors
/// What the kernel says, but for interruptions by signals: then it goes on waiting.
pub fn poll(fds: &[(BorrowedFd<'_>, Interest)], timeout: Duration) -> io::Result<Vec<Ready>> {
    // None: further away than clocks go.
    let end = Instant::now().checked_add(timeout);
    let mut asked: Vec<libc::pollfd> = fds.iter().map(|&(fd, interest)| question(fd, interest)).collect();
    loop {
        let left = end.map_or(Duration::MAX, |end| end.saturating_duration_since(Instant::now()));
        // SAFETY: the pointer and the length are those of `asked`; the descriptors in it are borrowed meanwhile.
        match done(unsafe { libc::poll(asked.as_mut_ptr(), asked.len() as libc::nfds_t, milliseconds(left)) }) {
            Ok(()) => return Ok(asked.iter().map(|answer| Ready::of(answer.revents)).collect()),
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

/// What a system call says that answers with less than 0 on failure.
pub(crate) fn done(answer: c_int) -> io::Result<()> {
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::fs::File;
    use std::io::{Read, Write};
    use std::os::fd::AsFd;
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Child, Stdio};

    /// Long enough for anything here to have happened.
    const LONG: Duration = Duration::from_secs(20);
    const SHORT: Duration = Duration::from_millis(50);

    /// Whether all processes that have the writing end have ended within `time`; all that they wrote must have been read.
    fn ends_within(output: &impl AsFd, time: Duration) -> bool {
        poll(&[(output.as_fd(), Interest::Read)], time).unwrap()[0].closed
    }

    fn shell(script: &str) -> Command {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]).stdin(Stdio::null()).stdout(Stdio::piped());
        command
    }

    fn line(child: &mut Child) -> String {
        let (mut line, mut byte) = (String::new(), [0]);
        let output = child.stdout.as_mut().unwrap();
        while output.read(&mut byte).unwrap() == 1 && byte != *b"\n" {
            line.push(byte[0].into());
        }
        line
    }

    #[test]
    fn a_child_ends_with_the_thread_that_spawned_it() {
        let spawn = || {
            let mut command = shell("echo up; exec sleep 1000");
            die_with_parent(&mut command);
            let mut child = command.spawn().unwrap();
            assert_eq!(line(&mut child), "up");
            child
        };
        let mut child = spawn();
        assert!(!ends_within(child.stdout.as_ref().unwrap(), SHORT), "its parent is alive");
        child.kill().unwrap();
        child.wait().unwrap();

        let mut orphan = std::thread::spawn(spawn).join().unwrap();
        assert!(ends_within(orphan.stdout.as_ref().unwrap(), LONG));
        assert_eq!(orphan.wait().unwrap().signal(), Some(libc::SIGKILL));
    }

    #[test]
    fn a_child_of_another_parent_does_not_start() {
        let mut command = shell("echo up");
        // SAFETY: as in `die_with_parent`.
        unsafe { command.pre_exec(|| die_with(1)) };
        assert_eq!(command.spawn().unwrap_err().raw_os_error(), Some(libc::ESRCH));
    }

    #[test]
    fn a_group_is_killed_with_grandchildren() {
        // The child has ended when its group is killed, the grandchild holds the pipe.
        let mut child = shell("sleep 1000 & echo up").process_group(0).spawn().unwrap();
        assert_eq!(line(&mut child), "up");
        let output = child.stdout.take().unwrap();
        assert!(!ends_within(&output, SHORT));
        kill_group(child.id()).unwrap();
        assert!(ends_within(&output, LONG));
        child.wait().unwrap();
        kill_group(child.id()).unwrap();
    }

    #[test]
    fn the_end_of_a_child_can_be_seen_and_left_to_others() {
        let mut child = shell("read x; exit 3").stdin(Stdio::piped()).spawn().unwrap();
        assert!(!has_ended(child.id()).unwrap());
        drop(child.stdin.take());
        wait_unreaped(child.id()).unwrap();
        assert!(has_ended(child.id()).unwrap());
        assert_eq!(child.wait().unwrap().code(), Some(3));
        assert!(has_ended(child.id()).is_err());
    }

    #[test]
    fn groups_that_mean_others_are_refused() {
        for group in [0, 1, u32::MAX, 1 << 31] {
            assert_eq!(kill_group(group).unwrap_err().kind(), io::ErrorKind::InvalidInput, "{group}");
        }
        // Beyond the greatest process id: nobody.
        kill_group(1 << 30).unwrap();
    }

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
        let (readable, writable) =
            (Ready { readable: true, ..Ready::default() }, Ready { writable: true, ..Ready::default() });
        assert_eq!(ask(LONG), (Ready::default(), writable));
        assert_eq!(unread_bytes(read.as_fd()).unwrap(), 0);
        let mut writer = File::from(write.try_clone().unwrap());
        writer.write_all(b"some").unwrap();
        assert_eq!(ask(LONG), (readable, writable));
        assert_eq!((unread_bytes(read.as_fd()).unwrap(), unread_bytes(write.as_fd()).unwrap()), (4, 4));
        let full = std::iter::repeat_with(|| writer.write(&[0; 4096])).find_map(Result::err).unwrap();
        assert_eq!(full.kind(), io::ErrorKind::WouldBlock);
        assert_eq!(ask(LONG), (readable, Ready::default()));

        drop(read);
        once_closed(|| poll(&[(write.as_fd(), Interest::Write)], LONG).unwrap()[0]);
        assert_eq!(writer.write(b"x").unwrap_err().kind(), io::ErrorKind::BrokenPipe);
    }

    /// Asks until the other end is closed: a child of a test beside this one has a copy of it between its fork and its exec.
    fn once_closed(ask: impl Fn() -> Ready) -> Ready {
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
        assert_eq!(once_closed(ask), Ready { readable: true, writable: false, closed: true });
        File::from(read.try_clone().unwrap()).read_exact(&mut [0; 4]).unwrap();
        assert_eq!(ask(), Ready { readable: false, writable: false, closed: true });
    }

    #[test]
    fn waiting_takes_as_long_as_said() {
        let (read, _write) = pipe(4096).unwrap();
        let start = Instant::now();
        assert_eq!(poll(&[(read.as_fd(), Interest::Read)], SHORT).unwrap(), [Ready::default()]);
        assert_eq!(poll(&[], Duration::from_micros(1)).unwrap(), []);
        assert!(start.elapsed() >= SHORT);
        assert_eq!(milliseconds(Duration::from_nanos(1)), 1);
        assert_eq!(milliseconds(Duration::ZERO), 0);
        assert_eq!(milliseconds(Duration::MAX), c_int::MAX);
    }

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
        fn overlapping_numbers_are_no_matter(order in Just((0..6).collect::<Vec<usize>>()).prop_shuffle(), given in 1usize..6) {
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
