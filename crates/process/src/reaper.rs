//! What is left to be done when we are killed: a small process of its own that notices our end and clears away.
//!
//! The kernel kills our children with us, but not their children; and nobody would remove files and folders that are
//! not complete. The reaper reads what it is charged with from a pipe, line by line, and what is done. When the pipe
//! ends, we are gone, and it does what is left. After a run that came to its end that is nothing.

use crate::charge::Charge;
use crate::descriptors::close_others_in;
use crate::ending::kill_group;
use crate::mark::{self, Mark};
use crate::signals::spare_signals;
use crate::stat::start_ticks;
use crate::system::own_program;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufRead, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The word that starts our program as the reaper: its only argument.
const REAPER: &str = "reaper";

/// Our end of it.
static OURS: Mutex<Ours> = Mutex::new(Ours { prepared: false, input: None, charges: 0 });

struct Ours {
    /// Whether this program knows what to do when it is started as a reaper.
    prepared: bool,
    /// Where it reads, once it was started.
    input: Option<ChildStdin>,
    charges: u64,
}

/// A line that the reaper reads.
#[derive(Serialize, Deserialize)]
enum ReaperLine {
    Charge(u64, Charge),
    Done(u64),
}

/// The reaper is charged with something as long as this lives.
#[derive(Debug)]
#[must_use = "it must live as long as the charge shall"]
pub struct Charged(Option<u64>);

/// To be called first by a program that starts children. If the program was started as a reaper, it does what it was
/// charged with, and ends; `clear_own` clears away what [`Charge::Own`] names.
pub fn prepare(clear_own: impl Fn(&str)) {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_some_and(|first| first == REAPER) && arguments.next().is_none() {
        reap(io::stdin().lock(), clear_own);
        std::process::exit(0);
    }
    ours().prepared = true;
}

/// Whether this program was prepared, so that it has a reaper.
pub fn is_prepared() -> bool {
    ours().prepared
}

/// Charges the reaper, which is started when it is charged first. A program that was not prepared has none: then
/// nothing happens.
///
/// # Errors
/// When it cannot be started, or is not there any more.
pub fn charge(charge: Charge) -> io::Result<Charged> {
    let mut ours = ours();
    if !ours.prepared {
        return Ok(Charged(None));
    }
    if ours.input.is_none() {
        let cannot =
            |error| io::Error::other(format!("the process that cleans up after zerohop cannot start: {error}"));
        ours.input = Some(start().map_err(cannot)?);
    }
    ours.charges += 1;
    let number = ours.charges;
    let gone = |error| io::Error::other(format!("the process that cleans up after zerohop is gone: {error}"));
    ours.tell(&ReaperLine::Charge(number, charge)).map_err(gone)?;
    Ok(Charged(Some(number)))
}

impl Charged {
    /// The reaper stays charged with it until we end.
    pub fn until_our_end(mut self) {
        self.0 = None;
    }
}

impl Drop for Charged {
    fn drop(&mut self) {
        if let Some(number) = self.0 {
            // One that is gone needs not be told.
            let _ = ours().tell(&ReaperLine::Done(number));
        }
    }
}

impl Ours {
    fn tell(&mut self, line: &ReaperLine) -> io::Result<()> {
        let line = serde_json::to_string(line).map_err(io::Error::other)? + "\n";
        self.input.as_mut().map_or(Ok(()), |input| input.write_all(line.as_bytes()))
    }
}

fn ours() -> MutexGuard<'static, Ours> {
    OURS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts it, in a process group of its own and without signals: what a terminal or a scheduler sends to all of a job
/// does not end it. Nor does our end, nor that of a zerohop that has started us.
fn start() -> io::Result<ChildStdin> {
    let mut command = Command::new(own_program()?);
    command.arg(REAPER).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    command.env_remove(mark::VARIABLE);
    close_others_in(&mut command);
    spare_signals(&mut command);
    let mut child = command.spawn()?;
    child.stdin.take().ok_or_else(|| io::Error::other("it has no input"))
}

/// Does what is left to be done when `input` ends.
fn reap(input: impl BufRead, clear_own: impl Fn(&str)) {
    let mut left = BTreeMap::new();
    for line in input.lines().map_while(Result::ok) {
        match serde_json::from_str(&line) {
            Ok(ReaperLine::Charge(number, charge)) => drop(left.insert(number, charge)),
            Ok(ReaperLine::Done(number)) => drop(left.remove(&number)),
            // The last one may be torn.
            Err(_) => {}
        }
    }
    let mut left: Vec<Charge> = left.into_values().collect();
    // Processes first: they hold what the rest is about.
    left.sort_by_key(|charge| !matches!(charge, Charge::Group(..) | Charge::Family(..)));
    left.iter().for_each(|charge| clear(charge, &clear_own));
}

/// Nobody is left who could be told if it fails.
fn clear(charge: &Charge, clear_own: &dyn Fn(&str)) {
    match charge {
        Charge::Family(mark) => Mark::told(mark).kill_holders(),
        // A leader that is gone has children at most; one of another age is a stranger.
        Charge::Group(group, started) if start_ticks(*group).is_none_or(|now| Some(now) == *started) => {
            drop(kill_group(*group));
        }
        Charge::Group(..) => {}
        Charge::File(path) => drop(std::fs::remove_file(OsStr::from_bytes(path))),
        Charge::Lock(path) => {
            let path = OsStr::from_bytes(path);
            if File::open(path).is_ok_and(|file| file.try_lock().is_ok()) {
                let _ = std::fs::remove_file(path);
            }
        }
        Charge::Folder(path) => drop(std::fs::remove_dir_all(OsStr::from_bytes(path))),
        Charge::Own(name) => clear_own(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_clears_away_what_is_not_done() {
        let dir = tempfile::tempdir().unwrap();
        let (file, folder) = (dir.path().join("f"), dir.path().join("d"));
        let charges = [Charge::file(&file), Charge::folder(&folder), Charge::Own("own".to_owned())];
        let told = |line| serde_json::to_string(&line).unwrap() + "\n";
        let text: String =
            charges.into_iter().zip(0..).map(|(charge, i)| told(ReaperLine::Charge(i, charge))).collect();
        for done in [0..0, 0..3, 1..2] {
            std::fs::write(&file, "x").unwrap();
            let _ = std::fs::create_dir(&folder);
            let own = std::cell::RefCell::new(String::new());
            let end: String = done.clone().map(|number| told(ReaperLine::Done(number))).collect();
            reap((text.clone() + &end + "{\"Charge\":[7,{\"file\"").as_bytes(), |name| own.borrow_mut().push_str(name));
            assert_eq!((file.exists(), folder.exists()), (done.contains(&0), done.contains(&1)), "{done:?}");
            assert_eq!(own.into_inner(), if done.contains(&2) { "" } else { "own" });
        }
    }

    #[test]
    fn a_lock_is_removed_that_nobody_holds() {
        let lock = tempfile::NamedTempFile::new().unwrap();
        let line = serde_json::to_string(&ReaperLine::Charge(0, Charge::lock(lock.path()))).unwrap();
        let held = File::open(lock.path()).unwrap();
        held.lock().unwrap();
        reap(line.as_bytes(), |_| ());
        assert!(lock.path().exists());
        drop(held);
        reap(line.as_bytes(), |_| ());
        assert!(!lock.path().exists());
    }

    #[test]
    fn a_program_that_was_not_prepared_has_none() {
        assert!(!is_prepared());
        assert!(charge(Charge::Own("own".to_owned())).unwrap().0.is_none());
    }
}
