//! What a reaper is charged with.

use serde::{Deserialize, Serialize};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Something to be cleared away.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Charge {
    /// A process group, to be killed, and when its leader was started, in ticks since the machine was: the number may be
    /// another's by then.
    Group(u32, Option<u64>),
    /// A file, by the bytes of its path, to be removed.
    File(Vec<u8>),
    /// A folder, to be removed with all that is in it.
    Folder(Vec<u8>),
    /// Copies of indexes that nobody uses, and segments of bwa, to be removed.
    Copies,
    /// Nothing: we have done it all ourselves.
    Dismissed,
}

impl Charge {
    /// The process group of a child that runs.
    pub fn group(child: u32) -> Self {
        Charge::Group(child, start_ticks(child))
    }

    /// A file.
    pub fn file(path: &Path) -> Self {
        Charge::File(path.as_os_str().as_bytes().to_vec())
    }

    /// A folder.
    pub fn folder(path: &Path) -> Self {
        Charge::Folder(path.as_os_str().as_bytes().to_vec())
    }
}

/// When a process was started, if there is one (field 22 of proc_pid_stat(5)).
pub(crate) fn start_ticks(pid: u32) -> Option<u64> {
    stat(&pid.to_string(), |fields| fields.nth(19)?.parse().ok())
}

/// Whether a process of a group runs: one that has ended and was not waited for does not.
pub(crate) fn group_runs(group: u32) -> bool {
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let runs = |name: &str| {
        stat(name, |fields| {
            let (state, of) = (fields.next()?, fields.nth(1)?);
            Some(!matches!(state, "Z" | "X") && of.parse() == Ok(group))
        })
    };
    processes.into_iter().any(|entry| entry.file_name().to_str().and_then(runs) == Some(true))
}

/// What `take` finds in the fields of a process that stand behind its name.
fn stat<T>(pid: &str, take: impl FnOnce(&mut std::str::SplitWhitespace<'_>) -> Option<T>) -> Option<T> {
    let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    let stat = String::from_utf8_lossy(&stat);
    // The name of the program, in parentheses, may hold anything.
    let (_, fields) = stat.rsplit_once(')')?;
    take(&mut fields.split_whitespace())
}
