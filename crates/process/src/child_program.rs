//! A program, and all that is to be thought of whenever one is started.
//!
//! A child inherits CPU affinity and memory policy from the thread that starts it, so nothing of that is here.
//!
//! What runs between `fork` and `exec` runs in a copy of a process whose other threads are gone, and with them whoever
//! held a lock: it makes system calls that are safe there (`signal-safety(7)`) and nothing else; it does not allocate.
#![allow(unsafe_code)]

use crate::charge::Charge;
use crate::descriptors::{close_others, give_fds};
use crate::ending::end_group;
use crate::family::Family;
use crate::files::{limit_before, set_limit};
use crate::mark::{self, Mark};
use crate::reaper::charge;
use crate::running_child::RunningChild;
use crate::signals::{change_mask, mask_before};
use crate::system::end_with_parent;
use rustix::process::Rlimit;
use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// A program that is to be started. The only way to start one.
///
/// By default the child
/// - has nothing to read, and our standard output and error;
/// - leads a process group of its own;
/// - is killed when the *thread* that started it ends in whatever way (`PR_SET_PDEATHSIG`, `prctl(2)`): that thread
///   must live as long as the child. A program with set-user-ID is not, nor any on macOS;
/// - inherits no descriptor but standard input, output and error;
/// - gets the signals that [`HeldSignals`](crate::HeldSignals) holds back here, and may have as many files open as this
///   process when it was started;
/// - is marked in its environment, as all that it starts, so that all of them are ended with it;
/// - is ended with all that it has started by our reaper if we are killed ([`crate::prepare`]).
///
/// ```no_run
/// use std::process::Stdio;
/// let child = zerohop_process::ChildProgram::new("bwa").args(["mem", "r.fa", "a.fq"]).stdout(Stdio::piped()).start()?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct ChildProgram {
    command: Command,
    given: Vec<OwnedFd>,
    own_group: bool,
    keeps_descriptors: bool,
    may_leave: bool,
}

impl ChildProgram {
    /// `program` is looked for on the PATH unless it holds a `/`.
    pub fn new(program: impl AsRef<OsStr>) -> Self {
        let mut command = Command::new(program);
        command.stdin(Stdio::null());
        ChildProgram { command, given: Vec::new(), own_group: true, keeps_descriptors: false, may_leave: false }
    }

    /// Adds arguments.
    pub fn args<A: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = A>) -> Self {
        self.command.args(arguments);
        self
    }

    /// With a variable in its environment.
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    /// With this folder as its working directory.
    pub fn current_dir(mut self, folder: &Path) -> Self {
        self.command.current_dir(folder);
        self
    }

    /// With this standard input.
    pub fn stdin(mut self, input: impl Into<Stdio>) -> Self {
        self.command.stdin(input);
        self
    }

    /// With this standard output.
    pub fn stdout(mut self, output: impl Into<Stdio>) -> Self {
        self.command.stdout(output);
        self
    }

    /// With this standard error.
    pub fn stderr(mut self, output: impl Into<Stdio>) -> Self {
        self.command.stderr(output);
        self
    }

    /// With these descriptors, as 3, 4, ... ([`GIVEN_FDS`](crate::GIVEN_FDS)). They are closed here when the child has
    /// started: as long as this process has the reading end of a pipe too, it will not learn that the child has closed
    /// its own.
    pub fn given(mut self, descriptors: Vec<OwnedFd>) -> Self {
        self.given = descriptors;
        self
    }

    /// As a program that the user's shell might have started: with what else the shell has opened for it. What it has
    /// put out of its process group when it ends well stays: then it is a service that was meant to.
    pub fn of_users(mut self) -> Self {
        (self.keeps_descriptors, self.may_leave) = (true, true);
        self
    }

    /// The same, in our process group, so that it can read our terminal and is interrupted with us; with our standard
    /// input.
    pub fn in_foreground(mut self) -> Self {
        self.command.stdin(Stdio::inherit());
        self.own_group = false;
        self.of_users()
    }

    /// The name or path that it was given.
    pub fn name(&self) -> String {
        self.command.get_program().to_string_lossy().into_owned()
    }

    /// Starts it.
    ///
    /// # Errors
    /// What the system says: `NotFound` for a program that is not there. When the reaper is gone: nobody would end what
    /// the child starts.
    pub fn start(mut self) -> io::Result<RunningChild> {
        let mark = Mark::next();
        self.command.env(mark::VARIABLE, mark.for_child());
        if self.own_group {
            self.command.process_group(0);
        }
        let begin = ChildSetup {
            parent: std::process::id(),
            mask: mask_before(),
            open_files: limit_before(),
            closes: !self.keeps_descriptors,
        };
        // SAFETY: the closure makes system calls that are safe between fork and exec, and does not allocate.
        unsafe { self.command.pre_exec(move || begin.in_child()) };
        give_fds(&mut self.command, self.given);
        let mut charged = vec![charge(Charge::family(&mark))?];
        let mut child = self.command.spawn()?;
        if self.own_group {
            let group = charge(Charge::group(child.id()));
            // One that nobody would end is ended now.
            charged.push(group.inspect_err(|_| drop(end_group(&mut child)))?);
        }
        let group = self.own_group.then_some(child.id());
        Ok(RunningChild::new(child, Family { mark, group }, self.may_leave, charged))
    }
}

/// What a child does first.
#[derive(Clone, Copy)]
struct ChildSetup {
    parent: u32,
    /// The signals to be held back; none to leave that as it is.
    mask: Option<libc::sigset_t>,
    /// How many files may be open; none to leave that as it is.
    open_files: Option<Rlimit>,
    /// Whether it gets no other descriptors than it is given.
    closes: bool,
}

impl ChildSetup {
    fn in_child(&self) -> io::Result<()> {
        end_with_parent()?;
        // SAFETY: getppid takes nothing and cannot fail.
        let now = unsafe { libc::getppid() };
        // A parent that ended before the first call does not bring the signal: the child has another one now.
        if u32::try_from(now) != Ok(self.parent) {
            return Err(io::Error::from_raw_os_error(libc::ESRCH));
        }
        if self.closes {
            close_others();
        }
        if let Some(limit) = self.open_files {
            set_limit(limit);
        }
        self.mask.map_or(Ok(()), |mask| change_mask(libc::SIG_SETMASK, &mask).map(drop))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_children::{LONG, SHORT, ends_within, line, shell};
    use std::os::unix::process::ExitStatusExt;

    #[test]
    fn a_child_ends_with_the_thread_that_started_it() {
        let start = || {
            let mut child = shell("echo up; exec sleep 1000").start().unwrap();
            let mut output = child.take_stdout().unwrap();
            assert_eq!(line(&mut output), "up");
            (child, output)
        };
        let (mut child, output) = start();
        assert!(!ends_within(&output, SHORT), "its parent is alive");
        child.end().unwrap();

        let (mut orphan, output) = std::thread::spawn(start).join().unwrap();
        assert!(ends_within(&output, LONG));
        assert_eq!(orphan.wait().unwrap().signal(), Some(libc::SIGKILL));
    }

    #[test]
    fn a_child_of_another_parent_does_not_start() {
        let begin = ChildSetup { parent: 1, mask: None, open_files: None, closes: true };
        let mut command = Command::new("true");
        // SAFETY: as in `start`.
        unsafe { command.pre_exec(move || begin.in_child()) };
        assert_eq!(command.spawn().unwrap_err().raw_os_error(), Some(libc::ESRCH));
    }

    #[test]
    fn a_program_that_is_not_there_is_told() {
        assert_eq!(ChildProgram::new("/nowhere/no-program").start().unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
