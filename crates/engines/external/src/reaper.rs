//! What is left to be done when we are killed: a small process of its own that notices our end and clears away.
//!
//! The kernel kills our children with us, but not their children; and nobody would remove index copies, logs and outputs
//! that are not complete. The reaper reads what it has to do from a pipe, line by line. When the pipe ends without a last
//! word from us, we are dead, and it does it.

use crate::charge::{Charge, start_ticks};
use crate::copies;
use std::ffi::OsStr;
use std::io::{BufRead, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Mutex;
use zerohop_topology::spare_signals;

/// Our end of a reaper. It is dismissed when dropped: whatever had to be cleared away was.
#[derive(Debug)]
pub struct Reaper {
    child: Child,
    input: Mutex<Option<ChildStdin>>,
}

impl Reaper {
    /// Starts `command`, which is to call [`reap`] with its standard input, in a process group of its own and without
    /// signals: what a terminal or a scheduler sends to all of a job does not end it.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start(mut command: Command) -> std::io::Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        spare_signals(&mut command);
        let mut child = command.spawn()?;
        let input = Mutex::new(child.stdin.take());
        Ok(Reaper { child, input })
    }

    /// Charges it with something.
    ///
    /// # Errors
    /// When it is not there any more.
    pub fn charge(&self, charge: &Charge) -> std::io::Result<()> {
        let mut input = self.input.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let line = serde_json::to_string(charge).map_err(std::io::Error::other)? + "\n";
        input.as_mut().map_or(Ok(()), |input| input.write_all(line.as_bytes()))
    }
}

impl Drop for Reaper {
    fn drop(&mut self) {
        // One that is gone needs no dismissal.
        let _ = self.charge(&Charge::Dismissed);
        *self.input.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = None;
        let _ = self.child.wait();
    }
}

/// The reaper's life: reads charges until the input ends, and does them unless it was dismissed.
pub fn reap(input: impl BufRead) {
    let mut charges = Vec::new();
    for line in input.lines().map_while(Result::ok) {
        match serde_json::from_str(&line) {
            Ok(Charge::Dismissed) => return,
            Ok(charge) => charges.push(charge),
            Err(_) => {}
        }
    }
    // Processes first: they hold what the rest is about.
    charges.sort_by_key(|charge| !matches!(charge, Charge::Group(..)));
    charges.iter().for_each(clear);
}

/// Nobody is left who could be told if it fails.
fn clear(charge: &Charge) {
    match charge {
        // A leader that is gone has children at most; one of another age is a stranger.
        Charge::Group(group, started) if start_ticks(*group).is_none_or(|now| Some(now) == *started) => {
            drop(zerohop_topology::kill_group(*group));
        }
        Charge::Group(..) => {}
        Charge::File(path) => drop(std::fs::remove_file(OsStr::from_bytes(path))),
        Charge::Folder(path) => drop(std::fs::remove_dir_all(OsStr::from_bytes(path))),
        // Our locks go with the last of us: that may be a moment after the pipe did.
        Charge::Copies => [0, 20, 100, 500].into_iter().for_each(|pause| {
            std::thread::sleep(std::time::Duration::from_millis(pause));
            drop(copies::clear(false));
        }),
        Charge::Dismissed => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_clears_away_unless_it_is_dismissed() {
        let dir = tempfile::tempdir().unwrap();
        let (file, folder) = (dir.path().join("f"), dir.path().join("d"));
        let charges = [Charge::file(&file), Charge::folder(&folder)];
        let text: String = charges.iter().map(|c| serde_json::to_string(c).unwrap() + "\n").collect();
        for dismissed in [true, false] {
            std::fs::write(&file, "x").unwrap();
            let _ = std::fs::create_dir(&folder);
            let end = if dismissed { serde_json::to_string(&Charge::Dismissed).unwrap() } else { String::new() };
            reap((text.clone() + &end).as_bytes());
            assert_eq!((file.exists(), folder.exists()), (dismissed, dismissed));
        }
    }
}
