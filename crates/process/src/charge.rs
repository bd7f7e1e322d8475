//! What a reaper is charged with.

use crate::stat::start_ticks;
use serde::{Deserialize, Serialize};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Something to be cleared away.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Charge {
    /// A process group, to be killed, and when its leader was started, in ticks since the machine was: the number may
    /// be another's by then.
    Group(u32, Option<u64>),
    /// A file, by the bytes of its path, to be removed.
    File(Vec<u8>),
    /// A folder, to be removed with all that is in it.
    Folder(Vec<u8>),
    /// Something that the program itself knows how to clear away, by its name.
    Own(String),
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
