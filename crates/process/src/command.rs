//! Commands of children that end with us.
//!
//! A child inherits CPU affinity and memory policy from the thread that spawns it, so nothing of that is here.
//!
//! What runs between `fork` and `exec` runs in a copy of a process whose other threads are gone, and with them whoever
//! held a lock: it makes system calls that are safe there (`signal-safety(7)`) and nothing else; it does not allocate.
#![allow(unsafe_code)]

use crate::system::end_with_parent;
use std::ffi::OsStr;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// The command of a child: `program` is looked for on the PATH unless it holds a `/`.
///
/// Linux kills the child (`SIGKILL`) when its parent ends in whatever way (`PR_SET_PDEATHSIG`, `prctl(2)`). The
/// parent is the *thread* that spawns it: that thread must live as long as the child shall. The children of the child
/// are not killed ([`kill_group`](crate::kill_group) is for them), nor is a program with set-user-ID.
///
/// Spawning fails with `ESRCH` when the process that called this has ended meanwhile, or is another than the one that
/// spawns.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    let parent = std::process::id();
    // SAFETY: the closure makes system calls that are safe between fork and exec, and does not allocate.
    unsafe { command.pre_exec(move || die_with(parent)) };
    command
}

/// In the child.
fn die_with(parent: u32) -> io::Result<()> {
    end_with_parent()?;
    // SAFETY: getppid takes nothing and cannot fail.
    let now = unsafe { libc::getppid() };
    // A parent that ended before the first call does not bring the signal: the child has another one now.
    if u32::try_from(now) == Ok(parent) { Ok(()) } else { Err(io::Error::from_raw_os_error(libc::ESRCH)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_children::{LONG, SHORT, ends_within, line, shell};
    use std::os::unix::process::ExitStatusExt;

    #[test]
    fn a_child_ends_with_the_thread_that_spawned_it() {
        let spawn = || {
            let mut child = shell("echo up; exec sleep 1000").spawn().unwrap();
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
        // SAFETY: as in `command`.
        unsafe { command.pre_exec(|| die_with(1)) };
        assert_eq!(command.spawn().unwrap_err().raw_os_error(), Some(libc::ESRCH));
    }
}
