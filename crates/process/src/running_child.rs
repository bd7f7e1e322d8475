//! A child that was started, and how it ends: with all that it has started.

use crate::ending::{has_ended, wait_unreaped};
use crate::family::Family;
use crate::reaper::Charged;
use crate::signals::Signal;
use std::io;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, ExitStatus};

/// A child that was started. Dropped before it has ended, it is killed. All that it has started ends with it, but for
/// services of a program of the user's that ended well ([`ChildProgram::of_users`](crate::ChildProgram::of_users)).
#[derive(Debug)]
pub struct RunningChild {
    child: Child,
    family: Family,
    /// Whether what has left its group stays if it ends well.
    may_leave: bool,
    /// How it ended, once it was waited for: until then its number, and its group's, is its own.
    status: Option<ExitStatus>,
    charged: Vec<Charged>,
}

impl RunningChild {
    pub(crate) fn new(child: Child, family: Family, may_leave: bool, charged: Vec<Charged>) -> Self {
        RunningChild { child, family, may_leave, status: None, charged }
    }

    pub(crate) fn family(&self) -> &Family {
        &self.family
    }

    /// Its number, and that of its process group if it leads one.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Where it reads from, if that is a pipe.
    pub fn take_stdin(&mut self) -> Option<ChildStdin> {
        self.child.stdin.take()
    }

    /// Its standard output, if that is a pipe.
    pub fn take_stdout(&mut self) -> Option<ChildStdout> {
        self.child.stdout.take()
    }

    /// Its standard error, if that is a pipe.
    pub fn take_stderr(&mut self) -> Option<ChildStderr> {
        self.child.stderr.take()
    }

    /// Sends it a signal, and its group with it. One that has ended gets none. One that is in our group has got what a
    /// terminal sent already.
    pub fn send(&self, signal: Signal) {
        let own_group = self.family.group.is_some();
        if (own_group || !signal.from_terminal) && self.status.is_none() && has_ended(self.id()).is_ok() {
            // One that may not be signalled has changed its user, and is its user's.
            let _ = signal.send(self.id(), own_group);
        }
    }

    /// Kills it with all that it has started, and waits for it.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn end(&mut self) -> io::Result<ExitStatus> {
        if self.status.is_none() {
            self.kill();
        }
        self.wait()
    }

    /// Kills it with its group; [`RunningChild::wait`] and [`RunningChild::ended`] say then how it ended.
    pub fn kill(&mut self) {
        if self.status.is_none() && has_ended(self.id()).is_ok() {
            self.family.kill_group();
        }
        // One that has ended by itself is as good.
        let _ = self.child.kill();
    }

    /// Waits until it has ended, and says how.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn wait(&mut self) -> io::Result<ExitStatus> {
        if self.status.is_none() {
            wait_unreaped(self.id())?;
        }
        self.take_end()
    }

    /// How it ended, if it has.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn ended(&mut self) -> io::Result<Option<ExitStatus>> {
        if self.status.is_none() && !has_ended(self.id())? {
            return Ok(None);
        }
        self.take_end().map(Some)
    }

    /// Whether it has ended and left others behind that run.
    pub fn has_left_some(&self) -> bool {
        self.status.is_none() && matches!(has_ended(self.id()), Ok(true)) && self.family.runs()
    }

    /// The child has ended: ends what it has left running, and waits for it.
    fn take_end(&mut self) -> io::Result<ExitStatus> {
        if let Some(status) = self.status {
            return Ok(status);
        }
        self.family.kill_group();
        let status = self.child.wait()?;
        self.status = Some(status);
        if !(self.may_leave && status.success()) {
            self.family.mark.kill_holders();
        }
        self.charged.clear();
        Ok(status)
    }
}

impl Drop for RunningChild {
    fn drop(&mut self) {
        // It is gone, whatever is said of it.
        let _ = self.end();
    }
}

#[cfg(test)]
mod tests {
    use crate::test_children::{LONG, SHORT, ends_within, line, shell};
    use std::os::unix::process::ExitStatusExt;
    use std::process::Stdio;

    #[test]
    fn a_child_ends_with_its_group() {
        let mut child = shell("sleep 1000 & echo up; exec sleep 1000").start().unwrap();
        let mut output = child.take_stdout().unwrap();
        assert_eq!(line(&mut output), "up");
        assert!(!ends_within(&output, SHORT));
        assert_eq!(child.end().unwrap().signal(), Some(libc::SIGKILL));
        assert!(ends_within(&output, LONG));
        assert_eq!(child.end().unwrap().signal(), Some(libc::SIGKILL), "again");
    }

    #[test]
    fn what_a_child_leaves_in_its_group_ends_when_it_has_ended() {
        let mut child = shell("sleep 1000 & echo up").start().unwrap();
        let mut output = child.take_stdout().unwrap();
        assert_eq!(line(&mut output), "up");
        assert!(child.wait().unwrap().success());
        assert!(ends_within(&output, LONG));
    }

    /// Scripts that put what they start into groups of their own.
    const ELSEWHERE: [&str; 3] = [
        "setsid sleep 1000 & echo up; wait",
        "timeout 1000 sleep 1000 & echo up; wait",
        "set -m; sleep 1000 & (setsid sh -c 'sleep 1000 & sleep 1000' &) ; echo up; wait",
    ];

    #[test]
    fn what_has_left_the_group_ends_with_the_child() {
        for script in ELSEWHERE {
            let mut child = shell(script).start().unwrap();
            let mut output = child.take_stdout().unwrap();
            assert_eq!(line(&mut output), "up", "{script}");
            drop(child);
            assert!(ends_within(&output, LONG), "{script}");
        }
    }

    #[test]
    fn a_child_leaves_nothing_and_a_program_of_the_users_may() {
        for (status, of_users) in [(3, false), (0, false), (3, true), (0, true)] {
            let script = format!("setsid sh -c 'echo up; exec sleep 1000' & read x; exit {status}");
            let program = if of_users { shell(&script).of_users() } else { shell(&script) };
            let mut child = program.stdin(Stdio::piped()).start().unwrap();
            let (mut output, mark) = (child.take_stdout().unwrap(), child.family.mark.clone());
            assert_eq!(line(&mut output), "up");
            drop(child.take_stdin());
            assert_eq!(child.wait().unwrap().code(), Some(status));
            if status == 0 && of_users {
                assert!(!ends_within(&output, SHORT) && !mark.holders().is_empty());
                mark.kill_holders();
            }
            assert!(ends_within(&output, LONG) && mark.holders().is_empty());
        }
    }

    #[test]
    fn the_end_of_a_child_can_be_seen_without_waiting() {
        let mut child = shell("read x; exit 3").stdin(Stdio::piped()).start().unwrap();
        assert!(child.ended().unwrap().is_none());
        drop(child.take_stdin());
        let status = loop {
            if let Some(status) = child.ended().unwrap() {
                break status;
            }
        };
        assert_eq!(status.code(), Some(3));
        assert_eq!(child.ended().unwrap().unwrap().code(), Some(3), "again");
    }
}
