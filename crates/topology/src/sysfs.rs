//! Files of `/sys` and `/proc` under a root directory.

use crate::{TopologyError, cpulist};
use std::path::{Path, PathBuf};

/// A tree that holds `sys` and `proc`: `/` for the live machine.
#[derive(Debug, Clone)]
pub(crate) struct Sysfs {
    root: PathBuf,
}

impl Sysfs {
    pub(crate) fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The file's absolute place; `path` may or may not begin with a slash.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }

    /// The file's text. A file that is absent or unreadable is `None`: kernels, containers and virtual machines leave
    /// out nearly anything, and each reader knows what that means for it.
    pub(crate) fn text(&self, path: &str) -> Option<String> {
        let bytes = std::fs::read(self.path(path)).ok()?;
        Some(String::from_utf8_lossy(&bytes).trim_end().to_owned())
    }

    /// A file that holds one number.
    pub(crate) fn number(&self, path: &str) -> Option<u64> {
        self.text(path)?.trim().parse().ok()
    }

    /// A file that holds a list such as `0-3,8`; `None` where the file is absent.
    pub(crate) fn list(&self, path: &str) -> Result<Option<Vec<u32>>, TopologyError> {
        let Some(text) = self.text(path) else { return Ok(None) };
        match cpulist::parse(&text) {
            Ok(numbers) => Ok(Some(numbers)),
            Err(error) => Err(TopologyError::File { path: self.path(path), reason: error.to_string() }),
        }
    }

    /// The numbers N of the entries `prefixN` of a directory, ascending.
    pub(crate) fn numbered(&self, directory: &str, prefix: &str) -> Vec<u32> {
        let Ok(entries) = std::fs::read_dir(self.path(directory)) else { return Vec::new() };
        let mut numbers: Vec<u32> = entries
            .flatten()
            .filter_map(|entry| entry.file_name().to_str()?.strip_prefix(prefix)?.parse().ok())
            .collect();
        numbers.sort_unstable();
        numbers
    }
}
