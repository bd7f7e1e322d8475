//! What a reaper is charged with.

use crate::mark::Mark;
use crate::stat::start_ticks;
use serde::{Deserialize, Serialize};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Something to be cleared away.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Charge {
    /// The mark of a child, whose holders are to be killed ([`ChildProgram`](crate::ChildProgram)).
    Family(String),
    /// A process group, to be killed, and when its leader was started, in ticks since the machine was: the number may
    /// be another's by then.
    Group(u32, Option<u64>),
    /// A file, by the bytes of its path, to be removed.
    File(Vec<u8>),
    /// A file that is a lock, to be removed unless somebody holds it by then.
    Lock(Vec<u8>),
    /// A folder, to be removed with all that is in it.
    Folder(Vec<u8>),
    /// Something that the program itself knows how to clear away, by its name.
    Own(String),
}

impl Charge {
    /// The process group of a child that runs.
    pub(crate) fn group(child: u32) -> Self {
        Charge::Group(child, start_ticks(child))
    }

    /// All processes that a child starts, to be killed.
    pub(crate) fn family(mark: &Mark) -> Self {
        Charge::Family(mark.as_str().to_owned())
    }

    /// A file, to be removed.
    pub fn file(path: &Path) -> Self {
        Charge::File(path.as_os_str().as_bytes().to_vec())
    }

    /// A file that is a lock.
    pub(crate) fn lock(path: &Path) -> Self {
        Charge::Lock(path.as_os_str().as_bytes().to_vec())
    }

    /// A folder, to be removed with all that is in it.
    pub fn folder(path: &Path) -> Self {
        Charge::Folder(path.as_os_str().as_bytes().to_vec())
    }
}
