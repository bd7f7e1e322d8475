//! What is left to be done when we are killed: a small process of its own that notices our end and clears away.
//!
//! The kernel kills our children with us, but not their children; and nobody would remove files and folders that are
//! not complete. The reaper reads what it has to do from a pipe, line by line. When the pipe ends without a last word
//! from us, we are dead, and it does it.

use crate::charge::Charge;
use crate::ending::kill_group;
use crate::signals::spare_signals;
use crate::stat::start_ticks;
use std::ffi::OsStr;
use std::io::{BufRead, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Mutex;

/// Our end of a reaper. It is dismissed when dropped: whatever had to be cleared away was.
#[derive(Debug)]
pub struct Reaper {
    child: Child,
    input: Mutex<Option<ChildStdin>>,
}

impl Reaper {
    /// Starts `program`, which is to call [`reap`] with its standard input, in a process group of its own and without
    /// signals: what a terminal or a scheduler sends to all of a job does not end it. Nor does our end.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start(program: impl AsRef<OsStr>, arguments: &[&str]) -> std::io::Result<Self> {
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
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

/// The reaper's life: reads charges until the input ends, and does them unless it was dismissed. `clear_own` clears
/// away what [`Charge::Own`] names.
pub fn reap(input: impl BufRead, clear_own: impl Fn(&str)) {
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
    charges.iter().for_each(|charge| clear(charge, &clear_own));
}

/// Nobody is left who could be told if it fails.
fn clear(charge: &Charge, clear_own: &dyn Fn(&str)) {
    match charge {
        // A leader that is gone has children at most; one of another age is a stranger.
        Charge::Group(group, started) if start_ticks(*group).is_none_or(|now| Some(now) == *started) => {
            drop(kill_group(*group));
        }
        Charge::Group(..) => {}
        Charge::File(path) => drop(std::fs::remove_file(OsStr::from_bytes(path))),
        Charge::Folder(path) => drop(std::fs::remove_dir_all(OsStr::from_bytes(path))),
        Charge::Own(name) => clear_own(name),
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
        let charges = [Charge::file(&file), Charge::folder(&folder), Charge::Own("own".to_owned())];
        let text: String = charges.iter().map(|c| serde_json::to_string(c).unwrap() + "\n").collect();
        for dismissed in [true, false] {
            std::fs::write(&file, "x").unwrap();
            let _ = std::fs::create_dir(&folder);
            let end = if dismissed { serde_json::to_string(&Charge::Dismissed).unwrap() } else { String::new() };
            let own = std::cell::RefCell::new(String::new());
            reap((text.clone() + &end).as_bytes(), |name| own.borrow_mut().push_str(name));
            assert_eq!((file.exists(), folder.exists()), (dismissed, dismissed));
            assert_eq!(own.into_inner(), if dismissed { "" } else { "own" });
        }
    }
}
