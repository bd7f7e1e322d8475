//! Signals: those that are passed on to child processes, and those that a child is spared.
#![allow(unsafe_code)]

use crate::system::{done, next_signal, signal_descriptor};
use libc::{c_int, pid_t};
use std::io;
use std::marker::PhantomData;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Signals by which a process is asked to end, as its user, a terminal or a scheduler sends them.
const ENDING: [c_int; 4] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT];
/// Signals that programs give a meaning of their own.
const OWN: [c_int; 2] = [libc::SIGUSR1, libc::SIGUSR2];

/// A signal that came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signal {
    /// The number of the signal.
    pub number: i32,
    /// Whether it asks a process to end: SIGINT, SIGTERM, SIGHUP or SIGQUIT.
    pub asks_to_end: bool,
    /// Whether the kernel sent it, for a terminal: then every process of our group has got it. macOS does not tell.
    pub from_terminal: bool,
}

impl Signal {
    /// SIGTERM, sent by us.
    pub const TERMINATE: Signal = Signal { number: libc::SIGTERM, asks_to_end: true, from_terminal: false };

    /// SIGKILL, sent by us.
    pub(crate) const KILL: Signal = Signal { number: libc::SIGKILL, asks_to_end: true, from_terminal: false };

    /// Sends it to a process, or with `group` to all processes of its group; none there is no error.
    ///
    /// # Errors
    /// `InvalidInput` for 0, 1 and what is no process id; else what the kernel says.
    pub fn send(self, process: u32, group: bool) -> io::Result<()> {
        let Some(process) = pid_t::try_from(process).ok().filter(|&process| process > 1) else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a process to send a signal to"));
        };
        // SAFETY: kill takes no pointers; a negative number means a group.
        match done(unsafe { libc::kill(if group { -process } else { process }, self.number) }) {
            Err(error) if error.raw_os_error() == Some(libc::ESRCH) => Ok(()),
            outcome => outcome,
        }
    }
}

/// Holds SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1 and SIGUSR2 back from this process, for somebody to pass them on.
/// Children get them. Dropped, it lets them through again.
///
/// It holds them for the thread that made it, and for those that this one starts: so it must be made before others are.
#[derive(Debug)]
pub struct HeldSignals {
    descriptor: OwnedFd,
    /// The mask is the thread's.
    _of_this_thread: PhantomData<*const ()>,
}

impl HeldSignals {
    /// Begins to hold them.
    ///
    /// # Errors
    /// When there are too many open files.
    pub fn new() -> io::Result<Self> {
        let held = held();
        let descriptor = signal_descriptor(&held)?;
        *before() = Some(change_mask(libc::SIG_BLOCK, &held)?);
        Ok(HeldSignals { descriptor, _of_this_thread: PhantomData })
    }

    /// A descriptor that becomes readable when a signal comes.
    pub fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }

    /// The next one, if one has come.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn next(&self) -> io::Result<Option<Signal>> {
        let next = next_signal(self.as_fd(), &held())?;
        let signal = |(number, from_terminal)| Signal { number, asks_to_end: ENDING.contains(&number), from_terminal };
        Ok(next.map(signal))
    }
}

/// The signals that were held back before [`HeldSignals`] were, if they are: a child, which would be born without them,
/// begins with that.
pub(crate) fn mask_before() -> Option<libc::sigset_t> {
    *before()
}

fn before() -> MutexGuard<'static, Option<libc::sigset_t>> {
    static BEFORE: Mutex<Option<libc::sigset_t>> = Mutex::new(None);
    BEFORE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for HeldSignals {
    fn drop(&mut self) {
        if let Some(mask) = before().take() {
            // It cannot fail with a mask that was in force before.
            let _ = change_mask(libc::SIG_SETMASK, &mask);
        }
    }
}

/// Has the ends of children be seen. Who starts us may ignore SIGCHLD, as daemons do and scripts in Perl; that is
/// inherited, and the kernel would take their ends for itself (`sigaction(2)`).
pub fn see_children_end() {
    // A handler is its program's own, and stays.
    // SAFETY: an all-zero sigaction is a valid one; the old action is asked for, to a local variable; the default one
    // is set, which runs nothing.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        if libc::sigaction(libc::SIGCHLD, std::ptr::null(), &raw mut action) == 0
            && (action.sa_sigaction == libc::SIG_IGN || action.sa_flags & libc::SA_NOCLDWAIT != 0)
        {
            libc::signal(libc::SIGCHLD, libc::SIG_DFL);
        }
    }
}

/// Has no signal but SIGKILL and SIGSTOP reach the child: a scheduler sends signals to all processes of a job at once,
/// and the child is to outlive the others.
pub(crate) fn spare_signals(command: &mut Command) {
    let block = || {
        // SAFETY: sigset_t is plain numbers, for which zeros are values; it is filled then.
        let all = unsafe {
            let mut all: libc::sigset_t = std::mem::zeroed();
            libc::sigfillset(&raw mut all);
            all
        };
        change_mask(libc::SIG_SETMASK, &all).map(drop)
    };
    // SAFETY: the closure makes a system call that is safe between fork and exec, and does not allocate.
    unsafe { command.pre_exec(block) };
}

/// Those that are held back.
fn held() -> libc::sigset_t {
    // SAFETY: sigset_t is plain numbers, for which zeros are values; it is emptied then.
    let mut set: libc::sigset_t = unsafe { std::mem::zeroed() };
    // SAFETY: both functions write to the set alone.
    unsafe {
        libc::sigemptyset(&raw mut set);
        for number in ENDING.iter().chain(&OWN) {
            libc::sigaddset(&raw mut set, *number);
        }
    }
    set
}

/// Changes the thread's mask, and returns what it was before.
pub(crate) fn change_mask(how: c_int, set: &libc::sigset_t) -> io::Result<libc::sigset_t> {
    // SAFETY: sigset_t is plain numbers, for which zeros are values.
    let mut before: libc::sigset_t = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel reads one set and writes another.
    match unsafe { libc::pthread_sigmask(how, set, &raw mut before) } {
        0 => Ok(before),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ChildProgram;
    use std::os::unix::process::ExitStatusExt;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn what_is_held_can_be_passed_on() {
        let held = HeldSignals::new().unwrap();
        assert_eq!(held.next().unwrap(), None);
        // SAFETY: it sends a signal to this thread, which holds it.
        assert_eq!(unsafe { libc::pthread_kill(libc::pthread_self(), libc::SIGUSR1) }, 0);
        let signal = held.next().unwrap().unwrap();
        assert_eq!((signal.number, signal.asks_to_end, signal.from_terminal), (libc::SIGUSR1, false, false));
        let mut child = ChildProgram::new("/bin/sh").args(["-c", "kill -TERM $$"]).start().unwrap();
        assert_eq!(child.wait().unwrap().signal(), Some(libc::SIGTERM));
    }

    #[test]
    fn a_child_can_be_spared() {
        let mut command = shell("kill -TERM $$; kill -USR1 $$; kill -HUP $$; exit 3");
        spare_signals(&mut command);
        assert_eq!(command.status().unwrap().code(), Some(3));
    }

    #[test]
    fn signals_to_nobody_are_refused() {
        for process in [0, 1, u32::MAX] {
            assert!(Signal::TERMINATE.send(process, true).is_err(), "{process}");
        }
        // Beyond the greatest process id: nobody.
        Signal::TERMINATE.send(1 << 30, false).unwrap();
    }
}
