//! How children end: that they have, that they must, and with all that they have started.
#![allow(unsafe_code)]

use crate::system::done;
use libc::{c_int, pid_t};
use std::io;
use std::process::{Child, ExitStatus};

/// Kills all processes of a group (`SIGKILL`, `killpg(3)`); none left is no error.
///
/// The group of a child that leads one has its process id as its number. As long as nobody has waited for the child,
/// that cannot mean anybody else.
///
/// # Errors
/// `InvalidInput` for 0 (the group of this process), 1 (which the kernel takes for all processes there are) and what is
/// no process id; else what the kernel says, such as `EPERM`.
pub(crate) fn kill_group(group: u32) -> io::Result<()> {
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
pub(crate) fn end_group(child: &mut Child) -> io::Result<ExitStatus> {
    // As long as nobody has waited for it, the number of its group is its own.
    kill_group(child.id())?;
    child.wait()
}

/// Waits until a child has ended, without taking its end from it: it still has to be waited for, and until then its
/// number is its own (`waitid(2)`, `WNOWAIT`).
///
/// # Errors
/// `ECHILD` for what is no child of this process.
pub(crate) fn wait_unreaped(child: u32) -> io::Result<()> {
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
pub(crate) fn has_ended(child: u32) -> io::Result<bool> {
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

    #[test]
    fn groups_that_mean_others_are_refused() {
        for group in [0, 1, u32::MAX, 1 << 31] {
            assert_eq!(kill_group(group).unwrap_err().kind(), io::ErrorKind::InvalidInput, "{group}");
        }
        // Beyond the greatest process id: nobody.
        kill_group(1 << 30).unwrap();
    }
}
