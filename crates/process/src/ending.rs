//! How children end: that they have, that they must, and with all that they have started.
#![allow(unsafe_code)]

use crate::system::done;
use libc::{c_int, pid_t};
use std::io;
use std::process::{Child, ExitStatus};

/// Kills all processes of a group (`SIGKILL`, `killpg(3)`); none left is no error.
///
/// A child has a group of its own, named by its process id, after
/// [`process_group(0)`](std::os::unix::process::CommandExt::process_group). As long as nobody has waited for the child,
/// the number cannot mean anybody else.
///
/// # Errors
/// `InvalidInput` for 0 (the group of this process), 1 (which the kernel takes for all processes there are) and what is
/// no process id; else what the kernel says, such as `EPERM`.
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

/// Kills what is left of the group that a child leads, which is the child itself if it has not ended, and waits for the
/// child.
///
/// # Errors
/// What the kernel says.
pub fn end_group(child: &mut Child) -> io::Result<ExitStatus> {
    // As long as nobody has waited for it, the number of its group is its own.
    kill_group(child.id())?;
    child.wait()
}

/// Waits until a child has ended, without taking its end from it: it still has to be waited for, and until then its
/// number is its own (`waitid(2)`, `WNOWAIT`).
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_children::{LONG, SHORT, ends_within, line, shell};
    use std::os::unix::process::{CommandExt, ExitStatusExt};
    use std::process::Stdio;

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
    fn a_group_ends_with_its_leader() {
        let mut child = shell("sleep 1000 & echo up; exec sleep 1000").process_group(0).spawn().unwrap();
        assert_eq!(line(&mut child), "up");
        let output = child.stdout.take().unwrap();
        assert_eq!(end_group(&mut child).unwrap().signal(), Some(libc::SIGKILL));
        assert!(ends_within(&output, LONG));
        let mut over = shell("exit 3").process_group(0).spawn().unwrap();
        wait_unreaped(over.id()).unwrap();
        assert_eq!(end_group(&mut over).unwrap().code(), Some(3));
    }

    #[test]
    fn groups_that_mean_others_are_refused() {
        for group in [0, 1, u32::MAX, 1 << 31] {
            assert_eq!(kill_group(group).unwrap_err().kind(), io::ErrorKind::InvalidInput, "{group}");
        }
        // Beyond the greatest process id: nobody.
        kill_group(1 << 30).unwrap();
    }
}
